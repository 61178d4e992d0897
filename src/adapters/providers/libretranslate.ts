import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { type TranslationQuery, whyNoTranslation } from '../../../marketplace/chat/models/translator.ts'
import type { Translation } from '../../../marketplace/ports/models.ts'
import type { Provider } from './provider.ts'
import { ofQuestion, providerJson } from './provider-fetch.ts'

const NAME = 'libretranslate'
const PUBLIC_URL = 'https://libretranslate.com'
/** Room for a translation that is several times as long as five thousand characters of four bytes. */
const BYTES_MAX = 131_072
const TRIES = 2
/** Languages that LibreTranslate names by another tag (https://docs.libretranslate.com). */
const ITS_TAG: Readonly<Record<string, string>> = { zh: 'zh-Hans', no: 'nb' }

/** A server of LibreTranslate (https://docs.libretranslate.com/api/operations/translate/). */
export function libreTranslate(url: string | null, key: string | null): Provider<TranslationQuery, Translation> {
  const base = url ?? PUBLIC_URL
  const ask = async (query: TranslationQuery, signal: AbortSignal): Promise<Result<Translation>> => {
    const { to, text } = query
    const asked = { q: text, source: 'auto', target: ITS_TAG[to] ?? to, format: 'text', ...(key && { api_key: key }) }
    const headers = { 'content-type': 'application/json' }
    const request = {
      method: 'POST',
      headers,
      body: JSON.stringify(asked),
      bytesMax: BYTES_MAX,
      ofCaller: true,
    } as const
    let reason: string | null = null
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await providerJson(NAME, `${base}/translate`, request, signal)
      if (!answer.ok) return answer
      const translation = translationIn(answer.value)
      reason = whyNoTranslation(query, translation)
      if (translation !== null && reason === null) return ok(translation)
    }
    return fail(fault('provider/answer', { provider: NAME, reason, ...ofQuestion(true) }))
  }
  const check = async (signal: AbortSignal): Promise<Result<unknown>> =>
    providerJson(NAME, `${base}/languages`, { bytesMax: 1_048_576 }, signal)
  // The operator's own address may be private or hold a key, so it is not shown.
  return { name: NAME, url: PUBLIC_URL, ask, check }
}

function translationIn(answer: unknown): Translation | null {
  const { translatedText, detectedLanguage } = (answer ?? {}) as {
    readonly translatedText?: unknown
    readonly detectedLanguage?: { readonly language?: unknown } | null
  }
  if (typeof translatedText !== 'string') return null
  const detected = String(detectedLanguage?.language ?? '').split('-')[0] ?? ''
  return { text: translatedText, sourceLanguage: /^[a-z]{2,3}$/.test(detected) ? detected : null, engine: NAME }
}
