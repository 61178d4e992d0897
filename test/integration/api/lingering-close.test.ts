import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LINGER_BYTES_MAX, LINGER_MS } from '../../../rpc/edge/connections.ts'
import { ApiServer } from '../../support/api-server.ts'
import { until } from '../../support/processes.ts'
import { head } from '../../support/raw-connections.ts'

const BODY_BYTES = 3_000_000
const JSON_TYPE = { 'content-type': 'application/json' }
const CHUNKED = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }
const long = (bytes: number): string => head('POST /api/v1/tx', { ...JSON_TYPE, 'content-length': bytes })
const HALF = Buffer.alloc(BODY_BYTES / 2, 'x')
const SHORT = Buffer.alloc(400_000, 'x')
/** Between two pieces of a request: the node answers meanwhile. */
const PAUSE_MS = 20
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')])
const MANY = Buffer.concat(new Array(23).fill(CHUNK))

let server: ApiServer
const sockets: Socket[] = []

beforeAll(async () => {
  server = await ApiServer.open({ receiveTimeoutMs: 60_000 })
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await server.close()
  expect(server.errors).toEqual([])
})

/** A connection of a client that reads nothing until it is told to, and does not close when the node does. */
async function opened(): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  sockets.push(socket)
  socket.on('error', () => {}).pause()
  await once(socket, 'connect')
  return socket
}

function written(socket: Socket, bytes: string | Uint8Array): Promise<Error | null> {
  return new Promise((resolve) => {
    socket.write(bytes, (error) => resolve(error ?? null))
  })
}

/** Reads until the node says that nothing more comes. */
async function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  socket.resume()
  await until('the node has ended it', () => socket.readableEnded || socket.destroyed)
  return text
}

function expectWhole(text: string, status: number, code: string): void {
  const [top = '', body = ''] = text.split('\r\n\r\n')
  expect(top).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(top.toLowerCase()).toContain('\r\nconnection: close')
  expect(JSON.parse(body)).toMatchObject({ code })
}

const closed = (): Promise<unknown> => until('it is closed', async () => (await server.connections()) === 0)

describe('a client that writes all of its request before it reads', () => {
  it.each([
    ['413 for a body that is too long', [long(BODY_BYTES), HALF, HALF], 413, 'body_too_large'],
    [
      '413 for chunks that are too many',
      [head('POST /api/v1/tx', CHUNKED), MANY, MANY, '0\r\n\r\n'],
      413,
      'body_too_large',
    ],
    ['431 for headers that are too long', [`GET / HTTP/1.1\r\nhost: a\r\nx: `, SHORT, SHORT], 431, 'headers_too_large'],
    ['400 for bytes that are no request', ['nonsense\r\n\r\n', SHORT, SHORT], 400, 'unreadable_request'],
  ] as const)('gets the answer whole: %s', async (_, pieces, status, code) => {
    for (let i = 0; i < 20; i++) {
      const socket = await opened()
      for (const piece of pieces) {
        expect(await written(socket, piece)).toBe(null)
        await setTimeout(PAUSE_MS)
      }
      const text = await readAll(socket)
      expectWhole(text.slice(text.lastIndexOf('HTTP/1.1 ')), status, code)
      socket.end()
    }
    await closed()
  })
})

it('a request too many on a connection is refused in whole, though its body has not come', async () => {
  const socket = await opened()
  await written(socket, head('GET /health').repeat(8) + long(BODY_BYTES))
  const text = await readAll(socket)
  expectWhole(text.slice(text.lastIndexOf('HTTP/1.1 ')), 429, 'too_many_at_once')
  socket.end()
  await closed()
})

describe('after its last answer, a connection', () => {
  it('ends at once for a client that sent nothing of its body', async () => {
    const socket = await opened()
    await written(socket, long(BODY_BYTES))
    expectWhole(await readAll(socket), 413, 'body_too_large')
    // The node waits for the rest: the answer and its end came before.
    expect(await server.connections()).toBe(1)
    socket.end()
    await closed()
  })

  it('serves no request that comes behind', async () => {
    const socket = await opened()
    const over = server.over()
    await written(socket, long(BODY_BYTES))
    await readAll(socket)
    await written(socket, Buffer.concat([HALF, HALF, Buffer.from(head('GET /health'))]))
    socket.end()
    await closed()
    expect(server.over()).toBe(over + 1)
  })

  it('is cut where the client neither writes nor closes', async () => {
    const socket = await opened()
    await written(socket, long(BODY_BYTES))
    await readAll(socket)
    const sinceMs = performance.now()
    await closed()
    const tookMs = performance.now() - sinceMs
    expect(tookMs).toBeGreaterThan(LINGER_MS / 2)
    expect(tookMs).toBeLessThan(LINGER_MS * 5)
  })

  it('is cut where the client writes a little from time to time', async () => {
    const socket = await opened()
    await written(socket, long(BODY_BYTES))
    await readAll(socket)
    const sinceMs = performance.now()
    while (!socket.destroyed && performance.now() - sinceMs < LINGER_MS * 5) {
      await written(socket, ' ')
      await setTimeout(100)
    }
    expect(socket.destroyed).toBe(true)
  })

  it('is cut where the client never stops writing', async () => {
    const socket = await opened()
    await written(socket, head('POST /api/v1/tx', CHUNKED))
    while ((await written(socket, CHUNK)) === null && socket.bytesWritten < LINGER_BYTES_MAX * 2);
    // The buffers of both ends hold some more.
    expect(socket.bytesWritten).toBeLessThan(LINGER_BYTES_MAX * 2)
    await closed()
  })

  it('makes room for others as an idle one does', async () => {
    const crowded = await ApiServer.open({ idlePerAddressMax: 3 })
    const { hostname, port } = new URL(crowded.url)
    const many = Array.from({ length: 20 }, () => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      sockets.push(socket)
      socket.on('error', () => {}).write(long(BODY_BYTES))
      return socket
    })
    await Promise.all(many.map(async (socket) => expectWhole(await readAll(socket), 413, 'body_too_large')))
    expect(await crowded.connections()).toBeLessThanOrEqual(3)
    await crowded.close()
  })
})
