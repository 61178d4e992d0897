import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { keyOf } from '../../support/daemon-key.ts'
import { until } from '../../support/processes.ts'
import { FakeOpenAi, HOUSE_MODEL } from '../../support/upstreams/openai.ts'

const workshop = new Workshop()
let daemon: RunningDaemon
let fake: FakeOpenAi
let key: string
let files = 0

beforeAll(async () => {
  fake = await FakeOpenAi.open()
  // This backend has chat models but none for speech.
  const models = [{ id: HOUSE_MODEL, roles: ['general', 'judge'], context: 32_000 }]
  const path = workshop.path('models.json')
  writeFileSync(
    path,
    JSON.stringify({ backends: [{ id: 'house', baseUrl: fake.url, keyRef: 'env:HOUSE_KEY', models }] }),
  )
  const env = { FARTHING_MODELS_FILE: path, HOUSE_KEY: fake.key, FARTHING_CHAT_ESPEAK: 'espeak-ng' }
  daemon = await workshop.start(workshop.folder(), { mine: 0, env })
  await until('espeak-ng was looked at', async () => {
    const model = await (await fetch(`${daemon.url}/api/v1/models/model-voice`)).json()
    return (model as { x_platform: { available: boolean } }).x_platform.available
  })
  key = await keyOf(daemon)
})
afterAll(async () => {
  await daemon.stop()
  await fake.close()
})

const client = (): OpenAI => new OpenAI({ baseURL: `${daemon.url}/api/v1`, apiKey: key })

/** What SoX, an independent reader of the format, finds in a file. It prints oddities on its standard error. */
function soxOf(bytes: Buffer) {
  const path = workshop.path(`speech-${files++}.wav`)
  writeFileSync(path, bytes)
  const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' }).trim()
  const told = (what: string): string => run('soxi', what, path)
  const raw = execFileSync('sox', ['-V1', path, '-t', 'raw', '-'], { maxBuffer: 100_000_000 })
  return {
    format: [told('-t'), told('-r'), told('-b'), told('-c'), told('-e')],
    samples: Number(told('-s')),
    raw,
    warnings: run('sh', '-c', `sox '${path}' -n 2>&1`),
  }
}

const FORMAT = ['wav', '24000', '16', '1', 'Signed Integer PCM']

/** Share of audible samples. */
function loudShare(raw: Buffer): number {
  const samples = Array.from({ length: raw.length / 2 }, (_, i) => Math.abs(raw.readInt16LE(2 * i)))
  return samples.filter((sample) => sample > 300).length / samples.length
}

describe('espeak-ng through the official client', () => {
  it('speaks a text that other programs read', async () => {
    const input = 'The quick brown fox jumps over the lazy dog. '.repeat(40)
    const response = await client().audio.speech.create({
      model: 'model-voice',
      input,
      voice: 'alloy',
      response_format: 'wav',
    })
    expect(response.headers.get('content-type')).toBe('audio/wav')
    const file = Buffer.from(await response.arrayBuffer())
    const { format, samples, raw, warnings } = soxOf(file)
    expect(format).toEqual(FORMAT)
    expect(warnings).toBe('')
    expect(samples).toBe((file.length - 44) / 2)
    expect(raw.equals(file.subarray(44))).toBe(true)
    // Forty sentences of three seconds at some 175 words a minute.
    expect(samples / 24_000).toBeGreaterThan(80)
    expect(samples / 24_000).toBeLessThan(200)
    expect(loudShare(raw)).toBeGreaterThan(0.3)
  })

  it('speaks other languages, faster, as samples alone', async () => {
    const said = async (more: { voice?: string; speed?: number }): Promise<Buffer> => {
      const request = { model: 'model-voice', input: 'Guten Morgen, liebe Welt.', voice: 'de', ...more }
      const response = await client().audio.speech.create({ ...request, response_format: 'pcm' })
      return Buffer.from(await response.arrayBuffer())
    }
    const [german, english, fast] = [await said({}), await said({ voice: 'alloy' }), await said({ speed: 2 })]
    expect(german.equals(english)).toBe(false)
    expect(fast.length).toBeLessThan(german.length * 0.8)
    expect(loudShare(german)).toBeGreaterThan(0.2)
  })

  it('is refused as the client expects it', async () => {
    const { speech } = client().audio
    const request = { model: 'model-voice', input: 'Hello.', voice: 'alloy' }
    await expect(speech.create({ ...request, model: 'tts-1' })).rejects.toThrow(NotFoundError)
    await expect(speech.create({ ...request, voice: 'nobody' })).rejects.toThrow(BadRequestError)
    await expect(speech.create({ ...request, response_format: 'mp3' })).rejects.toThrow(BadRequestError)
    await expect(speech.create({ ...request, speed: 4 })).rejects.toThrow(BadRequestError)
  })

  it('reads out an answer of model-2', async () => {
    fake.answer = () => 'Here is **the answer**:\n\n- one\n- two\n\n```js\nlet a = 1\n```'
    const response = await fetch(`${daemon.url}/api/v1/voice`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello?' }] }),
    })
    expect(response.status).toBe(200)
    const { text, audio, x_platform } = (await response.json()) as {
      text: string
      audio: { data: string; duration_ms: number }
      x_platform: { stages: { stage: string; models: string[] }[] }
    }
    expect(text).toContain('**the answer**')
    const { format, samples } = soxOf(Buffer.from(audio.data, 'base64'))
    expect(format).toEqual(FORMAT)
    expect(Math.round((samples * 1_000) / 24_000)).toBe(audio.duration_ms)
    const spoken = x_platform.stages.find(({ stage }) => stage === 'Text-to-Speech')
    expect(spoken?.models).toEqual(['espeak-ng'])
  })
})
