import type { RequestListener } from 'node:http'
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { WebPage, WebRequest } from '../../../marketplace/ports/web.ts'
import type { NameQuestions } from '../../../src/adapters/name-system.ts'
import { until } from '../../support/processes.ts'
import { type FetcherChanges, refusalRead, textRead, WebWorld } from '../../support/web-world.ts'

const NEVER = new AbortController().signal
const ANY: WebRequest = { accept: '*/*', bytesMax: 100_000, tooLong: 'fail' }
const MIB = 1_048_576

/** Requests that the pages of this world received, in order. */
const seen: { readonly url: string; readonly headers: Readonly<Record<string, unknown>> }[] = []

const PAGES: Readonly<Record<string, RequestListener>> = {
  '/page': (_request, response) => {
    response.setHeader('content-type', 'text/HTML; charset="UTF-8"').setHeader('etag', '"1"')
    response.setHeader('last-modified', 'Sun, 01 Nov 2026 00:00:00 GMT').end('hello')
  },
  '/missing': (_request, response) => response.writeHead(404).end('no such page'),
  '/private': (_request, response) => response.setHeader('cache-control', 'max-age=1, no-store').end('mine'),
  '/said': (request, response) => {
    const headers = new URL(request.url ?? '', 'http://news.example').searchParams
    for (const [name, value] of headers) response.setHeader(name, value)
    response.end('mine')
  },
  '/head': (_request, response) => response.end(`<TITLE>a</title></HeAd>${'x'.repeat(MIB)}`),
  '/long': (_request, response) => response.end('x'.repeat(200_000)),
  '/gzip': coded('gzip', gzipSync('hello')),
  '/x-gzip': coded('x-gzip', gzipSync('hello')),
  '/deflate': coded('deflate', deflateSync('hello')),
  '/raw-deflate': coded('deflate', deflateRawSync('hello')),
  '/br': coded('BR', brotliCompressSync('hello')),
  '/zstd': coded('zstd', zstdCompressSync('hello')),
  '/identity': coded('identity', Buffer.from('hello')),
  '/stacked': coded('gzip, gzip', gzipSync(gzipSync('hello'))),
  '/unknown-coding': coded('compress', Buffer.from('hello')),
  '/not-gzip': coded('gzip', Buffer.from('hello')),
  '/cut-gzip': coded('gzip', gzipSync('hello'.repeat(99)).subarray(0, 20)),
  '/bomb': (_request, response) => {
    response.setHeader('content-encoding', 'gzip')
    const gzip = createGzip()
    gzip.on('error', () => {})
    gzip.pipe(response)
    const block = Buffer.alloc(MIB)
    let left = 200
    const more = (error?: Error | null): void => {
      if (error != null) return
      if (left-- > 0) gzip.write(block, more)
      else gzip.end()
    }
    response.once('close', () => gzip.destroy())
    more()
  },
  '/empty-members': (_request, response) => {
    response.setHeader('content-encoding', 'gzip')
    const members = Buffer.concat(new Array(2_000).fill(gzipSync('')))
    const more = (error?: Error | null): void => {
      if (error == null) response.write(members, more)
    }
    more()
  },
  '/to-page': redirect('/page'),
  '/to-loopback': redirect('http://127.0.0.1/'),
  '/to-mapped': redirect('http://[::ffff:7f00:1]/'),
  '/to-metadata': redirect('//169.254.169.254/latest/meta-data'),
  '/to-inner-name': redirect('http://inner.example/'),
  '/to-port': redirect('http://news.example:8080/'),
  '/to-credentials': redirect('http://a:b@news.example/page'),
  '/to-file': redirect('file:///etc/passwd'),
  '/to-nothing': redirect('http://'),
  '/to-long-host': redirect(`http://${'a'.repeat(3_000)}.example/`),
  '/to-long-path': redirect(`/${'a'.repeat(3_000)}`),
  '/circle': redirect('/circle-2'),
  '/circle-2': redirect('/circle'),
  '/no-location': (_request, response) => response.writeHead(302).end('nowhere'),
}

function coded(coding: string, body: Uint8Array): RequestListener {
  return (_request, response) => response.setHeader('content-encoding', coding).end(body)
}

function redirect(location: string): RequestListener {
  return (_request, response) => response.writeHead(302, { location, 'set-cookie': 'a=b' }).end('x'.repeat(100_000))
}

const pages: RequestListener = (request, response) => {
  const path = request.url ?? ''
  seen.push({ url: path, headers: request.headers })
  const steps = /^\/steps\/(\d+)$/.exec(path)?.[1]
  if (steps !== undefined) redirect(steps === '0' ? '/page' : `/steps/${Number(steps) - 1}`)(request, response)
  else (PAGES[path.split('?')[0] as string] ?? (PAGES['/missing'] as RequestListener))(request, response)
}

const world = await WebWorld.open({
  'news.example': { pages, safePages: pages },
  'safe.example': { safePages: redirect('http://news.example/page') },
  'two.example': { pages, addresses: ['93.184.210.1', '2606:4700::7'] },
  'inner.example': { pages, addresses: ['10.0.0.1'] },
  'mixed.example': { pages, addresses: ['93.184.210.2', '127.0.0.1'] },
  'mixed6.example': { pages, addresses: ['93.184.210.3', '::ffff:10.1.2.3'] },
  'denied.example': { pages, addresses: ['93.184.220.7'] },
  'robots.example': {
    pages: (request, response) => {
      if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /secret\n')
      else pages(request, response)
    },
  },
  'broken-robots.example': {
    pages: (request, response) => {
      if (request.url === '/robots.txt') response.writeHead(503).end()
      else pages(request, response)
    },
  },
})
afterAll(() => world.close())

function read(text: string, request: Partial<WebRequest> = {}, changes: FetcherChanges = {}): Promise<Result<WebPage>> {
  return world.fetcher({ totalMs: 8_000, ...changes }).read(new URL(text), { ...ANY, ...request }, NEVER)
}

describe('a page', () => {
  test('comes as it was sent', async () => {
    const page = await read('http://news.example/page?a=b')
    const facts = {
      status: 200,
      mediaType: 'text/html',
      charset: 'utf-8',
      etag: '"1"',
      truncated: false,
      storable: true,
    }
    expect(page).toMatchObject({
      ok: true,
      value: { ...facts, finalUrl: 'http://news.example/page?a=b', redirects: [] },
    })
    expect(await textRead(read('http://news.example/page'))).toBe('hello')
  })

  test('comes over TLS', async () => expect(await textRead(read('https://news.example/page'))).toBe('hello'))

  test('that does not exist is an answer', async () => {
    expect(await read('http://news.example/missing')).toMatchObject({ ok: true, value: { status: 404 } })
  })

  test('of a bare public address is read', async () => {
    const address = world.plan.names['news.example']?.[0]
    expect(await textRead(read(`http://${address}/page`))).toBe('hello')
  })

  test('comes with a flag whether it may be kept', async () => {
    expect(await read('http://news.example/private')).toMatchObject({ ok: true, value: { storable: false } })
  })

  const DAY = 'Sun, 01 Nov 2026 00:00:00 GMT'
  test.each([
    ['', true, undefined],
    ['cache-control=max-age=60', true, 60_000],
    ['cache-control=public, s-maxage=30, max-age=60', true, 30_000],
    ['cache-control=max-age=60&age=50', true, 10_000],
    ['cache-control=max-age=60&age=90', false, 0],
    ['cache-control=max-age=0', false, 0],
    ['cache-control=s-maxage=0', false, 0],
    ['cache-control=no-cache="set-cookie"', false, undefined],
    ['pragma=no-cache', false, undefined],
    ['pragma=no-cache&cache-control=max-age=9', true, 9_000],
    ['expires=0', false, 0],
    [`date=${DAY}&expires=Sun, 01 Nov 2026 00:01:00 GMT`, true, 60_000],
    [`date=${DAY}&expires=Thu, 19 Nov 1981 08:52:00 GMT`, false, 0],
    ['vary=*', false, undefined],
  ])('says for how long: %s', async (headers, storable, maxAgeMs) => {
    const page = await read(`http://news.example/said?${headers}`)
    expect(page.ok && [page.value.storable, page.value.maxAgeMs]).toEqual([storable, maxAgeMs])
  })

  test('is requested with product and contact, and nothing of the caller', async () => {
    await read('http://news.example/page?asked', { accept: 'text/html', etag: '"1"', lastModified: 'bad\r\nx: y' })
    const { headers } = seen.find(({ url }) => url === '/page?asked') ?? { headers: {} }
    expect(headers).toEqual({
      host: 'news.example',
      connection: 'close',
      accept: 'text/html',
      'accept-encoding': 'gzip, deflate, br, zstd',
      'if-none-match': '"1"',
      'user-agent': 'Farthing/0 (+https://operator.example)',
    })
  })

  test('leaves no connection behind', async () => {
    await read('http://news.example/page')
    await until('all connections are closed', () => world.openCount === 0 || undefined)
  })
})

describe('bounds of a body', () => {
  test('a longer body fails, or is cut if the caller allows that', async () => {
    expect(await textRead(read('http://news.example/long'))).toBe('web/too-large')
    const page = await read('http://news.example/long', { tooLong: 'cut' })
    expect(page.ok && [page.value.body.length, page.value.truncated]).toEqual([100_000, true])
  })

  test('reading can end early at a text, in any letter case', async () => {
    const page = await read('http://news.example/head', { until: '</head>' })
    expect(page.ok && Buffer.from(page.value.body).toString()).toBe('<TITLE>a</title></HeAd>')
    expect(page.ok && page.value.truncated).toBe(false)
  })

  test.each(['/gzip', '/x-gzip', '/deflate', '/raw-deflate', '/br', '/zstd', '/identity'])(
    '%s is decoded',
    async (path) => expect(await textRead(read(`http://news.example${path}`))).toBe('hello'),
  )

  test.each([
    ['/stacked', 'web/answer its content encoding is not supported'],
    ['/unknown-coding', 'web/answer its content encoding is not supported'],
    ['/not-gzip', 'web/answer its content encoding is broken'],
    ['/cut-gzip', 'web/answer its content encoding is broken'],
  ])('%s is no answer', async (path, refusal) =>
    expect(await refusalRead(read(`http://news.example${path}`))).toBe(refusal),
  )

  test('200 MB in a small gzip stop at the bound', async () => {
    expect(await textRead(read('http://news.example/bomb', { bytesMax: 2 * MIB }))).toBe('web/too-large')
    const page = await read('http://news.example/bomb', { bytesMax: 2 * MIB, tooLong: 'cut' })
    expect(page.ok && page.value.body.length).toBe(2 * MIB)
  })

  test('compressed bytes that decompress to nothing end, too', async () => {
    expect(await textRead(read('http://news.example/empty-members', { bytesMax: 1_000 }))).toBe('web/answer')
  })
})

describe('redirects', () => {
  test('are followed up to five times, and reported', async () => {
    const page = await read('http://news.example/steps/4')
    expect(page.ok && page.value.redirects.map(({ status, url }) => `${status} ${new URL(url).pathname}`)).toEqual([
      '302 /steps/3',
      '302 /steps/2',
      '302 /steps/1',
      '302 /steps/0',
      '302 /page',
    ])
    expect(page).toMatchObject({ value: { url: 'http://news.example/steps/4', finalUrl: 'http://news.example/page' } })
  })

  test('pass no headers on', async () => {
    seen.length = 0
    await read('http://news.example/to-page')
    expect(seen.map(({ headers }) => headers.cookie ?? headers.referer ?? 'nothing')).toEqual(['nothing', 'nothing'])
  })

  test.each([
    ['/steps/5', 'web/answer it redirects more than 5 times'],
    ['/circle', 'web/answer its redirects go in a circle'],
    ['/to-loopback', 'web/refused its address is not a public one'],
    ['/to-mapped', 'web/refused its address is not a public one'],
    ['/to-metadata', 'web/refused its address is not a public one'],
    ['/to-inner-name', 'web/refused its address is not a public one'],
    ['/to-port', 'web/refused port 8080 is not read'],
    ['/to-credentials', 'web/refused it has credentials'],
    ['/to-file', 'web/refused it is not an absolute http or https URL'],
    ['/to-nothing', 'web/answer it redirects to an invalid URL'],
    ['/to-long-host', 'web/answer it redirects to an invalid URL'],
    ['/to-long-path', 'web/answer it redirects to an invalid URL'],
    ['/no-location', 'read 302'],
  ])('%s: %s', async (path, refusal) => expect(await refusalRead(read(`http://news.example${path}`))).toBe(refusal))

  test('never go from https to http', async () => {
    expect(await refusalRead(read('https://safe.example/'))).toBe('web/refused it redirects from https to http')
  })
})

describe('addresses', () => {
  test('of both versions lead to the same host', async () =>
    expect(await textRead(read('http://two.example/page'))).toBe('hello'))

  test.each([
    ['inner.example', 'its address is not a public one'],
    ['mixed.example', 'its address is not a public one'],
    ['mixed6.example', 'its address is not a public one'],
  ])('%s is not connected to', async (host, reason) => {
    expect(await refusalRead(read(`http://${host}/page`))).toBe(`web/refused ${reason}`)
    expect(world.visits[host]).toBe(0)
  })

  test('of networks that the operator denies are not connected to', async () => {
    const changes = { deny: ['93.184.220.0/24', '2001:db8::/32'] }
    expect(await refusalRead(read('http://denied.example/page', {}, changes))).toBe(
      'web/refused its network is never read',
    )
    expect(await refusalRead(read('http://93.184.220.9/', {}, changes))).toBe('web/refused its network is never read')
  })

  test('of this node are not connected to, by any name', async () => {
    const [address = ''] = world.plan.names['news.example'] ?? []
    const own = { ownAddresses: async () => [address] }
    expect(await refusalRead(read('http://news.example/page', {}, own))).toBe(
      'web/refused its address is that of this node',
    )
    const named = { ownHosts: ['news.example'] }
    expect(await refusalRead(read('http://news.example/page', {}, named))).toBe('web/refused its host is this node')
    expect(await refusalRead(read('http://NEWS.example./page', {}, named))).toBe('web/refused its host is this node')
  })

  test('are looked up once, and the checked address is the one connected to', async () => {
    const answers = [['93.184.216.1'], ['127.0.0.1']]
    let asked = 0
    const questions: NameQuestions = {
      resolve4: async () => answers[Math.min(asked++, 1)] as string[],
      resolve6: async () => [],
      resolveMx: async () => [],
      resolveNs: async () => [],
      cancel: () => {},
    }
    const fetcher = world.fetcher({ ask: () => questions })
    expect(await textRead(fetcher.read(new URL('http://rebinding.example/page'), ANY, NEVER))).toBe('hello')
    expect(asked).toBe(1)
    expect(await refusalRead(fetcher.read(new URL('http://rebinding.example/page'), ANY, NEVER))).toBe(
      'web/refused its address is not a public one',
    )
  })

  test('that do not exist are reported', async () => {
    expect(await refusalRead(read('http://nobody.example/'))).toBe('web/unreachable there is no such name')
  })
})

describe('robots.txt', () => {
  test('is obeyed if the caller asks for that, and read once', async () => {
    const fetcher = world.fetcher()
    const before = world.visits['robots.example'] ?? 0
    const readAt = (path: string, robots: boolean) =>
      refusalRead(fetcher.read(new URL(`http://robots.example${path}`), { ...ANY, robots }, NEVER))
    expect(await readAt('/secret', true)).toBe('web/refused the robots.txt of the site asks not to read it')
    expect(await readAt('/page', true)).toBe('read 200')
    expect(await readAt('/secret', false)).toBe('read 404')
    expect((world.visits['robots.example'] ?? 0) - before).toBe(3)
  })

  test.each([
    ['http://nobody.example/', 'web/unreachable there is no such name'],
    ['http://inner.example/page', 'web/refused its address is not a public one'],
  ])('is not blamed where %s cannot be asked', async (url, told) => {
    const fetcher = world.fetcher()
    for (let times = 0; times < 2; times++)
      expect(await refusalRead(fetcher.read(new URL(url), { ...ANY, robots: true }, NEVER))).toBe(told)
  })

  test('that does not exist forbids nothing; a site whose robots.txt fails is not read', async () => {
    expect(await refusalRead(read('http://news.example/page', { robots: true }))).toBe('read 200')
    expect(await refusalRead(read('http://broken-robots.example/page', { robots: true }))).toBe(
      'web/refused the robots.txt of the site cannot be read now',
    )
    expect(await refusalRead(read('http://broken-robots.example/page', { robots: true }, { robots: false }))).toBe(
      'read 200',
    )
  })
})
