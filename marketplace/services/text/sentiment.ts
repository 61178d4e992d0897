import { type Static, Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { EMOTIONS, SENTIMENTS } from '../../ports/language-tasks.ts'
import { UNKNOWN } from '../amounts.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { pastedText } from './pasted-text.ts'
import { languageFault, TEXT_ENVELOPE, TEXT_TIMEOUT_MS, type TextWork, textReady, workOnText } from './text-work.ts'

const ID = 'node-sentiment' as ServiceId
const FORMAT = {
  requestFormat: 'text of 1 to 10000 characters (English where the node has no model)',
  example: 'The wallet is fast and easy to use, but the support was terrible.',
}
const TEXT_CHARS_MAX = 10_000
const EMOTION = Type.Unsafe<(typeof EMOTIONS)[number]>({ type: 'string', enum: [...EMOTIONS] })

const MOOD = {
  sentiment: Type.Unsafe<(typeof SENTIMENTS)[number]>({ type: 'string', enum: [...SENTIMENTS] }),
  polarity: Type.Number({ minimum: -1, maximum: 1 }),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  emotions: Type.Array(EMOTION, { maxItems: EMOTIONS.length }),
}
const ANSWER = Type.Object(MOOD)
const RESULT = Type.Object({
  ...TEXT_ENVELOPE,
  ...MOOD,
  /** Only with the lexicon: a model is not asked for shares. */
  emotionShares: Type.Optional(
    Type.Array(Type.Object({ emotion: EMOTION, share: Type.Number({ minimum: 0, maximum: 1 }) }), {
      maxItems: EMOTIONS.length,
    }),
  ),
  unknown: UNKNOWN,
})

const WORK: TextWork<typeof ANSWER, 'text/mood'> = {
  serviceId: ID,
  name: 'sentiment',
  task:
    'You judge the mood of texts: sentiment, polarity from -1 (bad) to 1 (good), how sure you are from 0 to 1, and the ' +
    'emotions that the text shows, none where there are none.',
  schema: ANSWER,
  maxTokens: 300,
  isSound: isConsistent,
  own: { task: 'text/mood', engine: 'lexicon-vader' },
}

function isConsistent({ sentiment, polarity }: Static<typeof ANSWER>): boolean {
  return sentiment === 'positive' ? polarity > 0 : sentiment === 'negative' ? polarity < 0 : Math.abs(polarity) <= 0.5
}

function parse(request: string): Result<string> {
  const text = pastedText(request).trim()
  return text === '' ? unusable('there is no text', FORMAT) : ok(text)
}

/** Sentiment and emotions of a text. */
export const sentiment = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Sentiment',
  description:
    'Sentiment of a text with polarity from -1 to 1, confidence and up to eight emotions, the strongest first. By the model of the node where there is one, in many languages; else by rules (VADER) and lexicons of this project for English, with the share of each emotion; scores such as 2/5 count, forms of courtesy do not, and irony is read only where it is plain ("Oh great, another broken mug"). HTML is read as its text, mail without what it quotes. The engine is named.',
  brief: 'Tells the sentiment of a text, with polarity, confidence and emotions.',
  words: 'mood feeling opinion positive negative review tone angry',
  capability: 'analytics',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: 'lexicon-vader',
    language: 'en',
    languageAssumed: false,
    sentiment: 'negative',
    polarity: -0.6428,
    confidence: 0.3223,
    emotions: ['anger'],
    emotionShares: [{ emotion: 'anger', share: 1 }],
    unknown: [],
  },
  timeoutMs: TEXT_TIMEOUT_MS,
  resultBytesMax: 4_096,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: TEXT_CHARS_MAX,
  parse,
  check: (text, context) => languageFault(context, text, FORMAT),
  ready: (context) => textReady(context, WORK.own.engine),
  resultSchema: RESULT,
  execute: async (text, context, signal) => {
    const { envelope, finding } = await workOnText(context, WORK, text, signal)
    const { sentiment, polarity, confidence } = finding.value
    const mood = { ...envelope, sentiment, polarity, confidence }
    if (finding.by === 'model') return { ...mood, emotions: [...new Set(finding.value.emotions)], unknown: [] }
    const emotionShares = finding.value.emotions.map(({ emotion, share }) => ({ emotion, share }))
    return { ...mood, emotions: emotionShares.map(({ emotion }) => emotion), emotionShares, unknown: [] }
  },
})
