import { ASSET_AMOUNT, AT_HEAD, DECIMAL_TEXT, orNull } from './amounts.ts'
import { COUNT, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

const TIER = Type.Object({
  tier: COUNT,
  lockBlocks: COUNT,
  yearlyPct: DECIMAL_TEXT,
  effectiveYearlyPct: DECIMAL_TEXT,
  staked: ASSET_AMOUNT,
})

/** Operations on staking. */
export const STAKING_ROUTES = {
  getStaking: {
    method: 'GET',
    path: '/api/v1/staking',
    operationId: 'getStaking',
    tag: 'assets',
    summary: 'Tiers, what is staked, and what rewards come from',
    description:
      'Rewards come from a pool that takes a share of every block. `yearlyPct` is paid while it suffices, `effectiveYearlyPct` is what it pays for the next block. `fullRateBlocks` is for how many blocks it pays the full rates to the present stakes, whatever flows in; null where nothing earns.',
    answers: {
      200: {
        description: 'Staking at the start of the next block',
        schema: Type.Object({
          ...AT_HEAD,
          tiers: Type.Array(TIER),
          totalStaked: ASSET_AMOUNT,
          pool: ASSET_AMOUNT,
          reserved: ASSET_AMOUNT,
          inflowPerBlock: ASSET_AMOUNT,
          demandPerBlock: ASSET_AMOUNT,
          paysFullRates: Type.Boolean(),
          fullRateBlocks: orNull(UINT_TEXT),
          stakedPct: DECIMAL_TEXT,
        }),
      },
    },
    errors: ['chain/head-moving'],
    bucket: 'read',
  },
} as const satisfies Record<string, Route>
