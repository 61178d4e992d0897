import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ModelRole } from '../ports/models.ts'
import { type ChatCall, type ChatChoice, type ChatOutcome, type ChatSink, ENFORCEMENTS, type Enforced } from './call.ts'
import { canAnswer, type DeskQuestion } from './desk.ts'
import type { CitationFilter } from './ensemble/citation-filter.ts'
import { filterFor } from './ensemble/own-marks.ts'
import { filteredSink } from './ensemble/speak.ts'
import type { DeltaSink, ModelSupport } from './models/backend.ts'
import { wholeTokensMax } from './models/likelihoods.ts'
import type { StageContext } from './stage.ts'
import { formUsage, structuredAnswer, unusableForm } from './structured.ts'

const ANSWERS_MAX = 8

const ROLES: Readonly<Record<ChatCall['model'], readonly ModelRole[]>> = {
  'model-1': ['fast'],
  'model-2': ['general'],
  'model-3': ['code', 'general'],
  'model-4': ['general', 'reason'],
}

interface Single {
  readonly choice: ChatChoice
  /** Null if the answer has no form. */
  readonly enforced: Enforced | null
}

/** One model answers without a pipeline for model-1, for requests with tools, and for answers with a form. */
export function isSingleCall({ model, usesTools, form }: ChatCall): boolean {
  return model === 'model-1' || usesTools || form.is !== 'text'
}

/** Abilities that the model must have. */
export function needsOf({ usesTools, messages }: ChatCall): readonly ModelSupport[] {
  return [...(usesTools ? ['tools' as const] : []), ...(messages.some(hasPicture) ? ['vision' as const] : [])]
}

/**
 * Everything passes unchanged except made-up citations. Several answers are asked for in parallel; if one fails, all
 * fail. Faults: `model/*`, `chat/schema`, `chat/invalid-request`, `chat/unsupported`.
 */
export async function runSingleCall(
  call: ChatCall,
  context: Omit<StageContext, 'say'>,
  sink: ChatSink | null,
): Promise<Result<ChatOutcome>> {
  if (call.count > ANSWERS_MAX)
    return fail(fault('chat/unsupported', { param: 'n', reason: `there are at most ${ANSWERS_MAX} answers to a chat` }))
  const { desk, means } = context
  const needs = needsOf(call)
  const isThere = means.models.facts.some(({ models }) => models.some((one) => canAnswer(one, needs)))
  if (!isThere)
    return fail(
      fault('chat/unsupported', {
        param: call.usesTools ? 'tools' : 'messages',
        reason: `no model here takes ${needs.join(' and ')}`,
      }),
    )
  const beganMs = means.clock.now()
  const unusable = await unusableForm(call.form, context)
  if (unusable !== null) return fail(unusable)
  const singles = await allOf(call, context, sink)
  if (!singles.ok) {
    // A caller that leaves before a model answers still pays for the check of the form.
    const isGone = context.signal.aborted && context.remainingMs() > 0
    if (isGone && call.form.is === 'schema' && !desk.isAnswered) desk.note(formUsage(call.form.schema))
    return singles
  }
  const stage = { stage: 'Answer', ran: true, models: desk.answered(), ms: Math.round(means.clock.now() - beganMs) }
  const enforced = ENFORCEMENTS.findLast((one) => singles.value.some((single) => single.enforced === one))
  return ok({
    choices: singles.value.map(({ choice }) => choice),
    usage: desk.usage,
    report: {
      model: call.model,
      pipeline: call.usesTools ? 'tools' : 'direct',
      stages: [stage],
      grounded: false,
      citations: [],
      usageEstimated: desk.usage.estimated,
      ...(enforced !== undefined && { structured: enforced }),
      ...(desk.resumed !== null && { resumed: desk.resumed }),
    },
  })
}

async function allOf(
  call: ChatCall,
  context: Omit<StageContext, 'say'>,
  sink: ChatSink | null,
): Promise<Result<readonly Single[]>> {
  const others = new AbortController()
  const signal = AbortSignal.any([context.signal, others.signal])
  const asked = Array.from({ length: call.count }, async (_, index) => {
    const single = await oneOf(call, index, { ...context, signal }, sink)
    if (!single.ok) others.abort()
    return single
  })
  const singles: Single[] = []
  // A failure aborts the other answers, which then fail with `model/timeout`. So any other fault is the cause.
  const failures: Result<never>[] = []
  for (const single of await Promise.all(asked)) {
    if (single.ok) singles.push(single.value)
    else failures.push(single)
  }
  return failures.find((one) => !one.ok && one.fault.code !== 'model/timeout') ?? failures[0] ?? ok(singles)
}

async function oneOf(
  call: ChatCall,
  index: number,
  context: Omit<StageContext, 'say'>,
  sink: ChatSink | null,
): Promise<Result<Single>> {
  const question = questionOf(sink === null || call.form.is !== 'text' ? shortened(call) : call, index)
  const say: DeltaSink | null =
    sink === null ? null : (delta, logprobs) => sink.take({ index, delta, ...(logprobs !== undefined && { logprobs }) })
  if (call.form.is !== 'text') return structuredAnswer(call.form, question, context, { say, ready: sink?.ready })
  // Tool results can be cited by marks, and log probabilities must match the text exactly.
  const isAsItCame = call.usesTools || call.extra.logprobs === true
  const filter = (): CitationFilter | null => (isAsItCame ? null : filterFor(call))
  const heard = say === null ? null : filteredSink(filter(), say)
  const answered = await context.desk.ask({ ...question, sink: heard?.sink ?? null }, context.signal)
  if (!answered.ok) return answered
  await heard?.end()
  const { finishReason, logprobs = null } = answered.value
  const message = withoutMarks(answered.value.message, filter())
  return ok({ choice: { message, finishReason, logprobs }, enforced: null })
}

function withoutMarks(message: ChatChoice['message'], filter: CitationFilter | null): ChatChoice['message'] {
  const { content } = message
  if (filter === null || typeof content !== 'string') return message
  return { ...message, content: filter.push(content) + filter.end() }
}

/** For answers that are written in one piece: all log probabilities are then serialised at once, which blocks the event loop. */
function shortened(call: ChatCall): ChatCall {
  const most = Math.max(1, Math.floor(wholeTokensMax(call.extra) / call.count))
  return { ...call, maxTokens: Math.min(call.maxTokens, most) }
}

function questionOf(call: ChatCall, index: number): DeskQuestion {
  const { model, messages, maxTokens, temperature, extra } = call
  const { seed } = extra
  // The same seed would give the same answer again.
  const seeded = index > 0 && typeof seed === 'number' ? { ...extra, seed: seed + index } : extra
  return {
    roles: ROLES[model],
    needs: needsOf(call),
    messages,
    maxTokens,
    ...(temperature !== null && { temperature }),
    extra: seeded,
  }
}

function hasPicture({ content }: ChatCall['messages'][number]): boolean {
  return Array.isArray(content) && content.some((part) => (part as { type?: unknown } | null)?.type === 'image_url')
}
