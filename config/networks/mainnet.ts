import type { NetworkParams } from '../../consensus/chain/params.ts'
import { EMPTY_LEDGERS } from './ledgers.ts'
import { LAUNCH_RULES, TAB_RULES } from './rules.ts'

/** The main network. Genesis allocates nothing: every coin is mined. */
export const MAINNET: NetworkParams = {
  name: 'mainnet',
  addressPrefix: 'far',
  ticker: 'FAR',
  decimals: 8,
  genesis: {
    timeMs: Date.UTC(2026, 10, 1),
    baseFee: 32n,
    message: 'Farthing mainnet',
    allocations: [],
    ledgers: EMPTY_LEDGERS,
  },
  steps: [
    { fromHeight: 0, rules: LAUNCH_RULES },
    // Tabs: sixty days after genesis at the target spacing, twenty after the test network.
    { fromHeight: 1_728_000, rules: { ...LAUNCH_RULES, tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES } } },
  ],
  minimumWork: 0n,
  seeds: [],
}
