import { appendFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/**
 * Prints `N passed, N failed` as the very last line. The line is printed when the process exits, so it comes after the coverage table and
 * after errors. Collection errors, suite errors and pending tests count as failures. Skipped tests are not counted. The counts are also
 * appended to the file that TEST_COUNTS_FILE names, after a line with `!` for each failed or pending test: that is how counts of several
 * suites are summed up.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0
    let failed = errors.length
    const names: string[] = []
    for (const module of modules) {
      failed += module.errors().length
      for (const suite of module.children.allSuites()) failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed' || state === 'pending') {
          failed++
          names.push(`! ${module.relativeModuleId} > ${test.fullName}`.replaceAll('\n', ' '))
        }
      }
    }
    const counts = process.env.TEST_COUNTS_FILE
    if (counts !== undefined) appendFileSync(counts, [...names, `${passed} ${failed}`, ''].join('\n'))
    process.on('exit', () => {
      process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
    })
  }
}
