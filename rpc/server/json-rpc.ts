import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { JSON_RPC_FAILURE } from '../contract/agent-doors.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { Static } from '../contract/schema.ts'

/** The message cannot be parsed as JSON. */
export const PARSE_ERROR = -32_700
/** The message is JSON, but not a request. */
export const INVALID_REQUEST = -32_600
/** There is no such method. */
export const METHOD_NOT_FOUND = -32_601
/** The parameters are invalid. */
export const INVALID_PARAMS = -32_602
/** A bug of the node. */
export const INTERNAL_ERROR = -32_603
/** The server refused for a reason that the protocol has no code for. */
export const SERVER_ERROR = -32_000

/** The error object of a JSON-RPC answer. */
export interface JsonRpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Id of a request; null if it could not be read. */
export type JsonRpcId = string | number | null

const CODES: Partial<Readonly<Record<FaultCode, number>>> = {
  'rpc/malformed-json': PARSE_ERROR,
  'rpc/invalid-request': INVALID_REQUEST,
  'rpc/too-many-values': INVALID_REQUEST,
  'rpc/internal': INTERNAL_ERROR,
}

/** `data` holds code, request id and details, as in the error envelope. */
export function faultToJsonRpc(fault: Fault, requestId: string): JsonRpcError {
  const details = Object.keys(fault.detail).length === 0 ? {} : { details: fault.detail }
  const data = { code: httpFault(fault.code).api, requestId, ...details }
  return { code: CODES[fault.code] ?? SERVER_ERROR, message: faultMessage(fault), data }
}

/** The answer that carries an error. */
export function failure(id: JsonRpcId, error: JsonRpcError): Static<typeof JSON_RPC_FAILURE> {
  return { jsonrpc: '2.0', id, error }
}

/** The answer that carries a result. */
export function success(id: JsonRpcId, result: object): object {
  return { jsonrpc: '2.0', id, result }
}
