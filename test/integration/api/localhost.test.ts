import { lookup } from 'node:dns/promises'
import { expect, it } from 'vitest'
import { listenBeside } from '../../../rpc/edge/http-server.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import { createServer } from '../../../rpc/server/server.ts'
import { listen } from '../../../src/daemon/http-api.ts'
import type { Stop } from '../../../src/daemon/open-core.ts'
import { bareNodeOf } from '../../support/api-server.ts'
import { TestChain } from '../../support/chain.ts'
import { until } from '../../support/processes.ts'
import { head, type RawConnection, RawConnections } from '../../support/raw-connections.ts'

const ignored = (): void => {}

it('localhost is every address with that name', async () => {
  const { ratesPerMinute: rates, delayMsMax, concurrentMax } = DEFAULT_HTTP_LIMITS
  const rpc = { host: 'localhost', port: 0, rates, delayMsMax, concurrentMax, trustProxy: false }
  const options = { config: { rpc }, logger: { debug: ignored, error: ignored }, onFatal: ignored } as never
  const stops: Stop[] = []
  const parts = { metrics: { answered: ignored, shed: ignored } as never, stops }
  const listening = await listen(options, bareNodeOf(await TestChain.open()), parts)
  const { port } = new URL(listening.ok ? listening.value : expect.fail('it does not listen'))
  const found = await lookup('localhost', { all: true })
  expect(found.length).toBeGreaterThan(0)
  const urls = found.map(({ address, family }) => `http://${family === 6 ? `[${address}]` : address}:${port}/health`)
  for (const url of urls) expect([url, (await fetch(url)).status]).toEqual([url, 200])
  for (const stop of stops) await stop()
  for (const url of urls) await expect(fetch(url)).rejects.toThrow()
})

it('a second listener beside the server has the same bounds, and ends with it', async () => {
  const limits = { ...DEFAULT_HTTP_LIMITS, idlePerAddressMax: 3 }
  const told = { onError: ignored, onAnswer: ignored }
  const app = await createServer(bareNodeOf(await TestChain.open()), { limits, trustProxy: false, ...told })
  const first = await app.listen({ port: 0, host: '127.0.0.1' })
  const port = await listenBeside(app.server, { host: '127.0.0.1', port: 0 })
  expect(await listenBeside(app.server, { host: '127.0.0.1', port: port ?? 0 })).toBe(null)
  const beside = `http://127.0.0.1:${port}`
  const [raw, more] = [new RawConnections(first), new RawConnections(beside)]
  const [ninth] = await more.openMany(1, head('GET /health').repeat(20))
  await until('the ninth closes it', () => ninth?.isClosed === true)
  expect(ninth?.statuses.at(-1)).toBe(429)
  const older = await more.openMany(3, head('GET /health'))
  await until('they are answered', () => older.every(({ statuses }) => statuses[0] === 200))
  await raw.openMany(3, '')
  await until('they have made room', () => older.every(({ isClosed }) => isClosed))
  const [idle] = await more.openMany(1, '')
  await app.close()
  await until('it ends with the server', () => idle?.isClosed === true)
  await expect(fetch(`${beside}/health`)).rejects.toThrow()
  raw.closeAll()
})

it('a second listener beside the server shares its bound of connections', async () => {
  const limits = { ...DEFAULT_HTTP_LIMITS, connectionsMax: 3 }
  const told = { onError: ignored, onAnswer: ignored }
  const app = await createServer(bareNodeOf(await TestChain.open()), { limits, trustProxy: false, ...told })
  const first = new RawConnections(await app.listen({ port: 0, host: '127.0.0.1' }))
  const second = new RawConnections(
    `http://127.0.0.1:${await listenBeside(app.server, { host: '127.0.0.1', port: 0 })}`,
  )
  // A request whose body is awaited keeps its connection at work. Idle connections would make room for newer ones.
  const unfinished =
    'POST /api/v1/tx HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n'
  const held: RawConnection[] = []
  for (const place of [first, second, second]) {
    const [connection = expect.fail('it does not connect')] = await place.openMany(1, unfinished)
    await until('its body is awaited', () => connection.statuses[0] === 100)
    held.push(connection)
  }
  for (const place of [first, second]) {
    const [over] = await place.openMany(1, unfinished)
    await until('one too many is closed', () => over?.isClosed === true)
  }
  expect(held.map(({ isClosed }) => isClosed)).toEqual([false, false, false])
  first.closeAll()
  second.closeAll()
  await app.close()
})
