import { ACTORS, type Actor } from './actors.ts'
import { hex, tagged, unhex, utf8 } from './reference/bytes.ts'
import { type Ledger, NATIVE } from './reference/ledger.ts'
import type { ReferenceRules } from './reference/params.ts'
import { encodePayload, type Fields, KINDS, type Kind } from './reference/payloads.ts'

/** What a choice is made from: the state before the block, its rules, and raw random numbers. */
export interface Choosing {
  readonly ledger: Ledger
  readonly rules: ReferenceRules
  readonly genesisId: string
  readonly height: number
  /** The sender, unless the choice needs a particular one. */
  readonly sender: Actor
  readonly n: readonly number[]
  /** Whether the account exists by the time of the transaction. */
  exists(address: string): boolean
}

/** A payload with the number of its kind, and its sender. */
export interface Choice {
  readonly sender: Actor
  readonly kind: number
  readonly payload: Uint8Array
}

/** The value that a raw number selects: its remainder by the length is the index. Undefined selects the value at index 0. */
export const pick = <T>(values: readonly T[], choice: number | undefined): T =>
  values[(choice ?? 0) % values.length] as T

/** A made-up 32-byte id for a number, in hex. */
export const hash32 = (number: number): string => hex(tagged('text', utf8(`unknown ${number}`)))

/** Whether the raw number at `index` is a multiple of `times`. That is so once in `times`. */
export const once = ({ n }: Choosing, times: number, index: number): boolean => (n[index] as number) % times === 0

/**
 * The actor at that address if it has an account, else the usual sender. Once in nine it is the usual sender in any case, to try refusals.
 */
export function senderAt(choosing: Choosing, address: string | undefined): Actor {
  const actor = ACTORS.find((one) => one.address === address)
  return actor !== undefined && choosing.exists(actor.address) && !once(choosing, 9, 0) ? actor : choosing.sender
}

const AMOUNT_MAX = 2n ** 112n - 1n

/** The nearest amount that a payload can hold. */
export const amountNear = (amount: bigint): bigint => {
  if (amount < 1n) return 1n
  return amount > AMOUNT_MAX ? AMOUNT_MAX : amount
}

/** A receiver: mostly the address of an actor, once in five an address that no actor has. */
export function receiver({ n }: Choosing, index: number): string {
  const choice = n[index] as number
  return choice % 5 === 4 ? hash32(choice % 16) : pick(ACTORS, choice).address
}

export function symbolOf(asset: string, { rules }: Choosing): string {
  if (asset === NATIVE) return rules.coin.symbol
  return Buffer.from(unhex(asset)).toString('latin1').replace(/\0+$/, '')
}

export const choice = <K extends Kind>(sender: Actor, kind: K, fields: Fields<K>): Choice => ({
  sender,
  kind: KINDS[kind][0],
  payload: encodePayload(kind, fields),
})
