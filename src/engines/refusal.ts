/** Thrown by an engine whose input cannot be used; the message says why. It ends at the edge of the engine's process. */
export class EngineRefusal extends Error {}

/** Thrown by an engine that something within broke: its process ends, for nothing that it would still say could be relied on. */
export class EngineLoss extends Error {}
