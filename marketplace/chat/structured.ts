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

/** Who reads along. */
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
 * An answer in a form. One whose server holds it to the form is read along as it comes; any other is shown once it was checked, and
 * one that is wrong is asked for once more. Faults: `chat/schema`, `model/*`.
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

/** Why the form of a chat is not taken at all, which is seen at once; null where it is. The fault is `chat/invalid-request`. */
export function refusedForm(form: AnswerForm): Fault | null {
  const trouble = form.is === 'schema' ? schemaTrouble(form.schema.schema) : null
  return trouble === null ? null : wrongForm(trouble)
}

function wrongForm(reason: string): Fault {
  return fault('chat/invalid-request', { param: 'response_format', reason })
}

/**
 * What is wrong with the form of a chat, before any model is asked; null where nothing is. A schema that cannot be used counts its
 * tokens all the same: to find that out can take as long as a good one takes at most. Faults: `chat/invalid-request`, `chat/schema`,
 * `model/timeout`.
 */
export async function unusableForm(
  form: AnswerForm,
  { desk, means, signal, remainingMs }: Context,
): Promise<Fault | null> {
  if (form.is !== 'schema') return null
  const compiled = await means.engines.run('chat/check-schema', { schema: form.schema.schema, text: null }, signal)
  if (compiled.ok) return null
  const { code, detail } = compiled.fault
  // That this node has no process, or no time, for it is no fault of its caller.
  if (code !== 'engine/failed' && remainingMs() > 0) desk.note(formUsage(form.schema))
  if (signal.aborted) return fault('model/timeout', { backend: 'the check' })
  return code === 'engine/refused' ? wrongForm(`the schema cannot be used: ${detail.reason}`) : uncheckable()
}

/** What the form of an answer counts, where no model was asked with it. */
export function formUsage(schema: AnswerSchema): ModelUsage {
  return spokenUsage(JSON.stringify(schema))
}

/** Null where no server holds its models to the form, or none of those can be asked: then nothing was said yet. */
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
  // A conversation with a wrong answer in it can be too long for its model.
  if (!second.ok) return second.fault.code === 'model/none' ? fail(fault('chat/schema', { reason })) : second
  const repaired = await judge(form, second.value, context)
  if (!repaired.ok) return repaired
  if (repaired.value.told === null) return fail(fault('chat/schema', { reason: repaired.value.reason }))
  return shown(repaired.value.told, 'repaired', reader)
}

/** The answer in its form, or null with what is wrong with it. */
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
  // What stood around the object is gone, and with it what its tokens were.
  const kept = text === answer.text && logprobs !== undefined ? { logprobs } : {}
  return ok({ told: { ...rest, ...kept, text, message: { ...rest.message, content: text } }, reason: '' })
}

/** What no schema is for: calls of tools, words of refusal, and what says itself that it was cut off. */
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

/** Whether it went wrong because of the form: no model takes it, or a server refuses this one. */
function isUnformed(cause: Fault): boolean {
  return cause.code === 'model/none' || isOfForm(cause)
}
