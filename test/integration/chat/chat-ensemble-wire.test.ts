import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ok } from '../../../consensus/primitives/result.ts'
import { QUESTIONS, resetEnsemble } from '../../support/chat-ensemble.ts'
import { ChatServer, eventsOf, readAll } from '../../support/chat-server.ts'

const SOURCE = { name: 'scripted', fetchedAt: '2026-11-22T00:00:00.000Z', stale: false }
const HIT = { title: 'The cup', url: 'https://cup.example/', snippet: 'Reds won.', date: null }
const ANNOTATION = {
  type: 'url_citation',
  url_citation: { url: 'https://cup.example/', title: 'The cup', start_index: 9, end_index: 12 },
}

let server: ChatServer
beforeAll(async () => {
  const search = {
    readiness: () => ({ available: true, engine: 'scripted' }) as const,
    ask: async () => ok({ value: [HIT], source: SOURCE }),
  }
  server = await ChatServer.open({ means: { search } })
  resetEnsemble(server.world, { short: 'Reds won [1][2].', plain: 'A blue field.' })
})
afterAll(() => server.close())

describe('model-4 over HTTP', () => {
  const cup = { model: 'model-4', messages: [{ role: 'user', content: QUESTIONS.current }] }

  it('has annotations on its message, and says what it did', async () => {
    const response = await server.post(cup)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'Reds won [1].', annotations: [ANNOTATION] } }],
      x_platform: { tier: 'fast', grounded: true, search: { pages: 1 } },
    })
  })

  it('streams them in the last delta', async () => {
    const { text } = await readAll(await server.post({ ...cup, stream: true }))
    const deltas = eventsOf(text)
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data).choices[0].delta)
    expect(deltas.map(({ content = '' }) => content).join('')).toBe('Reds won [1].')
    expect(deltas.at(-2)).toEqual({ annotations: [ANNOTATION] })
    expect(deltas.at(-1)).toEqual({})
  })

  const blue = sharp({ create: { width: 32, height: 32, channels: 3, background: '#206090' } })
  const withImage = (model: string, url: string) => ({
    model,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  })

  it('takes images', async () => {
    const url = `data:image/jpeg;base64,${(await blue.jpeg().toBuffer()).toString('base64')}`
    const response = await server.post(withImage('model-4', url))
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'A blue field.' } }] })
  })

  it.each([
    ['another model', 'model-2', 'data:image/png;base64,AAAA', 'unsupported_parameter', /^messages\[0\]\.content\[1\]/],
    [
      'what is none',
      'model-4',
      'data:image/png;base64,AAAA',
      'invalid_value',
      /^messages\[0\]\.content\[1\]\.image_url\.url$/,
    ],
    ['an address without TLS', 'model-4', 'http://a.example/', 'invalid_value', /image_url\.url$/],
  ])('refuses images for %s', async (_, model, url, code, param) => {
    const response = await server.post(withImage(model, url))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', code, param: expect.stringMatching(param) },
    })
  })
})
