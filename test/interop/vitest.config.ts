import { defineConfig } from 'vitest/config'

/** Many of these tests start several programs, which takes time. A test that takes longer than this hangs. */
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
