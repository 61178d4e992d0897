/** Thrown for bugs of this program only. Wrong input gives a {@link Fault}, never this error. */
export class AssertionError extends Error {
  override name = 'AssertionError'
}

/** Throws if a condition fails that only a bug of this program can break. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** Closes an exhaustive switch: a new variant does not compile until it is handled. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`)
}
