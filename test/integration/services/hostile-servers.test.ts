import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterAll, describe, expect, test } from 'vitest'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { WebPage, WebRequest } from '../../../marketplace/ports/web.ts'
import type { NameQuestions } from '../../../src/adapters/name-system.ts'
import { until } from '../../support/processes.ts'
import { type FetcherChanges, refusalRead, textRead, WebWorld } from '../../support/web-world.ts'
import { WORLD_CERTIFICATE, WORLD_KEY } from '../../support/web-world-tls.ts'

const NEVER = new AbortController().signal
const ANY: WebRequest = { accept: '*/*', bytesMax: 100_000, tooLong: 'fail' }

/** A server that sends a text when asked, and then runs `andThen`. */
function says(text: string, andThen: (socket: Socket) => void = (socket) => socket.end()) {
  return { socket: (socket: Socket) => void socket.once('data', () => socket.write(text, () => andThen(socket))) }
}

/** Sends a text repeatedly until the client closes. */
function forever(text: string, everyMs: number): (socket: Socket) => void {
  return (socket) => {
    const timer = setInterval(() => socket.write(text), everyMs)
    socket.once('close', () => clearInterval(timer))
  }
}

/** Renegotiations that the server below was granted. */
const handshakes = { again: 0 }

/** A TLS 1.2 server that starts a renegotiation before it answers. */
function shakesHandsAgain(plain: Socket): void {
  const socket = new TLSSocket(plain, {
    isServer: true,
    key: WORLD_KEY,
    cert: WORLD_CERTIFICATE,
    maxVersion: 'TLSv1.2',
  })
  const answer = (error: Error | null): void => {
    if (error !== null) return
    handshakes.again += 1
    socket.end(`${OK}content-length: 5\r\n\r\nhello`)
  }
  socket.on('error', () => {}).once('data', () => socket.renegotiate({}, answer))
}

const OK = 'HTTP/1.1 200 OK\r\n'
const world = await WebWorld.open({
  'news.example': { pages: (_request, response) => response.end('hello') },
  'drip.example': says(`${OK}content-length: 100000\r\n\r\n`, forever('x', 20)),
  'drip-headers.example': says(OK, forever('x-a: b\r\n', 20)),
  'early-hints.example': says('', forever('HTTP/1.1 103 Early Hints\r\n\r\n', 5)),
  'endless-headers.example': says(OK, forever(`x-a: ${'b'.repeat(4_000)}\r\n`, 1)),
  'mute.example': says('', () => {}),
  'no-tls.example': { safeSocket: (socket) => void socket.resume() },
  'safe.example': { safeSocket: shakesHandsAgain },
  'cut.example': says(`${OK}content-length: 100\r\n\r\nhello`),
  'cut-chunks.example': says(`${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`),
  'more.example': says(`${OK}content-length: 3\r\n\r\nhello`),
  'two-lengths.example': says(`${OK}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`),
  'bad-length.example': says(`${OK}content-length: -1\r\n\r\nhello`),
  'no-http.example': says('220 mail.example ESMTP\r\n'),
  'gone.example': { socket: (socket) => void socket.destroy() },
})
afterAll(() => world.close())

function read(text: string, request: Partial<WebRequest> = {}, changes: FetcherChanges = {}): Promise<Result<WebPage>> {
  return world.fetcher({ totalMs: 8_000, ...changes }).read(new URL(text), { ...ANY, ...request }, NEVER)
}

describe('servers that never come to an end', () => {
  test.each(['drip.example', 'drip-headers.example', 'early-hints.example', 'mute.example'])(
    '%s is left',
    async (host) => {
      expect(await textRead(read(`http://${host}/`, {}, { totalMs: 400 }))).toBe('web/timeout')
      await until('its connection is closed', () => world.openCount === 0 || undefined)
    },
  )

  test('one that does not begin TLS is given up', async () => {
    expect(await textRead(read('https://no-tls.example/', {}, { totalMs: 400 }))).toBe('web/timeout')
    await until('its connection is closed', () => world.openCount === 0 || undefined)
  })

  test('one that renegotiates TLS is given up', async () => {
    expect(await textRead(read('https://safe.example/', {}, { totalMs: 2_000 }))).toMatch(/^web\//)
    expect(handshakes.again).toBe(0)
  })

  test('the call that reads can abort', async () => {
    const call = new AbortController()
    const reading = world.fetcher().read(new URL('http://mute.example/'), ANY, call.signal)
    await until('the server was asked', () => world.openCount > 0 || undefined)
    call.abort()
    expect(await textRead(reading)).toBe('web/timeout')
  })

  test('headers are bounded', async () => {
    expect(await refusalRead(read('http://endless-headers.example/'))).toBe(
      'web/answer its headers are longer than 16384 bytes',
    )
  })
})

describe('servers that send something else than they say', () => {
  test.each([
    ['cut.example', 'web/answer it broke off'],
    ['cut-chunks.example', 'web/answer it broke off'],
    ['two-lengths.example', 'web/answer it broke off'],
    ['bad-length.example', 'web/answer it is not HTTP'],
    ['no-http.example', 'web/answer it is not HTTP'],
    ['gone.example', 'web/answer it broke off'],
  ])('%s: %s', async (host, refusal) => expect(await refusalRead(read(`http://${host}/`))).toBe(refusal))

  test('bytes after the announced length are not read', async () =>
    expect(await textRead(read('http://more.example/'))).toBe('hel'))
})

describe('crowds', () => {
  test('of one host wait their turn, and those beyond are refused', async () => {
    const fetcher = world.fetcher({ limits: { perHostMax: 2, waitingMax: 3 } })
    const visits = (): number => world.visits['mute.example'] ?? 0
    const before = visits()
    const time = new AbortController()
    const all = Array.from({ length: 7 }, () =>
      textRead(fetcher.read(new URL('http://mute.example/'), ANY, time.signal)),
    )
    // The reads of `mute.example` do not delay a read of another host.
    expect(await textRead(fetcher.read(new URL('http://news.example/page'), ANY, NEVER))).toBe('hello')
    await until('two are read', () => visits() - before >= 2)
    time.abort()
    const ends = await Promise.all(all)
    expect(ends.filter((end) => end === 'web/busy')).toHaveLength(2)
    expect(ends.filter((end) => end === 'web/timeout')).toHaveLength(5)
    expect(visits() - before).toBeLessThanOrEqual(4)
  })

  test('of names that lead to one address are bounded, too', async () => {
    const [address = ''] = world.plan.names['mute.example'] ?? []
    const questions: NameQuestions = {
      resolve4: async () => [address],
      resolve6: async () => [],
      resolveMx: async () => [],
      resolveNs: async () => [],
      cancel: () => {},
    }
    const fetcher = world.fetcher({ ask: () => questions, limits: { perAddressMax: 3 } })
    const time = new AbortController()
    const ends: string[] = []
    const all = Array.from({ length: 5 }, async (_, index) => {
      ends.push(await textRead(fetcher.read(new URL(`http://n${index}.example/`), ANY, time.signal)))
    })
    await until('those beyond are refused', () => ends.length >= 2)
    time.abort()
    await Promise.all(all)
    expect(ends.sort()).toEqual(['web/busy', 'web/busy', 'web/timeout', 'web/timeout', 'web/timeout'])
  })
})
