import { formatAddress } from '../../consensus/crypto/address.ts'
import { AMOUNT_MAX, type Amount, amount } from '../../consensus/primitives/amount.ts'
import { fromHex, isHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { type Fields, fieldsOf, objectOf } from '../../consensus/primitives/fields.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { unknownName } from '../../consensus/primitives/likeness.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ShownVoucher, TabPayment, TabQuery } from '../../marketplace/till/rails/tab/tab-call.ts'
import { readTabReceipt } from '../json/tab-json.ts'
import type { MarketApi } from '../node/node-api.ts'
import { NATIVE_NETWORK_WORD, nativeNetwork } from './options.ts'

/** A payment from a tab, or the wish to end a tab. */
export type OfferedTab =
  | { readonly rail: 'tab'; readonly payment: TabPayment; readonly refund: null }
  | { readonly rail: 'tab'; readonly payment: null; readonly refund: TabQuery }

const MEMBERS = {
  voucher: ['type', 'channelId', 'voucher', 'lastReceipt'],
  deposit: ['type', 'channelId', 'transaction', 'voucher', 'lastReceipt'],
  refund: ['type', 'channelId', 'timeMs', 'signature'],
} as const
const VOUCHER_MEMBERS = ['seq', 'maxClaimableAmount', 'secret', 'signature']

const BASE_UNITS = /^(0|[1-9][0-9]{0,38})$/
const UINT_32_MAX = 4_294_967_295
const SIGNATURE_BYTES = 64
const SHOWN_CHARS_MAX = 100

/** Reads a payment of scheme `batch-settlement`. Faults: `pay/unreadable` with the place, `pay/no-offer`. */
export function readTabPayment(payment: Fields, where: string, market: MarketApi): Result<OfferedTab> {
  const misfit = checkAccepted(payment, where, market)
  if (!misfit.ok) return misfit
  const payload = objectOf(payment.payload)
  if (payload === null) return unreadable(where, 'payload must be an object')
  const { type, channelId } = payload
  if (type !== 'voucher' && type !== 'deposit' && type !== 'refund')
    return unreadable(where, 'payload.type must be voucher, deposit or refund')
  const stranger = strangerIn(payload, MEMBERS[type])
  if (stranger !== null) return unreadable(where, `payload: ${stranger}`)
  if (!isHexText(channelId, 32)) return unreadable(where, 'payload.channelId must be 64 lower-case hex digits')
  const tabId = channelId as TxId
  return type === 'refund' ? readRefund(tabId, payload, where) : readCall(tabId, payload, where)
}

function readCall(tabId: TxId, payload: Fields, where: string): Result<OfferedTab> {
  const { type, transaction, voucher, lastReceipt } = payload
  const read = readVoucher(voucher, where)
  if (!read.ok) return read
  if (type === 'deposit' && !isHexText(transaction, 32))
    return unreadable(where, 'payload.transaction must be 64 lower-case hex digits')
  const receipt = lastReceipt === undefined ? null : readTabReceipt(lastReceipt)
  if (typeof receipt === 'string') return unreadable(where, `payload.lastReceipt${receipt}`)
  const payment = {
    tabId,
    voucher: read.value,
    transaction: type === 'deposit' ? (transaction as TxId) : null,
    ...(receipt !== null && { lastReceipt: receipt }),
  }
  return ok({ rail: 'tab', payment, refund: null })
}

function readVoucher(given: unknown, where: string): Result<ShownVoucher> {
  const voucher = objectOf(given)
  if (voucher === null) return unreadable(where, 'payload.voucher must be an object')
  const stranger = strangerIn(voucher, VOUCHER_MEMBERS)
  if (stranger !== null) return unreadable(where, `payload.voucher: ${stranger}`)
  const { seq, maxClaimableAmount, secret, signature } = voucher
  if (!isWhole(seq, UINT_32_MAX))
    return unreadable(where, `payload.voucher.seq must be a whole number from 0 to ${UINT_32_MAX}`)
  const ceiling = baseUnits(maxClaimableAmount)
  if (ceiling === null)
    return unreadable(where, 'payload.voucher.maxClaimableAmount must be base units as decimal text')
  if (!isHexText(secret, 32)) return unreadable(where, 'payload.voucher.secret must be 64 lower-case hex digits')
  if (!isHexText(signature, SIGNATURE_BYTES))
    return unreadable(where, 'payload.voucher.signature must be 128 lower-case hex digits')
  return ok({ seq, ceiling, secret: fromHex(secret), signature: fromHex(signature) })
}

function readRefund(tabId: TxId, { timeMs, signature }: Fields, where: string): Result<OfferedTab> {
  if (!isWhole(timeMs, Number.MAX_SAFE_INTEGER))
    return unreadable(where, 'payload.timeMs must be a time in whole milliseconds')
  if (!isHexText(signature, SIGNATURE_BYTES))
    return unreadable(where, 'payload.signature must be 128 lower-case hex digits')
  return ok({ rail: 'tab', payment: null, refund: { tabId, timeMs, signature: fromHex(signature) } })
}

/**
 * Scheme and network are enough. Where the payment repeats more of an offer, it must be the one that this node makes: else
 * the payer took another seller's offer for this one.
 */
function checkAccepted(payment: Fields, where: string, market: MarketApi): Result<null> {
  const { chain } = market.shop.context
  const { params } = chain.ruleBook
  const { operator, agent } = market.shop
  const isFirst = payment.scheme !== undefined
  const accepted = isFirst ? payment : fieldsOf(payment.accepted)
  const network = nativeNetwork(chain)
  if (typeof accepted.network !== 'string')
    return unreadable(where, `${isFirst ? '' : 'accepted.'}network must be ${network}`)
  if (accepted.network !== network && !(isFirst && accepted.network === NATIVE_NETWORK_WORD))
    return noOffer('network', accepted.network, network)
  const { agentId, genesis } = fieldsOf(accepted.extra)
  const repeated: readonly (readonly [string, unknown, string])[] = [
    ['asset', accepted.asset, params.ticker],
    ['payTo', accepted.payTo, formatAddress(params.addressPrefix, agent?.payout ?? operator.payout)],
    ['extra.genesis', genesis, chain.network.genesis],
    ['extra.agentId', agentId, operator.agentId],
  ]
  for (const [field, got, expected] of repeated)
    if (got !== undefined && got !== expected) return noOffer(`accepted.${field}`, got, expected)
  return ok(null)
}

function strangerIn(fields: Fields, known: readonly string[]): string | null {
  const stranger = Object.keys(fields).find((name) => !known.includes(name))
  return stranger === undefined ? null : unknownName('member', stranger, known)
}

function isHexText(value: unknown, bytes: number): value is string {
  return typeof value === 'string' && isHex(value, bytes)
}

function isWhole(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
}

function baseUnits(value: unknown): Amount | null {
  if (typeof value !== 'string' || !BASE_UNITS.test(value)) return null
  const units = BigInt(value)
  return units <= AMOUNT_MAX ? amount(units) : null
}

function unreadable(where: string, reason: string): Result<never> {
  return fail(fault('pay/unreadable', { where, reason }))
}

function noOffer(field: string, got: unknown, expected: string): Result<never> {
  const shown = typeof got === 'string' ? got.slice(0, SHOWN_CHARS_MAX) : typeof got
  return fail(fault('pay/no-offer', { field, got: shown, expected }))
}
