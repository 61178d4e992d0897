import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { WebPage, WebRequest } from '../../../marketplace/ports/web.ts'
import { PageCache } from '../../../src/adapters/page-cache.ts'
import { until } from '../../support/processes.ts'
import { type FetcherChanges, WebWorld, type WorldHost } from '../../support/web-world.ts'

const NEVER = new AbortController().signal
const ANY: WebRequest = { accept: '*/*', bytesMax: 2_097_152, tooLong: 'cut' }
const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`

/** A server that answers once with this text. */
function says(text: string): WorldHost {
  return { socket: (socket) => void socket.once('data', () => socket.end(text)) }
}

/** A server that sends a text, and then a block again and again, as fast as it is read. */
function floods(head: string, block: string): WorldHost {
  const more = (socket: Socket): void => {
    while (!socket.destroyed && socket.write(block));
  }
  const begin = (socket: Socket): void => {
    socket.write(head)
    socket.on('drain', () => more(socket))
    more(socket)
  }
  return { socket: (socket) => void socket.once('data', () => begin(socket)) }
}

/** A site with a robots.txt, and pages that all say the same. */
function site(robots: string): WorldHost {
  return { pages: (request, response) => void response.end(request.url === '/robots.txt' ? robots : 'page') }
}

/** Whether the site that is slow at first answers now. */
const slow = { isAwake: false }

/** Ends a read at the last moment: when the target of its redirect is asked. */
const hurried = { end: (): void => {} }

/** The site that a redirect names as the newest, and the validators that the redirecting site received. */
const newest = { host: 'first.example' }
const leaked: string[] = []

/** A site whose etags count from "1": equal etags of two sites do not mean equal pages. */
function numbered(name: string): NonNullable<WorldHost['pages']> {
  return (request, response) => {
    response.setHeader('etag', '"1"')
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
    else response.end(name)
  }
}

const world = await WebWorld.open({
  'plain.example': site('User-agent: *\nDisallow: /secret\n'),
  'not-modified.example': says('HTTP/1.1 304 Not Modified\r\ncontent-encoding: gzip\r\n\r\n'),
  'no-content.example': says('HTTP/1.1 204 No Content\r\ncontent-encoding: br\r\n\r\n'),
  ...Object.fromEntries(
    ['gzip', 'deflate', 'br', 'zstd'].map((coding) => [
      `empty-${coding}.example`,
      says(`${OK}content-encoding: ${coding}\r\ncontent-length: 0\r\n\r\n`),
    ]),
  ),
  'revalidated.example': {
    pages: (request, response) => {
      response.setHeader('content-encoding', 'gzip').setHeader('etag', '"1"')
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
      else response.end(gzipSync('hello'))
    },
  },
  'newest.example': {
    pages: (request, response) => {
      if (request.headers['if-none-match'] !== undefined) leaked.push(request.headers['if-none-match'])
      response.writeHead(302, { location: `http://${newest.host}/` }).end()
    },
  },
  ...Object.fromEntries(['first.example', 'second.example'].map((name) => [name, { pages: numbered(name) }])),
  'no-cache.example': {
    pages: (_request, response) => void response.setHeader('cache-control', 'no-cache').end('now'),
  },
  'status-999.example': says('HTTP/1.1 999 Denied\r\ncontent-length: 2\r\n\r\nno'),
  'status-600.example': says('HTTP/1.1 600 Odd\r\ncontent-length: 2\r\n\r\nno'),
  'status-099.example': says('HTTP/1.1 099 Odd\r\ncontent-length: 2\r\n\r\nno'),
  'switching.example': says(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nhello',
  ),
  'odd-names.example': says(
    `${OK}constructor: a\r\nconstructor: b\r\n__proto__: x\r\n__proto__: y\r\ncontent-length: 5\r\n\r\nhello`,
  ),
  'refresh.example': says(`${OK}refresh: 0;url=http://127.0.0.1/\r\ncontent-length: 5\r\n\r\nhello`),
  'long-trailers.example': floods(`${CHUNKED}1\r\na\r\n0\r\n`, 'x: y\r\n'.repeat(1_000)),
  'pieces.example': floods(CHUNKED, '1\r\na\r\n'.repeat(10_000)),
  'hints.example': floods('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000)),
  'extension.example': floods(`${CHUNKED}1;`, 'a'.repeat(65_536)),
  'agents.example': site(`${'User-agent: *\n'.repeat(10_000)}${'Disallow: /a\n'.repeat(20_000)}`),
  'stars.example': site(`User-agent: *\n${'Disallow: /*zb\n'.repeat(30_000)}`),
  'wakes.example': {
    pages: (_request, response) => void (slow.isAwake && response.end('page')),
  },
  'late.example': {
    pages: (request, response) => {
      if (request.url === '/robots.txt') response.end()
      else response.writeHead(302, { location: 'http://victim.example/' }).end()
    },
  },
  'victim.example': {
    pages: (_request, response) => {
      if (slow.isAwake) response.writeHead(404).end('page')
      else hurried.end()
    },
  },
  'busy.example': {
    pages: (request, response) => void (request.url !== '/held' && response.end('')),
  },
})
afterAll(() => world.close())

function read(host: string, request: Partial<WebRequest> = {}, changes: FetcherChanges = {}): Promise<Result<WebPage>> {
  return world.fetcher({ totalMs: 8_000, ...changes }).read(new URL(`http://${host}/`), { ...ANY, ...request }, NEVER)
}

async function toldOf(reading: Promise<Result<WebPage>>): Promise<string> {
  const page = await reading
  if (page.ok) return `${page.value.status} ${Buffer.from(page.value.body).toString()}`.trim()
  return `${page.fault.code} ${String(page.fault.detail.reason ?? '')}`.trim()
}

describe('unusual answers', () => {
  test.each([
    ['not-modified.example', '304'],
    ['no-content.example', '204'],
    ['empty-gzip.example', '200'],
    ['empty-deflate.example', '200'],
    ['empty-br.example', '200'],
    ['empty-zstd.example', '200'],
    ['odd-names.example', '200 hello'],
    ['refresh.example', '200 hello'],
    ['status-999.example', 'web/answer its status is not an HTTP status'],
    ['status-600.example', 'web/answer its status is not an HTTP status'],
    ['status-099.example', 'web/answer its status is not an HTTP status'],
    ['switching.example', 'web/answer it broke off'],
  ])('%s: %s', async (host, told) => expect(await toldOf(read(host))).toBe(told))

  /** A page read through a cache with a manual clock. */
  function cached(host: string) {
    const clock = { nowMs: 1_000_000, now: () => clock.nowMs }
    const cache = new PageCache(world.fetcher({ clock }), clock)
    return { clock, ask: () => cache.read(new URL(`http://${host}/`), { ...ANY, freshMs: 1_000 }, NEVER) }
  }

  test('a site that says that a copy is still valid is believed, in any encoding', async () => {
    const { clock, ask } = cached('revalidated.example')
    expect(await toldOf(ask())).toBe('200 hello')
    clock.nowMs += 5_000
    expect(await toldOf(ask())).toBe('200 hello')
  })

  test('a copy of the old target of a redirect is not used for the new target', async () => {
    const { clock, ask } = cached('newest.example')
    expect(await toldOf(ask())).toBe('200 first.example')
    clock.nowMs += 5_000
    const same = await ask()
    expect(same).toMatchObject({ value: { status: 200, finalUrl: 'http://first.example/', fetchedAtMs: clock.nowMs } })
    expect(await toldOf(Promise.resolve(same))).toBe('200 first.example')
    newest.host = 'second.example'
    clock.nowMs += 5_000
    expect(await toldOf(ask())).toBe('200 second.example')
    expect(leaked).toEqual([])
  })

  test('a page that must be revalidated each time is not kept', async () => {
    const page = await read('no-cache.example')
    expect(page.ok && page.value.storable).toBe(false)
  })
})

describe('floods', () => {
  test.each([
    ['pieces.example', 'web/answer it comes in too many pieces'],
    ['hints.example', 'web/answer it sends far more than its page'],
    ['extension.example', 'web/answer it sends far more than its page'],
    ['long-trailers.example', 'web/answer its headers are longer than 16384 bytes'],
  ])('%s: %s', async (host, told) => {
    expect(await toldOf(read(host))).toBe(told)
    await until('its connection is closed', () => world.openCount === 0 || undefined)
  })
})

describe('hostile robots.txt', () => {
  test('many groups for the same agent count as one', async () => {
    expect(await toldOf(read('agents.example', { robots: true }))).toBe('200 page')
  })

  test('with too many patterns nothing is read', async () => {
    expect(await toldOf(read('stars.example', { robots: true }))).toBe(
      'web/refused the robots.txt of the site asks not to read it',
    )
  })

  test('only its rules are remembered, not the file', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `n${index}.example`)
    const file = `User-agent: *\nDisallow: /a-rule-that-is-long-enough\n#${'x'.repeat(500_000)}`
    const many = await WebWorld.open(Object.fromEntries(names.map((name) => [name, site(file)])))
    const fetcher = many.fetcher()
    const before = heapBytes()
    for (const name of names)
      expect(await toldOf(fetcher.read(new URL(`http://${name}/`), { ...ANY, robots: true }, NEVER))).toBe('200 page')
    const grown = heapBytes() - before
    // The fetcher is used once more, so that its memory is not freed before the measurement.
    expect(await toldOf(fetcher.read(new URL('http://n0.example/'), { ...ANY, robots: true }, NEVER))).toBe('200 page')
    expect(grown).toBeLessThan(10_000_000)
    await many.close()
  })
})

describe('what one caller does to others', () => {
  test('a read that timed out does not count against the site', async () => {
    const fetcher = world.fetcher()
    const ask = (time: AbortSignal) =>
      toldOf(fetcher.read(new URL('http://wakes.example/'), { ...ANY, robots: true }, time))
    slow.isAwake = false
    expect(await ask(AbortSignal.timeout(300))).toBe('web/timeout')
    slow.isAwake = true
    expect(await ask(NEVER)).toBe('200 page')
  })

  test('a redirect at the last moment does not keep others from its target site', async () => {
    const fetcher = world.fetcher()
    const ask = (host: string, time: AbortSignal) =>
      toldOf(fetcher.read(new URL(`http://${host}/`), { ...ANY, robots: true }, time))
    const time = new AbortController()
    hurried.end = () => time.abort()
    slow.isAwake = false
    expect(await ask('late.example', time.signal)).toBe('web/timeout')
    slow.isAwake = true
    expect(await ask('victim.example', NEVER)).toBe('404 page')
  })

  test('connections that others hold do not count against the site', async () => {
    const fetcher = world.fetcher({ limits: { perAddressMax: 1 } })
    const call = new AbortController()
    const held = fetcher.read(new URL('http://busy.example/held'), ANY, call.signal)
    await until('the connection is held', () => world.openCount > 0 || undefined)
    const ask = () => toldOf(fetcher.read(new URL('http://busy.example/'), { ...ANY, robots: true }, NEVER))
    expect(await ask()).toBe('web/busy its address has many connections')
    call.abort()
    await held
    expect(await ask()).toBe('200')
  })
})

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}
