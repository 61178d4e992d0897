import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** A hostile client: attacks a node's API from its own address until it is ended, and often reports what it did. */
const api = new URL(process.argv[2] as string)
const FROM = '127.0.0.66'
const ROUND_MS = 1_000
/** Sockets kept open; beyond that the oldest is closed. */
const KEPT = 300
const kept: Socket[] = []
const made = { sockets: 0, requests: 0, errors: 0 }

function open(bytes: string): Socket {
  const socket = connect({ host: '127.0.0.1', port: Number(api.port), localAddress: FROM })
  socket.on('error', () => {
    made.errors += 1
  })
  socket.write(bytes)
  made.sockets += 1
  kept.push(socket)
  for (const old of kept.splice(0, Math.max(0, kept.length - KEPT))) old.destroy()
  return socket
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const post = (path: string, body: string, length = body.length): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`
const junk = (bytes: number): string => randomBytes(bytes).toString('hex')

/** Requests whose answers are never read. */
function deaf(): void {
  open(get('/openapi.json').repeat(40) + get('/health').repeat(1_200)).pause()
  made.requests += 1_240
}

/** Requests whose bodies never arrive. */
function slow(): void {
  for (let i = 0; i < 40; i++) open(post('/api/x402/node-network-stats', '{', 1_000))
  made.requests += 40
}

/** Payments that do not exist, chats without a key, random paths and bodies. */
function lies(): void {
  const payment = JSON.stringify({ request: '', payment: { txId: junk(32), secret: junk(32) } })
  const chat = JSON.stringify({ model: 'model-1', messages: [{ role: 'user', content: junk(200) }] })
  for (let i = 0; i < 10; i++) {
    const texts = [
      post('/api/x402/node-network-stats', payment),
      post('/v1/chat/completions', chat),
      post('/api/v1/tx', junk(2_000)),
      post('/api/mcp', `[${junk(500)}`),
      get(`/${junk(20)}`),
      get(`/api/v1/accounts/${junk(32)}`),
    ]
    for (const text of texts) open(text).resume()
    made.requests += texts.length
  }
}

process.stdout.write(`${api.origin}\n`)
for (let round = 0; ; round++) {
  if (round % 20 === 0) deaf()
  if (round % 5 === 0) slow()
  lies()
  if (round % 30 === 29) process.stdout.write(`client: ${JSON.stringify(made)}\n`)
  await setTimeout(ROUND_MS)
}
