import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { httpFault } from '../contract/http-faults.ts'
import { needsSettings } from '../server/faults.ts'

/** An error in the form of the OpenAI interface. */
export interface ChatError {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
  }
}

/** Longest wait that the official clients accept. For a longer one they come too early, after a pause of their own. */
const WAIT_SECONDS_MAX = 60
/** Paths that clients of the OpenAI interface may ask for. */
const PATHS = /^\/(?:v1|api\/v1\/(?:chat|models|audio|voice))(?:\/|$)/

/** A fault in the form of the OpenAI interface. */
export function chatError(cause: Fault): ChatError {
  const { api, status } = httpFault(cause.code)
  const { param } = cause.detail
  return {
    error: {
      message: faultMessage(cause),
      type: typeOf(status),
      param: typeof param === 'string' ? param : null,
      code: status === 429 ? 'rate_limit_exceeded' : api,
    },
  }
}

/**
 * Headers that tell the official clients whether to try again. Without them they repeat 408, 409, 429 and 5xx twice.
 * `retry-after-ms` sets their pause (openai 7.55, `shouldRetry` and `retryRequest`).
 */
export function retryHeaders(cause: Fault): Readonly<Record<string, string>> {
  const { retry, status } = httpFault(cause.code)
  if (status !== 429 && status < 500) return {}
  const { seconds } = cause.detail
  const isLasting = needsSettings(cause) || Number(seconds ?? 0) > WAIT_SECONDS_MAX
  if (!retry || isLasting) return { 'x-should-retry': 'false' }
  return seconds === undefined ? {} : { 'retry-after-ms': String(Number(seconds) * 1_000) }
}

/** Whether an unknown path gets an error in the form of the OpenAI interface. */
export function isOpenAiPath(path: string): boolean {
  return PATHS.test(path)
}

/** The type of an error. As at OpenAI, an invalid key is an `invalid_request_error`, and its code tells it apart. */
function typeOf(status: number): string {
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
