import { fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ChatMessage, DeltaSink } from '../models/backend.ts'
import type { ChatSink, StageReport } from './call.ts'
import type { ChatState, Pipeline, Stage, StageContext } from './stage.ts'

/** A finished walk through a pipeline. */
export interface PipelineOutcome {
  readonly state: ChatState
  readonly stages: readonly StageReport[]
}

const REASON_CHARS_MAX = 200

/** The state in which a conversation enters its pipeline. */
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
 * Works through the stages in their order. The last one that makes text is given the reader's sink; where none used it, the
 * finished text is handed over at the end. Faults: `chat/aborted`, and those of stages that are essential or had begun to speak.
 */
export async function runPipeline(
  { stages }: Pipeline,
  first: ChatState,
  context: Omit<StageContext, 'say'>,
  sink: ChatSink | null,
): Promise<Result<PipelineOutcome>> {
  const voice = new Voice(sink)
  const reports: StageReport[] = []
  let state = first
  for (const [i, stage] of stages.entries()) {
    if (context.signal.aborted) return fail(fault('chat/aborted'))
    const reason = stage.skip?.(state, context) ?? null
    if (reason !== null) {
      reports.push({ stage: stage.name, ran: false, reason, models: [], ms: 0 })
      continue
    }
    const say = isLastWord(stage, stages.slice(i + 1), { state, context }) ? voice.say : null
    const { next, report } = await runStage(stage, state, { ...context, say })
    // What was half said cannot be taken back: going on would say it twice.
    if (!next.ok && (stage.isEssential === true || context.signal.aborted || voice.began)) return next
    reports.push(report)
    if (!next.ok) continue
    state = next.value
    sink?.ready()
  }
  if (state.text === '') return fail(fault('model/answer', { backend: 'the last stage', reason: 'it said nothing' }))
  if (!voice.began) await voice.say?.({ content: state.text })
  return ok({ state, stages: reports })
}

async function runStage(
  stage: Stage,
  state: ChatState,
  context: StageContext,
): Promise<{ readonly next: Result<ChatState>; readonly report: StageReport }> {
  const { clock } = context.means
  const beganMs = clock.now()
  const next = await stage.run(state, context)
  const facts = { stage: stage.name, models: context.desk.answered(), ms: Math.round(clock.now() - beganMs) }
  if (next.ok) return { next, report: { ...facts, ran: true } }
  return { next, report: { ...facts, ran: false, reason: faultMessage(next.fault).slice(0, REASON_CHARS_MAX) } }
}

function isLastWord(
  stage: Stage,
  after: readonly Stage[],
  { state, context }: { readonly state: ChatState; readonly context: Omit<StageContext, 'say'> },
): boolean {
  if (stage.makesText !== true) return false
  return after.every((one) => one.makesText !== true || (one.skip?.(state, context) ?? null) !== null)
}

/** Speaks to whoever reads along. */
class Voice {
  /** Whether anything was said. */
  began = false
  /** Null where nobody reads along. */
  readonly say: DeltaSink | null

  constructor(sink: ChatSink | null) {
    this.say =
      sink === null
        ? null
        : (delta) => {
            this.began = true
            return sink.take({ index: 0, delta })
          }
  }
}
