import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { SchemaCheck } from '../ports/chat-tasks.ts'
import type { ModelUsage } from '../ports/models.ts'
import { isOfForm } from '../ports/trouble.ts'
import { schemaTrouble } from './answer-schema.ts'
import type { AnswerForm, ChatChoice, Enforced } from './call.ts'
import type { DeskQuestion } from './desk.ts'
import type { AnswerSchema, ChatMessage, DeltaSink } from './models/backend.ts'
import type { PoolAnswer } from './models/pool.ts'
import { spokenUsage } from './models/usage.ts'
import type { StageContext } from './stage.ts'

type Form = Exclude<AnswerForm, { readonly is: 'text' }>
type Context = Pick<StageContext, 'desk' | 'means' | 'signal' | 'remainingMs'>

interface Reader {
  readonly say: DeltaSink | null
  readonly ready: (() => void) | undefined
}

interface Structured {
  readonly choice: ChatChoice
  readonly enforced: Enforced
}

const REASON_CHARS_MAX = 300
const ANY_OBJECT = { type: 'object' }

/**
 * If there is a reader and a model's server enforces the form, the answer streams at once. Otherwise it is shown after
 * a check, and a wrong answer is asked for once more. Faults: `chat/schema`, `model/*`.
 */
export async function structuredAnswer(
  form: Form,
  question: DeskQuestion,
  context: Context,
  reader: Reader,
): Promise<Result<Structured>> {
  const asked = { ...question, ...(form.is === 'schema' ? { jsonSchema: form.schema } : { json: true }) }
  if (reader.say !== null) {
    const live = await readLive(form, asked, context, reader.say)
    if (live !== null) return live
  }
  return readChecked(form, asked, context, reader)
}

/** `chat/invalid-request`, or null if the form is accepted. */
export function refusedForm(form: AnswerForm): Fault | null {
  const trouble = form.is === 'schema' ? schemaTrouble(form.schema.schema) : null
  return trouble === null ? null : wrongForm(trouble)
}

function wrongForm(reason: string): Fault {
  return fault('chat/invalid-request', { param: 'response_format', reason })
}

/**
 * Null if the form can be used. The tokens of an unusable schema count too, since finding that out can take as long as
 * checking a good one. Faults: `chat/invalid-request`, `chat/schema`, `model/timeout`.
 */
export async function unusableForm(
  form: AnswerForm,
  { desk, means, signal, remainingMs }: Context,
): Promise<Fault | null> {
  if (form.is !== 'schema') return null
  const compiled = await means.engines.run('chat/check-schema', { schema: form.schema.schema, text: null }, signal)
  if (compiled.ok) return null
  const { code, detail } = compiled.fault
  // The caller does not pay if this node lacks the process or the time for the check.
  if (code !== 'engine/failed' && remainingMs() > 0) desk.note(formUsage(form.schema))
  if (signal.aborted) return fault('model/timeout', { backend: 'the check' })
  return code === 'engine/refused' ? wrongForm(`the schema cannot be used: ${detail.reason}`) : uncheckable()
}

/** Usage of a form that no model was asked with. */
export function formUsage(schema: AnswerSchema): ModelUsage {
  return spokenUsage(JSON.stringify(schema))
}

/** Null if nothing was streamed because no server that enforces the form can be asked, or one refuses it. */
async function readLive(
  form: Form,
  asked: DeskQuestion,
  context: Context,
  say: DeltaSink,
): Promise<Result<Structured> | null> {
  let isSaid = false
  const sink: DeltaSink = (delta, logprobs) => {
    isSaid = true
    return say(delta, logprobs)
  }
  const needs = [...(asked.needs ?? []), 'jsonSchema' as const]
  const answered = await context.desk.ask({ ...asked, needs, sink }, context.signal)
  if (!answered.ok) return isSaid || context.signal.aborted || !isUnformed(answered.fault) ? answered : null
  const { heldBy } = answered.value
  if (isExempt(answered.value)) return ok(structured(answered.value, enforcedBy(heldBy)))
  const checked = await check(form, answered.value.text, context)
  if (!checked.ok) return checked
  if (!checked.value.passes) return fail(fault('chat/schema', { reason: checked.value.reason }))
  return ok(structured(answered.value, enforcedBy(heldBy)))
}

async function readChecked(
  form: Form,
  asked: DeskQuestion,
  context: Context,
  reader: Reader,
): Promise<Result<Structured>> {
  const question = { ...asked, prefers: ['jsonSchema' as const] }
  const first = await context.desk.ask(question, context.signal)
  if (!first.ok) return first
  reader.ready?.()
  const judged = await judge(form, first.value, context)
  if (!judged.ok) return judged
  const { told, reason } = judged.value
  if (told !== null) return shown(told, enforcedBy(first.value.heldBy), reader)
  const again = repairOf(question, first.value.text, reason)
  const second = await context.desk.ask(again, context.signal)
  // The conversation with the wrong answer in it may be too long for the model.
  if (!second.ok) return second.fault.code === 'model/none' ? fail(fault('chat/schema', { reason })) : second
  const repaired = await judge(form, second.value, context)
  if (!repaired.ok) return repaired
  if (repaired.value.told === null) return fail(fault('chat/schema', { reason: repaired.value.reason }))
  return shown(repaired.value.told, 'repaired', reader)
}

/** `told` is null if the answer is wrong. */
async function judge(
  form: Form,
  answer: PoolAnswer,
  context: Context,
): Promise<Result<{ readonly told: PoolAnswer | null; readonly reason: string }>> {
  if (isExempt(answer) && (answer.heldBy !== 'words' || answer.finishReason !== 'length'))
    return ok({ told: answer, reason: '' })
  const checked = await check(form, answer.text, context)
  if (!checked.ok) return checked
  if (!checked.value.passes) return ok({ told: null, reason: checked.value.reason })
  const { text } = checked.value
  const { logprobs, ...rest } = answer
  // Text around the object was removed, so the log probabilities no longer match.
  const kept = text === answer.text && logprobs !== undefined ? { logprobs } : {}
  return ok({ told: { ...rest, ...kept, text, message: { ...rest.message, content: text } }, reason: '' })
}

/** Tool calls, refusals, and answers that report a cut or a content filter need not match the schema. */
function isExempt({ message, finishReason }: PoolAnswer): boolean {
  const { tool_calls: calls, refusal } = message
  const isRefusal = typeof refusal === 'string' && refusal !== ''
  return isRefusal || (Array.isArray(calls) && calls.length > 0) || ['length', 'content_filter'].includes(finishReason)
}

async function check(form: Form, text: string, { means, signal }: Context): Promise<Result<SchemaCheck>> {
  const schema = form.is === 'schema' ? form.schema.schema : ANY_OBJECT
  const checked = await means.engines.run('chat/check-schema', { schema, text }, signal)
  if (checked.ok) return checked
  return fail(signal.aborted ? fault('model/timeout', { backend: 'the check' }) : uncheckable())
}

function uncheckable(): Fault {
  return fault('chat/schema', { reason: 'the check of it takes too much time or memory' })
}

function repairOf(question: DeskQuestion, text: string, reason: string): DeskQuestion {
  const messages: readonly ChatMessage[] = [
    ...question.messages,
    { role: 'assistant', content: text },
    {
      role: 'user',
      content: `That is not in the form that was asked for: ${reason.slice(0, REASON_CHARS_MAX)}. Answer again with the corrected JSON alone.`,
    },
  ]
  return { ...question, messages }
}

async function shown(answer: PoolAnswer, enforced: Enforced, { say }: Reader): Promise<Result<Structured>> {
  await say?.({ ...answer.message, role: 'assistant' }, answer.logprobs)
  return ok(structured(answer, enforced))
}

function structured({ message, finishReason, logprobs = null }: PoolAnswer, enforced: Enforced): Structured {
  return { choice: { message, finishReason, logprobs }, enforced }
}

function enforcedBy(heldBy: PoolAnswer['heldBy']): Enforced {
  return heldBy === 'native' || heldBy === 'grammar' ? heldBy : 'checked'
}

/** No model takes the form, or a server refuses it. */
function isUnformed(cause: Fault): boolean {
  return cause.code === 'model/none' || isOfForm(cause)
}
