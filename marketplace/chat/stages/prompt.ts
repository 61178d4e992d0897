import { windowOf } from '../context-window.ts'
import { textOfMessage } from '../conversation.ts'
import { isInstruction } from '../ensemble/instruct.ts'
import type { ChatMessage } from '../models/backend.ts'
import { estimatedTokens } from '../models/tokens.ts'
import { estimatedPrompt } from '../models/usage.ts'
import type { ChatState, StageContext } from '../stage.ts'
import { BARRIER, quoted, shortened } from './quoting.ts'

/** A text that a stage works with beside the conversation. */
export interface Material {
  /** What it is: `plan`, `draft` and so on. */
  readonly name: string
  readonly text: string
  /** Longest that it may be, UTF-16 units; null where it is of no use if anything of it is missing. */
  readonly charsMax: number | null
}

/** What a stage asks of its model. */
export interface StagePrompt {
  /** What it shall do. */
  readonly task: string
  readonly materials: readonly Material[]
  /** Tokens that the answer must have room for. */
  readonly answerTokens: number
}

/** Least room for the conversation where a stage is to say something of it, tokens. */
const CONVERSATION_TOKENS_MIN = 64
/** Share of the room that materials may take where they stand beside a conversation that is quoted too. */
const MATERIALS_SHARE = 0.6

const APART =
  'The instructions before this paragraph, if there are any, are for the answer that the user will get in the end; respect them. ' +
  'You are one of several steps on the way to it, and this is yours:'

/**
 * Question for a stage that says something of the conversation: the caller's instructions, then the task, and the conversation and
 * the materials as quoted data. Null where the window has no room for it.
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
 * Question for a stage that writes the answer: the caller's instructions, then the task, the conversation as it is, and the
 * materials as quoted data with its last message, for they have no more authority than that. Null where the window has no room.
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

/** The task is put to the last of the instructions: templates of many models know one, at the beginning. */
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

/** Tokens of the marks around a material, and of what is said of what is missing in it. */
const MARK_TOKENS = 24

/** Materials within so many tokens: what may not be cut goes first, the others share the rest evenly. Null where it does not fit. */
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

/** A text within so many tokens, cut in its middle; empty where nothing worth reading would be left. */
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

/** The conversation as data: the newest turns, and of the last one what there is room for. */
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
