import { ASSET_AMOUNT, DECIMAL_TEXT, orNull } from './amounts.ts'
import { COUNT, INDEXED_FROM } from './route.ts'
import type { Static } from './schema.ts'
import * as Type from './schema.ts'

const BY_TAB = Type.Object(
  {
    provenCalls: COUNT,
    failed: Type.Union([COUNT, Type.Null()], {
      description: "The operator's word; null for a service, since claims do not say which service failed",
    }),
    distinctPayers: COUNT,
    volume: ASSET_AMOUNT,
    burned: ASSET_AMOUNT,
  },
  { description: 'Calls on tabs, counted apart: they are cheaper to fake, so weigh them by what was burned for them' },
)

/** How paid calls ended on chain, without calls by the agent's own addresses. */
export const RECORD = Type.Object({
  indexedFrom: INDEXED_FROM,
  delivered: COUNT,
  failed: COUNT,
  expired: COUNT,
  refunds: COUNT,
  successPct: orNull(DECIMAL_TEXT),
  successAtLeastPct: Type.Unsafe<string>({
    ...DECIMAL_TEXT,
    description: 'Lower end of the 95 % interval of the success rate (Wilson score): what so many calls prove',
  }),
  distinctPayers: COUNT,
  effectivePayers: Type.Unsafe<string>({
    ...DECIMAL_TEXT,
    description: 'Payers of equal weight that would be as concentrated (inverse Herfindahl index of what each paid)',
  }),
  topPayerPct: orNull(DECIMAL_TEXT),
  p50Ms: orNull(COUNT),
  p95Ms: orNull(COUNT),
  burned: Type.Unsafe<Static<typeof ASSET_AMOUNT>>({
    ...ASSET_AMOUNT,
    description: 'Coins that these payments destroyed: the least that faking this record would have cost',
  }),
  byTab: BY_TAB,
})
/** How paid calls ended on chain. */
export type RecordJson = Static<typeof RECORD>
