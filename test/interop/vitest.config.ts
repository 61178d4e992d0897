import { defineConfig } from 'vitest/config'

/** Many of these tests start several programs, which takes time. A test that takes longer than this hangs. */
const TIMEOUT_MS = 300_000
/** A thousand dollar payments at once, each good for two minutes: beside other tests they would run out. */
const ALONE = 'replicas/stable.test.ts'

const common = {
  globalSetup: ['../support/compiled-programs.ts'],
  testTimeout: TIMEOUT_MS,
  hookTimeout: TIMEOUT_MS,
}

export default defineConfig({
  test: {
    reporters: ['default', '../support/closing-line-reporter.ts'],
    pool: 'forks',
    projects: [
      // Most of these tests wait for programs that they started.
      {
        test: {
          ...common,
          name: 'interop',
          include: ['**/*.test.ts'],
          exclude: [ALONE, '**/node_modules/**'],
          maxWorkers: 3,
        },
      },
      { test: { ...common, name: 'alone', include: [ALONE], maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
