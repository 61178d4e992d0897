import { randomBytes } from 'node:crypto'
import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'
import { type KadDHT, kadDHT, passthroughMapper } from '@libp2p/kad-dht'
import { peerIdFromString } from '@libp2p/peer-id'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../../src/p2p/host/host.ts'
import { PING_PROTOCOL } from '../../../src/p2p/host/host.ts'
import { TABLE_QUESTIONS } from '../../../src/p2p/host/node-table.ts'
import { CHANNELS, protocolId } from '../../../src/p2p/wire/protocols.ts'
import { Attacker, VictimProcess } from '../../support/attacker.ts'
import { field, joined, prefixed, varint } from '../../support/frames.ts'
import { connect, sightingsOf, startHost, TEST_GENESIS } from '../../support/hosts.ts'
import { until } from '../../support/processes.ts'

const KAD = protocolId(TEST_GENESIS, 'kad')
const MIB = 1_048_576
const KINDS = { put: 0, get: 1, addProvider: 2, getProviders: 3, find: 4, ping: 5 } as const

const closing: (() => unknown)[] = []
let victim: VictimProcess
let address: string
beforeAll(async () => {
  victim = await VictimProcess.start({ dht: true })
  address = (await victim.report()).address
})
afterAll(() => victim.stop())
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  const { warnings } = await victim.report()
  expect(warnings).toEqual([])
})

async function host(): Promise<Host> {
  const started = await startHost({ dht: true })
  closing.push(() => started.stop())
  return started
}

async function attack(): Promise<Attacker> {
  const attacker = await Attacker.connect(address)
  closing.push(() => attacker.stop())
  return attacker
}

function message(kind: number, ...fields: readonly Uint8Array[]): Uint8Array {
  return prefixed(joined(Uint8Array.of(8, kind), Buffer.concat(fields)))
}

function many(count: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat(Array.from({ length: count }, () => bytes))
}

/** A content hash: the key under which the library of older releases stores providers. */
function contentKey(): Uint8Array {
  return joined(Uint8Array.of(0x12, 0x20), randomBytes(32))
}

/** The answer on a stream, up to its end. */
async function answerOf(attacker: Attacker, question: Uint8Array, protocol = KAD): Promise<Buffer> {
  const stream = await attacker.open(protocol)
  const chunks: Uint8Array[] = []
  const ended = new Promise<void>((resolve) => {
    stream.addEventListener('message', ({ data }) => void chunks.push(data.subarray()))
    for (const event of ['remoteCloseWrite', 'close'] as const) stream.addEventListener(event, () => resolve())
  })
  await attacker.send(stream, question)
  if (stream.status === 'open') await stream.close()
  if (stream.status === 'open') await ended
  return Buffer.concat(chunks)
}

async function cutFor(attacker: Attacker, offence: RegExp): Promise<void> {
  await until('the attacker is cut', () => attacker.cut, { everyMs: 10 })
  const { offences } = await victim.report()
  expect(offences.filter((line) => line.startsWith(attacker.id)).join('\n')).toMatch(offence)
}

/** A node with the DHT library of older releases. */
async function nodeOfBefore(): Promise<{ readonly node: Libp2p; readonly dht: KadDHT }> {
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    services: {
      identify: identify(),
      ping: ping(),
      dht: kadDHT({ protocol: KAD, clientMode: false, peerInfoMapper: passthroughMapper }),
    },
  })
  closing.push(() => node.stop())
  await node.start()
  return { node, dht: node.services.dht as KadDHT }
}

test('a provider named 70,000 times in one message is cut off at its first bytes', async () => {
  const attacker = await attack()
  const self = peerIdFromString(attacker.id).toMultihash().bytes
  const provider = field(9, joined(field(1, self), field(2, multiaddr('/ip4/1.1.1.1/tcp/1').bytes)))
  const bytes = message(KINDS.addProvider, field(2, contentKey()), many(70_000, provider))
  await attacker.send(await attacker.open(KAD), bytes)
  await cutFor(attacker, /oversize/)
})

test('peers that store anything here, or look for anything but nodes, are cut off', async () => {
  const key = field(2, contentKey())
  for (const bytes of [
    message(KINDS.addProvider, key),
    message(KINDS.put, field(2, Buffer.from('/pk/x')), field(3, field(1, Buffer.from('/pk/x')))),
    message(KINDS.get, key),
    message(KINDS.getProviders, key),
    message(KINDS.find),
    message(KINDS.find, field(2, randomBytes(65))),
    message(KINDS.find, key, field(8, field(1, randomBytes(34)))),
    prefixed(Uint8Array.of(8)),
  ]) {
    const attacker = await attack()
    await attacker.send(await attacker.open(KAD), bytes)
    await cutFor(attacker, /malformed/)
  }
})

test('a request that is too long, and two requests in one stream', async () => {
  for (const [bytes, offence] of [
    [joined(varint(CHANNELS.kad.requestMax + 1), Uint8Array.of(8, 4)), /oversize/],
    [joined(message(KINDS.ping), message(KINDS.ping)), /malformed/],
  ] as const) {
    const attacker = await attack()
    await attacker.send(await attacker.open(KAD), bytes)
    await cutFor(attacker, offence)
  }
})

test('a peer that asks again and again gets no more peers after a while', async () => {
  const other = await host()
  const { value: peer } = (await other.dial(address)) as { value: string }
  expect(peer).toBeDefined()
  const attacker = await attack()
  const find = message(KINDS.find, field(2, randomBytes(32)))
  const isTold = async (): Promise<boolean> => (await answerOf(attacker, find)).length > 10
  await until('the other node is told of', isTold, { everyMs: 2_000 })
  for (let i = 0; i < TABLE_QUESTIONS.burst; i++) await answerOf(attacker, find)
  // On a slow machine the allowance refills while it asks, so it asks until it is empty.
  const isToldOfNone = async (): Promise<boolean> => (await answerOf(attacker, find)).equals(message(KINDS.find))
  await until('it is told of no peer', isToldOfNone, { everyMs: 1 })
  expect(await answerOf(attacker, message(KINDS.ping))).toEqual(Buffer.from(message(KINDS.ping)))
})

test('a peer that asks the table without end is cut off', async () => {
  const attacker = await attack()
  const asked = message(KINDS.ping)
  const askOn = async (): Promise<void> => {
    while (!attacker.cut) await answerOf(attacker, asked).catch(() => undefined)
  }
  await Promise.all(Array.from({ length: 4 }, askOn))
  await cutFor(attacker, /flood streams/)
})

test('a ping is answered, once for each stream', async () => {
  const attacker = await attack()
  for (const [sent, given] of [
    [32, 32],
    [33, 0],
    [MIB, 0],
  ] as const) {
    const bytes = randomBytes(sent)
    const answer = await answerOf(attacker, bytes, PING_PROTOCOL)
    expect(Buffer.from(answer)).toEqual(bytes.subarray(0, given))
  }
})

test('answers that are too long or junk are dropped without blame', async () => {
  const asking = await host()
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { identify: identify() },
  })
  closing.push(() => node.stop())
  const nodeField = field(8, joined(field(1, randomBytes(38)), field(2, randomBytes(8))))
  const answers = [
    message(KINDS.find, many(70_000, nodeField)),
    message(KINDS.find, many(20, nodeField)),
    prefixed(randomBytes(500)),
    message(KINDS.find, many(100, nodeField)),
  ]
  let asked = 0
  await node.handle(KAD, async (stream) => {
    stream.send(answers[asked % answers.length] as Uint8Array)
    asked += 1
    await stream.close()
  })
  await node.start()
  const found: string[] = []
  asking.finder.onFound((peer, _, by) => void (by === 'kad' && found.push(peer)))
  expect((await asking.dial(String(node.getMultiaddrs()[0]))).ok).toBe(true)
  for (let i = 0; i < answers.length; i++) await asking.finder.walk()
  expect([asked, found]).toEqual([answers.length, []])
  expect(sightingsOf(asking)).toEqual({ offences: [], warnings: [] })
  expect(asking.peers().length).toBe(1)
})

test('a node of an older release finds others through us, and we through it', async () => {
  const [ours, other] = [await host(), await host()]
  await connect(other, ours)
  const { node, dht } = await nodeOfBefore()
  const addressOfOurs = ours.addresses()[0] as string
  await node.dial(multiaddr(addressOfOurs))
  await until(
    'it counts us in its table',
    () => (dht as unknown as { routingTable: { size: number } }).routingTable.size > 0,
  )
  await until('it is told of the other', async () => {
    for await (const event of dht.getClosestPeers(randomBytes(32), { signal: AbortSignal.timeout(10_000) }))
      if (event.name === 'PEER_RESPONSE' && event.closer.some(({ id }) => id.toString() === other.self)) return true
    return false
  })
  const newcomer = await host()
  const found: string[] = []
  newcomer.finder.onFound((peer, _, by, from) => void (by === 'kad' && found.push(`${peer} from ${from}`)))
  expect((await newcomer.dial(String(node.getMultiaddrs()[0]))).ok).toBe(true)
  const wanted = `${ours.self} from ${node.peerId.toString()}`
  const look = async (): Promise<boolean> => {
    await newcomer.finder.walk()
    return found.includes(wanted)
  }
  await until('we are told by it', look)
  expect([ours, other, newcomer].flatMap((each) => sightingsOf(each).offences)).toEqual([])
})
