import { type Fault, faultMessage, faultRow } from '../../consensus/primitives/fault.ts'

/** An error as clients of the OpenAI interface read it. */
export interface ChatError {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
  }
}

/** The error of a fault. */
export function chatError(cause: Fault): ChatError {
  const { api, status } = faultRow(cause.code)
  const { param } = cause.detail
  return {
    error: {
      message: faultMessage(cause),
      type: typeOf(status),
      param: typeof param === 'string' ? param : null,
      code: api,
    },
  }
}

/**
 * Headers that tell the official clients whether to try again: by themselves they repeat whatever is 408, 409, 429 or 5xx
 * (openai 7.55, `shouldRetry`).
 */
export function retryHeaders(cause: Fault): Readonly<Record<string, string>> {
  const { retry, status } = faultRow(cause.code)
  const isLasting = Array.isArray(cause.detail.requires) && cause.detail.requires.length > 0
  return status >= 500 && (!retry || isLasting) ? { 'x-should-retry': 'false' } : {}
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
