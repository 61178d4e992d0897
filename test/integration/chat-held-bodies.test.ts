import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ChatServer, HELLO } from '../support/chat-server.ts'
import { until } from '../support/processes.ts'

const MIB = 1_048_576

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

/** Says that a body comes, and sends none of it. */
function announce(key: string, bytes: number): Socket {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /api/v1/chat/completions HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `authorization: Bearer ${key}`,
    `content-length: ${bytes}`,
  ]
  socket.on('error', () => {})
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  sockets.push(socket)
  return socket
}

it('three callers who announce long bodies and send none do not keep the bodies of others out', async () => {
  const [a, b, c] = [await server.newKey(), await server.newKey(), await server.newKey()]
  const held = [...[a, a, b, b].map((key) => announce(key, 20 * MIB)), announce(c, 16 * MIB)]
  const long = { ...HELLO, messages: [{ role: 'user', content: 'word '.repeat((2 * MIB) / 5) }] }
  const post = (): Promise<Response> => server.post(long)
  const first = await until('the room is full', async () => {
    const answer = await post()
    return answer.status === 429 ? answer : undefined
  })
  expect(first.headers.get('retry-after')).toBe('1')
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  // It is read, and too long for any model.
  expect(await (await post()).json()).toMatchObject({ error: { code: 'context_length_exceeded' } })
  await until('the oldest of them is ended', () => held.filter(({ closed }) => closed).length === 1)
})
