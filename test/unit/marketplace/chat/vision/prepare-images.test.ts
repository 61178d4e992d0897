import { expect, it } from 'vitest'
import { prepareImages } from '../../../../../marketplace/chat/vision/prepare-images.ts'
import { FreePlaces } from '../../../../../marketplace/ports/free-places.ts'

it('holds no more images of one caller at once than that caller has places for, wherever they come from', async () => {
  let [inside, most] = [0, 0]
  const held = async <T>(value: T): Promise<T> => {
    inside += 1
    most = Math.max(most, inside)
    await new Promise((resolve) => setTimeout(resolve, 5))
    inside -= 1
    return value
  }
  const web = {
    check: (url: string) => ({ ok: true, value: new URL(url) }),
    read: () => Promise.resolve({ ok: true, value: { status: 200, body: new Uint8Array(9) } }),
  }
  const engines = {
    run: () => held({ ok: true, value: { bytes: new Uint8Array(3), mediaType: 'image/png' } }),
  }
  const pictures = new FreePlaces({ atOnce: 4, perWho: 2, perWhat: 2 })
  const means = { web, engines, pictures, who: 'caller', count: 1 } as never
  const urls = Array.from({ length: 8 }, (_, i) =>
    i % 2 === 0 ? `data:image/png;base64,AAA${i}` : `https://pictures${i}.example/`,
  )
  const content = urls.map((url) => ({ type: 'image_url', image_url: { url } }))
  const prepared = await prepareImages([{ role: 'user', content }], means, AbortSignal.timeout(5_000))
  expect([prepared.ok, most]).toEqual([true, 2])
})
