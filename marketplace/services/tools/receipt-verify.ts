import { Type } from 'typebox'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { OUTCOME_OK, outcomeCode } from '../../../consensus/ledger/outcome.ts'
import { isHex, toHex } from '../../../consensus/primitives/bytes.ts'
import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId, TxId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { AGENTS, SERVICES } from '../../ledger/agents.ts'
import { CAPABILITIES } from '../../ledger/capabilities.ts'
import { type CallFacts, callFacts, type ItemProof, type MinedFacts, minedFacts } from '../../queries/call-records.ts'
import { callGap } from '../../queries/known-past.ts'
import { tabFacts, tabGap } from '../../queries/tabs.ts'
import { orNull, SYMBOL, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, chainEnvelope, coins } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { readShownReceipt, type ShownReceipt, TAB_RESULT, tabReceiptFacts } from './tab-receipt.ts'

const ID = 'node-receipt-verify' as ServiceId
const FORMAT = {
  requestFormat:
    'transaction id of an agent_invoke: 64 hex digits, 0x optional; or JSON of a receipt of a tab, alone or as {receipt, path: {index, count, siblings}}',
  example: '0x4f2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
}
/** A receipt of a tab with a path of 32 hashes. */
const REQUEST_CHARS_MAX = 4_000
const HEX_32 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const HEX = Type.String({ pattern: '^([0-9a-f]{2})*$' })

const PLACE = {
  height: Type.Integer({ minimum: 0 }),
  blockHash: HEX_32,
  time: Type.String(),
  confirmations: Type.Integer({ minimum: 1 }),
}

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  txId: HEX_32,
  status: Type.Unsafe<'unknown' | 'mempool' | 'mined'>({ type: 'string', enum: ['unknown', 'mempool', 'mined'] }),
  isPayment: orNull(Type.Boolean()),
  state: Type.Unsafe<CallFacts['state']>({ type: 'string', enum: ['none', 'open', 'delivered', 'failed', 'expired'] }),
  refunded: orNull(Type.Boolean()),
  payment: orNull(
    Type.Object({
      ...PLACE,
      type: Type.String(),
      success: Type.Boolean(),
      code: orNull(Type.String()),
      caller: Type.String(),
      agentId: orNull(Type.String()),
      agentName: orNull(Type.String()),
      serviceId: orNull(Type.String()),
      serviceName: orNull(Type.String()),
      capability: orNull(Type.String()),
      symbol: SYMBOL,
      amount: orNull(COIN_AMOUNT),
      deadline: orNull(Type.Integer()),
    }),
  ),
  receipt: orNull(
    Type.Object({
      ...PLACE,
      txId: orNull(HEX_32),
      by: orNull(Type.String()),
      resultHash: orNull(HEX_32),
      durationMs: orNull(Type.Integer()),
    }),
  ),
  proofs: Type.Array(
    Type.Object({
      of: Type.String(),
      tree: Type.Unsafe<ItemProof['tree']>({ type: 'string', enum: ['transactions', 'receipts'] }),
      header: HEX,
      item: HEX,
      index: Type.Integer({ minimum: 0 }),
      count: Type.Integer({ minimum: 1 }),
      siblings: Type.Array(HEX_32),
    }),
  ),
  unknown: UNKNOWN,
  tab: Type.Optional(TAB_RESULT),
})

/** A transaction by its id, or a receipt of a tab. */
type Asked = { readonly txId: TxId; readonly shown: ShownReceipt | null }

function parse(request: string): Result<Asked> {
  const id = request.trim().toLowerCase().replace(/^0x/, '')
  if (isHex(id, 32)) return ok({ txId: id as TxId, shown: null })
  const shown = readShownReceipt(request)
  if (shown !== undefined) return ok({ txId: shown.receipt.tabId, shown })
  return unusable('not a transaction id', FORMAT)
}

function placeOf({ chain }: ServiceContext, { header, id }: ItemProof['entry']) {
  return {
    height: header.height,
    blockHash: id,
    time: new Date(header.timeMs).toISOString(),
    confirmations: chain.head.header.height - header.height + 1,
  }
}

function paymentJson(context: ServiceContext, { entry, tx, receipt }: MinedFacts) {
  const { database, ruleBook } = context.chain
  const { body } = tx
  const common = {
    ...placeOf(context, entry),
    type: body.kind,
    success: receipt.code === OUTCOME_OK,
    code: outcomeCode(receipt.code) ?? null,
    caller: formatAddress(ruleBook.params.addressPrefix, body.sender),
    symbol: ruleBook.params.ticker,
  }
  if (body.kind !== 'agent_invoke') return { ...common, ...NO_CALL }
  const { agentId, serviceId, amount, term } = body.payload
  const service = database.get(SERVICES, { agentId, serviceId })
  return {
    ...common,
    agentId,
    agentName: database.get(AGENTS, agentId)?.name ?? null,
    serviceId,
    serviceName: service?.name ?? null,
    capability: service === undefined ? null : (CAPABILITIES[service.capability] ?? null),
    amount: coins(context, amount),
    deadline: entry.header.height + term,
  }
}

const NO_CALL = {
  ...{ agentId: null, agentName: null, serviceId: null, serviceName: null },
  ...{ capability: null, amount: null, deadline: null },
}

function receiptJson(context: ServiceContext, { closure, closedIn }: CallFacts) {
  if (closure === undefined || closedIn === undefined) return null
  const { receiptTxId, resultHash, durationMs } = closure
  const sender = receiptTxId === null ? undefined : minedFacts(context.chain, receiptTxId)?.tx.body.sender
  const prefix = context.chain.ruleBook.params.addressPrefix
  const by = sender === undefined ? null : formatAddress(prefix, sender)
  return { ...placeOf(context, closedIn), txId: receiptTxId, by, resultHash, durationMs }
}

const NAMES = { transactions: 'transaction', receipts: 'outcome' } as const

function proofJson(of: string, { entry, tree, item, proof }: ItemProof) {
  const { index, count, siblings } = proof
  return {
    of: `${of} ${NAMES[tree]}`,
    tree,
    header: toHex(entry.bytes),
    item: toHex(item),
    ...{ index, count, siblings: siblings.map(toHex) },
  }
}

function verified(context: ServiceContext, facts: CallFacts) {
  const { payment, state, closingProofs } = facts
  return {
    status: 'mined' as const,
    isPayment: payment.tx.body.kind === 'agent_invoke',
    state,
    // Null without a payment: there is nothing to refund.
    refunded: state === 'none' ? null : state === 'failed' || state === 'expired',
    payment: paymentJson(context, payment),
    receipt: receiptJson(context, facts),
    proofs: [
      ...payment.proofs.map((proof) => proofJson('payment', proof)),
      ...closingProofs.map((proof) => proofJson('closing', proof)),
    ],
    unknown: [],
  }
}

/** The fault if this node cannot know whether the call was mined or has ended, or whether there was such a tab. */
function gapOf({ txId, shown }: Asked, { chain, mempool }: ServiceContext): Fault | null {
  if (shown !== null) return tabFacts(chain, txId) === undefined ? tabGap(chain) : null
  return mempool.get(txId) === undefined ? callGap(chain, txId) : null
}

function unproved({ mempool }: ServiceContext, txId: TxId) {
  const waiting = mempool.get(txId)
  return {
    status: waiting === undefined ? ('unknown' as const) : ('mempool' as const),
    isPayment: waiting === undefined ? null : waiting.body.kind === 'agent_invoke',
    state: 'none' as const,
    refunded: null,
    payment: null,
    receipt: null,
    proofs: [],
    unknown: ['payment', 'receipt', 'refunded', ...(waiting === undefined ? ['isPayment'] : [])],
  }
}

/** A receipt of a tab: `payment` is the opening, `receipt` the claim that commits to it. */
async function ofTab(context: ServiceContext, shown: ShownReceipt) {
  const { opening, mined, tab } = await tabReceiptFacts(context, shown)
  const claimedIn = mined === undefined ? null : receiptOf(context, mined, shown)
  const paid = opening === undefined ? null : paymentJson(context, opening)
  const state = tab.claim === null || mined === undefined ? 'none' : tab.delivered ? 'delivered' : 'failed'
  return {
    status: tab.agentId === null ? ('unknown' as const) : ('mined' as const),
    isPayment: tab.agentId === null ? null : true,
    state: state as CallFacts['state'],
    refunded: null,
    payment: paid,
    receipt: claimedIn,
    proofs: [
      ...(opening?.proofs ?? []).map((proof) => proofJson('payment', proof)),
      ...(mined?.proofs ?? []).map((proof) => proofJson('closing', proof)),
    ],
    unknown: [...(paid === null ? ['payment'] : []), ...(claimedIn === null ? ['receipt'] : []), 'refunded'],
    tab,
  }
}

function receiptOf(context: ServiceContext, mined: MinedFacts, { receipt }: ShownReceipt) {
  const { txId, body } = mined.tx
  const by = formatAddress(context.chain.ruleBook.params.addressPrefix, body.sender)
  return { ...placeOf(context, mined.entry), txId, by, resultHash: receipt.resultHash, durationMs: receipt.durationMs }
}

/** Whether a call was paid and how it ended, with Merkle proofs against block headers. */
export const receiptVerify = defineService<Asked, typeof RESULT>({
  serviceId: ID,
  name: 'Receipt verification',
  description:
    'Whether a paid call was mined: agent, service, amount, caller, open, delivered, failed or expired, refunded or not, receipt, result hash, and Merkle proofs of payment and receipt. Of a receipt of a tab: whether the seller signed it, which claim commits to it, and whether its path leads to the root.',
  brief: 'Proves whether a paid call was mined, delivered or refunded, with Merkle proofs.',
  words: 'proof escrow check refund',
  capability: 'compliance',
  priceUsdMicros: 6_000n,
  ...FORMAT,
  sample: {
    ...sampleEnvelope(ID),
    txId: FORMAT.example.slice(2),
    status: 'mined',
    isPayment: true,
    state: 'delivered',
    refunded: false,
    payment: {
      height: 12341,
      blockHash: '1a2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
      time: '2026-11-20T11:59:46.500Z',
      confirmations: 5,
      type: 'agent_invoke',
      success: true,
      code: null,
      caller: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
      agentId: 'farthing-0f677daa2337',
      agentName: 'Farthing node',
      serviceId: 'node-price-feed',
      serviceName: 'Price feed',
      capability: 'pricing',
      symbol: 'FAR',
      amount: '0.024',
      deadline: 12441,
    },
    receipt: {
      height: 12342,
      blockHash: '2b2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
      time: '2026-11-20T11:59:49.500Z',
      confirmations: 4,
      txId: '3c2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
      by: 'dfar1g2mtfqgx0gqm2g6l7xvvmnwca3e62wgdmsw9wrgu2lkwqm9qje7q5djuzz',
      resultHash: '7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e89f2c4b1a',
      durationMs: 4,
    },
    proofs: [
      {
        of: 'payment transaction',
        tree: 'transactions',
        header: '01000000',
        item: FORMAT.example.slice(2),
        index: 0,
        count: 1,
        siblings: [],
      },
    ],
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 65_536,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  check: gapOf,
  execute: async (asked, context) => {
    const { txId, shown } = asked
    const gap = gapOf(asked, context)
    if (gap !== null) throw new Error(faultMessage(gap))
    if (shown !== null) return { ...chainEnvelope(ID, context), txId, ...(await ofTab(context, shown)) }
    const mined = minedFacts(context.chain, txId)
    const facts = mined === undefined ? unproved(context, txId) : verified(context, callFacts(context.chain, mined))
    return { ...chainEnvelope(ID, context), txId, ...facts }
  },
})
