import { Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { orNull, UNKNOWN } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { unknownIn } from '../figures.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-translate' as ServiceId
const TEXT_CHARS_MAX = 5_000
/** Room for the language code before the text, and spaces around both. */
const REQUEST_CHARS_MAX = TEXT_CHARS_MAX + 100
/** A longer answer is not a translation. */
const TRANSLATION_CHARS_MAX = 4 * TEXT_CHARS_MAX

/** Target languages: BCP 47 primary tags. */
const LANGUAGES =
  'ar bg cs da de el en es et fa fi fr he hi hu id it ja ko lt lv nl no pl pt ro ru sk sl sv th tr uk vi zh'.split(' ')

const FORMAT = {
  requestFormat: `<target_lang>|<text>, 1-${TEXT_CHARS_MAX} characters; target_lang one of ${LANGUAGES.join(' ')}`,
  example: 'de|The market is open.',
}

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  engine: Type.String(),
  /** Null if the translator does not say. */
  sourceLanguage: orNull(Type.String({ pattern: '^[a-z]{2,3}$' })),
  targetLanguage: Type.String(),
  translation: Type.String({ minLength: 1, maxLength: TRANSLATION_CHARS_MAX }),
  unknown: UNKNOWN,
})

interface Wanted {
  readonly to: string
  readonly text: string
}

function parse(request: string): Result<Wanted> {
  const bar = request.indexOf('|')
  if (bar < 0) return unusable('there is no | between language and text', FORMAT)
  const to = request.slice(0, bar).trim().toLowerCase()
  const text = request.slice(bar + 1).trim()
  if (!LANGUAGES.includes(to)) return unusable('not a language that texts are translated into', FORMAT)
  if (text.length > TEXT_CHARS_MAX) return unusable(`the text is limited to ${TEXT_CHARS_MAX} characters`, FORMAT)
  return /\p{L}/u.test(text) ? ok({ to, text }) : unusable('there are no words in the text', FORMAT)
}

async function translateText(wanted: Wanted, context: ServiceContext, signal: AbortSignal) {
  const { value, source } = delivered(await context.outside.translator.ask(wanted, signal))
  const { sourceLanguage, text, engine } = value
  return {
    ...sourceEnvelope(ID, source, context),
    engine,
    sourceLanguage,
    targetLanguage: wanted.to,
    translation: text,
    unknown: unknownIn({ sourceLanguage }),
  }
}

/** Translates a text. */
export const translate = defineService<Wanted, typeof RESULT>({
  serviceId: ID,
  name: 'Translation',
  description: `A text of up to ${TEXT_CHARS_MAX} characters in any of ${LANGUAGES.length} languages, with the language it was in. Words in the text that command something are translated, not followed. A text that comes back as it was, as one that is in the language already, is refunded.`,
  brief: 'Translates a text into another language and tells which language it was in.',
  words: 'translation german english french spanish japanese chinese italian language',
  capability: 'utility',
  priceUsdMicros: 8_000n,
  ...FORMAT,
  sample: {
    service: ID as string,
    asOf: '2026-11-20T12:00:00.000Z',
    source: { name: 'model', fetchedAt: '2026-11-20T12:00:00.000Z', stale: false },
    engine: 'house/example-8b-instruct',
    sourceLanguage: 'en',
    targetLanguage: 'de',
    translation: 'Der Markt ist geöffnet.',
    unknown: [],
  },
  timeoutMs: 60_000,
  resultBytesMax: 131_072,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  ready: ({ outside }) => outside.translator.readiness(),
  resultSchema: RESULT,
  execute: translateText,
})
