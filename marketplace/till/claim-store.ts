import type { Fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'

/** The members of a claim that the till and its store read. Each rail adds its own. */
export interface StoredClaim {
  readonly state: string
  readonly serviceId: ServiceId
  readonly claimedAtMs: number
  /** Kept at least until the work is done, so that interrupted work can be done after a start. */
  readonly request?: string
  /** How often the work was begun, in state `executing`. Absent there: once. */
  readonly runs?: number
  /** JSON text, in states that have a result. Null once it was deleted, and in pages of {@link ClaimStore.recent}. */
  readonly result?: string | null
  /** In every state that has a result. */
  readonly finishedAtMs?: number
}

/** Work that was begun. */
export interface Executing {
  readonly startedAtMs: number
  /** How often the work was begun; absent: once. */
  readonly runs?: number
}

/** The `runs` of a claim whose work begins now. */
export function runsOf(claim: Pick<StoredClaim, 'state' | 'runs'>): number {
  return claim.state === 'executing' ? (claim.runs ?? 1) + 1 : 1
}

/** How the claims of one rail are stored. */
export interface ClaimKind<C extends StoredClaim> {
  /** Tells the kinds of one store apart. */
  readonly name: string
  /** Id of the payment: 64 lower-case hex digits, one per payment for ever. */
  readonly idOf: (claim: C) => string
  /** Whether something is still due: work, a settlement, a refund, or a look at what became of an authorization. */
  readonly isOpen: (claim: C) => boolean
  /**
   * Whether the last write of a claim may be lost if the machine fails (not if only the process does), since no work was done for it yet,
   * or no money depends on the write. Absent: no write may be lost.
   */
  readonly isTentative?: (claim: C) => boolean
  readonly paidFor: (claim: C) => Omit<KeptResult, 'bytes'>
  /** The name that the payer gave to its call; null if none. Only one claim may hold a name at a time. Absent: the kind has no names. */
  readonly nameOf?: (claim: C) => string | null
}

/** Maximum claims that are looked through for one page of one service, those of other services included. */
export const PASSED_OVER_MAX = 4_000

/** Newest first. A page may end early. `nextCursor` is where the next page begins; null after the last page. */
export interface ClaimPage<C extends StoredClaim> {
  readonly claims: readonly C[]
  readonly nextCursor: string | null
}

/** How one replica stands among those that share a store of claims. */
export interface SharedClaims {
  /**
   * Why claims can neither be taken nor ended now, or null. The store cannot be reached, or this replica was silent for so long that other
   * replicas may take over its claims.
   */
  readonly awayBecause: string | null
  /** Grows when `open` may list claims of a dead replica, or claims of this one if the answer to a write was lost. */
  readonly arrivals: number
  /** Grows when other replicas took this one for dead, and have taken over its claims. */
  readonly lapses: number
}

/** Thrown by a store that cannot be reached or used now. It is not known then whether a write happened. */
export class ClaimsAway extends Error {
  readonly fault: Fault

  constructor(cause: Fault, error?: unknown) {
    super(cause.code, { cause: error })
    this.fault = cause
  }
}

/** The result of `work`, or the fault of a store that could not be reached. */
export async function unlessAway<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ClaimsAway) return fail(error.fault)
    throw error
  }
}

/**
 * Where claims are kept: one per payment over all replicas of an operator. A write is on disk before its promise resolves, except tentative
 * claims, {@link ClaimStore.handedOver} and {@link ClaimStore.pruneResults}. A shared store throws {@link ClaimsAway} when it cannot be
 * reached.
 */
export interface ClaimStore<C extends StoredClaim> {
  /** Absent if the store is not shared. */
  readonly shared?: SharedClaims
  get(id: string): Promise<C | undefined>
  /** The claim that holds a name. The method is absent if the store is not shared: then the rail itself remembers the names. */
  named?(name: string): Promise<C | undefined>
  /**
   * Stores a new claim and returns null. If the payment has a claim already, returns that one and writes nothing. A shared store does the
   * same if another claim holds the name of the new one.
   */
  claim(claim: C): Promise<C | null>
  /**
   * Replaces a claim if it is still in the given state and no other replica has taken it up. False if it has moved. If another claim
   * holds its name by now, an open claim is not written (false), and one that is over is written without its name.
   */
  advance(from: C['state'], next: C): Promise<boolean>
  /** Deletes the claim of an unused payment if it is still in the given state and no other replica has taken it up; else returns false. */
  release(from: C['state'], id: string): Promise<boolean>
  /** The open claims of this replica: its own, and those of dead replicas, which it takes over. */
  open(): Promise<readonly C[]>
  /**
   * At most `limit` claims, newest first, without their results; of one service if `serviceId` is given. Such a page ends early once
   * {@link PASSED_OVER_MAX} claims were looked through. A claim of an old release, stored without its service, takes a place on the page
   * even if it is left out.
   */
  recent(limit: number, cursor: string | null, serviceId?: string): Promise<ClaimPage<C>>
  /** Notes that the caller has received the whole answer. Does nothing if no result is kept. */
  handedOver(id: string): Promise<void>
  /** Deletes results whose work ended before `beforeMs`, and those that {@link beyondBytes} names. Returns their number. */
  pruneResults(beforeMs: number, bytesMax: number): Promise<number>
}

/** What the till itself needs of a store of claims. */
export type TillStore<C extends StoredClaim> = Pick<ClaimStore<C>, 'get' | 'claim' | 'advance' | 'open'>

/** Facts of a kept result, by which {@link beyondBytes} chooses what to delete. */
export interface KeptResult {
  readonly bytes: number
  /** An address; null if it is not known. */
  readonly payer: string | null
  /** Price paid, in millionths of a dollar; 0 if it was not paid. */
  readonly priceUsdMicros: bigint
  /** Whether the caller has received the whole answer at least once. */
  readonly isDelivered: boolean
}

/** A payer that holds more than 1 / PAYER_PART of the allowed bytes loses results before other payers do. */
export const PAYER_PART = 16
/** The bound for payers is halved down to 1 / PAYER_PART_LEAST of the allowed bytes. Payers that hold less are treated alike. */
const PAYER_PART_LEAST = 65_536

/**
 * Results to delete so that the other ones fit into `bytesMax`. `results` are all that are kept, the oldest first. Only results go whose
 * share of `bytesMax` is larger than their share of all prices paid; these are always enough, unless no price is known. So a result is
 * pushed out by money for each byte and not by addresses, which are free.
 * Results of payers beyond {@link PAYER_PART} go first, then delivered ones, then those of the payers that hold most, then any. At each
 * step delivered results go before undelivered ones, and older before newer.
 */
export function beyondBytes<R extends KeptResult>(results: readonly R[], bytesMax: number): readonly R[] {
  let excess = results.reduce((sum, { bytes }) => sum + bytes, 0) - bytesMax
  if (excess <= 0) return []
  const paid = results.reduce((sum, { priceUsdMicros }) => sum + priceUsdMicros, 0n)
  const isLarge = ({ bytes, priceUsdMicros }: R): boolean => BigInt(bytes) * paid > priceUsdMicros * BigInt(bytesMax)
  const large = results.filter(isLarge)
  const held = bytesByPayer(results)
  const isBeyond = (part: number): ((result: R) => boolean) => {
    return ({ payer }) => payer !== null && (held.get(payer) ?? 0) * part > bytesMax
  }
  const gone = new Set<R>()
  const forget = (some: readonly R[], mayGo: (result: R) => boolean): void => {
    for (const isDelivered of [true, false])
      for (const result of some) {
        if (excess <= 0) return
        if (result.isDelivered !== isDelivered || gone.has(result) || !mayGo(result)) continue
        gone.add(result)
        excess -= result.bytes
        if (result.payer !== null) held.set(result.payer, (held.get(result.payer) ?? 0) - result.bytes)
      }
  }
  forget(large, isBeyond(PAYER_PART))
  forget(large, ({ isDelivered }) => isDelivered)
  const most = [...held.values()].reduce((one, other) => Math.max(one, other), 0)
  for (let part = PAYER_PART * 2; part <= PAYER_PART_LEAST && excess > 0; part *= 2)
    if (most * part > bytesMax) forget(large, isBeyond(part))
  forget(large, () => true)
  // Finds something to do only if no price is known for any result.
  forget(results, () => true)
  return [...gone]
}

function bytesByPayer(results: readonly KeptResult[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const { payer, bytes } of results) if (payer !== null) held.set(payer, (held.get(payer) ?? 0) + bytes)
  return held
}
