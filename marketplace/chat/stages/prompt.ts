import { windowOf } from '../context-window.ts'
import { textOfMessage } from '../conversation.ts'
import { isInstruction } from '../ensemble/instruct.ts'
import type { ChatMessage } from '../models/backend.ts'
import { estimatedTokens } from '../models/tokens.ts'
import { estimatedPrompt } from '../models/usage.ts'
import type { ChatState, StageContext } from '../stage.ts'
import { BARRIER, quoted, shortened } from './quoting.ts'

/** A text besides the conversation. */
export interface Material {
  /** `plan`, `draft` and so on. */
  readonly name: string
  readonly text: string
  /** In UTF-16 units. Null if the text is useless when cut. */
  readonly charsMax: number | null
}

/** The prompt of a stage. */
export interface StagePrompt {
  readonly task: string
  readonly materials: readonly Material[]
  /** Tokens reserved for the answer. */
  readonly answerTokens: number
}

/** Least room for the conversation in a prompt for notes, in tokens. */
const CONVERSATION_TOKENS_MIN = 64
/** Share of the room for materials, beside a quoted conversation. */
const MATERIALS_SHARE = 0.6

const APART =
  'The instructions before this paragraph, if there are any, are for the answer that the user will get in the end; respect them. ' +
  'You are one of several steps on the way to it, and this is yours:'

/**
 * A prompt for notes: the caller's instructions, the task, and conversation and materials as quoted data. Null if the
 * window has no room.
 */
export function asidePrompt(
  { task, materials, answerTokens }: StagePrompt,
  { messages }: ChatState,
  context: StageContext,
): readonly ChatMessage[] | null {
  const { instructions, turns } = parted(messages)
  const head = withTask(instructions, task)
  const room = roomBeside(head, answerTokens, context)
  if (room < CONVERSATION_TOKENS_MIN) return null
  const cut = fitted(materials, Math.floor(room * MATERIALS_SHARE))
  if (cut === null) return null
  const beside = cut.map(({ name, text }) => quoted(name, text))
  const left = room - estimatedTokens(beside.join('\n'))
  const content = [quotedTurns(turns, left), ...beside, 'Now do your step, as the instructions say.'].join('\n\n')
  return [...head, { role: 'user', content }]
}

/**
 * A prompt for an answer: the caller's instructions, the task, and the conversation unchanged. Materials are quoted in
 * a message of the user, since they have no more authority than the user. Null if the window has no room.
 */
export function answerPrompt(
  { task, materials, answerTokens }: StagePrompt,
  { messages }: ChatState,
  context: StageContext,
): readonly ChatMessage[] | null {
  const { instructions, turns } = parted(messages)
  const base = [...withTask(instructions, task), ...turns]
  const room = roomBeside(base, answerTokens, context)
  if (room < 0) return null
  const cut = fitted(materials, room)
  if (cut === null) return null
  const beside = cut.map(({ name, text }) => quoted(name, text)).join('\n\n')
  return beside === '' ? base : withMore(base, beside)
}

function parted(messages: readonly ChatMessage[]): {
  readonly instructions: readonly ChatMessage[]
  readonly turns: readonly ChatMessage[]
} {
  const found = messages.findIndex((message) => !isInstruction(message))
  const first = found < 0 ? messages.length : found
  return { instructions: messages.slice(0, first), turns: messages.slice(first) }
}

/** The task joins the last instruction: the templates of many models allow only one instruction, at the beginning. */
function withTask(instructions: readonly ChatMessage[], task: string): readonly ChatMessage[] {
  const whole = `${task}\n\n${BARRIER}`
  const last = instructions.at(-1)
  if (last === undefined) return [{ role: 'system', content: whole }]
  return [...instructions.slice(0, -1), added(last, `${APART}\n\n${whole}`)]
}

function withMore(messages: readonly ChatMessage[], text: string): readonly ChatMessage[] {
  const last = messages.at(-1)
  if (last?.role !== 'user') return [...messages, { role: 'user', content: text }]
  return [...messages.slice(0, -1), added(last, text)]
}

function added(message: ChatMessage, text: string): ChatMessage {
  const { content } = message
  if (Array.isArray(content)) return { ...message, content: [...content, { type: 'text', text }] }
  return { ...message, content: typeof content === 'string' && content !== '' ? `${content}\n\n${text}` : text }
}

function roomBeside(messages: readonly ChatMessage[], answerTokens: number, { call, means }: StageContext): number {
  return windowOf(call.model, means.models) - estimatedPrompt(messages) - answerTokens
}

/** Tokens of the marks around a material, and of the note about a cut. */
const MARK_TOKENS = 24

/** Materials that must stay whole come first, and all others share the rest. Null if the whole ones do not fit. */
function fitted(materials: readonly Material[], room: number): readonly Material[] | null {
  const whole = materials.filter(({ charsMax }) => charsMax === null)
  const spent = whole.reduce((sum, { text }) => sum + estimatedTokens(text) + MARK_TOKENS, 0)
  if (whole.length > 0 && spent > room) return null
  const others = materials.length - whole.length
  const share = others === 0 ? 0 : Math.floor((room - spent) / others) - MARK_TOKENS
  return materials.flatMap((one) => {
    if (one.charsMax === null) return [one]
    const text = withinTokens(shortened(one.text, one.charsMax), share)
    return text === '' ? [] : [{ ...one, text }]
  })
}

/** Cuts in the middle. Empty if too little would be left. */
function withinTokens(text: string, tokens: number): string {
  if (tokens < MARK_TOKENS) return ''
  let cut = text
  for (let is = estimatedTokens(cut); is > tokens; is = estimatedTokens(cut)) {
    const chars = Math.floor(cut.length * Math.min(0.9, tokens / is))
    cut = shortened(text, chars)
    if (chars < MARK_TOKENS) return ''
  }
  return cut
}

/** The newest turns that fit. A turn that is too long for the room left is cut. */
function quotedTurns(turns: readonly ChatMessage[], tokens: number): string {
  const texts: string[] = []
  let left = tokens
  for (const turn of turns.toReversed()) {
    const name = turn.role === 'assistant' ? 'assistant' : turn.role === 'user' ? 'user' : 'instruction'
    const text = quoted(name, withinTokens(textOfMessage(turn), left - MARK_TOKENS))
    const cost = estimatedTokens(text) + 1
    if (cost > left || (texts.length > 0 && left < CONVERSATION_TOKENS_MIN)) break
    left -= cost
    texts.unshift(text)
  }
  const missing = turns.length - texts.length
  const head = missing === 0 ? 'The conversation:' : `The conversation without its first ${missing} messages:`
  return [head, ...texts].join('\n')
}
