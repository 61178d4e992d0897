/** Runs a generator to its end without a pause. */
export function runNow<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
