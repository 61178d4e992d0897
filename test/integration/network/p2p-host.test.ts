import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Host } from '../../../src/p2p/host/host.ts'
import { loadIdentity } from '../../../src/p2p/host/identity.ts'
import type { GossipJudge, PeerId, Verdict } from '../../../src/p2p/network.ts'
import { PROTOCOLS } from '../../../src/p2p/wire/protocols.ts'
import { begin, connect, isConnected, makeHost, sightingsOf } from '../../support/hosts.ts'
import { removeFolder, temporaryFolder, until } from '../../support/processes.ts'

const BLOCK_BYTES = 800_000

const hosts: Host[] = []
const folders: string[] = []
const rejections: unknown[] = []
process.on('unhandledRejection', (reason) => rejections.push(reason))

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()))
  for (const folder of folders.splice(0)) removeFolder(folder)
  expect(rejections.splice(0)).toEqual([])
})

async function host(...args: Parameters<typeof makeHost>): Promise<Host> {
  const made = await makeHost(...args)
  hosts.push(made)
  return made
}

async function folder(): Promise<string> {
  const made = temporaryFolder()
  folders.push(made)
  return made
}

async function pair(prepare: (answering: Host) => void): Promise<readonly [Host, Host]> {
  const [asking, answering] = [await host(), await host()]
  prepare(answering)
  await begin(asking)
  await begin(answering)
  await connect(asking, answering)
  return [asking, answering]
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

test('requests of every size are answered, many at a time, in both directions', async () => {
  const page = new Uint8Array(PROTOCOLS.bodies.replyMax).map((_, i) => i % 251)
  const [a, b] = await pair((answering) => {
    answering.serve('bodies', async (_, body) =>
      page.subarray(0, new DataView(body.buffer, body.byteOffset).getUint32(0)),
    )
  })
  a.serve('status', async (from, body) => Uint8Array.of(...body, from.length))
  for (const size of [0, 1, 127, 128, 32_768, 65_537, page.length]) {
    const body = new Uint8Array(4)
    new DataView(body.buffer).setUint32(0, size)
    const replies = await Promise.all(Array.from({ length: 6 }, () => a.request(b.self, 'bodies', body)))
    for (const reply of replies) {
      expect(reply.ok && Buffer.compare(reply.value, page.subarray(0, size))).toBe(0)
    }
  }
  const back = await b.request(a.self, 'status', Uint8Array.of(1))
  expect(back).toEqual({ ok: true, value: Uint8Array.of(1, b.self.length) })
  expect([...sightingsOf(a).offences, ...sightingsOf(b).offences]).toEqual([])
})

test('a request longer than allowed is not sent, a reply longer than allowed is not written', async () => {
  const [a, b] = await pair((answering) => {
    answering.serve('status', async () => new Uint8Array(PROTOCOLS.status.replyMax + 1))
  })
  const long = await a.request(b.self, 'status', new Uint8Array(PROTOCOLS.status.requestMax + 1))
  expect(long).toMatchObject({ fault: { code: 'p2p/too-large' } })
  expect(await a.request(b.self, 'status', Uint8Array.of(1))).toMatchObject({ fault: { code: 'p2p/unreachable' } })
  expect(sightingsOf(b).warnings).toHaveLength(1)
  expect(sightingsOf(a).offences).toEqual([])
})

test('a peer that does not answer is waited for until the deadline, and no longer', async () => {
  const [a, b] = await pair((answering) => answering.serve('status', () => new Promise(() => {})))
  const answer = await a.request(b.self, 'status', Uint8Array.of(1))
  expect(answer).toMatchObject({ fault: { code: 'p2p/timeout', detail: { protocol: 'status' } } })
})

test('a handler that fails ends its stream', async () => {
  const [a, b] = await pair((answering) => answering.serve('status', () => Promise.reject(new Error('broken'))))
  expect(await a.request(b.self, 'status', Uint8Array.of(1))).toMatchObject({ fault: { code: 'p2p/unreachable' } })
  expect(sightingsOf(b).warnings).toMatchObject([{ facts: { reason: 'broken' } }])
})

test('a connection that ends ends its requests; both sides hear of it once', async () => {
  const heard: string[] = []
  const [a, b] = await pair((answering) => {
    answering.serve('status', () => new Promise(() => {}))
    answering.onConnection({
      connected: ({ direction }) => heard.push(`connected ${direction}`),
      disconnected: () => heard.push('disconnected'),
    })
  })
  const answer = a.request(b.self, 'status', Uint8Array.of(1))
  b.disconnect(a.self, 'enough')
  expect(await answer).toMatchObject({ fault: { code: 'p2p/unreachable' } })
  await until('both are alone', () => !isConnected(a, b) && !isConnected(b, a), { everyMs: 5 })
  expect(heard).toEqual(['connected inbound', 'disconnected'])
  expect(await a.request(b.self, 'status', Uint8Array.of(1))).toMatchObject({ fault: { code: 'p2p/unreachable' } })
})

test('a ban is reported to the other side, and a gate is asked', async () => {
  const [a, b] = await pair(() => {})
  const banned: string[] = []
  b.onBan(({ id }, reason) => banned.push(`${id} ${reason}`))
  b.setGate({ mayAccept: () => true, mayKeep: (peer) => peer !== a.self, mayDial: () => false, isKnown: () => false })
  b.disconnect(a.self, 'bad-work', true)
  expect(banned).toEqual([`${a.self} bad-work`])
  await until('both are alone', () => !isConnected(a, b) && !isConnected(b, a), { everyMs: 5 })
  await a.dial(b.addresses()[0] as string)
  await until('the gate shut', () => !isConnected(a, b), { everyMs: 5 })
  expect(isConnected(b, a)).toBe(false)
  expect(await b.dial(a.addresses()[0] as string)).toMatchObject({ fault: { code: 'p2p/unreachable' } })
})

test('two hosts that dial each other at once are one peer', async () => {
  const heard: string[] = []
  const [a, b] = [await host(), await host()]
  a.onConnection({ connected: ({ id }) => heard.push(id), disconnected: () => heard.push('gone') })
  b.serve('status', async (_, body) => body)
  await begin(a)
  await begin(b)
  await Promise.all([a.dial(b.addresses()[0] as string), b.dial(a.addresses()[0] as string)])
  await until('they are connected', () => isConnected(a, b) && isConnected(b, a), { everyMs: 5 })
  expect(heard).toEqual([b.self])
  expect(a.peers()).toHaveLength(1)
  expect(await a.request(b.self, 'status', Uint8Array.of(5))).toEqual({ ok: true, value: Uint8Array.of(5) })
  a.disconnect(b.self, 'over')
  await until('all connections end', () => a.peers().length === 0, { everyMs: 5 })
  expect(heard).toEqual([b.self, 'gone'])
})

test('dials fail for another id, a closed port and a malformed address', async () => {
  const [a, b] = await pair(() => {})
  const place = (b.addresses()[0] as string).split('/p2p/')[0] as string
  b.disconnect(a.self, 'dial again')
  await until('both are alone', () => !isConnected(a, b), { everyMs: 5 })
  const stranger = (await host()).self
  expect(await a.dial(`${place}/p2p/${stranger}`)).toMatchObject({ fault: { code: 'p2p/unreachable' } })
  expect(await a.dial('/ip4/127.0.0.1/tcp/1')).toMatchObject({ fault: { code: 'p2p/unreachable' } })
  expect(await a.dial('somewhere')).toMatchObject({ fault: { code: 'p2p/address' } })
  expect(await a.dial(`${place}/p2p/nobody`)).toMatchObject({ fault: { code: 'p2p/address' } })
  expect(await a.dial(place)).toEqual({ ok: true, value: b.self })
})

test('nodes of two networks share no protocol and no topic', async () => {
  const [a, b] = [await host(), await host({ genesis: 'cd'.repeat(32) })]
  const heard: string[] = []
  for (const one of [a, b]) {
    one.serve('status', async (_, body) => body)
    one.subscribe('blocks', async (_, body) => {
      heard.push(text(body))
      return 'accept'
    })
    await begin(one)
  }
  await connect(a, b)
  expect(await a.request(b.self, 'status', Uint8Array.of(1))).toMatchObject({ fault: { code: 'p2p/unreachable' } })
  a.publish('blocks', Buffer.from('of another network'))
  expect(a.meshOf('blocks')).toEqual([])
  const c = await host()
  c.subscribe('blocks', async (_, body) => {
    heard.push(text(body))
    return 'accept'
  })
  await begin(c)
  await connect(c, a)
  await until('a mesh', () => a.meshOf('blocks').includes(c.self), { everyMs: 5 })
  a.publish('blocks', Buffer.from('ours'))
  await until('it arrives', () => heard.length > 0, { everyMs: 5 })
  expect(heard).toEqual(['ours'])
})

test('a line of five hosts passes on what its judges accept', async () => {
  const verdicts: Record<string, Verdict> = { good: 'accept', late: 'ignore', bad: 'reject' }
  const heard = Array.from({ length: 5 }, () => [] as string[])
  const line: Host[] = []
  for (let i = 0; i < 5; i++) {
    const one = await host()
    const judge: GossipJudge = async (_, body) => {
      heard[i]?.push(text(body))
      return verdicts[text(body)] as Verdict
    }
    one.subscribe('blocks', judge)
    await begin(one)
    if (i > 0) await connect(one, line[i - 1] as Host)
    line.push(one)
  }
  const [first, second] = line as [Host, Host]
  // No peer has subscribed yet. Publishing must not fail.
  expect(() => first.publish('transactions', Buffer.from('early'))).not.toThrow()
  await until('meshes', () => line.every((one, i) => one.meshOf('blocks').length === (i === 0 || i === 4 ? 1 : 2)), {
    everyMs: 5,
  })
  for (const message of ['late', 'bad', 'good']) first.publish('blocks', Buffer.from(message))
  await until('the end of the line hears of it', () => (heard[4] as string[]).length > 0, { everyMs: 5 })
  expect(heard[1]?.toSorted()).toEqual(['bad', 'good', 'late'])
  for (const i of [2, 3, 4]) expect(heard[i]).toEqual(['good'])
  await until('its standing falls', () => second.scoreOf(first.self) < -10)
  // A message that was not passed on before can be published after it was found valid.
  verdicts.late = 'accept'
  second.publish('blocks', Buffer.from('late'))
  await until('it goes on', () => heard[4]?.includes('late'), { everyMs: 5 })
})

test('a message that is rejected from one peer may come from another', async () => {
  const [stranger, friend, node] = [await host(), await host(), await host()]
  const heard: PeerId[] = []
  node.subscribe('blocks', async (from) => {
    heard.push(from)
    return from === stranger.self ? 'unjudged' : 'accept'
  })
  for (const one of [stranger, friend]) one.subscribe('blocks', async () => 'accept')
  for (const one of [stranger, friend, node]) await begin(one)
  for (const one of [stranger, friend]) await connect(one, node)
  await until('meshes', () => [stranger, friend].every((one) => one.meshOf('blocks').includes(node.self)), {
    everyMs: 5,
  })
  stranger.publish('blocks', Buffer.from('a block'))
  await until('the first telling', () => heard.length === 1, { everyMs: 5 })
  friend.publish('blocks', Buffer.from('a block'))
  await until('the second telling', () => heard.length === 2, { everyMs: 5 })
  expect(heard).toEqual([stranger.self, friend.self])
  expect(sightingsOf(node).warnings).toEqual([])
})

test('a host stops within two seconds, whatever is open, and only once', async () => {
  const [a, b] = await pair((answering) => answering.serve('bodies', () => new Promise(() => {})))
  const asked = Array.from({ length: 8 }, () => a.request(b.self, 'bodies', Uint8Array.of(1)))
  b.subscribe('blocks', () => new Promise(() => {}))
  const startedMs = performance.now()
  await Promise.all([b.stop(), b.stop()])
  await a.stop()
  expect(performance.now() - startedMs).toBeLessThan(5_000)
  for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ fault: { code: 'p2p/unreachable' } })
  expect(sightingsOf(a).warnings).toEqual([])
  expect(sightingsOf(b).warnings).toEqual([])
})

test('an identity outlasts the process', async () => {
  const home = await folder()
  const names: PeerId[] = []
  for (let run = 0; run < 2; run++) {
    const identity = await loadIdentity(home)
    if (!identity.ok) throw new Error(identity.fault.code)
    const one = await host({ key: identity.value.key })
    const other = await host()
    await begin(one)
    await begin(other)
    await connect(one, other)
    names.push(one.self)
    expect(one.self).toBe(identity.value.peer)
    await one.stop()
  }
  expect(names[0]).toBe(names[1])
})

/**
 * Sends blocks by gossip to a host with a stopped clock and always the same verdict. Returns the host and how many messages it heard, among
 * them small ones before the blocks.
 */
async function heardOf(
  verdict: Verdict,
  blocks: number,
): Promise<{ readonly heard: number; readonly answering: Host }> {
  const [asking, answering] = [await host(), await host({ clock: { now: () => 0 } })]
  let heard = 0
  answering.subscribe('blocks', async () => {
    heard += 1
    return verdict
  })
  asking.subscribe('blocks', async () => 'ignore')
  for (const each of [asking, answering]) await begin(each)
  await connect(asking, answering)
  const tellUntil = async (count: number, block: () => Uint8Array): Promise<void> => {
    const told = (): boolean => heard >= count || !isConnected(answering, asking)
    await until('the block is heard', () => {
      if (!told()) asking.publish('blocks', block())
      return told()
    })
  }
  await tellUntil(1, () => randomBytes(8))
  for (let sent = 0; sent < blocks; sent++) {
    const block = randomBytes(BLOCK_BYTES)
    await tellUntil(heard + 1, () => block)
  }
  return { heard, answering }
}

test('useless gossip is excused for a while, and gossip that is passed on always', async () => {
  const idle = await heardOf('ignore', 30)
  expect(idle.heard * BLOCK_BYTES).toBeGreaterThan(12_000_000)
  expect(idle.heard * BLOCK_BYTES).toBeLessThan(20_000_000)
  expect(sightingsOf(idle.answering).offences).toMatchObject([{ offence: 'flood' }])
  const useful = await heardOf('accept', 30)
  expect(useful.heard).toBeGreaterThan(30)
  expect(sightingsOf(useful.answering).offences).toEqual([])
})

test('a port in use is a fault that names the setting', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const one = await host({ listen: { host: '127.0.0.1', port } })
  const started = await one.start()
  server.close()
  expect(started).toMatchObject({ fault: { code: 'p2p/port-taken', detail: { port } } })
})

test('listening on an address of another machine is a fault that names it, in one line', async () => {
  const one = await host({ listen: { host: '203.0.113.9', port: 0 } })
  const started = await one.start()
  const reason = 'EADDRNOTAVAIL: address not available 203.0.113.9'
  expect(started).toMatchObject({
    fault: { code: 'p2p/address-unusable', detail: { host: '203.0.113.9', port: 0, reason } },
  })
})
