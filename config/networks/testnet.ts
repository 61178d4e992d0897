import { targetOfWork } from '../../consensus/block/pow.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { MAINNET } from './mainnet.ts'
import { LAUNCH_RULES } from './rules.ts'

/**
 * The public test network: the main network's rules, coins without value, and a difficulty for a handful of CPU miners. A
 * thread makes some 8,000 hashes a second: eight find the first block in a second or so, and a single slow one, when all
 * others have left, still finds one every few seconds.
 */
export const TESTNET: NetworkParams = {
  ...MAINNET,
  name: 'testnet',
  addressPrefix: 'tfar',
  genesis: { ...MAINNET.genesis, timeMs: Date.UTC(2026, 10, 15), message: 'Farthing testnet' },
  steps: [
    {
      fromHeight: 0,
      rules: {
        ...LAUNCH_RULES,
        block: { ...LAUNCH_RULES.block, powLimit: targetOfWork(2n ** 12n), initialTarget: targetOfWork(2n ** 16n) },
      },
    },
  ],
  // Nobody runs this network yet. A node of it finds others by --p2p-peers; addresses of operators who stay go here.
  seeds: [],
}
