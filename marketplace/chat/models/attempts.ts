import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ModelUsage } from '../../ports/models.ts'
import type { Leave } from './admission.ts'
import type { ModelFacts } from './backend.ts'
import { type Member, PATIENCE_MS } from './member.ts'
import { isTimeOver, Silence } from './silence.ts'

/** Work for one of several candidates. */
export interface Work<Candidate, T> {
  /** Reserved in the rate limit until the usage is known. */
  readonly tokens: number
  readonly who?: string
  /** Free work leaves slots to paid work. */
  readonly isFree?: boolean
  /** Whether the work may be started again after a failure. */
  readonly mayTryAgain: () => boolean
  readonly retriesMax?: number
  readonly ask: (
    candidate: Candidate,
    until: AbortSignal,
    silence: Pick<Silence, 'heard' | 'hold'>,
  ) => Promise<Result<{ readonly value: T; readonly usage: ModelUsage | null }>>
}

/** The candidate is null if no backend could be asked. */
export interface Turn<Candidate, T> {
  readonly candidate: Candidate | null
  readonly result: Result<T>
}

interface Asked {
  readonly member: Member
  readonly model: ModelFacts
}

interface Means {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: () => number
}

interface Place<Candidate> {
  readonly candidate: Candidate
  readonly leave: Leave
}

const RETRIES_MAX = 2
const PAUSE_MS = 500
/** A model that is silent for this long until its caller's time ends is considered dead. */
const LONG_MS = 20_000
const TRANSIENT: ReadonlySet<unknown> = new Set([408, 409, 429])

/**
 * Lets the first candidate with a free slot do the work, or waits at the first whose queue is not full. Retries
 * transient failures. Null if all candidates are resting.
 */
export async function attempts<Candidate extends Asked, T>(
  candidates: readonly Candidate[],
  work: Work<Candidate, T>,
  means: Means,
  signal: AbortSignal,
): Promise<Turn<Candidate, T> | null> {
  const place = await placeFor(candidates, work, signal)
  if (place === null) return null
  if (place === 'aborted' || place === 'full') {
    const [{ member }] = candidates as readonly [Candidate]
    const reason = `${candidates.length === 1 ? member.entry.backend.id : 'every backend'} has as many waiting as it takes`
    const late = fault('model/timeout', { backend: member.entry.backend.id })
    return { candidate: null, result: fail(place === 'full' ? fault('model/busy', { reason }) : late) }
  }
  const { candidate } = place
  const { member } = candidate
  let { leave } = place
  for (let tries = 0; ; tries++) {
    const answer = await attempt(candidate, leave, work, { means, signal })
    if (answer.ok || tries === (work.retriesMax ?? RETRIES_MAX) || !isTransient(answer.fault) || !work.mayTryAgain())
      return { candidate, result: answer }
    const pauseMs = pauseBefore(answer.fault, tries, means.random)
    if (pauseMs > PATIENCE_MS || !(await pause(pauseMs, means.timers, signal))) return { candidate, result: answer }
    const again = member.isResting(work.isFree ?? false)
      ? 'full'
      : await member.admission.enter(work.tokens, signal, work.who, work.isFree)
    if (again === 'full' || again === 'aborted') return { candidate, result: answer }
    leave = again
  }
}

/** There is no time limit as long as something comes: slow is not dead. */
async function attempt<Candidate extends Asked, T>(
  candidate: Candidate,
  leave: Leave,
  work: Work<Candidate, T>,
  { means, signal }: { readonly means: Means; readonly signal: AbortSignal },
): Promise<Result<T>> {
  const { member, model } = candidate
  if (signal.aborted) {
    leave(0)
    return fail(fault('model/timeout', { backend: member.entry.backend.id }))
  }
  const { isFree = false } = work
  if (!member.breakers.admit(means.clock.now(), isFree)) {
    leave(0)
    return fail(fault('model/none', { reason: `${member.entry.backend.id} is left alone` }))
  }
  const { clock, timers } = means
  const limit = new AbortController()
  const silence = new Silence({
    clock,
    timers,
    ms: member.entry.limits.timeoutMs,
    onHeard: () => member.heard(model.id),
    onSilent: (reason) => limit.abort(reason),
  })
  const beganMs = clock.now()
  let usage: ModelUsage | null = null
  let outcome: Fault | null | 'given-up' = 'given-up'
  try {
    const answer = await work.ask(candidate, AbortSignal.any([signal, limit.signal]), silence)
    if (answer.ok) outcome = null
    else if (isBlamed(answer.fault, candidate, { signal, limit: limit.signal, silence, sinceMs: beganMs }))
      outcome = answer.fault
    if (!answer.ok) return answer
    usage = answer.value.usage
    if (usage !== null) member.used(usage)
    return ok(answer.value.value)
  } finally {
    silence.end()
    member.note(outcome, isFree)
    leave(usage?.totalTokens ?? null)
  }
}

/**
 * A timeout is the backend's fault if the model was silent for long enough. A model that answers any caller meanwhile
 * is only slow. A caller that left proves nothing.
 */
function isBlamed(
  cause: Fault,
  { member, model }: Asked,
  {
    signal,
    limit,
    silence,
    sinceMs,
  }: {
    readonly signal: AbortSignal
    readonly limit: AbortSignal
    readonly silence: Silence
    readonly sinceMs: number
  },
): boolean {
  if (!signal.aborted && !limit.aborted) return isBackends(cause)
  if (silence.isHeld || (signal.aborted && !isTimeOver(signal))) return false
  return member.quietMs(model.id, sinceMs) >= (signal.aborted ? LONG_MS : member.entry.limits.timeoutMs)
}

async function placeFor<Candidate extends Asked>(
  candidates: readonly Candidate[],
  { tokens, who, isFree = false }: Pick<Work<Candidate, unknown>, 'tokens' | 'who' | 'isFree'>,
  signal: AbortSignal,
): Promise<Place<Candidate> | 'full' | 'aborted' | null> {
  const awake = candidates.filter(({ member }) => !member.isResting(isFree))
  if (awake.length === 0) return null
  for (const candidate of awake) {
    const leave = candidate.member.admission.tryEnter(tokens, who, isFree)
    if (leave !== null) return { candidate, leave }
  }
  for (const candidate of awake) {
    const leave = await candidate.member.admission.enter(tokens, signal, who, isFree)
    if (leave === 'aborted') return 'aborted'
    if (leave !== 'full') return { candidate, leave }
  }
  return 'full'
}

/** Whether a fault is about the backend, not about the question. */
export function isBackends({ detail }: Fault): boolean {
  const { status, ofQuestion } = detail
  return ofQuestion !== true && (typeof status !== 'number' || ![400, 413, 415, 422].includes(status))
}

/** Whether a retry may succeed in a moment. */
export function isTransient({ code, detail }: Fault): boolean {
  const { status } = detail
  return code === 'model/unreachable' || TRANSIENT.has(status) || (typeof status === 'number' && status >= 500)
}

/** What the backend asked for, or a random time below a doubling bound if that is longer. */
function pauseBefore({ detail }: Fault, tries: number, random: () => number): number {
  return Math.max(Number(detail.retryAfterMs ?? 0), random() * PAUSE_MS * 2 ** tries)
}

/** False if the signal came first. */
function pause(ms: number, timers: Timers, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false)
    const onAbort = (): void => {
      cancel()
      resolve(false)
    }
    const cancel = timers.after(ms, () => {
      signal.removeEventListener('abort', onAbort)
      resolve(true)
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
