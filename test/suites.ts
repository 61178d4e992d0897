/**
 * Tests by what they need. Each kind is a project. Its files in `LONG` are a second project; the files of `TIMED` and
 * of `MOCKING` have projects of their own.
 */
export const KINDS = {
  tidy: ['test/tidy/**/*.test.ts'],
  unit: ['test/unit/**/*.test.ts', 'test/vectors/**/*.test.ts'],
  property: ['test/property/**/*.test.ts', 'test/sim/**/*.test.ts'],
  fuzz: ['test/fuzz/**/*.test.ts'],
  integration: ['test/integration/**/*.test.ts'],
  e2e: ['test/e2e/**/*.test.ts'],
} as const

/** A kind of tests. */
export type Kind = keyof typeof KINDS

/** Tests of how long something takes at most. They run one after the other: beside others they would measure those. */
export const TIMED = [
  'test/e2e/{stopping,network,external-miner,overload,first-call,chat}.test.ts',
  'test/integration/till/refund-load.test.ts',
  'test/integration/network/p2p-host.test.ts',
  'test/integration/api/hostile-requests.test.ts',
] as const

/** Tests whose worth is in their length, and which `npm test` leaves out: `docs/testing.md` says of each why. */
export const LONG = [
  // A program is killed, its connection cut, its disk full or a file damaged, at one point after the other.
  'test/e2e/{kill,crash-points,dollar-crash-points,tab-kill-campaign,sdk-cuts,damaged-files,disk-full}.test.ts',
  // Networks of daemons that wait for each other.
  'test/e2e/{network-partition,network-peers,network-joining,joining}.test.ts',
  'test/integration/network/{claimed-headers,hostile-body-holders,hostile-chosen-peer,hostile-held-up}.test.ts',
  'test/integration/network/{lighter-branches,partition-mempool,partition-payments,snapshot-lighter}.test.ts',
  'test/integration/network/{p2p-hostile,p2p-library,p2p-table}.test.ts',
  'test/integration/{api/hostile-connections,api/slow-lines,clients/lying-node-waiting,services/hostile-pages}.test.ts',
  // Walks of many commands, each in a process of its own.
  'test/e2e/{adding-a-service,attestor,commands-document,deadline,ledger-commands,money-by-hand,money-scenario}.test.ts',
  'test/e2e/{printed-hints,start-up}.test.ts',
  // Many seeds.
  'test/sim/{network,network-repeat,tabs-long}.test.ts',
  'test/property/{backends,bridge,conservation,declared-writes,mutations,reference,snapshot-walks,staking,tab-walk}.test.ts',
] as const

/** Tests that replace modules of the product: they share no loaded modules with others, so they are a project of their own. */
export const MOCKING = ['test/integration/{network/checked-once,api/transaction-reads}.test.ts'] as const

/** Projects that `npm test` runs, by their names. */
export const QUICK_PROJECTS: readonly string[] = [...Object.keys(KINDS), 'mocking']
/** Projects that `npm run test:long` runs. */
export const LONG_PROJECTS: readonly string[] = ['long-property', 'long-integration', 'long-e2e', 'timed']
