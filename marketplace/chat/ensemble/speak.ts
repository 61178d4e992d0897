import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { DeskQuestion } from '../desk.ts'
import type { DeltaSink } from '../models/backend.ts'
import type { PoolAnswer } from '../models/pool.ts'
import { withWords } from '../spoken.ts'
import type { ChatState, StageContext } from '../stage.ts'
import { type CitationFilter, citedText } from './citation-filter.ts'
import { filterFor } from './own-marks.ts'

/** A question whose answer becomes the text of the state. */
export type SpokenQuestion = Omit<DeskQuestion, 'maxTokens' | 'temperature' | 'sink' | 'extra'>

/** A text that a model wrote. */
export interface Spoken {
  readonly state: ChatState
  /** Unfiltered. */
  readonly answer: PoolAnswer
}

/** Citation marks without a source are removed, if {@link filterFor} says so. */
export function withText(
  state: ChatState,
  { call }: Pick<StageContext, 'call'>,
  { text, finishReason }: Pick<PoolAnswer, 'text' | 'finishReason'>,
): ChatState {
  const filter = filterFor(call, state.sources)
  if (filter === null) return { ...state, text, finishReason, citations: [] }
  return { ...state, ...citedText(text, state.sources, filter), finishReason }
}

/** Streams if this stage speaks. The streamed text equals the text in the state. Faults: `model/*`. */
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

/** A sink that filters an answer while it is made. */
export interface FilteredSink {
  readonly sink: DeltaSink
  /** To be called at the end of the answer: passes on the text that was held back. */
  readonly end: () => Promise<void>
}

/** Without a filter the answer passes unchanged. */
export function filteredSink(filter: CitationFilter | null, say: DeltaSink): FilteredSink {
  if (filter === null) return { sink: say, end: async () => {} }
  const sink: DeltaSink = (delta, logprobs) => {
    if (typeof delta.content !== 'string') return say(delta, logprobs)
    const content = filter.push(delta.content)
    if (content !== '' || delta.content === '') return say({ ...delta, content }, logprobs)
    // Other fields pass while the text is held back.
    const { content: _, ...rest } = delta
    return Object.keys(rest).length === 0 ? undefined : say(rest, logprobs)
  }
  const end = async (): Promise<void> => {
    const rest = filter.end()
    if (rest !== '') await say({ content: rest })
  }
  return { sink, end }
}
