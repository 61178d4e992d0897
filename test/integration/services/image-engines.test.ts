import { createHash } from 'node:crypto'
import sharp, { type Metadata, type Sharp } from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { PICTURE_BYTES_MAX, type SquarePng } from '../../../marketplace/ports/image-tasks.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'

const engines = new EnginePool(1)
afterAll(() => engines.close())

const wide = (): Sharp => sharp({ create: { width: 1_600, height: 900, channels: 3, background: '#206090' } })

function square(bytes: Uint8Array): Promise<Result<SquarePng>> {
  return engines.run('image/square-png', { bytes }, AbortSignal.timeout(20_000))
}

function paint(seed: string): Promise<Result<SquarePng>> {
  return engines.run('image/procedural', { seed }, AbortSignal.timeout(20_000))
}

async function pngOf(result: Result<SquarePng>): Promise<SquarePng & { readonly meta: Metadata }> {
  if (!result.ok) throw new Error(JSON.stringify(result.fault))
  const { bytes, sha256 } = result.value
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
  expect(bytes.length).toBeLessThanOrEqual(PICTURE_BYTES_MAX)
  const meta = await sharp(bytes).metadata()
  expect(meta).toMatchObject({ format: 'png', width: 1_024, height: 1_024 })
  return { bytes, sha256, meta }
}

function faultOf(result: Result<unknown>): Fault {
  if (result.ok) throw new Error('it was taken')
  return result.fault
}

const UNREADABLE = 'the bytes are no picture that can be read, or too large a one'

describe('pictures of models', () => {
  it.each(['png', 'jpeg', 'webp', 'gif'] as const)('become square PNGs: %s', async (format) => {
    await pngOf(await square(await wide().toFormat(format).toBuffer()))
  })

  it('have no metadata about their origin', async () => {
    const exif = { IFD0: { Copyright: 'somebody', ImageDescription: 'the prompt' } }
    const told = await wide().withExif(exif).withIccProfile('p3').jpeg().toBuffer()
    expect((await sharp(told).metadata()).exif).toBeDefined()
    const { meta } = await pngOf(await square(told))
    expect(meta.exif ?? meta.icc ?? meta.xmp ?? meta.comments).toBeUndefined()
  })

  it('stay within their size even if they are noise', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    const create = { width: 1_024, height: 1_024, channels: 3, background: '#000', noise } as const
    await pngOf(await square(await sharp({ create }).png().toBuffer()))
  })

  it.each([
    ['nothing', new Uint8Array(), UNREADABLE],
    ['text', new TextEncoder().encode('<html>no picture</html>'), UNREADABLE],
    ['the beginning of one', new Uint8Array(), UNREADABLE],
    [
      'vector graphics',
      new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9"/></svg>'),
      'pictures of the format svg are not taken',
    ],
  ])('are refused where they are none: %s', async (what, given, reason) => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    const create = { width: 512, height: 512, channels: 3, background: '#000', noise } as const
    const whole = await sharp({ create }).png().toBuffer()
    const bytes = what === 'the beginning of one' ? whole.subarray(0, whole.length / 2) : given
    expect(faultOf(await square(bytes))).toEqual({ code: 'engine/refused', detail: { reason } })
  })

  it('are refused if a small file is an enormous picture', async () => {
    const create = { width: 16_000, height: 16_000, channels: 3, background: '#000' } as const
    const bomb = await sharp({ create, limitInputPixels: false }).png({ compressionLevel: 9 }).toBuffer()
    expect(bomb.length).toBeLessThan(2_000_000)
    expect(faultOf(await square(bomb))).toEqual({ code: 'engine/refused', detail: { reason: UNREADABLE } })
  })

  it('can be given up in the middle, and the next one is made', async () => {
    const bytes = await wide().resize(4_000, 4_000).png().toBuffer()
    const hurried = await Promise.all(
      Array.from({ length: 3 }, (_, i) => engines.run('image/square-png', { bytes }, AbortSignal.timeout(20 + i * 30))),
    )
    expect(hurried.every((one) => one.ok || one.fault.code === 'engine/killed')).toBe(true)
    await pngOf(await square(await wide().png().toBuffer()))
  })
})

describe('pictures made by arithmetic', () => {
  it('are the same for the same words, and different for other words', async () => {
    const [one, again, other] = [await paint('a lighthouse'), await paint('a lighthouse'), await paint('a lighthousE')]
    expect((await pngOf(one)).sha256).toBe((await pngOf(again)).sha256)
    expect((await pngOf(one)).sha256).not.toBe((await pngOf(other)).sha256)
  })

  it('show more than one colour, whatever the words', async () => {
    for (const seed of ['abc', '</svg><text>x</text>', '👋🏽'.repeat(200)]) {
      const { bytes } = await pngOf(await paint(seed))
      const { channels } = await sharp(bytes).stats()
      expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(5)
    }
  })
})
