import { fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { tooLongFor, windowOf } from '../context-window.ts'
import { textOfMessage } from '../conversation.ts'
import type { ChatMessage, ModelSupport } from '../models/backend.ts'
import { estimatedPrompt } from '../models/usage.ts'
import { withWords } from '../spoken.ts'
import type { ChatMeans, Stage, StageContext } from '../stage.ts'
import { asChatFault } from '../upstream-fault.ts'
import { hasImages } from '../vision/image-parts.ts'
import {
  completed,
  HISTORY_CHARS_MAX,
  historyChars,
  type Piece,
  type Split,
  splitConversation,
  withoutCode,
} from './compression.ts'
import { enclosed, isInstruction, withInstruction } from './instruct.ts'
import { SUMMARY_HEAD, SUMMARY_PROMPT } from './prompts.ts'

/** Each summary has at most about 22,000 characters, with code and numbers added. */
const SUMMARIES_MAX = 512
const AT_ONCE = 4
/** Share of the remaining time that summaries may take. */
const TIME_SHARE = 0.4
const CHARS_PER_TOKEN = 3.5
const PIECE_CHARS_MIN = 1_000
/** For the instructions that later stages add. */
const INSTRUCTIONS_TOKENS = 400
const SUMMARY_CHARS_MAX = 8_000

/**
 * Summaries by the hash of all summarised turns up to the end of a piece. Callers share them safely: only a caller that
 * has exactly these turns can form the key.
 */
const SUMMARIES = new WeakMap<ChatMeans['models'], LruMap<string, string>>()

type Context = Omit<StageContext, 'say'>

/** The oldest turns are summarised. Turns are dropped only if that fails or is not enough. */
export const compressStage: Stage = {
  name: 'Context compression',
  about:
    'Summarises the oldest turns of a conversation with more than 20,000 characters of history; the last turns stay as they are.',
  isEssential: true,
  skip: ({ messages }, context) => {
    if (historyChars(messages) > HISTORY_CHARS_MAX || estimatedPrompt(messages) > roomFor(context)) return null
    return 'the history is short enough'
  },
  run: async (state, context) => {
    const { messages } = state
    const pieceChars = Math.max(PIECE_CHARS_MIN, Math.floor((roomFor(context) * CHARS_PER_TOKEN) / 2))
    const split = splitConversation(messages, pieceChars)
    const made = await summariesOf(split.pieces, context)
    if (context.signal.aborted) return fail(fault('model/timeout', { backend: 'the summary' }))
    const parts: Parts = made.ok
      ? { ...split, summaries: made.value.texts }
      : { fixed: [], summaries: [], kept: messages }
    const fitted = withinWindow(parts, context)
    if (!fitted.ok) return fitted
    const compression = {
      fromChars: charsOf(messages),
      toChars: charsOf(fitted.value.messages),
      summarised: made.ok ? split.pieces.length : 0,
      remembered: made.ok ? made.value.remembered : 0,
      dropped: fitted.value.dropped,
    }
    return ok({
      ...state,
      messages: fitted.value.messages,
      facts: { ...state.facts, compression },
      ...(!made.ok && {
        note: `no summary could be made: ${faultMessage(asChatFault(made.fault, context.call.model))}`,
      }),
    })
  },
}

interface Summaries {
  readonly texts: readonly string[]
  readonly remembered: number
}

/** In order. A fault if one of them fails. */
async function summariesOf(pieces: readonly Piece[], context: Context): Promise<Result<Summaries>> {
  const known = knownBy(context.means)
  const texts = pieces.map(({ key }) => known.get(key))
  const remembered = texts.filter((text) => text !== undefined).length
  const stop = new AbortController()
  const limit = AbortSignal.timeout(Math.max(0, Math.floor(context.remainingMs() * TIME_SHARE)))
  const signal = AbortSignal.any([context.signal, limit, stop.signal])
  const todo = pieces.entries().filter(([i]) => texts[i] === undefined)
  let failed: Result<never> | null = null
  const work = async (): Promise<void> => {
    // The workers share one iterator.
    for (const [i, piece] of todo) {
      const text = await summaryOf(piece, context, signal)
      if (text.ok) known.set(piece.key, text.value)
      else {
        failed ??= text
        stop.abort()
        return
      }
      texts[i] = text.value
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return failed ?? ok({ texts: texts as readonly string[], remembered })
}

async function summaryOf({ turns }: Piece, { desk }: Context, signal: AbortSignal): Promise<Result<string>> {
  const bare = withoutCode(turns)
  const chars = bare.turns.reduce((sum, { text }) => sum + text.length, 0)
  const answered = withWords(
    await desk.ask(
      {
        roles: ['fast', 'general'],
        messages: [
          { role: 'system', content: SUMMARY_PROMPT },
          { role: 'user', content: JSON.stringify({ turns: bare.turns }) },
        ],
        maxTokens: Math.min(1_024, Math.max(256, Math.floor(chars / 20))),
        temperature: 0,
      },
      signal,
    ),
  )
  return answered.ok ? ok(completed(answered.value.text.slice(0, SUMMARY_CHARS_MAX).toWellFormed(), bare)) : answered
}

function knownBy({ models }: ChatMeans): LruMap<string, string> {
  const known = SUMMARIES.get(models) ?? new LruMap<string, string>(SUMMARIES_MAX)
  SUMMARIES.set(models, known)
  return known
}

interface Parts extends Omit<Split, 'pieces'> {
  readonly summaries: readonly string[]
}

/**
 * Drops the oldest summaries, then the oldest messages, until the conversation fits. Instructions and the last question
 * stay. Faults: `chat/context-length` if they do not fit.
 */
function withinWindow(
  { fixed, summaries, kept }: Parts,
  context: Context,
): Result<{ readonly messages: readonly ChatMessage[]; readonly dropped: number }> {
  const room = roomFor(context)
  let tokens = estimatedPrompt([...fixed, ...kept]) + summaries.reduce((sum, text) => sum + tokensOf(text), 0)
  let dropped = 0
  const drop = (one: ChatMessage | string): boolean => {
    if (tokens <= room) return false
    tokens -= typeof one === 'string' ? tokensOf(one) : estimatedPrompt([one])
    dropped += 1
    return true
  }
  const left = summaries.filter((text) => !drop(text))
  const question = kept.findLast(({ role }) => role === 'user') ?? kept.at(-1)
  const turns = [...fixed, ...kept].filter(
    (message) => isInstruction(message) || message === question || !drop(message),
  )
  if (tokens > room) return fail(tooLongFor('model-4', tokens, context.means.models, needsIn(context)))
  const messages =
    left.length === 0 ? turns : withInstruction(turns, `${SUMMARY_HEAD}\n${enclosed('summary', left.join('\n\n'))}`)
  return ok({ messages, dropped })
}

/** Tokens left beside the answer and the instructions of later stages. */
function roomFor(context: Context): number {
  const { call, means } = context
  const window = windowOf('model-4', means.models, needsIn(context))
  return Math.max(
    0,
    window - Math.min(call.maxTokens, Math.floor(window / 4)) - Math.min(INSTRUCTIONS_TOKENS, Math.floor(window / 8)),
  )
}

function needsIn({ call }: Context): readonly ModelSupport[] {
  return hasImages(call.messages) ? ['vision'] : []
}

function tokensOf(text: string): number {
  return estimatedPrompt([{ role: 'system', content: text }])
}

function charsOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + textOfMessage(message).length, 0)
}
