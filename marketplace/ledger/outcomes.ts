import type { FoldedIndex, IndexRead, IndexWrite } from '../../consensus/chain/chain-index.ts'
import type { ConnectedBlock } from '../../consensus/chain/events.ts'
import { OUTCOME_OK } from '../../consensus/ledger/outcome.ts'
import { type Amount, add, amount, mulDivDown, ZERO } from '../../consensus/primitives/amount.ts'
import { concat, fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import {
  container,
  decodeOwn,
  encode,
  list,
  safeUint64,
  uint32,
  uint128,
  uint256,
  type ValueOf,
} from '../../consensus/primitives/codec.ts'
import type { Address, AgentId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { OUTCOME_DELIVERED } from '../../consensus/tx/payloads.ts'
import { type ServiceName, serviceKey } from './agents.ts'
import { EscrowParties, type Parties } from './escrow-parties.ts'
import type { Delivered } from './statistics.ts'
import type { ClaimSplit } from './tab-changes.ts'
import { type TabStep, tabStepsOf } from './tab-steps.ts'

/** Class i counts durations above 2^(i-1) and up to 2^i ms, class 0 also 0 ms, the last class all longer ones. */
export const DURATION_CLASSES = 24

const OUTCOMES_RECORD = container('Outcomes', {
  delivered: safeUint64,
  failed: safeUint64,
  expired: safeUint64,
  volume: uint128,
  topPayerVolume: uint128,
  squares: uint256,
  payers: safeUint64,
  feesBurned: uint128,
  durations: list(uint32, DURATION_CLASSES),
  provenCallsByTab: safeUint64,
  failedByTab: safeUint64,
  payersByTab: safeUint64,
  volumeByTab: uint128,
  burnedByTab: uint128,
})

/**
 * How paid calls ended, without those by the agent's own owner, payout and settlers. `failed`: reported by the operator;
 * `expired`: refunded at the deadline. `volume`: what delivered calls paid; `topPayerVolume`: the largest payer's part of
 * it; `squares`: the sum of the squares of each caller's part. `payers`: callers with a delivered call. `feesBurned`:
 * base fees that all payments burned, however they ended. `durations`: deliveries per class, as the operator claims.
 * Calls on tabs count in the last five alone: those that claims proved, those that the operator says failed (by agent; a
 * claim does not name their services), payers with a proven call, what they paid, and the part of it that was burned.
 */
export type Outcomes = ValueOf<typeof OUTCOMES_RECORD>

/** The record before any call has ended. */
export const NO_OUTCOMES: Outcomes = {
  delivered: 0,
  failed: 0,
  expired: 0,
  volume: ZERO,
  topPayerVolume: ZERO,
  squares: 0n,
  payers: 0,
  feesBurned: ZERO,
  durations: new Array<number>(DURATION_CLASSES).fill(0),
  ...{ provenCallsByTab: 0, failedByTab: 0, payersByTab: 0, volumeByTab: ZERO, burnedByTab: ZERO },
}

/**
 * 0 || agent id `/` service id -> record of the service; 2 || agent id -> record of all its services; 1 and 3 || the same
 * `/` caller -> what that caller paid for delivered calls; 4 and 5 || the same `/` payer -> nothing: it had a call on a tab.
 */
export const OUTCOMES: FoldedIndex = { name: 'outcomes-3', prefix: 0x07, fold }

/** Key of a service's record. */
export function outcomesKey(name: ServiceName): Uint8Array {
  return recordKey(serviceSubject(name))
}

/** Key of an operator's record. */
export function operatorOutcomesKey(agentId: AgentId): Uint8Array {
  return recordKey(operatorSubject(agentId))
}

/** A service or an operator: the prefixes of its three kinds of keys, and its name. */
interface Subject {
  readonly record: number
  readonly payer: number
  readonly tabPayer: number
  readonly name: Uint8Array
}

function serviceSubject(name: ServiceName): Subject {
  return { record: 0, payer: 1, tabPayer: 4, name: fromHex(serviceKey(name)) }
}

function operatorSubject(agentId: AgentId): Subject {
  return { record: 2, payer: 3, tabPayer: 5, name: encodeText(agentId) }
}

function recordKey({ record, name }: Subject): Uint8Array {
  return concat(Uint8Array.of(record), name)
}

/** Decodes a record. */
export function decodeOutcomes(value: Uint8Array | undefined): Outcomes {
  return value === undefined ? NO_OUTCOMES : decodeOwn(OUTCOMES_RECORD, value)
}

/** Upper bound of a percentile of the delivery times, in ms; the last class holds longer times too. Null without deliveries. */
export function durationPercentile({ durations }: Outcomes, percent: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  const enough = durations.findIndex((count) => {
    seen += count
    return seen * 100 >= total * percent
  })
  return 2 ** enough
}

function payerKey(prefix: number, { name }: Subject, caller: Address): Uint8Array {
  // No id contains the separator, so no id with a caller behind it can be the prefix of another.
  return concat(Uint8Array.of(prefix), name, encodeText('/'), fromHex(caller))
}

type CallEvent =
  | { readonly what: 'paid'; readonly parties: Parties; readonly burned: Amount }
  | {
      readonly what: 'delivered' | 'failed' | 'expired'
      readonly parties: Parties
      readonly durationMs: number
    }

function fold(connected: ConnectedBlock, read: IndexRead): readonly IndexWrite[] {
  const writes = new Map<string, Uint8Array>()
  const latest: IndexRead = (key) => writes.get(toHex(key)) ?? read(key)
  for (const event of eventsOf(connected)) {
    const { insider, agentId } = event.parties
    if (insider) continue
    for (const subject of [serviceSubject(event.parties), operatorSubject(agentId)])
      for (const { key, value } of counted(event, subject, latest)) writes.set(toHex(key), value)
  }
  for (const step of tabStepsOf(connected))
    for (const { key, value } of countedOnTab(step, latest)) writes.set(toHex(key), value)
  return [...writes].map(([key, value]) => ({ key: fromHex(key), value }))
}

function countedOnTab(step: TabStep, read: IndexRead): readonly Entry[] {
  if (step.what !== 'claimed' || step.tab.insider) return []
  const { agentId, payer } = step.tab
  const { charged, burned, counted } = step.split
  const all = { calls: counted.reduce((sum, { calls }) => sum + calls, 0), failed: step.claim.failed, charged, burned }
  const services = shares(step.split).flatMap((share) =>
    onTab(serviceSubject({ agentId, ...share }), { payer, ...share }, read),
  )
  return [...services, ...onTab(operatorSubject(agentId), { payer, ...all }, read)]
}

interface TabShare {
  readonly calls: number
  readonly failed: number
  readonly charged: Amount
  readonly burned: Amount
}

/** What an entry burned is shared out by what the services were paid, rounded down. */
function shares({ counted, burned, charged }: ClaimSplit): readonly (TabShare & Pick<Delivered, 'serviceId'>)[] {
  const shareOf = (part: Amount): Amount => (charged === 0n ? ZERO : amount(mulDivDown(burned, part, charged)))
  return counted.map((one) => ({ ...one, failed: 0, burned: shareOf(one.charged) }))
}

function onTab(subject: Subject, share: TabShare & { readonly payer: Address }, read: IndexRead): readonly Entry[] {
  const { calls, failed, charged, burned } = share
  const key = recordKey(subject)
  const known = decodeOutcomes(read(key))
  const payer = payerKey(subject.tabPayer, subject, share.payer)
  const isNew = calls > 0 && read(payer) === undefined
  const outcomes = {
    ...known,
    provenCallsByTab: capped(known.provenCallsByTab + calls),
    failedByTab: capped(known.failedByTab + failed),
    payersByTab: known.payersByTab + (isNew ? 1 : 0),
    volumeByTab: add(known.volumeByTab, charged),
    burnedByTab: add(known.burnedByTab, burned),
  }
  const record = { key, value: encode(OUTCOMES_RECORD, outcomes) }
  return isNew ? [record, { key: payer, value: new Uint8Array(0) }] : [record]
}

/** Failed calls are a seller's free word: without a cap a seller could count past what the record holds, and stop every node. */
function capped(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}

interface Entry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

function counted(event: CallEvent, subject: Subject, read: IndexRead): readonly Entry[] {
  const key = recordKey(subject)
  const known = decodeOutcomes(read(key))
  const record = (outcomes: Outcomes): Entry => ({ key, value: encode(OUTCOMES_RECORD, outcomes) })
  if (event.what === 'paid') return [record({ ...known, feesBurned: add(known.feesBurned, event.burned) })]
  const outcomes = { ...known, [event.what]: known[event.what] + 1 }
  if (event.what !== 'delivered') return [record(outcomes)]
  const payer = payerKey(subject.payer, subject, event.parties.caller)
  const before = read(payer)
  const had = before === undefined ? ZERO : decodeOwn(uint128, before)
  const paid = add(had, event.parties.amount)
  return [
    record({
      ...outcomes,
      volume: add(known.volume, event.parties.amount),
      topPayerVolume: larger(known.topPayerVolume, paid),
      squares: known.squares - had * had + paid * paid,
      payers: known.payers + (before === undefined ? 1 : 0),
      durations: known.durations.map((count, i) => count + (i === durationClass(event.durationMs) ? 1 : 0)),
    }),
    { key: payer, value: encode(uint128, paid) },
  ]
}

function larger(a: Amount, b: Amount): Amount {
  return a > b ? a : b
}

function durationClass(durationMs: number): number {
  return Math.min(DURATION_CLASSES - 1, durationMs <= 1 ? 0 : 32 - Math.clz32(durationMs - 1))
}

function eventsOf(connected: ConnectedBlock): readonly CallEvent[] {
  const { block, receipts } = connected
  const transactions = new Map(block.transactions.map((tx) => [tx.txId, tx]))
  const escrows = new EscrowParties(connected)
  return receipts.flatMap((receipt): readonly CallEvent[] => {
    if (receipt.type === 'refund') return [{ what: 'expired', parties: escrows.of(receipt.txId), durationMs: 0 }]
    const tx = receipt.type === 'transaction' ? transactions.get(receipt.txId) : undefined
    if (receipt.type !== 'transaction' || tx === undefined || receipt.code !== OUTCOME_OK) return []
    escrows.see(tx)
    if (tx.body.kind === 'agent_invoke') return [{ what: 'paid', parties: escrows.of(tx.txId), burned: receipt.burned }]
    if (tx.body.kind !== 'agent_receipt') return []
    return tx.body.payload.entries.flatMap(({ txId, outcome, durationMs }, i): readonly CallEvent[] => {
      if (receipt.entries[i] !== OUTCOME_OK) return []
      return [{ what: outcome === OUTCOME_DELIVERED ? 'delivered' : 'failed', parties: escrows.of(txId), durationMs }]
    })
  })
}
