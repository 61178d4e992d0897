import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/**
 * Prints `N passed, N failed` as the very last line. It runs on process exit, so it comes after the coverage table and
 * after errors; collection errors, suite errors and tests that never ran count as failures.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0
    let failed = errors.length
    for (const module of modules) {
      failed += module.errors().length
      for (const suite of module.children.allSuites()) failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed' || state === 'pending') failed++
      }
    }
    process.on('exit', () => {
      process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
    })
  }
}
