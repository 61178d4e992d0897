import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { textOf } from '../bounded-fetch.ts'
import { connectionWords } from '../connection-words.ts'
import { retryAfterMs } from '../retry-after.ts'

/** An HTTP query to a provider. */
export interface ProviderRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly bytesMax: number
  /** Statuses beside 200 that are answers, such as 304 for unchanged data. */
  readonly alsoAnswers?: readonly number[]
  /** Whether the query contains a caller's words: a status about bad input then says nothing about the provider. */
  readonly ofCaller?: boolean
}

/** An HTTP answer of a provider. */
export interface ProviderAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Statuses that the query itself may cause: bad input (RFC 9110, 15.5), or a redirect. */
const QUESTION_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 400, 413, 414, 422])

/**
 * Queries a provider of the operator's choice, whose address may be private. Redirects are not followed. Faults:
 * `provider/unreachable`, `provider/refused` (401, 403, 429), `provider/answer` (any other status, or too long). Faults
 * of a status have `status` and `retryAfterMs` (0 if no pause was named). Throws when aborted.
 */
export async function providerFetch(
  provider: string,
  url: string | URL,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<Result<ProviderAnswer>> {
  const { method = 'GET', headers = {}, body, bytesMax } = request
  const init = { method, headers, signal, redirect: 'manual' as const }
  try {
    const response = await fetch(url, body === undefined ? init : { ...init, body })
    const refused = statusFault(provider, response, request)
    if (refused !== null) {
      void response.body?.cancel().catch(() => {})
      return fail(refused)
    }
    const text = await textOf(response, bytesMax)
    if (text === null)
      return fail(fault('provider/answer', { provider, reason: `it is longer than ${bytesMax} bytes` }))
    return ok({ status: response.status, headers: response.headers, text })
  } catch (error) {
    if (signal.aborted) throw error
    return fail(fault('provider/unreachable', { provider, reason: connectionWords(error) }))
  }
}

function statusFault(provider: string, { status, headers }: Response, request: ProviderRequest): Fault | null {
  if (status === 200 || request.alsoAnswers?.includes(status)) return null
  const detail = {
    provider,
    reason: `status ${status}`,
    status,
    retryAfterMs: retryAfterMs(headers.get('retry-after')),
  }
  return status === 401 || status === 403 || status === 429
    ? fault('provider/refused', detail)
    : fault('provider/answer', { ...detail, ...ofQuestion(request.ofCaller === true && QUESTION_STATUSES.has(status)) })
}

/** Fault detail that marks the query as a possible cause. */
export function ofQuestion(isSo: boolean): { readonly ofQuestion?: true } {
  return isSo ? { ofQuestion: true } : {}
}

/** An answer that is not JSON is `provider/answer`. */
export async function providerJson(
  provider: string,
  url: string | URL,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<Result<unknown>> {
  const headers = { accept: 'application/json', ...request.headers }
  const answer = await providerFetch(provider, url, { ...request, headers }, signal)
  if (!answer.ok) return answer
  try {
    return ok(JSON.parse(answer.value.text) as unknown)
  } catch {
    return fail(fault('provider/answer', { provider, reason: 'it is not JSON' }))
  }
}
