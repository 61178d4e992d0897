/**
 * Thrown by an engine for an unusable input. The message says why and is reported to the caller. The error itself does
 * not leave the engine's process.
 */
export class EngineRefusal extends Error {}

/** Thrown by an engine after an internal failure. The engine's process then ends: further results would be unreliable. */
export class EngineLoss extends Error {}
