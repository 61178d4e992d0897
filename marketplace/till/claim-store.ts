import type { Fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'

/** The members of a claim that the till and its store read. Each rail adds its own. */
export interface StoredClaim {
  readonly state: string
  readonly serviceId: ServiceId
  readonly claimedAtMs: number
  /** The request text. It is kept until the work is done, so that a start can do interrupted work. */
  readonly request?: string
  /** How often the work was begun; absent: once. */
  readonly runs?: number
  /** The result as text, in states that have one. Null after its keeping time, and in listings. */
  readonly result?: string | null
  /** When the work ended, in every state that has a result. */
  readonly finishedAtMs?: number
}

/** Work that was begun. */
export interface Executing {
  readonly startedAtMs: number
  /** How often it was begun; absent: once. */
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
  /** Whether work or settlement is still to be done. */
  readonly isOpen: (claim: C) => boolean
  /**
   * Whether the last write of a claim may be lost if the machine fails (not if only the process does): no work was done for it yet,
   * or no money depends on it. Absent: no write may be lost.
   */
  readonly isTentative?: (claim: C) => boolean
  /** Payer and price of a claim's result, and whether the claim says that the answer was handed over. */
  readonly paidFor: (claim: C) => Omit<KeptResult, 'bytes'>
  /** The name of a claim, which only one claim may hold at a time; null without one. Absent: the kind has no names. */
  readonly nameOf?: (claim: C) => string | null
}

/** A page of one service's claims ends early after this many claims of others. */
export const PASSED_OVER_MAX = 4_000

/** A page of claims, newest first, and where the next page begins; it may end early. */
export interface ClaimPage<C extends StoredClaim> {
  readonly claims: readonly C[]
  readonly nextCursor: string | null
}

/** How one replica stands among those that share a store of claims. */
export interface SharedClaims {
  /** Why claims can neither be taken nor ended now, or null. The store cannot be reached, or was away so long that others may have taken over. */
  readonly awayBecause: string | null
  /** Grows when `open` may list claims that this process does not know: a dead replica's, or its own after a lost answer. */
  readonly arrivals: number
  /** Grows when others took this replica for dead, and have taken over its claims. */
  readonly lapses: number
}

/**
 * Thrown by a store that cannot be reached now. It is not known then whether a write happened. When the store is back, `open` lists
 * the open claims.
 */
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
 * Where claims are kept: one per payment over all replicas of an operator. A write is on disk before its promise resolves. Exceptions
 * are tentative claims, the mark of an answer that was handed over, and the forgetting of results. A shared store throws
 * {@link ClaimsAway} where it cannot be reached.
 */
export interface ClaimStore<C extends StoredClaim> {
  /** How this replica stands among those that share the store; absent if the store is not shared. */
  readonly shared?: SharedClaims
  get(id: string): Promise<C | undefined>
  /** The claim that holds a name; absent if the store is not shared, since this process then knows all names. */
  named?(name: string): Promise<C | undefined>
  /**
   * Puts a new claim; if the payment has one already, that one is returned and nothing is written. A store that is shared
   * returns the claim that holds the name of this one, too.
   */
  claim(claim: C): Promise<C | null>
  /**
   * Replaces a claim if it is still in the given state and no other replica has taken it up. False if it has moved. If another claim
   * holds its name by now, an open claim is not written (false), and one that is over is written without its name.
   */
  advance(from: C['state'], next: C): Promise<boolean>
  /** Deletes a claim if it is still in the given state: its payment was not used, and may be offered again. */
  release(from: C['state'], id: string): Promise<boolean>
  /**
   * The open claims of this replica: its own, and those of a dead replica, which it takes over by this call. Claims of other living
   * replicas are not listed.
   */
  open(): Promise<readonly C[]>
  /**
   * Claims, newest first, without their results; of one service if it is named. A page has at most `limit` claims. A page of one service
   * ends early after {@link PASSED_OVER_MAX} claims of others, or of old releases, which did not note the service.
   */
  recent(limit: number, cursor: string | null, serviceId?: string): Promise<ClaimPage<C>>
  /** Notes that the answer with a claim's result was handed over to the end. Does nothing where no result is kept. */
  handedOver(id: string): Promise<void>
  /** Deletes results that finished before `beforeMs`, and what {@link beyondBytes} names. The claims stay. Returns the number of results. */
  pruneResults(beforeMs: number, bytesMax: number): Promise<number>
}

/** Size and price of a kept result. */
export interface KeptResult {
  readonly bytes: number
  /** The payer's address; null if it is not known. */
  readonly payer: string | null
  /** Price paid, in millionths of a dollar; 0 if it was not paid. */
  readonly priceUsdMicros: bigint
  /** Whether the answer was handed over to the end at least once. */
  readonly isDelivered: boolean
}

/** A payer that holds more than this part of the bytes loses results that are too large for their price before others do. */
export const PAYER_PART = 16
/** The smallest part that is looked at. Payers that hold less are treated alike. */
const PAYER_PART_LEAST = 65_536

/**
 * Results to delete so that the rest fits; `results` are all that are kept, the oldest first. Only results go whose share of the bytes is
 * larger than their share of all prices paid; these are always enough. So a result is pushed out by money for each byte and not by
 * addresses, which are free. The order: results of payers beyond {@link PAYER_PART}, then delivered ones, then those of the payers that
 * hold most, with half the part each time, then the oldest. So a payer with many bytes loses some before a payer with few does.
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
  // Reached only where no price is known for any of them.
  forget(results, () => true)
  return [...gone]
}

function bytesByPayer(results: readonly KeptResult[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const { payer, bytes } of results) if (payer !== null) held.set(payer, (held.get(payer) ?? 0) + bytes)
  return held
}
