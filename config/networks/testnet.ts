import { targetOfWork } from '../../consensus/block/pow.ts'
import type { NetworkParams, Rules } from '../../consensus/chain/params.ts'
import { MAINNET } from './mainnet.ts'
import { LAUNCH_RULES, TAB_RULES } from './rules.ts'

const RULES: Rules = {
  ...LAUNCH_RULES,
  block: { ...LAUNCH_RULES.block, powLimit: targetOfWork(2n ** 12n), initialTarget: targetOfWork(2n ** 16n) },
}

/**
 * The public test network: the main network's rules, worthless coins, and a difficulty for a handful of CPU miners. One
 * thread makes about 8,000 hashes a second: eight threads find the first block in about a second. At the easiest target a
 * single slow thread still finds a block every few seconds.
 */
export const TESTNET: NetworkParams = {
  ...MAINNET,
  name: 'testnet',
  addressPrefix: 'tfar',
  genesis: { ...MAINNET.genesis, timeMs: Date.UTC(2026, 10, 15), message: 'Farthing testnet' },
  steps: [
    { fromHeight: 0, rules: RULES },
    // Tabs: forty days after genesis at the target spacing.
    { fromHeight: 1_152_000, rules: { ...RULES, tx: { ...RULES.tx, tabs: TAB_RULES } } },
  ],
  // No seed nodes run yet: a node finds other nodes by --p2p-peers. Addresses of permanent operators belong here.
  seeds: [],
}
