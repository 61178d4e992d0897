import type { Clock, Timers } from '../../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { ClaimsAway, runsOf } from '../../claim-store.ts'
import type { Ended, Settled, Steps, Verdict } from '../../rail.ts'
import { RUNS_MAX } from '../../settings.ts'
import { endOf } from './call-end.ts'
import { CommitGroups } from './commit-groups.ts'
import {
  type AnsweredTabRow,
  type EndedTabCall,
  isAnswered,
  type ReservedTabCall,
  type SealCall,
  type TabCallRow,
  type TabStore,
} from './tab-store.ts'

/** What a {@link CallWork} works with. */
export interface CallWorkParts {
  readonly store: TabStore
  readonly clock: Clock
  readonly timers: Timers
  readonly seal: SealCall
  /** Whether nothing may be written any more. */
  readonly isAbandoned: () => boolean
}

/**
 * The work of calls that are charged to a deposit, from their reservation to their answer. It is the same for tabs and for channels of EVM
 * networks. The answer leaves only once it is on disk.
 */
export class CallWork {
  readonly #parts: CallWorkParts
  readonly #commits: CommitGroups
  /** Work that has ended well and is to be committed. */
  readonly #worked = new WeakMap<TabCallRow, EndedTabCall>()
  /** What does the work of the calls under way. */
  readonly #definitions = new WeakMap<TabCallRow, ServiceDefinition>()

  constructor(parts: CallWorkParts) {
    this.#parts = parts
    this.#commits = new CommitGroups(parts)
  }

  /** The call with its work begun, for the first time or again. */
  begun(call: TabCallRow, definition: ServiceDefinition): TabCallRow {
    const reserved = call as ReservedTabCall
    const begun = { ...reserved, state: 'executing', startedAtMs: this.#parts.clock.now(), runs: runsOf(call) } as const
    this.#definitions.set(begun, definition)
    return begun
  }

  /** The place of the work is free while its end is written: as many calls as end may share a write. */
  async carry(steps: Steps<TabCallRow>, goesOn: Fault): Promise<Ended<TabCallRow>> {
    let isClaimed = false
    try {
      isClaimed = await steps.claim()
      if (!isClaimed) return null
      const worked = await steps.work()
      const ended = worked?.ok === true ? this.#worked.get(worked.value) : undefined
      return ended === undefined ? worked : await this.#committed(ended)
    } catch (error) {
      if (!(error instanceof ClaimsAway)) throw error
      return fail(isClaimed ? goesOn : error.fault)
    }
  }

  /** A failure is written at once; a result once the work has given up its place. */
  async end(call: TabCallRow, outcome: Result<string>): Promise<Ended<TabCallRow>> {
    const { clock, isAbandoned } = this.#parts
    if (isAbandoned()) return null
    const definition = this.#definitions.get(call)
    const ended = endOf(call as ReservedTabCall, outcome, { definition, nowMs: clock.now() })
    if (!outcome.ok) return this.#committed(ended)
    this.#worked.set(call, ended)
    return ok(call)
  }

  /** Null if the call is no longer this replica's. */
  async #committed(ended: EndedTabCall): Promise<Ended<TabCallRow>> {
    const answered = await this.#commits.add(ended)
    return answered && ok(answered)
  }
}

/** Why the interrupted work of a call is not done again; null if it is. */
export function whyNotRunAgain(call: TabCallRow, { serviceId, repeatable }: ServiceDefinition): Fault | null {
  const mayRun = call.state === 'claimed' || (repeatable && runsOf(call) <= RUNS_MAX)
  return mayRun ? null : fault('service/interrupted', { serviceId })
}

/** How a call stands that was taken before: its answer, or the wait for it. */
export function takenCall(
  known: TabCallRow,
  { waitMs, why }: { readonly waitMs: number; readonly why: () => Fault },
): Verdict<TabCallRow, AnsweredTabRow> {
  if (isAnswered(known)) return { is: 'told', outcome: answerOf(known, true) }
  const hasMoved = (now: TabCallRow | undefined): boolean => now === undefined || isAnswered(now)
  return { is: 'elsewhere', waitMs, hasMoved, why }
}

/** The answer of a call that has ended. */
export function answerOf(row: AnsweredTabRow, replayed: boolean): Result<Settled<AnsweredTabRow>> {
  const { state, result, tabId, seq } = row
  if (state === 'delivered' && result === null) return fail(fault('tabcall/result-expired', { tabId, seq }))
  return ok({ claim: row, replayed })
}
