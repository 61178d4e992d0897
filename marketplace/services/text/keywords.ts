import { type Static, Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { ENTITY_TYPES } from '../../ports/language-tasks.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { pastedText } from './pasted-text.ts'
import { languageFault, TEXT_ENVELOPE, TEXT_TIMEOUT_MS, type TextWork, textReady, workOnText } from './text-work.ts'

const ID = 'node-keywords' as ServiceId
const FORMAT = {
  requestFormat: 'text of 1 to 50000 characters (English where the node has no model)',
  example:
    'Farthing is a proof-of-work chain. Its market sells services to agents in Berlin. Agents pay in the coin of the chain.',
}
const TEXT_CHARS_MAX = 50_000
const KEYWORDS_MAX = 15
const ENTITIES_MAX = 30
const TOPICS_MAX = 5
const NAME = Type.String({ minLength: 1, maxLength: 80, pattern: '\\S' })

const SUBJECTS = {
  keywords: Type.Array(Type.Object({ text: NAME, score: Type.Number({ minimum: 0, maximum: 1 }) }), {
    maxItems: KEYWORDS_MAX,
  }),
  entities: Type.Array(
    Type.Object({
      text: NAME,
      type: Type.Unsafe<(typeof ENTITY_TYPES)[number]>({ type: 'string', enum: [...ENTITY_TYPES] }),
    }),
    { maxItems: ENTITIES_MAX },
  ),
  topics: Type.Array(NAME, { maxItems: TOPICS_MAX }),
}
const ANSWER = Type.Object(SUBJECTS)
const RESULT = Type.Object({ ...TEXT_ENVELOPE, ...SUBJECTS, bestEffort: Type.Array(Type.String()) })

const WORK: TextWork<typeof ANSWER, 'text/subjects'> = {
  serviceId: ID,
  name: 'keywords',
  task:
    `You index texts: at most ${KEYWORDS_MAX} keywords or short phrases that stand in the text, best first, with a score ` +
    `from 0 to 1; at most ${ENTITIES_MAX} named persons, places and organisations as the text writes them; at most ` +
    `${TOPICS_MAX} general topics.`,
  schema: ANSWER,
  maxTokens: 1_200,
  isSound: (answer, text) => answer.keywords.some(isIn(text)),
  own: { task: 'text/subjects', engine: 'extractive-phrases' },
}

/** Models tend to add terms that are not in the text. */
function isIn(text: string): (found: { readonly text: string }) => boolean {
  const flat = flattened(text)
  return (found) => flat.includes(flattened(found.text))
}

function flattened(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ').trim()
}

function found({ keywords, entities, topics }: Static<typeof ANSWER>, text: string): Static<typeof ANSWER> {
  const isThere = isIn(text)
  return {
    keywords: keywords.filter(isThere).sort((a, b) => b.score - a.score),
    entities: entities.filter(isThere),
    topics,
  }
}

function parse(request: string): Result<string> {
  const text = pastedText(request).trim()
  return /\p{L}{2}/u.test(text) || /\p{Lo}/u.test(text) ? ok(text) : unusable('there are no words', FORMAT)
}

/** Keywords, entities and topics of a text. */
export const keywords = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Keywords',
  description:
    'Keywords with scores, named persons, places and organisations (best effort), and topics of a text. By the model of the node where there is one, in many languages; else for English the noun phrases and whole names that a tagger finds: rare names at the beginning of a line can be missed. HTML is read as its text, mail without what it quotes. The engine is named.',
  brief: 'Finds the keywords, names and topics of a text.',
  words: 'extract entities tags phrases subject tagging',
  capability: 'analytics',
  priceUsdMicros: 4_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: 'extractive-phrases',
    language: 'en',
    languageAssumed: false,
    keywords: [
      { text: 'proof-of-work chain', score: 1 },
      { text: 'agents', score: 0.97 },
      { text: 'Berlin', score: 0.675 },
      { text: 'farthing', score: 0.596 },
      { text: 'market', score: 0.539 },
      { text: 'services', score: 0.52 },
      { text: 'coin', score: 0.435 },
    ],
    entities: [{ text: 'Berlin', type: 'place' }],
    topics: ['agents', 'chain'],
    bestEffort: ['entities', 'topics'],
  },
  timeoutMs: TEXT_TIMEOUT_MS,
  resultBytesMax: 32_768,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: TEXT_CHARS_MAX,
  parse,
  check: (text, context) => languageFault(context, text, FORMAT),
  ready: (context) => textReady(context, WORK.own.engine),
  resultSchema: RESULT,
  execute: async (text, context, signal) => {
    const { envelope, finding } = await workOnText(context, WORK, text, signal)
    const { keywords, entities, topics } = finding.by === 'model' ? found(finding.value, text) : finding.value
    return {
      ...envelope,
      keywords: keywords.map(({ text, score }) => ({ text, score })),
      entities: entities.map(({ text, type }) => ({ text, type })),
      topics: [...topics],
      bestEffort: ['entities', 'topics'],
    }
  },
})
