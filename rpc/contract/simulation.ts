import { AMOUNT_TEXT, AT_HEAD, orNull } from './amounts.ts'
import { TRANSACTION_JSON, UNREADABLE_TRANSACTION } from './chain.ts'
import { COUNT, HEX, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

/** A state record that a transaction would change. */
export const CHANGE = Type.Object({
  what: Type.String(),
  of: Type.Record(Type.String(), Type.String()),
  before: orNull(Type.Record(Type.String(), Type.Unknown())),
  after: orNull(Type.Record(Type.String(), Type.Unknown())),
})

/** What a transaction would do in the next block. */
export const SIMULATED = Type.Object({
  ...AT_HEAD,
  wouldMine: Type.Boolean(),
  fault: Type.Optional(
    Type.Object({
      code: Type.String(),
      error: Type.String(),
      details: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
  success: Type.Boolean(),
  code: orNull(Type.String()),
  fee: AMOUNT_TEXT,
  burned: UINT_TEXT,
  weight: COUNT,
  amounts: Type.Array(AMOUNT_TEXT),
  changes: Type.Array(CHANGE),
})

/** The simulation of transactions. */
export const SIMULATION_ROUTES = {
  simulateTransaction: {
    method: 'POST',
    path: '/api/v1/tx/simulate',
    operationId: 'simulateTransaction',
    tag: 'chain',
    summary: 'What a transaction would do in the next block, alone; nothing is kept',
    description:
      'Takes a transaction like `/api/v1/tx`. Signatures may be any bytes of the right length: give no good ones. `wouldMine` false: no block could hold it now, `fault` says why. Else it would pay `fee`, and `code` names what its payload fails with, null on success. `changes` are the records that it changes, its fee included; `of` names each by address, symbol, pool and so on.',
    body: Type.Union([Type.Object({ raw: HEX }, { additionalProperties: false }), TRANSACTION_JSON]),
    answers: { 200: { description: 'The effects', schema: SIMULATED } },
    takesBytes: true,
    errors: UNREADABLE_TRANSACTION,
    bucket: 'simulate',
  },
} as const satisfies Record<string, Route>
