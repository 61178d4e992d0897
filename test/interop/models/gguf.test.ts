import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatRequest } from '../../../marketplace/chat/models/backend.ts'
import { GgufBackend } from '../../../src/chat/backends/gguf-backend.ts'
import type { LlamaPackage } from '../../../src/chat/backends/llama-package.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { tinyGguf } from './tiny-gguf.ts'

const CONTEXT = 2_048
const REQUEST: ChatRequest = {
  model: { id: 'local', roles: ['general'], context: CONTEXT, supports: new Set(), declaredParameters: null },
  messages: [{ role: 'user', content: 'Say something.' }],
  maxTokens: 24,
  temperature: 0,
}
const load = async (): Promise<LlamaPackage> => (await import('node-llama-cpp')) as unknown as LlamaPackage

const folder = temporaryFolder()
const path = join(folder, 'tiny.gguf')
const opened: GgufBackend[] = []

function open(file: string, allowFixture = true): GgufBackend {
  const backend = new GgufBackend({ path: file, context: CONTEXT, allowFixture, load })
  opened.push(backend)
  return backend
}

beforeAll(() => writeFileSync(path, tinyGguf()))
afterAll(async () => {
  await Promise.all(opened.map((backend) => backend.close()))
  removeFolder(folder)
})

const limit = (ms = 60_000): AbortSignal => AbortSignal.timeout(ms)

describe('a model in a GGUF file, run by node-llama-cpp', () => {
  it('is made by the generator, the same every time', () => {
    expect(tinyGguf().equals(tinyGguf())).toBe(true)
    expect(tinyGguf().length).toBeLessThan(700_000)
  })

  it('answers the same question the same, and counts its tokens', async () => {
    const backend = open(path)
    expect(await backend.check()).toMatchObject({ ok: true })
    const [one, again] = [await backend.complete(REQUEST, limit()), await backend.complete(REQUEST, limit())]
    if (!one.ok || !again.ok) throw new Error(JSON.stringify([one, again]))
    expect(one.value.text).toBe(again.value.text)
    expect(one.value).toMatchObject({ model: 'farthing-fixture-tiny', finishReason: 'length', skipped: 0 })
    expect(one.value.usage).toEqual(again.value.usage)
    expect(one.value.usage?.completionTokens).toBe(24)
    expect(one.value.usage?.promptTokens).toBeGreaterThan(10)
  })

  it('says it in pieces, which are the whole', async () => {
    const pieces: unknown[] = []
    const answer = await open(path).stream(REQUEST, ({ content }) => void pieces.push(content), limit())
    expect(pieces.length).toBeGreaterThan(3)
    expect(answer).toMatchObject({ ok: true, value: { text: pieces.join('') } })
  })

  it('can be held to a JSON schema', async () => {
    const schema = {
      type: 'object',
      properties: { colour: { enum: ['red', 'blue'] }, sure: { type: 'boolean' } },
      required: ['colour', 'sure'],
      additionalProperties: false,
    }
    const request = { ...REQUEST, maxTokens: 200, jsonSchema: { name: 'choice', schema } }
    const answer = await open(path).complete(request, limit())
    if (!answer.ok) throw new Error(JSON.stringify(answer.fault))
    expect(answer.value.finishReason).toBe('stop')
    const value = JSON.parse(answer.value.text) as { readonly colour: string; readonly sure: boolean }
    expect(['red', 'blue']).toContain(value.colour)
    expect([true, false]).toContain(value.sure)
    expect(answer.value.heldBy).toBe('grammar')
  })

  it('is asked in words for a schema of which there is no small grammar, and for any object with a grammar', async () => {
    const schema = { type: 'array', items: { type: 'string' }, minItems: 1_000_000 }
    const backend = open(path)
    const large = await backend.complete({ ...REQUEST, jsonSchema: { name: 'much', schema } }, limit())
    expect(large).toMatchObject({ ok: true, value: { heldBy: 'words' } })
    const live = await backend.stream({ ...REQUEST, jsonSchema: { name: 'much', schema } }, () => undefined, limit())
    expect(live).toMatchObject({ ok: false, fault: { code: 'model/refused', detail: { status: 400 } } })
    const any = await backend.complete({ ...REQUEST, json: true }, limit())
    expect(any).toMatchObject({ ok: true, value: { heldBy: 'grammar' } })
    expect(any.ok && any.value.text.trimStart()[0]).toBe('{')
  })

  it('chooses its words by the seed, and does not claim to know how likely they are', async () => {
    const backend = open(path)
    const said = async (seed: number): Promise<string> => {
      const answer = await backend.complete({ ...REQUEST, temperature: 1, extra: { seed } }, limit())
      if (!answer.ok) throw new Error(JSON.stringify(answer.fault))
      return answer.value.text
    }
    const [one, again, other] = [await said(5), await said(5), await said(6)]
    expect(one).toBe(again)
    expect(one).not.toBe(other)
    const unknown = await backend.complete({ ...REQUEST, extra: { logprobs: true } }, limit())
    expect(unknown).toMatchObject({ ok: false, fault: { code: 'model/refused', detail: { status: 400 } } })
  })

  it('answers one after another, and lets one that is given up go', async () => {
    const backend = open(path)
    const long = { ...REQUEST, maxTokens: 1_500 }
    const givenUp = new AbortController()
    const first = backend.stream(long, () => givenUp.abort(), givenUp.signal)
    const second = backend.complete(REQUEST, limit())
    expect(await first).toEqual({ ok: false, fault: { code: 'model/timeout', detail: { backend: 'gguf' } } })
    expect(await second).toMatchObject({ ok: true })
  })

  it('goes on with a conversation, its instructions and its answers so far', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'And now?' },
    ]
    const backend = open(path)
    const [longer, shorter] = [
      await backend.complete({ ...REQUEST, messages }, limit()),
      await backend.complete({ ...REQUEST, messages: messages.slice(-1) }, limit()),
    ]
    if (!longer.ok || !shorter.ok) throw new Error(JSON.stringify([longer, shorter]))
    expect(longer.value.usage?.promptTokens).toBeGreaterThan(shorter.value.usage?.promptTokens ?? 0)
  })

  it('is refused where it is made for tests', async () => {
    const backend = open(path, false)
    const reason = 'the model is made for tests: its answers mean nothing'
    const refused = { ok: false, fault: { code: 'model/refused', detail: { backend: 'gguf', reason } } }
    expect(await backend.check()).toEqual(refused)
    expect(await backend.complete(REQUEST, limit())).toEqual(refused)
  })

  it.each([
    ['is not there', null, 'the file cannot be read'],
    ['is a page', Buffer.from('<html>no model</html>'), 'the file is not in the GGUF format'],
    ['only begins like one', Buffer.from('GGUF and nothing more'), 'the file is not a sound GGUF file'],
    ['ends in the middle', tinyGguf().subarray(0, 300_000), 'Failed to load model'],
  ])('is refused where the file %s', async (_, bytes, reason) => {
    const file = join(folder, 'other.gguf')
    rmSync(file, { force: true })
    if (bytes !== null) writeFileSync(file, bytes)
    const detail = { backend: 'gguf', reason }
    expect(await open(file).check()).toEqual({ ok: false, fault: { code: 'model/refused', detail } })
  })
})
