import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ChatServer, HELLO } from '../../support/chat-server.ts'
import { until } from '../../support/processes.ts'

const MIB = 1_048_576

const LONG = { ...HELLO, messages: [{ role: 'user', content: 'word '.repeat((2 * MIB) / 5) }] }
const EVENTS = 'GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n'

let server: ChatServer
const sockets: Socket[] = []
beforeEach(async () => {
  server = await ChatServer.open()
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
  expect(server.errors).toEqual([])
})

/** Announces a body and sends none of it. */
function announce(key: string, bytes: number | null, before = ''): Socket {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /api/v1/chat/completions HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `authorization: Bearer ${key}`,
    bytes === null ? 'transfer-encoding: chunked' : `content-length: ${bytes}`,
  ]
  socket.on('error', () => {})
  socket.resume()
  socket.write(`${before}${head.join('\r\n')}\r\n\r\n`)
  sockets.push(socket)
  return socket
}

it('three callers who announce long bodies and send none do not keep the bodies of others out', async () => {
  const [a, b, c] = [await server.newKey(), await server.newKey(), await server.newKey()]
  const held = [...[a, a, b, b].map((key) => announce(key, 20 * MIB)), announce(c, 16 * MIB)]
  const post = (): Promise<Response> => server.post(LONG)
  const first = await until('the room is full', async () => {
    const answer = await post()
    return answer.status === 429 ? answer : undefined
  })
  expect(first.headers.get('retry-after')).toBe('1')
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  // The body is read, and is too long for any model.
  expect(await (await post()).json()).toMatchObject({ error: { code: 'context_length_exceeded' } })
  await until('the oldest of them is ended', () => held.filter(({ closed }) => closed).length === 1)
})

it('five callers with one silent body each do not either, and are told why they are cut off', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, (_, i) => server.newKey(`owner ${i}`)))
  const held = keys.map((key) => announce(key, 19 * MIB))
  const answers = held.map((socket) => {
    let text = ''
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString()
    })
    return () => text
  })
  await until('the room is full', async () => (await server.post(LONG)).status === 429 || undefined)
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  expect(await (await server.post(LONG)).json()).toMatchObject({ error: { code: 'context_length_exceeded' } })
  await until('the oldest of them is ended', () => held[0]?.closed === true)
  const answer = answers[0]?.() ?? ''
  expect(answer.startsWith('HTTP/1.1 429 ')).toBe(true)
  expect(answer).toContain('retry-after: 1')
  expect(answer).toContain('"code":"rate_limit_exceeded"')
})

it('long bodies behind an answer without an end have no room at all', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, (_, i) => server.newKey(`owner ${i}`)))
  const begun = keys.map((key) => {
    const socket = announce(key, 19 * MIB, EVENTS)
    socket.write(Buffer.alloc(19 * MIB, 'x'))
    return once(socket, 'data')
  })
  await Promise.all(begun)
  for (let i = 0; i < 10; i++) {
    expect(await (await server.post(LONG)).json()).toMatchObject({ error: { code: 'context_length_exceeded' } })
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
})

it('callers whose bodies without a length take room that others need, and are next to nothing, are not waited for again', async () => {
  const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => server.newKey(owner)))
  const held = [a, a, b, b].map((key) => announce(key as string, null))
  const filler = announce(c as string, 16 * MIB)
  await until('the room is full', async () => (await server.post(LONG)).status === 429 || undefined)
  filler.destroy()
  const answers = held.map((socket) => once(socket, 'data'))
  for (const socket of held) socket.write('2\r\n{}\r\n0\r\n\r\n')
  for (const [bytes] of await Promise.all(answers)) expect(String(bytes)).toMatch(/^HTTP\/1.1 400 /)
  for (const key of [a, a, b, b]) announce(key as string, null)
  announce(d as string, 16 * MIB)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await (await server.post(LONG)).json()).toMatchObject({ error: { code: 'context_length_exceeded' } })
})
