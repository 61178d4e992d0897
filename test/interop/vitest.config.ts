import { defineConfig } from 'vitest/config'

/** Each of these tests starts several programs. One that takes longer hangs. */
const TIMEOUT_MS = 300_000

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    reporters: ['default', '../support/closing-line-reporter.ts'],
    globalSetup: ['../support/compiled-programs.ts'],
    pool: 'forks',
    // Most of these tests wait for programs that they started.
    maxWorkers: 3,
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
  },
})
