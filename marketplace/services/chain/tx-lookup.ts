import { Type } from 'typebox'
import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { OUTCOME_OK, outcomeCode } from '../../../consensus/ledger/outcome.ts'
import { decodeReceipt, type ReceiptOf } from '../../../consensus/ledger/receipt.ts'
import { isHex } from '../../../consensus/primitives/bytes.ts'
import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId, TxId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { payloadToJson } from '../../../consensus/tx/json.ts'
import type { TxKind } from '../../../consensus/tx/kinds.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { assetNamed, coinOf } from '../../queries/assets.ts'
import { transactionGap } from '../../queries/known-past.ts'
import { movementsOf, tellsClaims } from '../../queries/movements.ts'
import { ASSET_AMOUNT, assetAmount } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { CHAIN_ENVELOPE, COIN_AMOUNT, chainEnvelope, coins } from '../envelope.ts'
import { sampleEnvelope } from '../figures.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { entryAt } from './chain-statistics.ts'
import { MOVEMENT, movementFacts } from './movement-facts.ts'

const ID = 'node-tx-lookup' as ServiceId
const REQUEST_FORMAT = 'transaction id: 64 hex digits, 0x optional'
/** A transaction id with its 0x prefix and some spaces around it. */
const REQUEST_CHARS_MAX = 100
const EXAMPLE = '0x4f2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8'

/** Kinds whose amount is shown in native coins, and kinds whose amount is in the token that they name. */
const IN_COINS: ReadonlySet<TxKind> = new Set(['transfer', 'agent_invoke', 'stake', 'tab_open', 'tab_fund'])
const IN_TOKENS: ReadonlySet<TxKind> = new Set(['token_transfer', 'token_mint', 'token_burn'])

const VERDICT = Type.Object({ alg: Type.String(), valid: Type.Union([Type.Boolean(), Type.Null()]) })

const RESULT = Type.Object({
  ...CHAIN_ENVELOPE,
  txId: Type.String(),
  found: Type.Boolean(),
  status: Type.Union([Type.Literal('mempool'), Type.Literal('mined'), Type.Literal('unknown')]),
  minedAt: Type.Optional(Type.Integer()),
  minedIn: Type.Optional(Type.String()),
  confirmations: Type.Integer({ minimum: 0 }),
  type: Type.Optional(Type.String()),
  sender: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  payloadUnits: Type.Optional(Type.Literal('base units')),
  /** The payload's amount in whole units; only for kinds in `IN_COINS` and `IN_TOKENS`. */
  amount: Type.Optional(ASSET_AMOUNT),
  size: Type.Optional(Type.Integer()),
  fee: Type.Optional(
    Type.Object({ amount: COIN_AMOUNT, burned: COIN_AMOUNT, rate: Type.String(), weight: Type.Integer() }),
  ),
  signature: Type.Optional(Type.Object({ classical: VERDICT, postQuantum: VERDICT })),
  receipt: Type.Optional(
    Type.Object({
      success: Type.Boolean(),
      code: Type.Union([Type.String(), Type.Null()]),
      entries: Type.Array(Type.Integer()),
    }),
  ),
  /** Movements without fees. Absent until the transaction is mined, or if it succeeded and its kind is in `UNTOLD`. */
  moved: Type.Optional(Type.Array(Type.Object(MOVEMENT))),
  unknown: Type.Array(Type.String()),
})

function parseTxId(request: string): Result<TxId> {
  const id = request.trim().toLowerCase().replace(/^0x/, '')
  if (isHex(id, 32)) return ok(id as TxId)
  return unusable('not a transaction id', { example: EXAMPLE, requestFormat: REQUEST_FORMAT })
}

/** The fault if this node cannot say whether the transaction was mined. */
function gapOf(txId: TxId, { chain, mempool }: ServiceContext): Fault | null {
  return mempool.get(txId) === undefined ? transactionGap(chain, txId) : null
}

interface Found {
  readonly tx: Transaction
  readonly minedAt: number | null
  readonly receipt: ReceiptOf<'transaction'> | undefined
}

function find({ chain: { database }, mempool }: ServiceContext, txId: TxId): Found | undefined {
  const location = database.location(txId)
  const blockId = location === undefined ? undefined : database.idAt(location.height)
  const mined = blockId === undefined ? undefined : database.transactionAt(blockId, location?.index as number)
  if (mined === undefined || blockId === undefined) {
    const waiting = mempool.get(txId)
    return waiting && { tx: waiting, minedAt: null, receipt: undefined }
  }
  const receipts = (database.receipts(blockId) ?? []).map(decodeReceipt)
  const receipt = receipts.find((candidate) => candidate.type === 'transaction' && candidate.txId === txId)
  return { tx: mined, minedAt: location?.height ?? null, receipt: receipt as ReceiptOf<'transaction'> | undefined }
}

function describe(context: ServiceContext, { tx, minedAt, receipt }: Found) {
  const { chain, signatureFacts } = context
  const prefix = chain.ruleBook.params.addressPrefix
  const signature = signatureFacts(tx)
  return {
    found: true,
    status: minedAt === null ? ('mempool' as const) : ('mined' as const),
    confirmations: minedAt === null ? 0 : chain.head.header.height - minedAt + 1,
    ...(minedAt === null ? {} : { minedAt, minedIn: entryAt(chain, minedAt).id }),
    type: tx.body.kind,
    sender: formatAddress(prefix, tx.body.sender),
    nonce: tx.body.nonce.toString(),
    payload: payloadToJson(prefix, tx.body),
    payloadUnits: 'base units' as const,
    ...amountIn(chain, tx.body),
    size: tx.size,
    ...(receipt === undefined ? {} : mined(context, { tx, minedAt, receipt })),
    signature,
    unknown: [
      ...(signature.classical.valid === null ? ['signature'] : []),
      ...(isUntold(chain, { tx, minedAt, receipt }) ? ['moved'] : []),
    ],
  }
}

function amountIn(chain: ChainReader, { kind, payload }: Transaction['body']) {
  if (!IN_COINS.has(kind) && !IN_TOKENS.has(kind)) return {}
  const fields = payload as { readonly amount?: bigint; readonly deposit?: bigint; readonly symbol?: string }
  const { deposit = 0n, amount = deposit, symbol = coinOf(chain).symbol } = fields
  const asset = assetNamed(chain, symbol)
  return asset === undefined ? {} : { amount: assetAmount(asset, amount) }
}

/** Kinds whose receipts do not show all that they move: settled escrows, a new token's burn, bridge refunds. */
const UNTOLD: ReadonlySet<TxKind> = new Set(['agent_receipt', 'token_create', 'bridge_cancel'])

function isUntold(chain: ChainReader, { tx, minedAt, receipt }: Found): boolean {
  const { kind } = tx.body
  const isUnknown = kind === 'tab_claim' && minedAt !== null && !tellsClaims(chain, minedAt)
  return receipt?.code === OUTCOME_OK && (isUnknown || UNTOLD.has(kind))
}

function movementsIn({ chain }: ServiceContext, tx: Transaction, receipt: ReceiptOf<'transaction'>) {
  return movementsOf(chain, tx, receipt).map((movement) => movementFacts(chain, movement))
}

function mined(context: ServiceContext, found: Found & { readonly receipt: ReceiptOf<'transaction'> }) {
  const { tx, receipt } = found
  const { fee, burned, rate, weight, code, entries } = receipt
  return {
    ...(isUntold(context.chain, found) ? {} : { moved: movementsIn(context, tx, receipt) }),
    fee: { amount: coins(context, fee), burned: coins(context, burned), rate: rate.toString(), weight },
    receipt: { success: code === OUTCOME_OK, code: outcomeCode(code) ?? null, entries: [...entries] },
  }
}

/** Status, payload, fee and signature check of one transaction. */
export const txLookup = defineService({
  serviceId: ID,
  name: 'Transaction lookup',
  description:
    'Status, confirmations, payload, what it moved from where to where, fee and a fresh check of both signature halves of one transaction.',
  brief: 'Looks up one transaction: status, confirmations, payload, fee and signatures.',
  words: 'tx id confirmed payment mined pending',
  capability: 'explorer',
  priceUsdMicros: 6_000n,
  requestFormat: REQUEST_FORMAT,
  example: EXAMPLE,
  sample: {
    ...sampleEnvelope(ID),
    txId: EXAMPLE.slice(2),
    found: true,
    status: 'mined',
    confirmations: 5,
    minedAt: 12341,
    minedIn: '1a2c4b1a7d3e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
    type: 'transfer',
    sender: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl',
    nonce: '4',
    payload: {
      to: 'dfar1g2mtfqgx0gqm2g6l7xvvmnwca3e62wgdmsw9wrgu2lkwqm9qje7q5djuzz',
      amount: '150000000',
      create: false,
    },
    payloadUnits: 'base units',
    amount: { symbol: 'FAR', decimals: 8, amount: '1.5' },
    size: 2752,
    fee: { amount: '0.00118404', burned: '0.00114816', rate: '33', weight: 3588 },
    moved: [
      {
        from: { place: 'address', name: 'dfar1pan802azxdl7y2n78v3r0g68y6ry5sqmumaq5eemc0nuvugkzw0s094xzl' },
        to: { place: 'address', name: 'dfar1g2mtfqgx0gqm2g6l7xvvmnwca3e62wgdmsw9wrgu2lkwqm9qje7q5djuzz' },
        ...{ symbol: 'FAR', decimals: 8, amount: '1.5' },
      },
    ],
    receipt: { success: true, code: null, entries: [] },
    signature: { classical: { alg: 'Ed25519', valid: true }, postQuantum: { alg: 'ML-DSA-44', valid: true } },
    unknown: [],
  },
  timeoutMs: 2_000,
  resultBytesMax: 131_072,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse: parseTxId,
  ready: () => ({ available: true, engine: 'chain' }),
  resultSchema: RESULT,
  check: gapOf,
  execute: (txId, context) => {
    const gap = gapOf(txId, context)
    if (gap !== null) throw new Error(faultMessage(gap))
    const found = find(context, txId)
    const facts =
      found === undefined
        ? { found: false, status: 'unknown' as const, confirmations: 0, unknown: [] }
        : describe(context, found)
    return { ...chainEnvelope(ID, context), txId, ...facts }
  },
})
