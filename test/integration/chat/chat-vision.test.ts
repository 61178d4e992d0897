import sharp, { type Sharp } from 'sharp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Result } from '../../../consensus/primitives/result.ts'
import { IMAGE_BYTES_MAX, imagePartsOf } from '../../../marketplace/chat/vision/image-parts.ts'
import { IMAGES_BYTES_MAX } from '../../../marketplace/chat/vision/prepare-images.ts'
import { VISION_BYTES_MAX, VISION_SIDE_MAX, type VisionImage } from '../../../marketplace/ports/image-tasks.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { asked, askingBeast, messagesIn, resetEnsemble, stageIn, textIn } from '../../support/chat-ensemble.ts'
import { ChatWorld } from '../../support/chat-world.ts'
import { hugePng } from '../../support/huge-png.ts'
import { until } from '../../support/processes.ts'
import type { ChatQuestion } from '../../support/upstreams/openai.ts'
import { WebWorld } from '../../support/web-world.ts'

type Format = 'png' | 'jpeg' | 'webp' | 'gif'

const picture = (width = 64, height = 48): Sharp =>
  sharp({ create: { width, height, channels: 3, background: '#206090' } })
const bytesOf = (format: Format): Promise<Buffer> => picture().toFormat(format).toBuffer()
const dataUrl = (bytes: Uint8Array, type = 'image/png'): string => `data:${type};base64,${bytes.toBase64()}`
const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } })
const WORDS = { type: 'text', text: 'What is on it?' }
const REFUSED = 'the content cannot be used: '
const NO_PICTURE = `${REFUSED}it is no PNG, JPEG, WebP or GIF`
const UNREADABLE = `${REFUSED}it cannot be read as a picture, or is too large a one`

describe('a picture for a model', () => {
  const engines = new EnginePool(1)
  afterAll(() => engines.close())
  const MOST = { bytesMax: VISION_BYTES_MAX, sideMax: VISION_SIDE_MAX }
  const run = (bytes: Uint8Array, most = MOST): Promise<Result<VisionImage>> =>
    engines.run('image/vision', { bytes, ...most }, AbortSignal.timeout(20_000))
  const made = async (bytes: Uint8Array, most = MOST): Promise<VisionImage> => {
    const result = await run(bytes, most)
    if (!result.ok) throw new Error(JSON.stringify(result.fault))
    return result.value
  }

  it.each(['png', 'jpeg', 'webp', 'gif'] as const)('is written anew: %s', async (format) => {
    const { bytes, mediaType, width, height } = await made(await bytesOf(format))
    expect([width, height]).toEqual([64, 48])
    expect(mediaType).toBe(format === 'jpeg' ? 'image/jpeg' : 'image/png')
    expect((await sharp(bytes).metadata()).format).toBe(mediaType.slice('image/'.length))
  })

  it('says nothing of where it was made, and stands upright', async () => {
    const exif = { IFD0: { Copyright: 'somebody', ImageDescription: 'my street' } }
    const told = await picture().withExif(exif).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    const { bytes, width, height } = await made(told)
    expect([width, height]).toEqual([48, 64])
    const meta = await sharp(bytes).metadata()
    expect(meta.exif ?? meta.icc ?? meta.xmp ?? meta.comments).toBeUndefined()
  })

  it('keeps within its bounds, also where it is large and full of noise', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    const create = { width: 3_000, height: 1_500, channels: 3, background: '#000', noise } as const
    const { bytes, mediaType, width, height } = await made(await sharp({ create }).webp({ quality: 60 }).toBuffer())
    expect([width, height]).toEqual([VISION_SIDE_MAX, VISION_SIDE_MAX / 2])
    expect(mediaType).toBe('image/jpeg')
    expect(bytes.length).toBeLessThanOrEqual(VISION_BYTES_MAX)
  })

  it('is made smaller until it has the bytes that it may have', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    const create = { width: 1_600, height: 1_600, channels: 3, background: '#000', noise } as const
    const bytes = await sharp({ create }).jpeg({ quality: 60 }).toBuffer()
    for (const bytesMax of [90_000, 20_000]) {
      const small = await made(bytes, { ...MOST, bytesMax })
      expect(small.bytes.length).toBeLessThanOrEqual(bytesMax)
      expect(small.bytes.length).toBeGreaterThan(bytesMax / 8)
    }
  })

  it.each([
    ['nothing', async () => new Uint8Array(), NO_PICTURE],
    ['text', async () => new TextEncoder().encode('hello'), NO_PICTURE],
    ['SVG', async () => new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>'), NO_PICTURE],
    ['TIFF', () => picture().tiff().toBuffer(), NO_PICTURE],
    ['the first bytes of a PNG', async () => (await bytesOf('png')).subarray(0, 8), UNREADABLE],
    ['half a JPEG', async () => (await picture(600, 600).jpeg().toBuffer()).subarray(0, 900), UNREADABLE],
    ['a PNG of a billion pixels', async () => hugePng(32_000, 32_000), UNREADABLE],
  ] as const)('is refused where it is %s', async (_, bytes, reason) => {
    const result = await run(await bytes())
    expect(result).toMatchObject({ ok: false, fault: { code: 'engine/refused' } })
    if (!result.ok) expect(`${REFUSED}${result.fault.detail.reason}`).toBe(reason)
  })
})

describe('images for model-4', () => {
  let internet: WebWorld
  let world: ChatWorld
  beforeAll(async () => {
    const png = await bytesOf('png')
    internet = await WebWorld.open({
      'news.example': {
        safePages: (request, response) => {
          if (request.url === '/large.png') return void response.end(Buffer.alloc(IMAGE_BYTES_MAX + 1))
          if (request.url === '/none.png') return void response.writeHead(404).end()
          if (request.url === '/in.png') return void response.writeHead(302, { location: 'http://127.0.0.1/' }).end()
          response.writeHead(200, { 'content-type': 'text/plain' }).end(png)
        },
      },
      'safe.example': { safeSocket: () => {} },
    })
    const blind = { models: [{ id: 'blind', roles: ['general', 'fast'], supports: new Set<never>() }] } as const
    const seeing = { models: [{ id: 'seeing' }] }
    world = await ChatWorld.open({ backends: [blind, seeing], means: { web: internet.fetcher() } })
  })
  afterAll(async () => {
    await world.close()
    await internet.close()
  })
  beforeEach(() => resetEnsemble(world, { plain: 'A blue field.' }))
  afterEach(() => world.settled())

  const ask = (...parts: readonly object[]) => world.ask(askingBeast([WORDS, ...parts]))
  const seen = () => world.fakes[1]?.questions[0] as ChatQuestion
  const urlsIn = (question: ChatQuestion): readonly string[] => imagePartsOf(messagesIn(question)).map(({ url }) => url)

  it('go to one model that sees them, written anew', async () => {
    const sent = await picture()
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .png()
      .toBuffer()
    const outcome = await world.outcome(askingBeast([WORDS, image(dataUrl(sent))]))
    expect(textIn(outcome)).toBe('A blue field.')
    expect(world.hits).toEqual([0, 1])
    expect(asked(world)).toEqual({ plain: 1 })
    const content = messagesIn(seen())[0]?.content ?? []
    const [part, shown] = content as { image_url: { url: string; detail: string } }[]
    expect(part).toEqual(WORDS)
    expect(shown?.image_url.detail).toBe('low')
    const bytes = Uint8Array.fromBase64(shown?.image_url.url.replace('data:image/png;base64,', '') ?? '')
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 64 })
    expect((await sharp(bytes).metadata()).exif).toBeUndefined()
    expect(outcome.report).toMatchObject({
      tier: 'fast',
      ensemble: 'not used: one model that sees images answers',
      drafts: { asked: 1, answered: 1, sampled: false },
    })
    expect(stageIn(outcome, 'Web search').reason).toBe('the question is about images')
  })

  it('are small where they are asked for in low detail, and together no larger than is written at once', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    const create = { width: 1_800, height: 1_800, channels: 3, background: '#000', noise } as const
    const url = dataUrl(await sharp({ create }).jpeg({ quality: 80 }).toBuffer())
    const usual = { type: 'image_url', image_url: { url } }
    await world.outcome(askingBeast([WORDS, image(url), ...Array(7).fill(usual)]))
    const [low = '', ...others] = urlsIn(seen())
    const bytesIn = (one: string): Uint8Array => Uint8Array.fromBase64(one.slice(one.indexOf(',') + 1))
    expect((await sharp(bytesIn(low)).metadata()).width).toBe(512)
    expect((await sharp(bytesIn(others[0] ?? '')).metadata()).width).toBeGreaterThan(800)
    expect(others).toHaveLength(7)
    const sum = [low, ...others].reduce((bytes, one) => bytes + bytesIn(one).length, 0)
    expect(sum).toBeLessThanOrEqual(IMAGES_BYTES_MAX)
    resetEnsemble(world, { plain: '{}' })
    await world.ask({ ...askingBeast([WORDS, usual, usual]), form: { is: 'json' }, count: 4 })
    const sent = (world.fakes[1]?.questions ?? []).flatMap(urlsIn)
    expect(sent).toHaveLength(8)
    expect(sent.reduce((bytes, one) => bytes + bytesIn(one).length, 0)).toBeLessThanOrEqual(IMAGES_BYTES_MAX)
  }, 20_000)

  it('are read from the web by us, and of older turns too', async () => {
    const messages = [
      { role: 'user', content: [WORDS, image('https://news.example/a.png')] },
      { role: 'assistant', content: 'A blue field.' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'And here?' }, image(dataUrl(await bytesOf('gif'), 'image/gif'))],
      },
    ]
    const { outcome, text } = await world.read({ model: 'model-4', messages })
    expect(outcome.ok).toBe(true)
    expect(text).toBe('A blue field.')
    expect(urlsIn(seen()).map((url) => url.slice(0, 22))).toEqual(
      Array.from({ length: 2 }, () => 'data:image/png;base64,'),
    )
    // Only the first turn has an image, but the later question is about it too.
    const later = [...messages.slice(0, 2), { role: 'user', content: 'Write code for it' }]
    resetEnsemble(world, { plain: 'Code.' })
    expect(textIn(await world.outcome({ model: 'model-4', messages: later }))).toBe('Code.')
  })

  it('are not believed to be what they are called', async () => {
    expect(await ask(image(dataUrl(await bytesOf('webp'), 'text/html;charset=utf-8;x="y"')))).toMatchObject({
      ok: true,
    })
  })

  it.each<readonly [string, () => Promise<string>, unknown]>([
    ['SVG', async () => dataUrl(new TextEncoder().encode('<svg/>'), 'image/png'), NO_PICTURE],
    ['cut off', async () => dataUrl((await bytesOf('png')).subarray(0, 60)), UNREADABLE],
    ['a bomb', async () => dataUrl(hugePng(32_000, 32_000)), UNREADABLE],
    ['no Base64', async () => 'data:image/png;base64,%%%', 'its data is no Base64'],
    [
      'one byte too large',
      async () => dataUrl(new Uint8Array(IMAGE_BYTES_MAX + 1)),
      `it is larger than ${IMAGE_BYTES_MAX} bytes`,
    ],
    ['not encrypted', async () => 'http://news.example/a.png', 'it must be a data URL or an address with https://'],
    ['too large on the web', async () => 'https://news.example/large.png', expect.stringContaining('is longer than')],
    ['not there', async () => 'https://news.example/none.png', 'its address answers with status 404'],
    [
      'at a private address',
      async () => 'https://127.0.0.1/a.png',
      expect.stringContaining('the address cannot be read'),
    ],
    ['led to one', async () => 'https://news.example/in.png', expect.stringContaining('the address cannot be read')],
    ['nowhere', async () => 'https://nowhere.example/a.png', expect.stringContaining('cannot be reached')],
  ])('are refused where one is %s', async (_, url, reason) => {
    const answer = await ask(image(await url()))
    expect(answer).toMatchObject({
      ok: false,
      fault: { code: 'chat/invalid-request', detail: { param: 'messages[0].content[1].image_url.url', reason } },
    })
    expect(world.hits).toEqual([0, 0])
  })

  it('are eight at most', async () => {
    const url = dataUrl(await bytesOf('png'))
    const eight = Array.from({ length: 8 }, () => image(url))
    expect(await ask(...eight)).toMatchObject({ ok: true })
    expect(await ask(...eight, image(url))).toMatchObject({ ok: false, fault: { code: 'chat/invalid-request' } })
  })

  it('are for model-4 alone', async () => {
    for (const model of ['model-1', 'model-2', 'model-3'] as const) {
      const call = { ...askingBeast([WORDS, image(dataUrl(await bytesOf('png')))]), model }
      expect(await world.ask(call)).toMatchObject({
        ok: false,
        fault: { code: 'chat/unsupported', detail: { param: 'messages[0].content[1].image_url.url' } },
      })
    }
  })

  it('are no use where no model sees', async () => {
    const dark = await ChatWorld.open({ backends: [{ models: [{ roles: ['general'], supports: new Set() }] }] })
    const answer = await dark.ask(askingBeast([image(dataUrl(await bytesOf('png')))]))
    expect(answer).toMatchObject({
      ok: false,
      fault: { code: 'chat/no-backend', detail: { requires: ['models.file'] } },
    })
    expect(dark.hits).toEqual([0])
    await dark.close()
  })

  it('are given up when their caller leaves', async () => {
    const leaving = new AbortController()
    const before = internet.visits['safe.example'] as number
    const answer = world.ask(askingBeast([WORDS, image('https://safe.example/a.png')]), leaving.signal)
    await until('it is read', () => (internet.visits['safe.example'] as number) > before)
    leaving.abort()
    expect(await answer).toMatchObject({ ok: false, fault: { code: 'chat/aborted' } })
    expect(world.hits).toEqual([0, 0])
  })
})
