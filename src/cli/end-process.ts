/** How long what a finished command left open may keep the process: many times what a thread needs to compile a function. */
const LINGER_MS = 250

/**
 * Ends the process with a code, as Node does when nothing is left to do. `process.exit` joins V8's compiling threads at once, and
 * one that needs a collection waits for this thread to do it: of forty short commands one never ended (Node 26.10). While this
 * thread waits for events it does what they ask for.
 */
export function endProcess(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(code), LINGER_MS).unref()
}
