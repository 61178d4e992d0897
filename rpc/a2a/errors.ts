import { INVALID_PARAMS, type JsonRpcError } from '../server/json-rpc.ts'

/** Thrown to answer with an error of A2A. */
export class A2aRefusal extends Error {
  readonly error: JsonRpcError

  constructor(error: JsonRpcError) {
    super(error.message)
    this.error = error
  }
}

/** A2A's own error codes, by the reason that A2A 1.0 adds to them. */
const ERRORS = {
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  VERSION_NOT_SUPPORTED: -32_009,
} as const

/** Makes the refusal for a reason in {@link ERRORS}. */
export function refusalOf(reason: keyof typeof ERRORS, message: string): A2aRefusal {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }
  return new A2aRefusal({ code: ERRORS[reason], message, data: [info] })
}

/** Makes the refusal of invalid parameters. */
export function invalidParams(message: string): A2aRefusal {
  return new A2aRefusal({ code: INVALID_PARAMS, message })
}
