import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { nowMs } from './report.ts'

export function httpRequest(path: string, contentType: string, body: Uint8Array): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: ${contentType}\r\ncontent-length: ${body.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

/** How often each status came. */
export type StatusCounts = Map<number, number>

/**
 * Sends requests over a few kept-open connections, one at a time on each, and counts the statuses. Plain sockets keep
 * the load's own cost far below the server's.
 */
export async function sendAll(port: number, requests: readonly Buffer[], connections: number): Promise<StatusCounts> {
  const counts: StatusCounts = new Map()
  let next = 0
  const lane = async (): Promise<void> => {
    const socket = await open(port)
    const answers = statusesOf(socket)
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      socket.write(request)
      const { value: status } = await answers.next()
      counts.set(status as number, (counts.get(status as number) ?? 0) + 1)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, lane))
  return counts
}

/** A request that is due at a time of {@link nowMs}. */
export interface TimedRequest {
  readonly dueMs: number
  readonly request: Buffer
}

/**
 * Sends each request when it is due and a connection is free. Returns the times of sending, in order. Any other
 * status than 200 is given to `refused`, which throws by default.
 */
export async function sendTimed(
  port: number,
  requests: readonly TimedRequest[],
  connections: number,
  refused = (status: number, i: number): void => {
    throw new Error(`request ${i} was answered with ${status}`)
  },
): Promise<readonly number[]> {
  const sentMs: number[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    const socket = await open(port)
    const answers = statusesOf(socket)
    for (let i = next++; i < requests.length; i = next++) {
      const { dueMs, request } = requests[i] as TimedRequest
      await setTimeout(Math.max(0, dueMs - nowMs()))
      sentMs[i] = nowMs()
      socket.write(request)
      const { value: status } = await answers.next()
      if (status !== 200) refused(status as number, i)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, lane))
  return sentMs
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Status codes as answers arrive; bodies have a content-length and are skipped. */
async function* statusesOf(socket: Socket): AsyncGenerator<number> {
  let buffered: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    buffered = buffered.length === 0 ? (chunk as Buffer) : Buffer.concat([buffered, chunk as Buffer])
    for (let end = buffered.indexOf('\r\n\r\n'); end >= 0; end = buffered.indexOf('\r\n\r\n')) {
      const head = buffered.toString('latin1', 0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (buffered.length < end + 4 + length) break
      yield Number(head.slice(9, 12))
      buffered = buffered.subarray(end + 4 + length)
    }
  }
}
