import { targetOfWork } from '../../consensus/block/pow.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import type { StakingTier } from '../../consensus/ledger/rules.ts'
import { DEV_ADDRESSES } from './dev-keys.ts'
import { DEVNET_LEDGERS } from './devnet-ledgers.ts'
import { MAINNET } from './mainnet.ts'
import { COIN, LAUNCH_RULES, TAB_RULES } from './rules.ts'

/** Locks of the staking tiers in blocks, short enough for trying them out. */
const LOCKS = [10, 100, 1_000, 10_000]

/** A network on one machine: published keys, a difficulty for one thread, and tolerance for a machine that sleeps. */
export const DEVNET: NetworkParams = {
  ...MAINNET,
  name: 'devnet',
  addressPrefix: 'dfar',
  genesis: {
    ...MAINNET.genesis,
    message: 'Farthing devnet',
    allocations: DEV_ADDRESSES.map((address) => ({ address, amount: 1_000_000n * COIN })),
    ledgers: DEVNET_LEDGERS,
  },
  steps: [
    {
      fromHeight: 0,
      rules: {
        ...LAUNCH_RULES,
        tx: { ...LAUNCH_RULES.tx, tabs: TAB_RULES },
        block: {
          ...LAUNCH_RULES.block,
          powLimit: targetOfWork(1_000n),
          initialTarget: targetOfWork(12_000n),
          anchorResetGapMs: 120_000,
        },
        staking: {
          ...LAUNCH_RULES.staking,
          tiers: LOCKS.map((lockBlocks, i) => ({ ...(LAUNCH_RULES.staking.tiers[i] as StakingTier), lockBlocks })),
        },
        bridge: { ...LAUNCH_RULES.bridge, rotationDelay: 20 },
      },
    },
  ],
}
