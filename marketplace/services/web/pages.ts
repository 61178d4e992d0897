import { Type } from 'typebox'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PageBody } from '../../ports/page-tasks.ts'
import type { WebPage, WebRequest } from '../../ports/web.ts'
import { orNull } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { type RequestForm, refusal, unusable } from '../requests.ts'

/** Longest address that is read, as the interface of the services says. */
export const URL_CHARS_MAX = 2_048
/** Time of a service that reads a page: the reading and the work on it. */
export const PAGE_TIMEOUT_MS = 10_000

/** An absolute http(s) URL. */
export const WEB_URL = Type.String({ pattern: '^https?://', maxLength: URL_CHARS_MAX })
/** A time (ISO 8601, UTC). */
export const INSTANT = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T[0-9:.]+Z$' })

/** A text of a stranger, cut at a bound; null where there is none. */
export function foreignText(charsMax: number) {
  return orNull(Type.String({ maxLength: charsMax }))
}

/** Fields of every result about a page. */
export const PAGE_FIELDS = {
  ...SOURCE_ENVELOPE,
  engine: Type.String(),
  url: WEB_URL,
  finalUrl: WEB_URL,
  status: Type.Integer({ minimum: 100, maximum: 599 }),
  fetchedAt: INSTANT,
}

/** A host of so many characters is no name of the public system, however it is written; making ASCII of it takes time by the square of them. */
const LONG_HOST = /^https?:\/\/[^/?#\\]{1024}/i

/** Reads a request that is an address; which addresses may be read is asked later. */
export function parseUrl(request: string, form: RequestForm): Result<string> {
  const text = request.trim()
  if (text === '') return unusable('the URL is missing', form)
  if (text.length > URL_CHARS_MAX) return unusable(`the URL has more than ${URL_CHARS_MAX} characters`, form)
  const url = LONG_HOST.test(text) ? null : URL.parse(text)
  const isWeb = url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && /^https?:\/\//i.test(text)
  return isWeb ? ok(text) : unusable('not an absolute http(s) URL', form)
}

/** What the guard of the web has against an address, as the refusal of a request. */
export function urlFault(text: string, { outside }: ServiceContext, form: RequestForm): Fault | null {
  const checked = outside.web.check(text)
  return checked.ok ? null : refusal(String(checked.fault.detail.reason ?? 'it cannot be read'), form)
}

/** What services have in common whose request is the address of a page. */
export function ofPage(form: RequestForm) {
  return {
    timeoutMs: PAGE_TIMEOUT_MS,
    repeatable: true,
    reachesOut: true as const,
    requestCharsMax: URL_CHARS_MAX + 16,
    parse: (request: string) => parseUrl(request, form),
    check: (url: string, context: ServiceContext) => urlFault(url, context, form),
    ready: ({ outside }: ServiceContext) => outside.web.readiness(),
  }
}

/** Reads a page, or fails the service. */
export async function readPage(
  text: string,
  request: WebRequest,
  { outside }: ServiceContext,
  signal: AbortSignal,
): Promise<WebPage> {
  const url = delivered(outside.web.check(text))
  return delivered(await outside.web.read(url, request, signal))
}

/** A page as the engines take it. */
export function bodyOf({ body, mediaType, charset, finalUrl }: WebPage): PageBody {
  return { bytes: body, mediaType, charset, url: finalUrl }
}

/** The fields that every result about a page begins with. */
export function pageFields(service: string, engine: string, page: WebPage, context: ServiceContext) {
  const { url, finalUrl, status, fetchedAtMs } = page
  const fetchedAt = new Date(fetchedAtMs).toISOString()
  const source = { name: new URL(finalUrl).host, url: finalUrl, fetchedAt, stale: false }
  return { ...sourceEnvelope(service, source, context), engine, url, finalUrl, status, fetchedAt }
}
