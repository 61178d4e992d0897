/** Thrown by an engine whose input cannot be used; the message says why. It ends at the edge of the engine's process. */
export class EngineRefusal extends Error {}
