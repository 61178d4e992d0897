import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ChatSink, StageReport } from './call.ts'
import type { ChatMessage, DeltaSink } from './models/backend.ts'
import { isTimeOver } from './models/silence.ts'
import { isSpoken } from './spoken.ts'
import type { ChatState, Pipeline, Stage, StageContext } from './stage.ts'
import { asChatFault } from './upstream-fault.ts'

/** A finished run of a pipeline. */
export interface PipelineOutcome {
  readonly state: ChatState
  readonly stages: readonly StageReport[]
}

type WalkContext = Omit<StageContext, 'say'>

const REASON_CHARS_MAX = 200
/** Most pieces without words that are held back. Further ones are dropped. */
const HELD_MAX = 16
/** A stage with a time limit needs at least this much. */
const LEAST_MS = 1_000
/** Time reserved for passing on the answer. */
const GRACE_MS = 200
/** Reason if a stage did not run, or was stopped, for lack of time. */
const TIME = 'time'

/** Reason if a text stage did not run because the answer was already streamed. */
const GIVEN = 'the answer was given before'

/** The first state of a conversation in its pipeline. */
export function firstState(messages: readonly ChatMessage[], question: string): ChatState {
  return {
    messages,
    question,
    mode: null,
    tier: null,
    plan: null,
    research: null,
    drafts: [],
    critique: null,
    verdict: null,
    sources: [],
    citations: [],
    text: '',
    finishReason: 'stop',
    facts: {},
  }
}

/**
 * Runs the stages in order. The last stage that makes text streams to the reader's sink. Once text was streamed, no
 * further stage makes another text. Faults: `chat/aborted`, `chat/timeout` if time ran out before there was a text,
 * `model/answer` if there is no text at the end, and faults of stages that are essential or had begun to stream.
 */
export async function runPipeline(
  { stages, enter }: Pipeline,
  first: ChatState,
  context: WalkContext,
  sink: ChatSink | null,
): Promise<Result<PipelineOutcome>> {
  const voice = new Voice(sink)
  const reports: StageReport[] = []
  let state = enter?.(first) ?? first
  for (const [i, stage] of stages.entries()) {
    const ended = endOf(state, context)
    if (ended !== null) return fail(ended)
    const reason = whyNot(stage, state, context) ?? (voice.began && stage.makesText === true ? GIVEN : null)
    if (reason !== null) {
      reports.push({ stage: stage.name, ran: false, reason, models: [], ms: 0 })
      continue
    }
    const say = isLastWord(stage, stages.slice(i + 1), { state, context }) ? voice.say() : null
    const { next, report } = await runStage(stage, state, { ...context, say })
    // Streamed text cannot be taken back, so another stage would repeat it.
    if (!next.ok && (stage.isEssential === true || (say !== null && voice.began))) return next
    reports.push(report)
    if (!next.ok) continue
    state = say === null && voice.began ? { ...next.value, text: state.text } : next.value
    // A stage that asked no model does not show whether there will be an answer.
    if (report.models.length > 0) sink?.ready()
  }
  const ended = endOf(state, context)
  if (ended !== null) return fail(ended)
  if (state.text === '') return fail(fault('model/answer', { backend: 'the last stage', reason: 'it said nothing' }))
  if (!voice.began) await voice.say()?.({ content: state.text })
  return ok({ state, stages: reports })
}

/** Null if the run can go on. After a timeout, an existing text can still be sent. */
function endOf({ text }: ChatState, { signal, call }: WalkContext): Fault | null {
  if (!signal.aborted) return null
  if (!isTimeOver(signal)) return fault('chat/aborted')
  return text === '' ? fault('chat/timeout', { model: call.model }) : null
}

function whyNot(stage: Stage, state: ChatState, context: WalkContext): string | null {
  if (context.signal.aborted) return TIME
  return stage.skip?.(state, context) ?? (limitOf(stage, context) < LEAST_MS ? TIME : null)
}

/** Infinite if `keeps` is absent. */
function limitOf({ keeps }: Stage, { remainingMs, means }: WalkContext): number {
  return keeps === undefined ? Number.POSITIVE_INFINITY : remainingMs() - keeps * means.budgetMs
}

async function runStage(
  stage: Stage,
  state: ChatState,
  context: StageContext,
): Promise<{ readonly next: Result<ChatState>; readonly report: StageReport }> {
  const { clock } = context.means
  const beganMs = clock.now()
  const limitMs = limitOf(stage, context)
  const limit = limitMs === Number.POSITIVE_INFINITY ? null : AbortSignal.timeout(Math.floor(limitMs - GRACE_MS))
  const signal = limit === null ? context.signal : AbortSignal.any([context.signal, limit])
  const made = await stage.run(state, { ...context, signal })
  const facts = { stage: stage.name, models: context.desk.answered(), ms: Math.round(clock.now() - beganMs) }
  if (!made.ok) {
    const isLate = limit?.aborted === true && !context.signal.aborted
    const reason = isLate ? TIME : faultMessage(asChatFault(made.fault, context.call.model))
    return { next: made, report: { ...facts, ran: false, reason: reason.slice(0, REASON_CHARS_MAX) } }
  }
  const { note, ...next } = made.value
  const reason = note === undefined ? {} : { reason: note.slice(0, REASON_CHARS_MAX) }
  return { next: ok(next), report: { ...facts, ran: true, ...reason } }
}

function isLastWord(
  stage: Stage,
  after: readonly Stage[],
  { state, context }: { readonly state: ChatState; readonly context: WalkContext },
): boolean {
  if (stage.makesText !== true) return false
  return after.every((one) => one.makesText !== true || whyNot(one, state, context) !== null)
}

/** Pieces without words are held back until words come: until then a stage may still fail. */
class Voice {
  readonly #sink: ChatSink | null
  #held: Readonly<Record<string, unknown>>[] = []
  began = false

  constructor(sink: ChatSink | null) {
    this.#sink = sink
  }

  /** Null without a reader. Drops pieces held from an earlier stage. */
  say(): DeltaSink | null {
    this.#held = []
    return this.#sink === null ? null : (delta) => this.#take(delta)
  }

  async #take(delta: Readonly<Record<string, unknown>>): Promise<void> {
    if (!this.began && !isSpoken(delta)) {
      if (this.#held.length < HELD_MAX) this.#held.push(delta)
      return
    }
    this.began = true
    for (const held of this.#held.splice(0)) await this.#sink?.take({ index: 0, delta: held })
    await this.#sink?.take({ index: 0, delta })
  }
}
