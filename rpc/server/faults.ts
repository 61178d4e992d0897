import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { httpFault } from '../contract/http-faults.ts'

/** The error envelope, the usual body of a refusal. Quotes (402), JSON-RPC errors and OpenAI errors have other shapes. */
export interface ErrorBody {
  readonly error: string
  readonly code: string
  readonly requestId: string
  readonly details?: object
  readonly [problem: string]: unknown
}

/** `Retry-After` of a fault that passes by itself and has no `seconds` in its detail. */
const RETRY_AFTER_SECONDS = 1

/** A client that accepts problem JSON gets the members of RFC 9457 too. */
export function errorBody(
  fault: Fault,
  { requestId, accept, path }: { requestId: string; accept: string; path: string },
): ErrorBody {
  const { api, status } = httpFault(fault.code)
  const message = faultMessage(fault)
  const details = Object.keys(fault.detail).length > 0 ? { details: fault.detail } : {}
  const problem = wantsProblem(accept)
    ? { type: `/errors/${api}`, title: api.replaceAll('_', ' '), status, detail: message, instance: path }
    : {}
  return { error: message, code: api, requestId, ...details, ...problem }
}

/** Content type of an error, by the `Accept` header of the client. */
export function errorType(accept: string): string {
  return wantsProblem(accept) ? 'application/problem+json; charset=utf-8' : 'application/json; charset=utf-8'
}

/** Whether a fault stays until the operator changes the settings that it names. */
export function needsSettings({ detail: { requires } }: Fault): boolean {
  return Array.isArray(requires) && requires.length > 0
}

/** Headers that go with a fault: `WWW-Authenticate` with 401; `Retry-After` with 402, 429 and 503 if the fault passes by itself. */
export function errorHeaders(fault: Fault): Readonly<Record<string, string>> {
  const { retry, status } = httpFault(fault.code)
  if (status === 401) return { 'www-authenticate': 'Bearer' }
  const { seconds = RETRY_AFTER_SECONDS } = fault.detail
  return retry && !needsSettings(fault) && (status === 429 || status === 503 || status === 402)
    ? { 'retry-after': String(seconds) }
    : {}
}

function wantsProblem(accept: string): boolean {
  return accept.includes('application/problem+json')
}
