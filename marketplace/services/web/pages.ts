import { Type } from 'typebox'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PageBody } from '../../ports/page-tasks.ts'
import { LONG_HOST, URL_CHARS_MAX, type WebPage, type WebRequest } from '../../ports/web.ts'
import { orNull } from '../amounts.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, SOURCE_ENVELOPE, sourceEnvelope } from '../envelope.ts'
import { type RequestForm, refusal, unusable } from '../requests.ts'

/** Time limit of a service that reads a page, for reading and processing. */
export const PAGE_TIMEOUT_MS = 10_000

/** An absolute http(s) URL. */
export const WEB_URL = Type.String({ pattern: '^https?://', maxLength: URL_CHARS_MAX })
/** A time (ISO 8601, UTC). */
export const INSTANT = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T[0-9:.]+Z$' })

/** A text written by a stranger, cut at a bound; null if absent. */
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

/** Whether the URL may be read is checked later. */
export function parseUrl(request: string, form: RequestForm): Result<string> {
  const text = request.trim()
  if (text === '') return unusable('the URL is missing', form)
  if (text.length > URL_CHARS_MAX) return unusable(`the URL has more than ${URL_CHARS_MAX} characters`, form)
  const url = LONG_HOST.test(text) ? null : URL.parse(text)
  const isWeb = url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && /^https?:\/\//i.test(text)
  return isWeb ? ok(text) : unusable('not an absolute http(s) URL', form)
}

/** The guard's objection to a URL, as a refusal of the request. */
export function urlFault(text: string, { outside }: ServiceContext, form: RequestForm): Fault | null {
  const checked = outside.web.check(text)
  return checked.ok ? null : refusal(String(checked.fault.detail.reason ?? 'it cannot be read'), form)
}

/** The common fields of services whose request is a page's URL. */
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

/** Reads a page; throws, and so fails the service, on a fault. */
export async function readPage(
  text: string,
  request: WebRequest,
  { outside }: ServiceContext,
  signal: AbortSignal,
): Promise<WebPage> {
  const url = delivered(outside.web.check(text))
  return delivered(await outside.web.read(url, request, signal))
}

/** A page in the form that the engines take. */
export function bodyOf({ body, mediaType, charset, finalUrl }: WebPage): PageBody {
  return { bytes: body, mediaType, charset, url: finalUrl }
}

/** The first fields of every result about a page. */
export function pageFields(service: string, engine: string, page: WebPage, context: ServiceContext) {
  const { url, finalUrl, status, fetchedAtMs } = page
  const fetchedAt = new Date(fetchedAtMs).toISOString()
  const source = { name: new URL(finalUrl).host, url: finalUrl, fetchedAt, stale: false }
  return { ...sourceEnvelope(service, source, context), engine, url, finalUrl, status, fetchedAt }
}
