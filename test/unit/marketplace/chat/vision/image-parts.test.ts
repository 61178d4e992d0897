import { describe, expect, it } from 'vitest'
import {
  base64Of,
  checkImages,
  hasImages,
  IMAGE_BYTES_MAX,
  imagePartsOf,
  someoneSees,
} from '../../../../../marketplace/chat/vision/image-parts.ts'
import { HOUSE } from '../../../../support/chat-world.ts'

const image = (url: unknown) => ({ type: 'image_url', image_url: { url } })
const asked = (...parts: readonly object[]) => [{ role: 'user', content: parts }]
const reasonOf = (url: unknown) => checkImages(asked(image(url)))?.detail.reason ?? null

describe('images of a conversation', () => {
  it('are found in all turns, each by its place', () => {
    const messages = [
      ...asked({ type: 'text', text: 'one' }, image('https://a.example/')),
      { role: 'assistant', content: 'I see' },
      ...asked(image('data:,'), null as unknown as object),
    ]
    expect(imagePartsOf(messages).map(({ param, url }) => [param, url])).toEqual([
      ['messages[0].content[1].image_url.url', 'https://a.example/'],
      ['messages[2].content[0].image_url.url', 'data:,'],
    ])
    expect(hasImages(messages)).toBe(true)
    expect(hasImages([{ role: 'user', content: 'image_url' }])).toBe(false)
  })

  it.each([
    'data:image/png;base64,AAAA',
    'data:;base64,AAAA',
    'DATA:image/PNG;charset=utf-8;name=x.svg;BASE64,AAAA',
    'https://pictures.example/a.png',
    'HTTPS://pictures.example/a.png',
  ])('may be %s', (url) => {
    expect(reasonOf(url)).toBeNull()
  })

  it.each([
    ['http://127.0.0.1/a.png', 'it must be a data URL or an address with https://'],
    ['file:///etc/passwd', 'it must be a data URL or an address with https://'],
    ['', 'it must be a data URL or an address with https://'],
    [7, 'it must be a data URL or an address with https://'],
    ['data:image/png,%89PNG', 'a data URL must hold its image in Base64 (data:image/png;base64,...)'],
    ['data:image/png;base64', 'a data URL must hold its image in Base64 (data:image/png;base64,...)'],
    [`data:${'x'.repeat(300)};base64,AAAA`, 'a data URL must hold its image in Base64 (data:image/png;base64,...)'],
    [`https://a.example/${'x'.repeat(5_000)}`, 'its address has more than 4096 characters'],
    [`data:image/png;base64,${'A'.repeat(IMAGE_BYTES_MAX * 1.4)}`, `it is larger than ${IMAGE_BYTES_MAX} bytes`],
  ])('may not be %.40s', (url, reason) => {
    expect(reasonOf(url)).toBe(reason)
  })

  it('are eight at most, and the ninth is named', () => {
    const parts = Array.from({ length: 9 }, (_, i) => image(`https://${i}.example/`))
    expect(checkImages(asked(...parts.slice(1)))).toBeNull()
    expect(checkImages(asked(...parts))).toMatchObject({
      code: 'chat/invalid-request',
      detail: { param: 'messages[0].content[8].image_url.url' },
    })
  })

  it('are read without what a data URL says of them', () => {
    expect(base64Of('data:text/html;base64,AAAA')).toBe('AAAA')
  })

  it('are for models that support vision', () => {
    const facts = (vision: boolean) =>
      [{ models: [{ ...HOUSE, supports: new Set(vision ? ['vision'] : []) }] }] as never
    expect(someoneSees({ facts: facts(true) })).toBe(true)
    expect(someoneSees({ facts: facts(false) })).toBe(false)
  })
})
