import { randomUUID } from 'node:crypto'
import { maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { httpFault } from '../contract/http-faults.ts'
import { errorBody, errorHeaders, errorType } from '../server/faults.ts'

const REASON_CHARS_MAX = 100

/** A refusal that the node writes past the router. It closes the connection. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The refusal that tells a fault, under a new request id. */
export function refusalOf(cause: Fault): Refusal {
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(cause, { requestId, accept: '', path: '' }))
  return {
    status: httpFault(cause.code).status,
    headers: {
      'x-request-id': requestId,
      'access-control-allow-origin': '*',
      ...errorHeaders(cause),
      'content-type': errorType(''),
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    },
    body,
  }
}

/** Answers bytes that are not a readable request, and closes the connection. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else refuseOn(socket, faultOf(error))
}

/** Writes a refusal to a bare connection, and closes it. */
export function refuseOn(socket: Socket, cause: Fault): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { status, headers, body } = refusalOf(cause)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

/** Ends a request that waits for its client, with a refusal if no other answer is on its way. */
export function giveUp(response: ServerResponse, socket: Socket, cause: Fault): void {
  // Node assigns the socket to the answer that goes out next.
  const isNext = response.socket !== null && !response.headersSent
  if (isNext && socket.writableLength === 0) refuseOn(socket, cause)
  else socket.destroy()
}

function faultOf({ code, message }: NodeJS.ErrnoException): Fault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('rpc/receive-timeout')
  if (code === 'HPE_HEADER_OVERFLOW') return fault('rpc/headers-too-large', { limitBytes: maxHeaderSize })
  return fault('rpc/unreadable', { reason: message.replace(/^Parse Error: /, '').slice(0, REASON_CHARS_MAX) })
}
