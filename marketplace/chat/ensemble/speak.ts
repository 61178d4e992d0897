import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { DeskQuestion } from '../desk.ts'
import type { DeltaSink } from '../models/backend.ts'
import type { PoolAnswer } from '../models/pool.ts'
import { withWords } from '../spoken.ts'
import type { ChatState, StageContext } from '../stage.ts'
import { type CitationFilter, citedText } from './citation-filter.ts'
import { filterFor } from './own-marks.ts'

/** A question whose answer is the answer as it stands. */
export type SpokenQuestion = Omit<DeskQuestion, 'maxTokens' | 'temperature' | 'sink' | 'extra'>

/** A text that was made. */
export interface Spoken {
  /** With the text as its answer. */
  readonly state: ChatState
  /** As the model gave it. */
  readonly answer: PoolAnswer
}

/** The state with a finished text as its answer: of the marks in it those are left that a source stands behind. */
export function withText(
  state: ChatState,
  { call }: Pick<StageContext, 'call'>,
  { text, finishReason }: Pick<PoolAnswer, 'text' | 'finishReason'>,
): ChatState {
  const filter = filterFor(call, state.sources)
  if (filter === null) return { ...state, text, finishReason, citations: [] }
  return { ...state, ...citedText(text, state.sources, filter), finishReason }
}

/**
 * Has a model make the text of the answer, and hands it on where this stage is the one that speaks. What is handed on is what
 * stands in the state afterwards. Faults: `model/*`.
 */
export async function askForText(
  state: ChatState,
  { call, desk, say, signal }: Pick<StageContext, 'call' | 'desk' | 'say' | 'signal'>,
  question: SpokenQuestion,
): Promise<Result<Spoken>> {
  const { maxTokens, temperature, extra } = call
  const heard = say === null ? null : filteredSink(filterFor(call, state.sources), say)
  const style = { maxTokens, extra, ...(temperature !== null && { temperature }) }
  const answered = withWords(await desk.ask({ ...question, ...style, sink: heard?.sink ?? null }, signal))
  if (!answered.ok) return answered
  await heard?.end()
  return ok({ state: withText(state, { call }, answered.value), answer: answered.value })
}

/** What a reader is given of an answer while it is made. */
export interface FilteredSink {
  readonly sink: DeltaSink
  /** Hands on what was held back, once the answer is whole. */
  readonly end: () => Promise<void>
}

/** Hands an answer on without marks that no source stands behind; with null for a filter, as it is. */
export function filteredSink(filter: CitationFilter | null, say: DeltaSink): FilteredSink {
  if (filter === null) return { sink: say, end: async () => {} }
  const sink: DeltaSink = (delta, logprobs) => {
    if (typeof delta.content !== 'string') return say(delta, logprobs)
    const content = filter.push(delta.content)
    if (content !== '' || delta.content === '') return say({ ...delta, content }, logprobs)
    // The text is held back; what stands beside it is not.
    const { content: _, ...rest } = delta
    return Object.keys(rest).length === 0 ? undefined : say(rest, logprobs)
  }
  const end = async (): Promise<void> => {
    const rest = filter.end()
    if (rest !== '') await say({ content: rest })
  }
  return { sink, end }
}
