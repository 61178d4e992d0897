import { ACTORS, type Actor } from './actors.ts'
import { hex, tagged, unhex, utf8 } from './reference/bytes.ts'
import { type Ledger, NATIVE } from './reference/ledger.ts'
import type { ReferenceRules } from './reference/params.ts'
import { encodePayload, type Fields, KINDS, type Kind } from './reference/payloads.ts'

/** What choices are made from: the state before the block, what rules it follows, and raw numbers. */
export interface Choosing {
  readonly ledger: Ledger
  readonly rules: ReferenceRules
  readonly genesisId: string
  readonly height: number
  /** Whoever sends unless the choice asks for somebody. */
  readonly sender: Actor
  readonly n: readonly number[]
  /** Whether the account exists by the time of the transaction. */
  exists(address: string): boolean
}

/** A payload with its kind's number, and who is to send it. */
export interface Choice {
  readonly sender: Actor
  readonly kind: number
  readonly payload: Uint8Array
}

/** The value at a raw number. */
export const pick = <T>(values: readonly T[], choice: number | undefined): T =>
  values[(choice ?? 0) % values.length] as T

/** One byte string per number. */
export const hash32 = (number: number): string => hex(tagged('text', utf8(`unknown ${number}`)))

/** True once in `times` for the raw number at `index`. */
export const once = ({ n }: Choosing, times: number, index: number): boolean => (n[index] as number) % times === 0

/** The actor of that address if it can send, else whoever sends anyway; now and then whoever sends anyway. */
export function senderAt(choosing: Choosing, address: string | undefined): Actor {
  const actor = ACTORS.find((one) => one.address === address)
  return actor !== undefined && choosing.exists(actor.address) && !once(choosing, 9, 0) ? actor : choosing.sender
}

const AMOUNT_MAX = 2n ** 112n - 1n

/** The amount, or the nearest that a payload can hold. */
export const amountNear = (amount: bigint): bigint => {
  if (amount < 1n) return 1n
  return amount > AMOUNT_MAX ? AMOUNT_MAX : amount
}

/** Somebody who gets something: mostly an actor, now and then an address that has no account. */
export function receiver({ n }: Choosing, index: number): string {
  const choice = n[index] as number
  return choice % 5 === 4 ? hash32(choice % 16) : pick(ACTORS, choice).address
}

/** Symbol of an asset. */
export function symbolOf(asset: string, { rules }: Choosing): string {
  if (asset === NATIVE) return rules.coin.symbol
  return Buffer.from(unhex(asset)).toString('latin1').replace(/\0+$/, '')
}

/** A choice of a kind. */
export const choice = <K extends Kind>(sender: Actor, kind: K, fields: Fields<K>): Choice => ({
  sender,
  kind: KINDS[kind][0],
  payload: encodePayload(kind, fields),
})
