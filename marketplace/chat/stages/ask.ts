import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ModelRole } from '../../ports/models.ts'
import { windowOf } from '../context-window.ts'
import type { DeskQuestion } from '../desk.ts'
import { askForText } from '../ensemble/speak.ts'
import type { AnswerSchema } from '../models/backend.ts'
import type { PoolAnswer } from '../models/pool.ts'
import { estimatedTokens } from '../models/tokens.ts'
import { withWords } from '../spoken.ts'
import type { ChatState, StageContext } from '../stage.ts'
import { ANSWER_TOKENS_MIN, ASIDE_TOKENS } from './bounds.ts'
import { answerPrompt, asidePrompt, type Material } from './prompt.ts'

/** The question of a stage, and the roles to ask. */
export interface StageQuestion {
  /** Best first. */
  readonly roles: readonly ModelRole[]
  readonly task: string
  readonly materials: readonly Material[]
}

/** The answer is notes for later stages. Faults: `chat/window-full`, `model/*`. */
export async function askAside(
  { roles, task, materials }: StageQuestion,
  state: ChatState,
  context: StageContext,
  jsonSchema?: AnswerSchema,
): Promise<Result<PoolAnswer>> {
  const window = windowOf(context.call.model, context.means.models)
  const maxTokens = Math.min(ASIDE_TOKENS.most, Math.floor(window * ASIDE_TOKENS.share))
  const messages = asidePrompt({ task, materials, answerTokens: maxTokens }, state, context)
  if (messages === null) return fail(fault('chat/window-full'))
  const question = { roles, messages, maxTokens, ...(jsonSchema && { jsonSchema }) }
  return withWords(await context.desk.ask(question, context.signal))
}

/**
 * Streamed if this stage speaks. If the window has no room for task and materials, the plain conversation is answered.
 * Faults: `model/*`.
 */
export function askAnswer(
  { roles, task, materials }: StageQuestion,
  state: ChatState,
  context: StageContext,
): Promise<Result<ChatState>> {
  const answerTokens = Math.min(context.call.maxTokens, ANSWER_TOKENS_MIN)
  const messages = answerPrompt({ task, materials, answerTokens }, state, context) ?? state.messages
  return written({ roles, messages }, state, context)
}

/**
 * The answer so far is given as the draft. A rewrite that was cut at its length limit does not replace a complete
 * answer, unless it was already streamed. Faults: `chat/window-full`, `model/*`.
 */
export async function askRewrite(
  { roles, task, materials }: StageQuestion,
  state: ChatState,
  context: StageContext,
): Promise<Result<ChatState>> {
  const draft: Material = { name: 'draft', text: state.text, charsMax: null }
  const answerTokens = Math.min(
    context.call.maxTokens,
    ANSWER_TOKENS_MIN + Math.ceil(estimatedTokens(state.text) * 1.25),
  )
  const messages = answerPrompt({ task, materials: [draft, ...materials], answerTokens }, state, context)
  if (messages === null) return fail(fault('chat/window-full'))
  const made = await written({ roles, messages }, state, context)
  if (!made.ok) return made
  const { text, finishReason } = made.value
  const isWorse = finishReason === 'length' && state.finishReason !== 'length'
  if (isWorse && context.say === null)
    return ok({ ...state, note: 'what it wrote was cut for its length, and left out' })
  return ok({ ...state, text, finishReason })
}

async function written(
  question: Pick<DeskQuestion, 'roles' | 'messages'>,
  state: ChatState,
  context: StageContext,
): Promise<Result<ChatState>> {
  const said = await askForText(state, context, question)
  return said.ok ? ok(said.value.state) : said
}
