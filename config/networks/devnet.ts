import { targetOfWork } from '../../consensus/block/pow.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { DEV_ADDRESSES } from './dev-keys.ts'
import { MAINNET } from './mainnet.ts'
import { COIN, LAUNCH_RULES } from './rules.ts'

/** A network for one machine: ten funded, published keys, a start that one thread can mine, tolerance for sleep. */
export const DEVNET: NetworkParams = {
  ...MAINNET,
  name: 'devnet',
  addressPrefix: 'dfar',
  genesis: {
    ...MAINNET.genesis,
    message: 'Farthing devnet',
    allocations: DEV_ADDRESSES.map((address) => ({ address, amount: 1_000_000n * COIN })),
  },
  steps: [
    {
      fromHeight: 0,
      rules: {
        ...LAUNCH_RULES,
        block: {
          ...LAUNCH_RULES.block,
          powLimit: targetOfWork(1_000n),
          initialTarget: targetOfWork(12_000n),
          anchorResetGapMs: 120_000,
        },
      },
    },
  ],
}
