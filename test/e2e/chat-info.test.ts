import { utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ask, type JsonBody, post } from '../support/api.ts'
import { Workshop } from '../support/daemon.ts'

const workshop = new Workshop()

const PRODUCT = {
  ...{ parameters: '1T', pricing: '$20', context_window: '200k', math: 'a', writing: 'b', coding: 'c' },
  ...{ multimodal: 'd', web_search: 'e', speed: 'f' },
}
const MODELS = {
  backends: [
    {
      id: 'nobody',
      baseUrl: 'http://127.0.0.1:9/v1',
      models: [
        { id: 'llama-8b', roles: ['fast', 'general'], context: 8_192, declaredParameters: '8B' },
        { id: 'other', roles: ['reason'], context: 32_000 },
        { id: 'painter', roles: ['image'], context: 4_096, declaredParameters: '12B' },
      ],
    },
  ],
}

function file(name: string, content: unknown, changed = new Date('2026-11-05T12:00:00Z')): string {
  const path = workshop.path(name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  utimesSync(path, changed, changed)
  return path
}

describe('a node without a model', () => {
  it('tells all the same what it is, and was last changed when it began', async () => {
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const { status, body } = await ask(daemon.url, '/api/v1/info')
    expect([status, body.underlying_model_count, body.total_parameters]).toEqual([200, 0, 'unknown'])
    expect(body.updated).toBe(new Date().toISOString().slice(0, 10))
    const models = body.models as readonly JsonBody[]
    expect(models.every(({ available, requires }) => available === false && Array.isArray(requires))).toBe(true)
    const answered = await post(daemon.url, '/api/v1/info/qa', { question: 'Which models work right now?' })
    expect(answered.body).toMatchObject({
      answered_by: 'retrieval',
      answer: expect.stringContaining('None can answer'),
    })
    await daemon.stop()
  })

  it('says nothing of a platform that is off', async () => {
    const daemon = await workshop.start(workshop.folder(), { mine: 0, env: { FARTHING_CHAT_ENABLED: 'false' } })
    for (const path of ['/api/v1/info', '/api/v1/info/models', '/api/v1/info/compare'])
      expect(await ask(daemon.url, path)).toMatchObject({ status: 404, body: { code: 'chat_disabled' } })
    expect((await ask(daemon.url, '/api/v1')).status).toBe(200)
    await daemon.stop()
  })
})

describe('files of the operator', () => {
  it('are what the figures, the comparison and further answers come from', async () => {
    const comparison = file('comparison.json', { 'Other product': PRODUCT }, new Date('2026-11-09T12:00:00Z'))
    const env = {
      FARTHING_MODELS_FILE: file('models.json', MODELS),
      FARTHING_CHAT_COMPARISON_FILE: comparison,
      FARTHING_CHAT_FAQ_FILE: file('faq.json', [{ question: 'Klingon?', answer: 'Only on Tuesdays.' }]),
      FARTHING_CHAT_KEY_RPM: '7',
    }
    const daemon = await workshop.start(workshop.folder(), { mine: 0, env })
    const { body } = await ask(daemon.url, '/api/v1/info')
    expect(body).toMatchObject({ underlying_model_count: 2, total_parameters: 'at least 8B', updated: '2026-11-09' })
    expect(body.comparison_vs_external).toEqual({ 'Other product': PRODUCT })
    expect(body.faq).toContainEqual({ question: 'Klingon?', answer: 'Only on Tuesdays.' })
    expect(body.pricing).toContain('7 requests a minute')
    expect((body.models as readonly JsonBody[])[0]).toMatchObject({ powered_by: 'llama-8b', parameters: '8B' })
    const answered = await post(daemon.url, '/api/v1/info/qa', { question: 'klingon' })
    expect(answered.body).toMatchObject({ answer: 'Only on Tuesdays.', answered_by: 'retrieval' })
    await daemon.stop()
  })

  it('keep the node from starting where they are wrong, and the place in them is named', async () => {
    const path = file('wrong.json', { A: { ...PRODUCT, more: 'x' } })
    const program = workshop.begin(workshop.folder(), { mine: 0, env: { FARTHING_CHAT_COMPARISON_FILE: path } })
    const { code, stderr } = await program.finished()
    expect(code).not.toBe(0)
    expect(stderr).toContain('A: there is no field "more"')
    expect(stderr).toContain(path)
  })
})
