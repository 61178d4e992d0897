import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { KINDS, type Kind, LONG, MOCKING, TIMED } from './test/suites.ts'

/** Milliseconds that a test of each kind may take before it counts as hung. */
const TIMEOUT_MS: Readonly<Record<Kind, number>> = {
  tidy: 30_000,
  unit: 120_000,
  property: 300_000,
  fuzz: 300_000,
  integration: 300_000,
  e2e: 300_000,
}

/** Kinds that start programs of their own. */
const STARTING: readonly Kind[] = ['integration', 'e2e']
/** Kinds whose files leave nothing behind: they share modules, which are loaded once for each worker and not for each file. */
const SHARING: readonly Kind[] = ['unit', 'property', 'fuzz', 'integration']

interface More {
  readonly isolate?: boolean
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly maxWorkers?: number
  readonly sequence?: { readonly groupOrder: number }
}

function project(name: string, kind: Kind, more: More): TestProjectInlineConfiguration {
  const times = { testTimeout: TIMEOUT_MS[kind], hookTimeout: TIMEOUT_MS[kind] }
  const globalSetup = STARTING.includes(kind) ? ['./test/support/compiled-programs.ts'] : []
  const { include = KINDS[kind], exclude = [], ...rest } = more
  const files = { include: [...include], exclude: [...exclude] }
  return { test: { name, ...files, ...times, globalSetup, isolate: !SHARING.includes(kind), ...rest } }
}

/** The long tests of a kind are in its folders. */
function longOf(kind: Kind): readonly string[] {
  const folders = KINDS[kind].map((glob) => glob.slice(0, glob.indexOf('*')))
  return LONG.filter((glob) => folders.some((folder) => glob.startsWith(folder)))
}

const quick = (Object.keys(KINDS) as Kind[]).map((kind) =>
  project(kind, kind, { exclude: [...LONG, ...TIMED, ...MOCKING] }),
)
const long = (['property', 'integration', 'e2e'] as const).map((kind) =>
  project(`long-${kind}`, kind, { include: longOf(kind) }),
)
const mocking = project('mocking', 'integration', { include: MOCKING, isolate: true })
const timed = project('timed', 'e2e', { include: TIMED, maxWorkers: 1, sequence: { groupOrder: 1 } })

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    pool: 'forks',
    // Most of these tests wait, for sockets, blocks and processes of their own: with a worker for each core the cores idle.
    maxWorkers: 2 * availableParallelism(),
    projects: [...quick, mocking, ...long, timed],
    coverage: {
      provider: 'v8',
      include: ['consensus/**', 'amm/**', 'mempool/**', 'miner/**', 'marketplace/**', 'rpc/**', 'config/**', 'src/**'],
      // These rooms decide about money: a rule that no test reaches could break unseen.
      thresholds: { '{consensus,amm,marketplace/ledger}/**': { lines: 95, branches: 90 } },
    },
  },
})
