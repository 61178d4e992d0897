import { spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { PATIENCE_MS } from '../../../rpc/edge/places.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import { ask, post, verdict } from '../../support/api.ts'
import { ApiServer, OPERATOR_TOKEN } from '../../support/api-server.ts'
import { until } from '../../support/processes.ts'
import { head, type RawConnection, RawConnections } from '../../support/raw-connections.ts'

const DOCUMENT = head('GET /openapi.json')
const HEALTH = head('GET /health')
const AS_OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}` }
/** A request whose body never ends. */
const slowBody = (headers = {}): string =>
  `${head('POST /api/v1/tx', { 'content-type': 'application/json', 'content-length': 1_000, ...headers })}{`
const SLOW_BODY = slowBody()
const LIMITS = DEFAULT_HTTP_LIMITS

interface Place {
  readonly server: ApiServer
  readonly raw: RawConnections
}

let servers: Place[] = []
afterEach(async () => {
  for (const { raw } of servers) raw.closeAll()
  await Promise.all(servers.map(({ server }) => server.close()))
  expect(servers.flatMap(({ server }) => server.errors)).toEqual([])
  servers = []
})

async function opened(...given: Parameters<typeof ApiServer.open>): Promise<Place> {
  const server = await ApiServer.open(...given)
  const place = { server, raw: new RawConnections(server.url) }
  servers.push(place)
  return place
}

/** Answers to an honest caller of the same address: to a read, a health check and an invalid transaction. */
async function answersOf(url: string): Promise<readonly string[]> {
  const answers = [ask(url, '/api/v1/status'), ask(url, '/health'), post(url, '/api/v1/tx', { transaction: '00' })]
  return (await Promise.all(answers)).map(({ status, body }) => (status < 429 ? 'answered' : `${status} ${body.code}`))
}

const ANSWERED = ['answered', 'answered', 'answered']
const areAnswered = async (url: string): Promise<boolean> => (await answersOf(url)).every((one) => one === 'answered')

/** A connection that reads nothing. It has asked for documents until one is stuck in its buffers, and sends `more` behind that. */
async function deafened({ server, raw }: Place, more: string): Promise<RawConnection> {
  const connection = raw.open(DOCUMENT, { isDeaf: true })
  for (let before = -1; server.over() > before; ) {
    before = server.over()
    connection.socket.write(DOCUMENT)
    // Counts looks, not time: the server is in this process, which may stand still.
    for (let looks = 0; looks < 8 && server.over() === before; looks++) await setTimeout(50)
  }
  connection.socket.write(more)
  return connection
}

/** Connects `count` times, sends a request, and resets at once. */
const RESETS = `
  const [host, port, count, asked] = process.argv.slice(1)
  const next = (left) => {
    if (left === 0) return
    const socket = require('node:net').connect(Number(port), host, () => {
      socket.write(asked)
      socket.resetAndDestroy()
    })
    socket.on('error', () => {}).once('close', () => next(left - 1))
  }
  next(Number(count))
`

it('connections that are reset before they are accepted are not logged as bugs', async () => {
  const { server } = await opened()
  const { hostname, port } = new URL(server.url)
  // This process waits, so it accepts nothing meanwhile. The afterEach checks that no bug was logged.
  const { status } = spawnSync(process.execPath, ['-e', RESETS, hostname, port, '100', HEALTH])
  expect(status).toBe(0)
  expect(await areAnswered(server.url)).toBe(true)
})

describe('a connection that asks and never reads', () => {
  it('with 40 documents and 1,200 health checks in its pipeline takes nothing from others', async () => {
    const { server, raw } = await opened()
    await raw.openMany(1, DOCUMENT.repeat(40) + HEALTH.repeat(1_200), { isDeaf: true })
    for (let i = 0; i < 5; i++) expect(await answersOf(server.url)).toEqual(ANSWERED)
  })

  it.each([
    ['seven documents', DOCUMENT.repeat(7)],
    ['a thousand health checks', HEALTH.repeat(1_000)],
    ['preflights', head('OPTIONS /api/v1/tx', { origin: 'https://a.example' }).repeat(1_200)],
    ['heads', head('HEAD /openapi.json').repeat(1_200)],
    ['expectations', head('GET /health', { expect: 'the moon' }).repeat(1_200)],
    ['paths that cannot be read', head('GET /%zz').repeat(1_200)],
    ['no host', 'GET /health HTTP/1.1\r\n\r\n'.repeat(1_200)],
    ['a stream of events', head('GET /api/v1/events')],
    ['bytes that are no request', '\r\n\r\nnonsense'],
  ])('is closed when it has taken nothing for long enough: %s', async (_, more) => {
    const place = await opened({ stuckMsMax: 1_500 })
    await deafened(place, more)
    await until('it is closed', async () => (await place.server.connections()) === 0)
  })

  it('is left alone while it reads, however slowly', async () => {
    const place = await opened({ stuckMsMax: 1_500 })
    const { socket } = await deafened(place, '')
    const before = place.server.over()
    socket.on('readable', () => {})
    const reading = setInterval(() => socket.read(100_000) ?? socket.read(), 100)
    await until('all of it came', () => place.server.over() > before)
    clearInterval(reading)
    expect([socket.destroyed, await place.server.connections()]).toEqual([false, 1])
  })

  it('loses its places to others of its own address', async () => {
    const place = await opened({ concurrentMax: 64 })
    for (let i = 0; i < 5; i++) await deafened(place, DOCUMENT.repeat(7))
    await until('another of this address is answered', () => areAnswered(place.server.url))
  })
})

it('clients of many addresses that neither send nor read leave room for one more client, health checks and the operator', async () => {
  const { server, raw } = await opened({ concurrentMax: 100 }, null, undefined, { trustProxy: true })
  for (let i = 0; i < 30; i++) await raw.openMany(8, slowBody({ 'x-forwarded-for': `192.0.2.${i}` }))
  const from = { 'x-forwarded-for': '198.51.100.1' }
  const verdicts = async (): Promise<readonly number[]> => [
    (await ask(server.url, '/health', { headers: from })).status,
    (await ask(server.url, '/api/v1/status', { headers: { ...from, ...AS_OPERATOR } })).status,
  ]
  expect(await verdicts()).toEqual([200, 200])
  await until('a read of another is answered', async () => {
    expect(await verdicts()).toEqual([200, 200])
    return (await ask(server.url, '/api/v1/status', { headers: from })).status === 200
  })
})

describe('clients with a network of their own', () => {
  it.each([
    ['a /48 of IPv6', (i: number) => `2001:db8:1:${i.toString(16)}::1`, '2001:db8:2::1'],
    ['a /24 of IPv4', (i: number) => `192.0.2.${i}`, '198.51.100.1'],
  ])('%s take a quarter less than all places, with one request each, and others are answered', async (_, of, other) => {
    const { server, raw } = await opened({ concurrentMax: 100 }, null, undefined, { trustProxy: true })
    const bodies = Array.from({ length: 150 }, (__, i) => raw.openMany(1, slowBody({ 'x-forwarded-for': of(i) })))
    const slow = (await Promise.all(bodies)).flat()
    const read = (address: string) => ask(server.url, '/api/v1/status', { headers: { 'x-forwarded-for': address } })
    expect((await read(other)).status).toBe(200)
    expect(slow.filter(({ statuses, isClosed }) => !isClosed && statuses.length === 0).length).toBeLessThanOrEqual(72)
    // An honest client in the same network is served too: bodies that do not arrive make room.
    expect((await read(of(200))).status).toBe(200)
  })

  it('are counted together by the minute', async () => {
    const rates = { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, read: 3 }
    const { server } = await opened({ ratesPerMinute: rates }, null, undefined, { trustProxy: true })
    const read = (address: string) => ask(server.url, '/api/v1/status', { headers: { 'x-forwarded-for': address } })
    const answers: number[] = []
    for (let i = 0; i < 30; i++) answers.push((await read(`2001:db8:1:${i}::1`)).status)
    expect(answers).toEqual(answers.map((__, i) => (i < 24 ? 200 : 429)))
    expect((await read('2001:db8:2::1')).status).toBe(200)
  })
})

describe('a pipeline', () => {
  it('of eight is answered in its order, and the connection stays', async () => {
    const { raw } = await opened()
    const [one] = await raw.openMany(1, HEALTH.repeat(7) + head('GET /nowhere'))
    await until('all are answered', () => one?.statuses.length === 8)
    expect(one?.statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 404])
    one?.socket.write(HEALTH)
    await until('one more is', () => one?.statuses.length === 9)
    expect(one?.isClosed).toBe(false)
  })

  it('of more is answered up to the eighth; the ninth is refused and closes the connection', async () => {
    const { raw } = await opened()
    const [one] = await raw.openMany(1, DOCUMENT.repeat(8) + HEALTH.repeat(300))
    await until('it is closed', () => one?.isClosed === true)
    expect(one?.statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 429])
    const last = one?.text.slice(one.text.lastIndexOf('HTTP/1.1 429')) ?? ''
    expect(last.toLowerCase()).toMatch(/retry-after: 1\r\n/)
    expect(JSON.parse(last.slice(last.indexOf('{')))).toMatchObject({ code: 'too_many_at_once' })
  })
})

describe('bodies that do not come', () => {
  it('on 1,100 connections, a byte of each, take nothing from others', async () => {
    const { server, raw } = await opened()
    const slow = await raw.openMany(1_100, SLOW_BODY)
    const ended = (): number => slow.filter(({ isClosed }) => isClosed).length
    await until('the node has met them all', async () => ended() + (await server.connections()) >= slow.length)
    // Their own address must wait until they are old enough to give way.
    await setTimeout(PATIENCE_MS)
    for (let i = 0; i < 20; i++) expect(await answersOf(server.url)).toEqual(ANSWERED)
  })

  it('are dropped with an answer when their places are needed', async () => {
    const { server, raw } = await opened({ concurrentMax: 40 })
    const slow = await raw.openMany(19, SLOW_BODY)
    await until('another is answered', () => areAnswered(server.url))
    await until('the oldest is closed', () => slow[0]?.isClosed === true)
    expect(slow[0]?.statuses).toEqual([503])
    expect(slow[0]?.text).toContain('"node_busy"')
  })

  it('and heads that do not come are not waited for longer than documented', async () => {
    const { raw } = await opened({ receiveTimeoutMs: 1_000 })
    const late = [SLOW_BODY, 'GET /health HTTP/1.1\r\nhost: a\r\nx-', '', `${HEALTH}GET /`].map((bytes) =>
      raw.open(bytes),
    )
    await until('all are closed', () => late.every(({ isClosed }) => isClosed))
    expect(late.map(({ statuses }) => statuses.at(-1))).toEqual([408, 408, 408, 408])
  })

  it('are waited for as documented: 30 seconds, and a little for the next check', async () => {
    const { raw } = await opened()
    const beganMs = performance.now()
    const late = [SLOW_BODY, 'GET /health HTTP/1.1\r\nhost: a\r\nx-', ''].map((bytes) => raw.open(bytes))
    await until('all are closed', () => late.every(({ isClosed }) => isClosed), { ms: 90_000 })
    const tookMs = performance.now() - beganMs
    expect(late.map(({ statuses }) => statuses)).toEqual([[408], [408], [408]])
    expect(tookMs).toBeGreaterThan(LIMITS.receiveTimeoutMs - 2_000)
    expect(tookMs).toBeLessThan(LIMITS.receiveTimeoutMs * 1.7)
  }, 120_000)
})

describe('connections that ask for nothing', () => {
  it('of an address make room for its newer connections, the longest idle first', async () => {
    const { server, raw } = await opened({ idlePerAddressMax: 20 })
    const idle = await raw.openMany(20, HEALTH)
    await until('all are answered', () => idle.every(({ statuses }) => statuses.length === 1))
    await raw.openMany(20, '')
    await until('the older ones are closed', () => idle.every(({ isClosed }) => isClosed))
    expect(await answersOf(server.url)).toEqual(ANSWERED)
  })

  it('of a network, one from each address, make room for others of their network, not for those of another', async () => {
    const { server, raw } = await opened({ connectionsMax: 80 })
    const others = await raw.openMany(2, HEALTH, { from: '127.0.2.1' })
    const many: RawConnection[] = []
    for (let i = 1; i <= 60; i++) many.push(...(await raw.openMany(1, HEALTH, { from: `127.0.1.${i}` })))
    await until('no more than half are open', async () => (await server.connections()) <= 40)
    await until('their ends have heard of it', () => many.filter(({ isClosed }) => isClosed).length >= 22)
    expect(others.map(({ isClosed }) => isClosed)).toEqual([false, false])
  })

  it('of a stranger who reaches the port behind the proxy do not displace those of the proxy', async () => {
    const { server, raw } = await opened({ connectionsMax: 80 }, null, undefined, { trustProxy: true })
    const proxied = await raw.openMany(10, HEALTH, { from: '127.0.2.1' })
    await until('all are answered', () => proxied.every(({ statuses }) => statuses.length === 1))
    await raw.openMany(60, 'GET /health HTTP/1.1\r\n', { from: '127.0.1.1' })
    await until('no more than half are open', async () => (await server.connections()) <= 40)
    expect(proxied.filter(({ isClosed }) => isClosed)).toEqual([])
  })

  it('of many addresses leave half of all places to connections with a request', async () => {
    const { server, raw } = await opened({ connectionsMax: 40 }, null, undefined, { trustProxy: true })
    await raw.openMany(100, 'GET /health HTTP/1.1\r\n')
    await until('no more than half are open', async () => (await server.connections()) <= 20)
    expect(await answersOf(server.url)).toEqual(ANSWERED)
  })

  it('are not bounded by address behind a proxy, which serves many clients', async () => {
    const { server, raw } = await opened({ idlePerAddressMax: 5 }, null, undefined, { trustProxy: true })
    const idle = await raw.openMany(30, HEALTH)
    await until('all are answered', () => idle.every(({ statuses }) => statuses.length === 1))
    expect(await server.connections()).toBe(30)
  })

  it('of upgrades and tunnels do not stay either', async () => {
    const { server, raw } = await opened()
    const upgrade = head('GET /health', { connection: 'upgrade', upgrade: 'websocket' })
    const [up, tunnel] = [raw.open(upgrade), raw.open(head('CONNECT 127.0.0.1:80'))]
    await until('the tunnel is closed', () => tunnel.isClosed)
    await until('the upgrade is answered as a request', () => up.statuses.length === 1)
    expect([up.statuses, tunnel.statuses]).toEqual([[200], []])
    up.socket.end()
    await until('nothing is left', async () => (await server.connections()) === 0)
  })
})

it('one more request than an address may have at once is refused and may be repeated', async () => {
  const { server, raw } = await opened({ concurrentMax: 8 })
  const slow = await raw.openMany(5, SLOW_BODY)
  const refused = await ask(server.url, '/api/v1/status')
  expect([verdict(refused), refused.headers.get('retry-after')]).toEqual(['429 too_many_at_once', '1'])
  for (const { socket } of slow) socket.destroy()
  await until('it is answered', async () => (await ask(server.url, '/api/v1/status')).status === 200)
})
