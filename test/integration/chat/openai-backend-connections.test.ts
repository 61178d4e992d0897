import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChatRequest } from '../../../marketplace/chat/models/backend.ts'
import { OpenAiBackend } from '../../../src/chat/backends/openai-backend.ts'
import { HOUSE } from '../../support/chat-world.ts'
import { until } from '../../support/processes.ts'

const REQUEST: ChatRequest = { model: HOUSE, messages: [{ role: 'user', content: 'Hello?' }], maxTokens: 64 }
const event = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const ANSWER = `${event({ role: 'assistant', content: 'Hi' })}${event({}, 'stop')}data: [DONE]\n\n`

/** A server that records its connections, and leaves its answers open after their end mark. */
class Told {
  readonly sockets = new Set<Socket>()
  readonly answers: ServerResponse[] = []
  readonly agents: unknown[] = []
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      this.sockets.add(request.socket)
      this.agents.push(request.headers['user-agent'], request.headers['accept-encoding'])
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(ANSWER)
      this.answers.push(response)
    })
  }

  static async open(): Promise<Told> {
    const told = new Told()
    await new Promise<void>((resolve) => told.#server.listen(0, '127.0.0.1', resolve))
    return told
  }

  backend(): OpenAiBackend {
    const { port } = this.#server.address() as AddressInfo
    return new OpenAiBackend({ id: 'told', baseUrl: `http://127.0.0.1:${port}/v1`, key: null })
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

let server: Told
afterEach(() => server.close())

const asked = (backend: OpenAiBackend) => backend.stream(REQUEST, () => undefined, AbortSignal.timeout(30_000))

describe('a connection to a server of models', () => {
  it('is used again where the end of a stream comes after its mark', async () => {
    server = await Told.open()
    const backend = server.backend()
    await until('a question comes over a connection that was there before', async () => {
      expect(await asked(backend)).toMatchObject({ ok: true, value: { text: 'Hi' } })
      // The answer was complete at its end mark. The client did not wait for the connection to close.
      const answer = server.answers.at(-1) as ServerResponse
      expect(answer.closed).toBe(false)
      await new Promise<void>((resolve) => answer.end(resolve))
      return server.sockets.size < server.answers.length
    })
  })

  it('is given up where that end does not come', async () => {
    server = await Told.open()
    expect(await asked(server.backend())).toMatchObject({ ok: true })
    await until('it is given up', () => [...server.sockets].every(({ destroyed }) => destroyed))
  })

  it('carries answers as they are: nothing is packed, which would hold back pieces', async () => {
    server = await Told.open()
    expect(await asked(server.backend())).toMatchObject({ ok: true })
    expect(server.agents).toEqual(['farthing', undefined])
  })
})
