import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { RequestText, ServiceDefinition } from '../services/service.ts'
import type { ClaimKind, StoredClaim } from './claim-store.ts'
import type { Caller } from './failing-callers.ts'
import type { Offer } from './shop.ts'

/** Each rail adds how the call is paid. */
export interface TillCall {
  readonly serviceId: string
  readonly request: string
  /** What is carried out, if that is not what the shop has under this id. */
  readonly offer?: Offer
  /** The client that sent it, for limits by client and network. */
  readonly from?: Holder
}

/** What is compared between a call and a claim. Each rail adds to it. */
export interface Identity {
  /** Id of the payment, one per payment for ever. Claims are stored under it. */
  readonly id: string
}

/** A call with its offer and its request. */
export interface Order<Call extends TillCall, I extends Identity> {
  readonly call: Call
  readonly identity: I
  readonly offer: Offer
  /** Parsed when its input is first read, which a repeated answer does not need. */
  readonly asked: RequestText
}

/** The answer of a call. `A` are the rail's claims in the states that answer a call. */
export interface Settled<A> {
  readonly claim: A
  /** Whether the work was done for an earlier call. */
  readonly replayed: boolean
}

/** How the work of a claim ended. Null if the payment must be judged again, mostly because another call or replica moved the claim. */
export type Ended<C> = Result<C> | null

/** How the payment of a call stands. */
export type Verdict<C, A extends C = C> =
  /** Good: this claim is written and worked on. With a `cause`, no work is done, and the payment goes back at once. */
  | { readonly is: 'take'; readonly claim: C; readonly cause?: Fault | null }
  /** The payment may become good: it is judged again at each head for a while. If it does not, the caller is told `why`. */
  | { readonly is: 'wait'; readonly why: Fault }
  /** Another replica or the background works on the payment: the till looks again until `hasMoved`, for at most `waitMs`. */
  | {
      readonly is: 'elsewhere'
      readonly waitMs: number
      readonly hasMoved: (now: C | undefined) => boolean
      readonly why: () => Fault
    }
  /** This is the answer. */
  | { readonly is: 'told'; readonly outcome: Result<Settled<A>> }
  /** Something changed while it was judged: the till looks again. */
  | { readonly is: 'moved' }

/** Whether the work of a claim may begin, now that it has a place in the `Workshop`. */
export type Gate<C> =
  /** `begun` is the claim with its work begun, for the first time or again. */
  | { readonly is: 'open'; readonly begun: C }
  /** The payment is given back, or left unused if no money has moved. */
  | { readonly is: 'refused'; readonly cause: Fault }
  /** At the next head, or after `ms` if that is sooner. The caller is told {@link Rail.goesOn}. */
  | { readonly is: 'later'; readonly ms: number | null }

/** The work of a claim. */
export interface Task {
  readonly definition: ServiceDefinition
  readonly input: unknown
  /** {@link NO_CLIENT} for work that was taken up. */
  readonly client: Holder
}

/** Work under way in this process. `identity` is that of the call that began it; null if the work was taken up, or had been put off. */
export interface Held<C, I> {
  readonly claim: C
  readonly identity: I | null
}

/** Two steps of the till, for rails with more to do in between. */
export interface Steps<C> {
  /** Writes the claim; false if another call or replica has the payment. */
  readonly claim: () => Promise<boolean>
  /** Asks {@link Rail.mayBegin}, works, and calls {@link Rail.end}. With the `cause` of a verdict it only calls {@link Rail.end}. */
  readonly work: () => Promise<Ended<C>>
}

/**
 * A way to pay: the native coin, a dollar token, or another. The till owns the states that all rails share:
 *
 *     call ──judge──> claimed ──mayBegin──> executing ──run, end──> done ──settle──> over
 *                        │                      │
 *                        └───── end (fault) ────┘
 *
 * - `claimed`: the payment is bound to this one request. {@link ClaimKind.isTentative} says whether this must be on disk at once.
 * - `executing`: on disk before the service runs, so that the next start knows of an interruption.
 * - done: the result is on disk. The rail names the state: `delivered`, or `settling` where the money still has to move.
 * - over: the money is the operator's (a receipt is owed, or a transfer was reported or seen), or the payer has it.
 *
 * `judge` is synchronous. Before the till acts on `take`, it looks again whether the payment is worked on here. So of two calls that were
 * judged alike, one does the work and the other joins it.
 */
export interface Rail<Call extends TillCall, C extends StoredClaim, I extends Identity, A extends C = C> {
  readonly kind: ClaimKind<C>
  /** How long a repeated call waits for work under way here; null: until the work ends. */
  readonly joinMs: number | null
  /** Whether writing `executing` is tried again while the store is away; false if the payment could expire meanwhile. */
  readonly beginsPatiently: boolean

  identify(call: Call): I
  /**
   * The answer of a call whose name belongs to another payment; null if the call is judged by itself. `turn` counts the looks of the call
   * from 0. Absent: the rail has no names.
   */
  named?(order: Order<Call, I>, turn: number): Promise<Result<Settled<A>> | null>
  /** How the payment stands, given its claim if there is one. `hasWaited`: it is judged again after a wait. */
  judge(order: Order<Call, I>, known: C | undefined, hasWaited: boolean): Verdict<C, A>
  /** Why a call may not wait for the work that is under way for its payment, or null. */
  mayJoin(held: Held<C, I>, order: Order<Call, I>): Fault | null
  /** What a call is told that cannot wait any longer for the work of its payment. */
  underWay(order: Order<Call, I>): Fault
  /** What the call that began the work is told if the work ends later, or on another replica. */
  goesOn(claim: C): Fault
  /** What a call is told of ended work. `replayed`: it was done for an earlier call. */
  answer(order: Order<Call, I>, ended: Result<C>, replayed: boolean): Result<Settled<A>>

  /**
   * Takes a claim from its first write to its end. `order` is null if the work was taken up, or had been put off. Absent: the till writes
   * the claim and does the work.
   */
  carry?(claim: C, steps: Steps<C>, order: Order<Call, I> | null): Promise<Ended<C>>
  /** The work may have waited for a place, or for a start of the node. */
  mayBegin(claim: C, task: Task): Gate<C>
  /** Tells how the work ended if `executing` could not be written. Absent: the payment is judged again. */
  lost?(claim: C): Promise<Ended<C>>
  /** Called when a service has ended, for the limits of callers whose calls fail. */
  worked(task: Task, caller: Caller, outcome: Result<string>): void
  /** Writes the end of the work: a result as JSON text, or a fault, for which the payment is given back or left unused. */
  end(claim: C, outcome: Result<string>): Promise<Ended<C>>

  /** Notes an open claim; true if its work is to be taken up. `isInHand`: the till works on it already. */
  takeUp(claim: C, isInHand: boolean): boolean
  /** Why interrupted work is not done again; null if it is. */
  whyNotResumed(claim: C, definition: ServiceDefinition): Fault | null
  /** Called at a start, before claims are taken up. */
  starting?(): Promise<void>
  /** Called at a start, after claims are taken up. */
  started?(): Promise<void>
  /** Lets go of claims that other replicas have taken over. */
  forget(): void
  /** Ends what the rail does in the background; resolves when that has ended. */
  stop(): Promise<unknown>

  /** Called when the caller has received the whole answer. */
  handedOver(claim: A): Promise<void>
  counted?(outcome: Result<Settled<A>>): void
}
