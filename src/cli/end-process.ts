/** How long open handles may keep a finished process: many times what a V8 thread needs to compile a function. */
const LINGER_MS = 250

/**
 * Ends the process with a code, as Node does when nothing is left to do. `process.exit` waits at once for V8's compiler
 * threads. Such a thread can itself wait for this thread to collect garbage: one of forty short commands hung that way
 * (Node 26.10). So control returns to the event loop before the exit, which lets the collection happen.
 */
export function endProcess(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(code), LINGER_MS).unref()
}
