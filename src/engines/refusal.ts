/** Thrown by an engine for an unusable input. The caller gets the message, but not the error itself. */
export class EngineRefusal extends Error {}

/** Thrown by an engine after an internal failure. Its process then ends: further results would be unreliable. */
export class EngineLoss extends Error {}
