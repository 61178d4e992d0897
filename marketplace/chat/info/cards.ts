import type { ChatModelId, PlatformModelId } from '../call.ts'
import { HISTORY_CHARS_MAX } from '../ensemble/compression.ts'
import { MODES } from '../modes.ts'
import { groupedNumber } from './figures.ts'

/** What a capability needs besides an available model: a model that answers in text, a search, and so on. */
export type Need = 'text' | 'search' | 'vision' | 'tools' | 'several'

/** Holds only if the node has what it needs. */
export interface Capability {
  readonly text: string
  readonly needs?: Need
}

/** The fixed part of a model's description. */
export interface ModelCard {
  readonly name: string
  readonly tagline: string
  /** The speed in one word. */
  readonly label: string
  readonly bestFor: readonly string[]
  readonly capabilities: readonly Capability[]
  readonly limitations: readonly string[]
  readonly how: string
}

const STREAMS: Capability = { text: 'Streaming' }
const TOOLS: Capability = { text: 'Tool calls, handed through untouched by one model', needs: 'tools' }
const STRUCTURED: Capability = { text: 'Structured output by response_format, checked against the schema' }
const NO_PICTURES = 'Pictures and video are not taken; pictures are for model-4'
const ONE_ANSWER = 'n, seed and logprobs are refused where several models answer; requests with tools go to one model'

function modesOf(model: ChatModelId): Capability {
  const words = Object.keys(MODES[model] ?? {}).map((name) => `@${name}`)
  return { text: `Chat modes at the beginning of a message: ${words.join(', ')}` }
}

/** The five models of the API, as designed. */
export const CARDS: Readonly<Record<PlatformModelId, ModelCard>> = {
  'model-1': {
    name: 'Model 1',
    tagline: 'One fast answer',
    label: 'Fast',
    bestFor: ['Short questions', 'Simple rewriting', 'Classification', 'Anything where the wait matters most'],
    capabilities: [
      STREAMS,
      TOOLS,
      STRUCTURED,
      { text: 'Several answers (n), seed and logprobs where the model has them' },
    ],
    limitations: ['No deep thinking', 'No planning in several steps', NO_PICTURES],
    how: 'The request goes to one small fast model, and its answer comes back as it is.',
  },
  'model-2': {
    name: 'Model 2',
    tagline: 'Plan, answer, check',
    label: 'Balanced',
    bestFor: ['Everyday questions', 'Explanations', 'Writing', 'Tasks of a few steps'],
    capabilities: [STREAMS, TOOLS, STRUCTURED, modesOf('model-2')],
    limitations: ['One revision at most', 'No web search', ONE_ANSWER, NO_PICTURES],
    how: 'A plan is made, the answer is written along it, and a judge looks at it: what does not pass is written once more.',
  },
  'model-3': {
    name: 'Model 3',
    tagline: 'Ten stages, made for code',
    label: 'Max',
    bestFor: ['Programming', 'Web pages and web design', 'Scripts for Blender', 'Answers that must hold up to review'],
    capabilities: [
      STREAMS,
      TOOLS,
      STRUCTURED,
      modesOf('model-3'),
      { text: 'A short path of three stages for short and simple questions' },
      { text: 'Code in answers is parsed before it is handed over; it is never run' },
    ],
    limitations: [
      'Up to ten stages for one answer take their time',
      'Code is parsed, not run or tested',
      'No web search',
      ONE_ANSWER,
      NO_PICTURES,
    ],
    how: 'Ten stages research, plan, write, criticise, improve, parse and review an answer; short and simple questions take three.',
  },
  'model-4': {
    name: 'Model 4',
    tagline: 'Drafts, joined into one answer',
    label: 'Beast',
    bestFor: ['Hard questions', 'Mathematics and reasoning', 'Current events', 'Long conversations', 'Pictures'],
    capabilities: [
      STREAMS,
      TOOLS,
      STRUCTURED,
      { text: 'Four tiers from instant to deep, chosen by rules', needs: 'text' },
      { text: `Compression of conversations above ${groupedNumber(HISTORY_CHARS_MAX)} characters` },
      { text: 'Web search by itself for current events and facts, with citations', needs: 'search' },
      { text: 'Drafts of several models at once, made into one answer', needs: 'several' },
      { text: 'Three samples and a majority vote for mathematics and reasoning', needs: 'text' },
      { text: 'Pictures in PNG, JPEG, WebP and GIF', needs: 'vision' },
    ],
    limitations: [
      'Video is not taken',
      'Several calls of models for one answer take their time',
      ONE_ANSWER,
      'Heavy load can meet the rate limits of the models behind it',
    ],
    how: 'A router chooses one of four tiers; the greater ones compress, search, draft in parallel, join the drafts, check code, polish and vote.',
  },
  'model-voice': {
    name: 'Model Voice',
    tagline: 'model-2, spoken',
    label: 'Balanced',
    bestFor: ['Assistants that speak', 'Reading answers aloud'],
    capabilities: [
      { text: 'Speech as one WAV file: 24 kHz, 16 bit, mono' },
      { text: 'Markdown is taken out before the text is spoken' },
      { text: 'Reads any text aloud at POST /api/v1/audio/speech' },
    ],
    limitations: [
      'Not a model of /api/v1/chat/completions: it is at POST /api/v1/voice and POST /api/v1/audio/speech',
      'No streaming: the file comes whole',
      'Speech is made one chunk of 1,024 characters after the other',
    ],
    how: 'model-2 answers, Markdown is taken out, and the text is spoken in chunks that are joined into one file.',
  },
}
