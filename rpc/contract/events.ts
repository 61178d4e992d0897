import { orNull } from './amounts.ts'
import { ADDRESS_TEXT, COUNT, HEIGHT, HEX_32, MOMENT, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

const BLOCK_NAME = Type.Object({ height: HEIGHT, id: HEX_32 })
/** Place of an event: the id of its block, and its number in that block. */
export const EVENT_ID = Type.String({ pattern: '^[0-9a-f]{64}\\.(0|[1-9][0-9]{0,9})$' })

const CALL = {
  txId: HEX_32,
  serviceId: orNull(Type.String()),
  agentId: orNull(Type.String()),
  height: HEIGHT,
}

/** Data of each event, by name. */
export const EVENT_DATA = {
  block: Type.Object({ height: HEIGHT, id: HEX_32, time: MOMENT, transactions: COUNT }),
  reorganisation: Type.Object({
    from: BLOCK_NAME,
    to: BLOCK_NAME,
    commonAncestor: BLOCK_NAME,
    depth: COUNT,
    left: Type.Array(HEX_32),
  }),
  receipt: Type.Object({ ...CALL, resultHash: HEX_32, receiptTxId: HEX_32 }),
  refund: Type.Object({
    ...CALL,
    how: Type.Unsafe<'failed' | 'expired'>({ type: 'string', enum: ['failed', 'expired'] }),
    amount: orNull(UINT_TEXT),
    caller: orNull(ADDRESS_TEXT),
    receiptTxId: orNull(HEX_32),
  }),
  tab: Type.Object({
    tabId: HEX_32,
    agentId: orNull(Type.String()),
    payer: orNull(ADDRESS_TEXT),
    height: HEIGHT,
    how: Type.Unsafe<'opened' | 'funded' | 'closing' | 'claimed' | 'returned'>({
      type: 'string',
      enum: ['opened', 'funded', 'closing', 'claimed', 'returned'],
    }),
    amount: orNull(UINT_TEXT),
    byTxId: orNull(HEX_32),
  }),
  reset: Type.Object({
    reason: Type.Unsafe<'unknown' | 'too-old' | 'pruned'>({ type: 'string', enum: ['unknown', 'too-old', 'pruned'] }),
    head: BLOCK_NAME,
    resumeAt: EVENT_ID,
  }),
} as const

/** Name of an event. */
export type EventName = keyof typeof EVENT_DATA

const NAMES = '(block|reorganisation|receipt|refund|tab)'

const EVENTS_QUERY = Type.Object(
  {
    types: Type.Optional(Type.String({ pattern: `^${NAMES}(,${NAMES}){0,4}$` })),
    agentId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    serviceId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    txId: Type.Optional(HEX_32),
    after: Type.Optional(EVENT_ID),
  },
  { additionalProperties: false },
)

/** The stream of events. */
export const EVENT_ROUTES = {
  followEvents: {
    method: 'GET',
    path: '/api/v1/events',
    operationId: 'followEvents',
    tag: 'chain',
    summary: 'Blocks, reorganisations, receipts, refunds and steps of tabs as they happen, as server-sent events',
    description:
      'Of a block first comes `block`, then a `receipt` for each paid call that it closed as delivered and a `refund` for each that failed or expired, of all agents of this chain, then a `tab` for each step of a tab: `amount` is the deposit, what was added, all that was claimed so far, or what came back; `byTxId` is null where consensus ended it. `amount` is in base units. An `id` names the block and the number of the event in it: a reader that comes back with it as `Last-Event-ID` (or `after`) gets everything since, also after a restart of the node, at most 1,000 blocks. Where blocks that were told have left the best chain, a `reorganisation` comes first: what was told of the blocks in `left` is void. What can no longer be told gives one `reset`: read anew what you need as of `head`, the stream goes on behind it, at `resumeAt`. `types` leaves out other events than those named, `agentId`, `serviceId` and `txId` other calls and tabs (a tab has the id of its opening, and no service); `reorganisation` and `reset` always come. An `id` without data only moves the place to come back to. `serviceId`, `agentId`, `amount` and `caller` are null where the node cannot look up the payment: it has pruned it, or began from a later snapshot. A comment comes every few seconds; a reader that does not keep up is cut off.',
    query: EVENTS_QUERY,
    answers: { 200: { description: 'A stream that does not end by itself', contentType: 'text/event-stream' } },
    bucket: 'events',
  },
} as const satisfies Record<string, Route>
