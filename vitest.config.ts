import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Seconds that a test of each kind may take before it counts as hung. */
const TIMEOUT_MS = { quick: 30_000, slow: 300_000 }

function project(name: string, include: string[], testTimeout = TIMEOUT_MS.quick, more: object = {}) {
  return { test: { name, include, testTimeout, hookTimeout: testTimeout, ...more } }
}

/** Tests of how long something takes at most: beside others they would measure those. */
const TIMED = [
  ...['stopping', 'network', 'external-miner', 'overload', 'first-call', 'chat'].map(
    (name) => `test/e2e/${name}.test.ts`,
  ),
  ...['till/refund-load', 'network/p2p-host', 'api/hostile-requests'].map((name) => `test/integration/${name}.test.ts`),
]

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    globalSetup: ['./test/support/compiled-programs.ts'],
    pool: 'forks',
    // Vitest would leave a core idle; most of these tests wait for processes of their own.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      project('tidy', ['test/tidy/**/*.test.ts']),
      project('unit', ['test/unit/**/*.test.ts', 'test/vectors/**/*.test.ts']),
      project('property', ['test/property/**/*.test.ts', 'test/sim/**/*.test.ts'], TIMEOUT_MS.slow),
      project('fuzz', ['test/fuzz/**/*.test.ts'], TIMEOUT_MS.slow),
      project('integration', ['test/integration/**/*.test.ts'], TIMEOUT_MS.slow, { exclude: TIMED }),
      project('e2e', ['test/e2e/**/*.test.ts'], TIMEOUT_MS.slow, { exclude: TIMED }),
      project('timed', TIMED, TIMEOUT_MS.slow, { maxWorkers: 1, sequence: { groupOrder: 1 } }),
    ],
    coverage: {
      provider: 'v8',
      include: ['consensus/**', 'amm/**', 'mempool/**', 'miner/**', 'marketplace/**', 'rpc/**', 'config/**', 'src/**'],
      // What decides about money: a rule that no test reaches is a rule that nobody knows.
      thresholds: { '{consensus,amm,marketplace/ledger}/**': { lines: 95, branches: 90 } },
    },
  },
})
