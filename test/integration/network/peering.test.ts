import { generateKeyPair } from '@libp2p/crypto/keys'
import { afterEach, expect, test } from 'vitest'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { systemClock, systemTimers } from '../../../src/daemon/runtime.ts'
import type { Host } from '../../../src/p2p/host/host.ts'
import { Peering } from '../../../src/p2p/host/peering.ts'
import { Peers } from '../../../src/p2p/peers/peers.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { begin, makeHost } from '../../support/hosts.ts'
import { MemoryRecords, SILENT } from '../../support/peering.ts'
import { until } from '../../support/processes.ts'
import { freePort } from '../../support/tcp-proxy.ts'

const ruleBook = createRuleBook(DEVNET, PROTOCOL)
const genesis = ruleBook.genesis.block
/** A node without a chain: a real host and real handshakes. */
interface Part {
  readonly host: Host
  readonly peers: Peers
  readonly peering: Peering
}
const parts: Part[] = []

afterEach(async () => {
  await Promise.all(parts.splice(0).map(stop))
})

async function stop({ host, peers, peering }: Part): Promise<void> {
  peers.stop()
  await peering.stop()
  await host.stop()
}

async function open(
  settings: { readonly configured?: readonly string[]; readonly outbound?: number } = {},
  options: Parameters<typeof makeHost>[0] = {},
  records = new MemoryRecords(),
): Promise<Part> {
  return openOn(await makeHost({ genesis: genesis.id, ...options }), settings, records)
}

async function openOn(
  host: Host,
  settings: { readonly configured?: readonly string[]; readonly outbound?: number } = {},
  records = new MemoryRecords(),
): Promise<Part> {
  const ownStatus = () => ({
    version: 1,
    genesis: genesis.id,
    rules: ruleBook.fingerprintAt(0),
    agent: 'farthing-test',
    head: genesis.id,
    height: 0,
    totalWork: 0n,
    mode: 1,
    bodiesFrom: 0,
    witnessesFrom: 0,
    snapshots: [],
  })
  const common = { clock: systemClock, timers: systemTimers, log: SILENT }
  const peers = new Peers({ network: host, ruleBook, ownStatus, ...common })
  host.onViolation((peer, offence, about) => peers.report(peer, offence, about))
  const peering = await Peering.open({
    ...common,
    host,
    peers,
    records,
    settings: { outbound: 0, inboundMax: 32, allowPrivate: true, configured: [], seeds: [], ...settings },
    random: Math.random,
    bytesOf: () => null,
  })
  const part = { host, peers, peering }
  parts.push(part)
  await begin(host)
  peering.start()
  return part
}

const addressOf = ({ host }: Part): string => host.addresses()[0] as string
const isConnected = (a: Part, b: Part): boolean => a.peers.isReady(b.host.self) && b.peers.isReady(a.host.self)

test('a configured peer that comes late, goes and comes back is connected each time', async () => {
  const port = await freePort()
  const key = await generateKeyPair('Ed25519')
  const early = await open({ configured: [`/ip4/127.0.0.1/tcp/${port}`] })
  for (let life = 0; life < 2; life++) {
    expect(early.host.peers()).toEqual([])
    const late = await open({}, { key, listen: { host: '127.0.0.1', port } })
    await until('the late peer is connected', () => isConnected(early, late))
    await stop(late)
    parts.splice(parts.indexOf(late), 1)
    await until('its end is seen', () => early.host.peers().length === 0)
  }
})

test('nodes that know the same node find each other by asking it', async () => {
  const seed = await open()
  const others: Part[] = []
  for (let i = 0; i < 3; i++) {
    const part = await open({ configured: [addressOf(seed)], outbound: 3 })
    others.push(part)
    await until('the seed is connected', () => isConnected(seed, part))
  }
  await until('every peer is connected to every other peer', () =>
    others.every((a) => others.every((b) => a === b || isConnected(a, b))),
  )
  const facts = seed.peering.network.peers()
  expect(facts.map(({ id }) => id).toSorted()).toEqual(others.map(({ host }) => host.self).toSorted())
  expect(facts.every(({ direction, agent }) => direction === 'inbound' && agent === 'farthing-test')).toBe(true)
})

test('two nodes that ask a third before it knows their addresses still find each other', async () => {
  const host = await makeHost({ genesis: genesis.id })
  const asked = Promise.withResolvers<void>()
  const { finder } = host
  const listen = finder.onFound.bind(finder)
  finder.onFound = (listener) => listen((...found) => void asked.promise.then(() => listener(...found)))
  const seed = await openOn(host)
  let answers = 0
  seed.peers.exchange.onExchange({
    asked: () => {},
    answered: (protocol) => {
      if (protocol === 'addresses') answers += 1
    },
  })
  const [a, b] = await Promise.all([1, 2].map(() => open({ configured: [addressOf(seed)], outbound: 3 })))
  await until('both have asked', () => answers >= 2)
  expect(seed.peering.book.size).toBe(0)
  asked.resolve()
  await until('they are connected', () => isConnected(a as Part, b as Part))
})

test('a peer repeats its address when it is asked', async () => {
  const asker = await open()
  const other = await open({ configured: [addressOf(asker)] })
  const said: string[] = []
  asker.host.finder.onFound((peer, addresses, by) => said.push(`${by} ${peer} ${addresses.join(' ')}`))
  await until('it said it by itself', () => isConnected(asker, other) && said.length > 0)
  // Six repeats are more than the peer announces by itself. While it announces, a request is refused, so each request is made until it is
  // answered.
  for (let i = 0; i < 6; i++) {
    const before = said.length
    await until('it said it again', async () => {
      await asker.host.finder.identify(other.host.self)
      return said.length > before
    })
  }
  const { self } = other.host
  expect(new Set(said)).toEqual(new Set([`identify ${self} ${addressOf(other).slice(0, -`/p2p/${self}`.length)}`]))
  await stop(other)
  const before = said.length
  await asker.host.finder.identify(self)
  expect(said.length).toBe(before)
})

test('two nodes that dial each other at once end up with one connection', async () => {
  const ports = [await freePort(), await freePort()] as const
  const at = (port: number): string => `/ip4/127.0.0.1/tcp/${port}`
  const [a, b] = await Promise.all([
    open({ configured: [at(ports[1])] }, { listen: { host: '127.0.0.1', port: ports[0] } }),
    open({ configured: [at(ports[0])] }, { listen: { host: '127.0.0.1', port: ports[1] } }),
  ])
  await until('they are connected by both', () => isConnected(a, b))
  const links = (): number => a.host.connections().length + b.host.connections().length
  await until('one connection is left', () => links() === 2)
  expect(isConnected(a, b)).toBe(true)
})

test('a ban ends the connection, outlives a restart and is lifted', async () => {
  const records = new MemoryRecords()
  const port = await freePort()
  const key = await generateKeyPair('Ed25519')
  const listen = { host: '127.0.0.1', port }
  const judge = await open({}, { key, listen }, records)
  const culprit = await open({ configured: [addressOf(judge)] })
  await until('they are connected', () => isConnected(judge, culprit))
  judge.peers.report(culprit.host.self, 'malformed', 'a test')
  await until('it is over', () => judge.host.peers().length === 0)
  expect(judge.peering.network.bans()).toMatchObject([{ target: culprit.host.self, reason: 'malformed' }])
  await stop(judge)
  parts.splice(parts.indexOf(judge), 1)
  const again = await open({}, { key, listen }, records)
  await culprit.host.dial(addressOf(again))
  await until('it is turned away', () => culprit.host.peers().length === 0)
  expect(again.peers.list()).toEqual([])
  expect(again.peering.network.unban(culprit.host.self)).toMatchObject({ ok: true })
  await until('it is connected again', () => isConnected(again, culprit))
})
