import type { TxKind } from '../../consensus/tx/kinds.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { RECEIPT_PART } from '../../rpc/client/ledger-client.ts'
import { decode } from '../../rpc/contract/schema.ts'
import { nativeAsset } from './assets.ts'
import { CALL_ENDS, withdrawalState } from './ends.ts'
import { counted } from './facts.ts'
import { type Told, toldPayload } from './payload-text.ts'
import { type Asking, cellOf, type Fields, itemsOf } from './reading.ts'
import { amountText, unitsText } from './values.ts'

const CALL = 'agent_invoke'
const TAB = 'tab_open'
/** Column heads of a history. */
export const HISTORY_HEADS: readonly string[] = ['HEIGHT', 'TIME', 'EVENT', 'OUTCOME', 'FEE', 'TRANSACTION']

/** A transaction, seen from the address whose history is shown. */
interface Seen extends Told {
  readonly sender: string
  /** True if that address sent it. */
  readonly isOwn: boolean
}

type Saying = (seen: Seen) => string

const moved =
  (symbolOf: (seen: Seen) => unknown): Saying =>
  (seen) => {
    const { payload, units, sender, isOwn } = seen
    const amount = units(payload.amount, symbolOf(seen)) ?? '-'
    return isOwn ? `sent ${amount} to ${cellOf(payload.to)}` : `received ${amount} from ${sender}`
  }
const minted: Saying = ({ payload, units, sender, isOwn }) => {
  const amount = units(payload.amount, payload.symbol) ?? '-'
  return isOwn ? `minted ${amount} for ${cellOf(payload.to)}` : `received ${amount}, minted by ${sender}`
}
const paidIn: Saying = ({ payload, amounts: [a, b], units }) => {
  const both = [units(a ?? payload.amountA, payload.assetA), units(b ?? payload.amountB, payload.assetB)]
  return `put ${both.join(' and ')} into ${poolOf(payload)}`
}
const drew =
  (verb: string): Saying =>
  ({ amounts: [due], units, ticker }) =>
    `${verb} ${units(due, ticker) ?? 'coins'}`

/** A kind that is missing is shown by its name. */
const SAYINGS: Readonly<Partial<Record<TxKind, Saying>>> = {
  transfer: moved(({ ticker }) => ticker),
  token_transfer: moved(({ payload }) => payload.symbol),
  token_create: ({ payload }) => `made the token ${cellOf(payload.symbol)}`,
  token_mint: minted,
  token_burn: ({ payload, units }) => `burned ${units(payload.amount, payload.symbol)}`,
  stable_mint: minted,
  stable_deposit: ({ payload, units }) =>
    `gave ${units(payload.amount, payload.reserve)} to the reserve of ${cellOf(payload.symbol)}`,
  stable_withdraw: ({ payload, units }) =>
    `took ${units(payload.amount, payload.reserve)} from the reserve of ${cellOf(payload.symbol)}`,
  stable_redeem: ({ payload, amounts: [paid], units }) =>
    `redeemed ${units(payload.amount, payload.symbol)} for ${units(paid, payload.reserve) ?? cellOf(payload.reserve)}`,
  pool_create: paidIn,
  liquidity_add: paidIn,
  liquidity_remove: ({ payload, amounts: [a, b], units }) => {
    const both = [
      units(a, payload.assetA) ?? cellOf(payload.assetA),
      units(b, payload.assetB) ?? cellOf(payload.assetB),
    ]
    return `took ${both.join(' and ')} out of ${poolOf(payload)}`
  },
  swap: ({ payload, amounts, units }) => {
    const to = itemsOf(payload.hops).at(-1)?.asset
    const paid = amounts[0] ?? (payload.exactOut === true ? undefined : payload.amount)
    const got = amounts.at(-1) ?? (payload.exactOut === true ? payload.amount : undefined)
    return `swapped ${units(paid, payload.assetIn) ?? cellOf(payload.assetIn)} for ${units(got, to) ?? cellOf(to)}`
  },
  stake: ({ payload, units, ticker }) => `staked ${units(payload.amount, ticker)} in tier ${cellOf(payload.tier)}`,
  unstake: drew('took back a stake of'),
  claim: drew('claimed a reward of'),
  bridge_deposit: ({ payload, units }) =>
    `received ${units(payload.amount, payload.asset)} over the bridge from ${cellOf(payload.network)}`,
  bridge_withdraw: ({ payload, units }) =>
    `sent ${units(payload.amount, payload.asset)} over the bridge to ${cellOf(payload.recipient)} on ${cellOf(payload.network)}`,
  agent_invoke: ({ payload, units, ticker, sender, isOwn }) => {
    const call = `call of ${cellOf(payload.serviceId)} for ${units(payload.amount, ticker) ?? '-'}`
    return isOwn ? `${call} to ${cellOf(payload.agentId)}` : `sold a ${call} to ${sender}`
  },
  tab_open: ({ payload, units, ticker }) =>
    `opened a tab with ${cellOf(payload.agentId)}, deposit ${units(payload.deposit, ticker) ?? '-'}`,
  tab_fund: ({ payload, units, ticker }) => `added ${units(payload.amount, ticker) ?? '-'} to a tab`,
  tab_claim: ({ payload, amounts: [paid], units, ticker }) =>
    `claimed ${units(paid, ticker) ?? 'coins'} from ${counted(itemsOf(payload.entries).length, 'tab')}`,
  tab_close: () => 'asked to close a tab',
}

function poolOf({ assetA, assetB, feeBps }: Fields): string {
  return `${cellOf(assetA)}-${cellOf(assetB)}-${cellOf(feeBps)}`
}

/**
 * Merges the payment and the end of a call into one line: payments are dropped if their end was seen. Events come
 * newest first. `ended` carries the ended calls from page to page.
 */
export function onePerCall(events: readonly Fields[], ended: Set<unknown>): readonly Fields[] {
  return events.filter(({ event, kind, txId }) => {
    if (kind !== CALL) return true
    if (event === 'transaction') return !ended.has(txId)
    ended.add(txId)
    return true
  })
}

/** A line of the history, seen from `own`, with the fee if `own` paid it. */
export async function historyRow(event: Fields, own: string, asking: Asking): Promise<readonly string[]> {
  const { fee, amounts } = await chargesOf(event, own, asking)
  const paid = fee === undefined ? '-' : amountText(fee, nativeAsset(asking.context))
  const what = await eventText(event, { isOwn: event.sender === own, amounts: amounts ?? [] }, asking)
  const outcome = (await stateIn(event, asking)) === 'cancelled' ? 'cancelled, given back' : outcomeOf(event)
  return [cellOf(event.height), cellOf(event.time), what, outcome, paid, cellOf(event.txId)]
}

/**
 * For programs: the node's own fields, the fee if `own` paid it, and the amounts that the chain computed, in base units and receipt order.
 * Fee and amounts are null if absent or no longer held by the node. A withdrawal also has its state.
 */
export async function historyFacts(event: Fields, own: string, asking: Asking): Promise<Fields> {
  const { fee, amounts } = await chargesOf(event, own, asking)
  const state = await stateIn(event, asking)
  const charged = { ...event, fee: fee?.toString() ?? null, amounts: amounts ?? null }
  return state === undefined ? charged : { ...charged, withdrawal: state }
}

async function chargesOf(event: Fields, own: string, asking: Asking) {
  // The opening's fee stands in its own line.
  const receipt = String(event.event).startsWith('tab_') ? undefined : await receiptOf(event, asking)
  const amounts = receipt?.success === true ? receipt.amounts.map(String) : undefined
  return { fee: event.sender === own ? receipt?.fee : undefined, amounts }
}

/** Undefined if the node no longer holds it. */
async function receiptOf({ txId }: Fields, { client }: Asking) {
  if (typeof txId !== 'string') return undefined
  const known = await client.transaction(txId)
  return known.ok ? decode(RECEIPT_PART, fieldsOf(known.value.receipt)) : undefined
}

/** A failed transaction moved nothing, so only its kind is named. */
async function eventText(
  event: Fields,
  { isOwn, amounts }: Pick<Seen, 'isOwn' | 'amounts'>,
  asking: Asking,
): Promise<string> {
  const { kind, payload, sender } = event
  if (typeof kind !== 'string') return event.event === 'reward' ? 'mining reward' : cellOf(event.event)
  const words = kind.replaceAll('_', ' ')
  if (kind === TAB && event.event !== 'transaction') return tabText(event, isOwn, asking)
  if (!Object.hasOwn(SAYINGS, kind) || payload === null || event.success !== true) return words
  const told = await toldPayload({ payload }, amounts, asking)
  return (SAYINGS[kind as TxKind] as Saying)({ ...told, sender: cellOf(sender), isOwn })
}

/** A claim or the return of a tab: its payer sent the opening, its payout did not. */
function tabText({ event, amount, payload, sender }: Fields, isOwn: boolean, { context }: Asking): string {
  const coins = unitsText(amount, nativeAsset(context))
  const agentId = cellOf(fieldsOf(payload).agentId)
  if (event === 'tab_returned') return `got back ${coins} from a tab with ${agentId}`
  if (event !== 'tab_claimed') return cellOf(event)
  return isOwn ? `${agentId} claimed ${coins} from a tab` : `claimed ${coins} from a tab of ${cellOf(sender)}`
}

/** The sender's history has no other event for returned tokens. */
async function stateIn({ kind, success, txId }: Fields, asking: Asking) {
  return kind === 'bridge_withdraw' && success === true ? withdrawalState(cellOf(txId), asking) : undefined
}

/** A successful payment is a call that has no answer yet. */
function outcomeOf({ event, kind, success, outcome }: Fields): string {
  const end = kind === CALL && Object.hasOwn(CALL_ENDS, String(event)) ? CALL_ENDS[String(event)] : undefined
  if (end !== undefined) return end
  if (success !== true) return cellOf(outcome)
  return kind === CALL ? 'paid' : 'success'
}
