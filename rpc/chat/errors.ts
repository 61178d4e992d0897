import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { httpFault } from '../contract/http-faults.ts'
import { needsSettings } from '../server/faults.ts'

/** An error as clients of the OpenAI interface read it. */
export interface ChatError {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
  }
}

/** The official clients do not wait longer for another try: they would come back in vain after seconds of their own choice. */
const WAIT_SECONDS_MAX = 60
/** Paths where clients of the OpenAI interface look for something. */
const PATHS = /^\/(?:v1|api\/v1\/(?:chat|models|audio|voice))(?:\/|$)/

/** The error of a fault. */
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
 * Headers that tell the official clients whether to try again: by themselves they repeat whatever is 408, 409, 429 or 5xx, twice,
 * after a pause that may be told in milliseconds (openai 7.55, `shouldRetry` and `retryRequest`).
 */
export function retryHeaders(cause: Fault): Readonly<Record<string, string>> {
  const { retry, status } = httpFault(cause.code)
  if (status !== 429 && status < 500) return {}
  const { seconds } = cause.detail
  const isLasting = needsSettings(cause) || Number(seconds ?? 0) > WAIT_SECONDS_MAX
  if (!retry || isLasting) return { 'x-should-retry': 'false' }
  return seconds === undefined ? {} : { 'retry-after-ms': String(Number(seconds) * 1_000) }
}

/** Whether a caller of an unknown path expects an error of the OpenAI interface. */
export function isOpenAiPath(path: string): boolean {
  return PATHS.test(path)
}

/** OpenAI's own service calls an invalid key an invalid request too, told by its code. */
function typeOf(status: number): string {
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
