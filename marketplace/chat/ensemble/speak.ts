import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { DeltaSink } from '../../models/backend.ts'
import type { PoolAnswer } from '../../models/pool.ts'
import type { DeskQuestion } from '../desk.ts'
import type { ChatState, StageContext } from '../stage.ts'
import { withWords } from '../stages/ask.ts'
import { CitationFilter, citedText } from './citation-filter.ts'
import { wantsSearch } from './router.ts'

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
export function withText(state: ChatState, text: string, finishReason: string): ChatState {
  if (!isCiting(state)) return { ...state, text, finishReason, citations: [] }
  return { ...state, ...citedText(text, state.sources), finishReason }
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
  const filter = new CitationFilter(state.sources)
  const isFiltered = say !== null && isCiting(state)
  const sink = isFiltered ? filteredSink(filter, say) : say
  const style = { maxTokens, extra, ...(temperature !== null && { temperature }) }
  const answered = withWords(await desk.ask({ ...question, ...style, sink }, signal))
  if (!answered.ok) return answered
  const { text, finishReason } = answered.value
  if (isFiltered) {
    const rest = filter.end()
    if (rest !== '') await say({ content: rest })
  }
  return ok({ state: withText(state, text, finishReason), answer: answered.value })
}

/**
 * Whether marks like [1] are of sources: in answers to what the web is searched for, also where nothing was found, for a model may
 * cite all the same. In others they are intervals, lists and the like.
 */
function isCiting({ sources, question }: ChatState): boolean {
  return sources.length > 0 || wantsSearch(question)
}

function filteredSink(filter: CitationFilter, say: DeltaSink): DeltaSink {
  return (delta, logprobs) => {
    if (typeof delta.content !== 'string') return say(delta, logprobs)
    const content = filter.push(delta.content)
    if (content !== '' || delta.content === '') return say({ ...delta, content }, logprobs)
    // The text is held back; what stands beside it is not.
    const { content: _, ...rest } = delta
    return Object.keys(rest).length === 0 ? undefined : say(rest, logprobs)
  }
}
