import type { Fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'

/** What the till and its store look at in a claim; the rest is the rail's own. */
export interface StoredClaim {
  readonly state: string
  readonly serviceId: ServiceId
  readonly claimedAtMs: number
  /** The request text, kept until the work is done so that a crash can be resumed, and no longer. */
  readonly request?: string
  /** How often the work was begun; once where it is left out. */
  readonly runs?: number
  /** Text that was bought, in the states that have one; null once its keeping time is over, and in listings. */
  readonly result?: string | null
  /** When the work was over, in every state that has a result. */
  readonly finishedAtMs?: number
}

/** Work that was begun. */
export interface Executing {
  readonly startedAtMs: number
  /** How often it was begun; once where it is left out. */
  readonly runs?: number
}

/** How often the work of a claim was begun that is begun now. */
export function runsOf(claim: Pick<StoredClaim, 'state' | 'runs'>): number {
  return claim.state === 'executing' ? (claim.runs ?? 1) + 1 : 1
}

/** A kind of claims: how they are named, and which of them are not over. */
export interface ClaimKind<C extends StoredClaim> {
  /** Word that tells kinds apart where several are kept side by side. */
  readonly name: string
  /** Id of the payment: 64 lower-case hex digits, one per payment for ever. */
  readonly idOf: (claim: C) => string
  /** Whether work or settlement is still to be done. */
  readonly isOpen: (claim: C) => boolean
  /**
   * Whether what a claim says beyond its last durable state may be lost with the machine, though never with the process: nothing
   * was done for it yet, or nothing depends on it. Absent: none may.
   */
  readonly isTentative?: (claim: C) => boolean
  /** The payer of a claim's result, the price, and whether the claim itself says that its answer was handed over. */
  readonly paidFor: (claim: C) => Omit<KeptResult, 'bytes'>
  /** A name that only one claim may hold at a time, or null where it holds none. Absent: there are no names. */
  readonly nameOf?: (claim: C) => string | null
}

/** Claims that a page of one service passes over at most, before it ends early. */
export const PASSED_OVER_MAX = 4_000

/** A page of claims, newest first, and where the next page begins; it may end early. */
export interface ClaimPage<C extends StoredClaim> {
  readonly claims: readonly C[]
  readonly nextCursor: string | null
}

/** How one replica stands among those that share a store of claims. */
export interface SharedClaims {
  /** Why claims can neither be taken nor ended now, or null: the store cannot be reached, or was not for so long that others may have taken over. */
  readonly awayBecause: string | null
  /** Grows when `open` may name claims that this process does not know of: a dead replica's, or its own after a lost answer. */
  readonly arrivals: number
  /** Grows when others took this replica for dead: what it thought its own is theirs. */
  readonly lapses: number
}

/**
 * Thrown by a store that cannot be reached just now. Whether a write happened is then not known: it is asked again, and
 * open claims are found by `open` once the store is back.
 */
export class ClaimsAway extends Error {
  readonly fault: Fault

  constructor(cause: Fault, error?: unknown) {
    super(cause.code, { cause: error })
    this.fault = cause
  }
}

/** What some work comes to, or the fault of a store that could not be reached meanwhile. */
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
   * Replaces a claim if it still is in the state given and no other replica has taken it up; false if it moved meanwhile, or if
   * another has its name by now and it is open. One that is over is written without its name then.
   */
  advance(from: C['state'], next: C): Promise<boolean>
  /** Takes a claim away if it still is in the state given: its payment was not used, and may be offered again. */
  release(from: C['state'], id: string): Promise<boolean>
  /**
   * Claims whose work or settlement is not over and that this replica is to see to: its own, and from now on those of a
   * replica that died. A claim that another living replica works on is not among them.
   */
  open(): Promise<readonly C[]>
  /**
   * Claims by age, newest first, without their results; those of one service where one is named. Then at most `limit` claims are
   * read, whatever else the store holds: a page ends early behind {@link PASSED_OVER_MAX} claims of others, or where releases that
   * did not note the service wrote them.
   */
  recent(limit: number, cursor: string | null, serviceId?: string): Promise<ClaimPage<C>>
  /** Notes that the answer with a claim's result was handed over to the end; nothing where no result is kept. */
  handedOver(id: string): Promise<void>
  /** Forgets results finished before the time, and what is beyond a total of bytes as `beyondBytes` says; the claims stay. */
  pruneResults(beforeMs: number, bytesMax: number): Promise<number>
}

/** What a kept result takes, and what was paid for it. */
export interface KeptResult {
  readonly bytes: number
  /** Address that paid, or null where that is not known. */
  readonly payer: string | null
  /** Price paid, in millionths of a dollar; 0 where nothing was. */
  readonly priceUsdMicros: bigint
  /** Whether the payer has had the answer to the end at least once. */
  readonly isDelivered: boolean
}

/** One payer's part of the bytes; of payers beyond it, results that are too large for their price go first. */
export const PAYER_PART = 16
/** The smallest part that is looked at: what holds less is not told apart. */
const PAYER_PART_LEAST = 65_536

/**
 * Results to forget so that the rest fits, of all that are kept, the oldest first. Those go first that take more of the bytes than
 * their price is of all prices paid; they are always enough. Addresses are free, so what pushes a result out is only more money for
 * each byte. Among those, results of a payer beyond its part go first, then delivered ones, then those of the payers that hold most, half
 * of that part at a time, and the oldest last. A payer of many bytes from few addresses loses them before a payer of few bytes does.
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
  // Only where nothing is known to be paid for any of them.
  forget(results, () => true)
  return [...gone]
}

function bytesByPayer(results: readonly KeptResult[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const { payer, bytes } of results) if (payer !== null) held.set(payer, (held.get(payer) ?? 0) + bytes)
  return held
}
