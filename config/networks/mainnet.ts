import type { NetworkParams } from '../../consensus/chain/params.ts'
import { EMPTY_LEDGERS } from './ledgers.ts'
import { LAUNCH_RULES } from './rules.ts'

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
  steps: [{ fromHeight: 0, rules: LAUNCH_RULES }],
  minimumWork: 0n,
  seeds: [],
}
