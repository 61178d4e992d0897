import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import type { WebRequest } from '../../marketplace/outside/web.ts'
import { WebWorld } from '../support/web-world.ts'

const NEVER = new AbortController().signal
const ANY: WebRequest = { accept: '*/*', bytesMax: 100_000, tooLong: 'fail' }

const world = await WebWorld.open({
  'news.example': {
    pages: (request, response) => {
      response.setHeader('content-type', 'text/html; charset="UTF-8"').setHeader('etag', '"1"')
      response.end(`you said ${JSON.stringify(request.headers)}`)
    },
    safePages: (_request, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync('<html>hello over TLS</html>')),
  },
})
afterAll(() => world.close())

test('a page comes as it was sent', async () => {
  const fetcher = world.fetcher()
  const url = fetcher.check('http://news.example/a?b=c#d')
  if (!url.ok) throw new Error('refused')
  const page = await fetcher.read(url.value, ANY, NEVER)
  expect(page).toMatchObject({
    ok: true,
    value: { status: 200, mediaType: 'text/html', charset: 'utf-8', etag: '"1"', truncated: false },
  })
})

test('also over TLS, and decompressed', async () => {
  const page = await world.fetcher().read(new URL('https://news.example/'), ANY, NEVER)
  expect(page.ok && Buffer.from(page.value.body).toString()).toBe('<html>hello over TLS</html>')
})
