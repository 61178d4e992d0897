import { Type } from 'typebox'
import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Source } from '../../ports/sourced.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, SOURCE } from '../envelope.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { textModel } from './model-work.ts'
import { usableParts } from './parts.ts'
import { pastedText } from './pasted-text.ts'
import { languageFault, TEXT_ENVELOPE, TEXT_TIMEOUT_MS, type TextWork, textReady, workOnText } from './text-work.ts'
import { readWebText } from './web-text.ts'

const ID = 'node-summarize' as ServiceId
const FORMAT = {
  requestFormat:
    'text of 80 to 100000 characters with three sentences or more, or one http(s) URL (English where the node has no model)',
  example:
    'Farthing is a proof-of-work chain with a market. Agents buy services there and pay in its coin. A service that fails is refunded.',
}
const TEXT_CHARS = { min: 80, max: 100_000 }
const URL_ALONE = /^https?:\/\/\S+$/i
/** A text with fewer sentences needs no summary. */
const SENTENCES_MIN = 3
const POINT = Type.String({ minLength: 1, maxLength: 1_000, pattern: '\\S' })

const SUMMARY = { tldr: POINT, keyPoints: Type.Array(POINT, { minItems: 3, maxItems: 5 }) }
const ANSWER = Type.Object(SUMMARY)
const RESULT = Type.Object({
  ...TEXT_ENVELOPE,
  ...SUMMARY,
  inputChars: Type.Integer({ minimum: 0 }),
  truncated: Type.Boolean(),
  source: Type.Optional(SOURCE),
})

const WORK: TextWork<typeof ANSWER, 'text/summary'> = {
  serviceId: ID,
  name: 'summary',
  task: 'You shorten texts: "tldr" is one or two sentences, "keyPoints" are three to five short statements of the text, and nothing that it does not say.',
  schema: ANSWER,
  maxTokens: 900,
  own: { task: 'text/summary', engine: 'extractive-textrank' },
}

type Wanted = { readonly text: string } | { readonly url: string }

interface Read {
  readonly text: string
  readonly truncated: boolean
  readonly source?: Source
}

function parse(request: string): Result<Wanted> {
  const written = request.trim()
  if (URL_ALONE.test(written)) return ok({ url: written })
  const text = pastedText(written, TEXT_CHARS.min).trim()
  return text.length < TEXT_CHARS.min
    ? unusable(`a text has at least ${TEXT_CHARS.min} characters`, FORMAT)
    : ok({ text })
}

function check(wanted: Wanted, context: ServiceContext): Fault | null {
  return 'url' in wanted ? urlFault(wanted.url, context) : textFault(wanted.text, context)
}

function urlFault(url: string, { outside: { web } }: ServiceContext): Fault | null {
  const ready = web.readiness()
  if (!ready.available) {
    const reason = `no address can be read now (${ready.reason}): send the text itself`
    return fault('service/unavailable', { serviceId: ID, reason })
  }
  const address = web.check(url)
  return address.ok ? null : refusal(faultMessage(address.fault), FORMAT)
}

function textFault(text: string, context: ServiceContext): Fault | null {
  if (textModel(context, text.length) !== null) return null
  const { kind, parts } = usableParts(text, SENTENCES_MIN)
  if (parts.length >= SENTENCES_MIN) return languageFault(context, text, FORMAT)
  if (kind === 'code')
    return refusal(`the text is a program with fewer than ${SENTENCES_MIN} sentences in its comments`, FORMAT)
  const few = `the text has fewer than ${SENTENCES_MIN} different sentences of three words or more`
  return languageFault(context, text, FORMAT) ?? refusal(few, FORMAT)
}

async function read(wanted: Wanted, context: ServiceContext, signal: AbortSignal): Promise<Read> {
  if ('text' in wanted) return { text: wanted.text, truncated: false }
  const { text, truncated, source } = delivered(await readWebText(context.outside, wanted.url, signal))
  return {
    text: text.slice(0, TEXT_CHARS.max).toWellFormed(),
    truncated: truncated || text.length > TEXT_CHARS.max,
    source,
  }
}

/** A short version of a text. */
export const summarize = defineService<Wanted, typeof RESULT>({
  serviceId: ID,
  name: 'Summary',
  description:
    'One sentence and three to five key points of a text, or of a page at a URL. By the model of the node where there is one, in many languages; else by TextRank for English: whole sentences, word for word; one that points back ("It", "However") comes only with the one before it. Of dialogues whole turns, figures, days and decisions first; of lists items, of code comments. It chooses and does not rephrase. HTML is read as its text, mail without what it quotes. The engine is named.',
  brief: 'Gives the gist of a text or a page in one sentence and a few key points.',
  words: 'summary summarise tldr shorten short article condense',
  capability: 'utility',
  priceUsdMicros: 6_000n,
  ...FORMAT,
  sample: {
    service: ID,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: 'extractive-textrank',
    language: 'en',
    languageAssumed: false,
    tldr: 'Farthing is a proof-of-work chain with a market.',
    keyPoints: [
      'Farthing is a proof-of-work chain with a market.',
      'Agents buy services there and pay in its coin.',
      'A service that fails is refunded.',
    ],
    inputChars: 129,
    truncated: false,
  },
  timeoutMs: TEXT_TIMEOUT_MS,
  resultBytesMax: 32_768,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: TEXT_CHARS.max,
  parse,
  check,
  ready: (context) => textReady(context, WORK.own.engine),
  resultSchema: RESULT,
  execute: async (wanted, context, signal) => {
    const { text, truncated, source } = await read(wanted, context, signal)
    const { envelope, finding } = await workOnText(context, WORK, text, signal)
    const { tldr, keyPoints } = finding.value
    const about = { inputChars: text.length, truncated, ...(source === undefined ? {} : { source }) }
    return { ...envelope, tldr, keyPoints: [...keyPoints], ...about }
  },
})
