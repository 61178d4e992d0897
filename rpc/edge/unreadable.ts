import { randomUUID } from 'node:crypto'
import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Fault, fault, faultRow } from '../../consensus/primitives/fault.ts'
import { errorBody, errorType } from '../faults.ts'

const REASON_CHARS_MAX = 100

/** Answers what could not even be read as a request, in the shape of every other refusal, and closes the connection. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const cause = faultOf(error)
  const { status } = faultRow(cause.code)
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(cause, { requestId, accept: '', path: '' }))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${requestId}`,
    'access-control-allow-origin: *',
    `content-type: ${errorType('')}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

function faultOf({ code, message }: NodeJS.ErrnoException): Fault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('rpc/receive-timeout')
  if (code === 'HPE_HEADER_OVERFLOW') return fault('rpc/headers-too-large', { limitBytes: maxHeaderSize })
  return fault('rpc/unreadable', { reason: message.replace(/^Parse Error: /, '').slice(0, REASON_CHARS_MAX) })
}
