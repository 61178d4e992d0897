import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { RequestText, ServiceDefinition } from '../services/service.ts'
import type { ClaimKind, StoredClaim } from './claim-store.ts'
import type { Caller } from './failing-callers.ts'
import type { Offer } from './shop.ts'

/** A paid call as it arrives; each rail adds how it is paid. */
export interface TillCall {
  readonly serviceId: string
  readonly request: string
  /** Client that sent it, and its network, by which limits are counted. */
  readonly from?: Holder
}

/** What a call is compared with a claim by; a rail adds to it. */
export interface Identity {
  /** Id of the payment: 64 lower-case hex digits. Claims are stored under it. */
  readonly id: string
}

/** A call with everything that it is carried out by. */
export interface Order<Call extends TillCall, I extends Identity> {
  readonly call: Call
  readonly identity: I
  readonly offer: Offer
  /** The request of the call; a repeat is answered without parsing it. */
  readonly asked: RequestText
}

/** A call that was answered, now or before. `A` is what a rail's claims are in the states that answer a call. */
export interface Settled<A> {
  readonly claim: A
  /** Whether the work had been done for an earlier call. */
  readonly replayed: boolean
}

/** How the work of a claim ended; null where the claim was moved elsewhere: then the payment is judged anew. */
export type Ended<C> = Result<C> | null

/** How a payment stands that a call offers. */
export type Verdict<C, A extends C = C> =
  /** Good: this claim is written and carried out. Where there is a `cause`, nothing runs: the payment is given back at once. */
  | { readonly is: 'take'; readonly claim: C; readonly cause?: Fault | null }
  /** It may become good: it is judged again at each head for a while. `why` is what the caller is told if it does not. */
  | { readonly is: 'wait'; readonly why: Fault }
  /** Its claim is worked on by another replica or in the background: it is looked at again until it has moved. */
  | {
      readonly is: 'elsewhere'
      readonly waitMs: number
      readonly hasMoved: (now: C | undefined) => boolean
      readonly why: () => Fault
    }
  /** Nothing is left to do: this is the answer. */
  | { readonly is: 'told'; readonly outcome: Result<Settled<A>> }
  /** It changed while it was judged: the till begins anew. */
  | { readonly is: 'moved' }

/** Whether the work of a claim may begin now that it has a place. */
export type Gate<C> =
  /** It may: `begun` is the claim as its work begins, for the first time or again. */
  | { readonly is: 'open'; readonly begun: C }
  /** The payment does not hold any more: it is given back. */
  | { readonly is: 'refused'; readonly cause: Fault }
  /** Work begins at a later head, or after `ms`. The caller is told {@link Rail.goesOn}. */
  | { readonly is: 'later'; readonly ms: number | null }

/** What a claim is worked on with. */
export interface Task {
  readonly definition: ServiceDefinition
  readonly input: unknown
  /** Client that sent the call; {@link NO_CLIENT} after a start. */
  readonly client: Holder
}

/** Work under way in this process: the claim, and the call that it is done for; null where a start took it up. */
export interface Held<C, I> {
  readonly claim: C
  readonly identity: I | null
}

/** The steps of the till that a rail puts in order. */
export interface Steps<C> {
  /** Writes the claim; false where another call or replica has the payment. */
  readonly claim: () => Promise<boolean>
  /** Waits for a place, asks {@link Rail.mayBegin}, writes `executing`, runs the service, and has its end written by {@link Rail.end}. */
  readonly work: () => Promise<Ended<C>>
}

/**
 * A way to pay: what differs between the native coin, a dollar token and whatever comes next. The till owns the states that all of
 * them share, and the rail says what they mean for its money:
 *
 *     call ──judge──> claimed ──mayBegin──> executing ──run, end──> done ──settle──> over
 *                        │                      │
 *                        └───── end (fault) ────┘
 *
 * - `claimed`: the payment is bound to this one request. Whether that write must be on disk before anything else is said by
 *   {@link ClaimKind.isTentative}.
 * - `executing`: on disk before the service runs, so that a crash is known to have interrupted it.
 * - done: the result is on disk. Its state is the rail's own: `delivered`, or `settling` where the money still has to move.
 * - over: the money is ours (a receipt is owed, a transfer was seen), or it was given back.
 *
 * The claim is written before its work. A rail with more to do in between, or afterwards, says so in {@link carry}. A prepaid rail can
 * skip the wait in {@link judge}, and settle without a transaction: the till asks for neither.
 *
 * `judge` must not wait: what it counts holds until the claim is written, which begins in the same step.
 */
export interface Rail<Call extends TillCall, C extends StoredClaim, I extends Identity, A extends C = C> {
  /** How claims of this rail are stored. */
  readonly kind: ClaimKind<C>
  /** How long a repeated call waits for work under way here; null: as long as the work takes. */
  readonly joinMs: number | null
  /** Whether writing `executing` is tried again while the store is away; false where the payment could run out meanwhile. */
  readonly beginsPatiently: boolean

  /** Which payment a call offers, and what it is compared by. */
  identify(call: Call): I
  /** A name that the payer gave the call may belong to another payment: its answer, or null. Absent: there are no names. */
  named?(order: Order<Call, I>, turn: number): Promise<Result<Settled<A>> | null>
  /** How the payment stands, given its claim if there is one; `hasWaited` after a wait for it. */
  judge(order: Order<Call, I>, known: C | undefined, hasWaited: boolean): Verdict<C, A>
  /** Why a call may not wait for work under way with its payment, or null. */
  mayJoin(held: Held<C, I>, order: Order<Call, I>): Fault | null
  /** What a call is told whose work takes longer than it may wait. */
  underWay(order: Order<Call, I>): Fault
  /** What the call is told whose own work ends later, or elsewhere. */
  goesOn(claim: C): Fault
  /** What a call is told of ended work; `replayed` where it was done for an earlier call. */
  answer(order: Order<Call, I>, ended: Result<C>, replayed: boolean): Result<Settled<A>>

  /**
   * Carries a claim from its first write to its end. Without an order it was taken up: its work begins again. Absent: the claim is
   * written, and then its work is done.
   */
  carry?(claim: C, steps: Steps<C>, order: Order<Call, I> | null): Promise<Ended<C>>
  /** Whether work may begin: it may have waited for its turn, or for this node to start again. */
  mayBegin(claim: C, task: Task): Gate<C>
  /** What became of work whose claim another replica moved meanwhile; absent: the payment is judged anew. */
  lost?(claim: C): Promise<Ended<C>>
  /** Hears how a service ended, for the limits of callers whose calls fail. */
  worked(task: Task, caller: Caller, outcome: Result<string>): void
  /** Writes how the work ended: with its result as JSON text, or with a fault, for which the payment is given back. */
  end(claim: C, outcome: Result<string>): Promise<Ended<C>>

  /** Takes note of a claim that is not over; whether its work is to be taken up. `isInHand`: the till is at it already. */
  takeUp(claim: C, isInHand: boolean): boolean
  /** Why interrupted work is not done again, or null. */
  whyNotResumed(claim: C, definition: ServiceDefinition): Fault | null
  /** What a start does before claims are taken up. */
  starting?(): Promise<void>
  /** What a start does afterwards. */
  started?(): Promise<void>
  /** Leaves to other replicas what they have taken over. */
  forget(): void
  /** Begins nothing more; resolves when what is under way is over. */
  stop(): Promise<unknown>

  /** Hears that an answer was handed over to the end. */
  delivered(claim: A): Promise<void>
  /** Hears what each call came to. */
  counted?(outcome: Result<Settled<A>>): void
}
