import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { UpstreamPlan } from './chat-world.ts'
import { nowMs } from './report.ts'

/**
 * A model that sends pieces at a fixed pace. Each piece holds the time of its sending; the first one also holds the
 * time of the question. The model notes when readers leave.
 */
const gone: { readonly name: string; readonly atMs: number }[] = []

const server = createServer((request, response) => {
  const askedMs = nowMs()
  if (request.url === '/gone') return void json(response, gone)
  if (request.url !== '/v1/chat/completions') return void json(response, { object: 'list', data: [] })
  let text = ''
  request.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  request.on('end', () => {
    const { messages } = JSON.parse(text) as { readonly messages: readonly { readonly content: string }[] }
    say(response, JSON.parse(messages.at(-1)?.content ?? '{}') as UpstreamPlan, askedMs)
  })
})

function say(response: ServerResponse, { name, pieces, everyMs }: UpstreamPlan, askedMs: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let said = 0
  const next = (): void => {
    if (response.destroyed) return
    response.write(chunk({ content: `${said === 0 ? `${askedMs}>` : ''}${nowMs()};` }, null))
    said += 1
    if (said === pieces) response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
    else timer = setTimeout(next, everyMs)
  }
  response.write(chunk({ role: 'assistant', content: '' }, null))
  let timer = setTimeout(next, 0)
  response.once('close', () => {
    clearTimeout(timer)
    if (!response.writableFinished) gone.push({ name, atMs: nowMs() })
  })
}

function chunk(delta: object, finish_reason: string | null): string {
  const frame = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench' }
  return `data: ${JSON.stringify({ ...frame, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
