import { createHash } from 'node:crypto'
import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Stream } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Gossip } from '../../../src/p2p/host/gossip.ts'
import { LIB_BOUNDS, type LibBounds, STREAM_WRITES_MAX } from '../../../src/p2p/host/lib-bounds.ts'
import { buildNode, PEER_PROTOCOLS_MAX } from '../../../src/p2p/host/lib-node.ts'
import { Links } from '../../../src/p2p/host/links.ts'
import { protocolId, topicId } from '../../../src/p2p/wire/protocols.ts'
import { Attacker, GOSSIP, VictimProcess } from '../../support/attacker.ts'
import { field, joined, prefixed, subscribeFrame, varint } from '../../support/frames.ts'
import { connect, startHost, TEST_GENESIS } from '../../support/hosts.ts'
import { until } from '../../support/processes.ts'

const IDENTIFY = '/ipfs/id/1.0.0'
const PUSH = '/ipfs/id/push/1.0.0'
const AUTONAT = '/libp2p/autonat/1.0.0'
const STATUS = protocolId(TEST_GENESIS, 'status')

let victim: VictimProcess
let address: string
const closing: (() => unknown)[] = []
beforeAll(async () => {
  victim = await VictimProcess.start({ dht: true, autonat: true })
  address = (await victim.report()).address
})
afterAll(() => victim.stop())
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  expect((await victim.report()).warnings).toEqual([])
})

async function attack(): Promise<Attacker> {
  const attacker = await Attacker.connect(address)
  closing.push(() => attacker.stop())
  // Before the victim counts the attacker as connected, the muxer itself ends connections that open more than ten streams.
  await until('the victim is connected', async () => (await victim.report()).peers.includes(attacker.id), {
    everyMs: 20,
  })
  return attacker
}

async function cutFor(peer: string, about: RegExp): Promise<void> {
  const lines = async (): Promise<string> => {
    const { offences } = await victim.report()
    return offences.filter((line) => line.startsWith(peer)).join('\n')
  }
  await until('the attacker is blamed', async () => about.test(await lines()), { everyMs: 50 })
  await until('the attacker is cut', async () => !(await victim.report()).peers.includes(peer), { everyMs: 50 })
}

/** An identify message of `bytesMax` bytes, full of addresses. */
function manyAddresses(bytesMax: number): Uint8Array {
  const parts: Uint8Array[] = []
  for (let i = 0, bytes = 0; ; i++) {
    const part = field(2, multiaddr(`/ip4/1.${i >> 16}.${(i >> 8) & 255}.${i & 255}/tcp/1`).bytes)
    bytes += part.length
    if (bytes > bytesMax) return prefixed(joined(...parts))
    parts.push(part)
  }
}

/** Sends on a stream and waits until the other end has answered or reset it. */
async function ask(stream: Stream, question: Uint8Array): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    for (const event of ['remoteCloseWrite', 'close'] as const) stream.addEventListener(event, () => resolve())
  })
  if (question.length > 0 && stream.status === 'open') stream.send(question)
  if (stream.status === 'open' && stream.remoteWriteStatus === 'writable') await ended
  // The stream is closed, because the victim answers one stream at a time.
  if (stream.status === 'open') await stream.close()
}

interface Muxer {
  readonly maConn: { send(bytes: Uint8Array): void }
  handleFrame(frame: { readonly header: Readonly<Record<'type' | 'flag' | 'streamID', number>> }): void
}

/** Kinds of frames, and flags. */
const DATA = 0
const WINDOW = 1
const SYN = 1
const RST = 8

function windowFrame(stream: number, flag: number): Uint8Array {
  const bytes = Buffer.alloc(12)
  bytes[1] = WINDOW
  bytes.writeUInt16BE(flag, 2)
  bytes.writeUInt32BE(stream, 4)
  return bytes
}

function dataFrame(stream: number, flag: number, data: Uint8Array): Uint8Array {
  const header = Buffer.from(windowFrame(stream, flag))
  header[1] = DATA
  header.writeUInt32BE(data.length, 8)
  return joined(header, data)
}

test('streams that are reset as soon as they are opened', async () => {
  const attacker = await attack()
  const { muxer } = attacker.connection as unknown as { muxer: Muxer }
  const pairs = Array.from({ length: 400 }, (_, i) =>
    joined(windowFrame(10_001 + 2 * i, SYN), windowFrame(10_001 + 2 * i, RST)),
  )
  muxer.maConn.send(joined(...pairs))
  await cutFor(attacker.id, /flood streams/)
})

test('empty frames delay their sender, and no other peer', async () => {
  const asker = await attack()
  const crowd = await Promise.all(Array.from({ length: 4 }, () => attack()))
  const frames = joined(...Array.from({ length: 1_000 }, () => windowFrame(30_001, 0)))
  for (const { connection } of crowd) {
    const { muxer } = connection as unknown as { muxer: Muxer }
    for (let i = 0; i < 90; i++) muxer.maConn.send(frames)
  }
  for (const peer of [asker, ...crowd]) await ask(await peer.open(STATUS), prefixed(new Uint8Array(10)))
  const { offences } = await victim.report()
  expect(offences.filter((line) => [asker, ...crowd].some(({ id }) => line.startsWith(id)))).toEqual([])
})

test('streams with a request each', async () => {
  const asker = await attack()
  for (let i = 0; i < 400; i++) await ask(await asker.open(STATUS), prefixed(new Uint8Array(10)))
  expect(asker.cut).toBe(false)
})

test('a stream that accepts no protocol is reset after some answers', async () => {
  const attacker = await attack()
  const { muxer } = attacker.connection as unknown as { muxer: Muxer }
  const take = muxer.handleFrame.bind(muxer)
  let answers = 0
  let reset = false
  muxer.handleFrame = (frame) => {
    const { streamID, type, flag } = frame.header
    if (streamID === 20_001 && type === DATA) answers++
    if (streamID === 20_001 && (flag & RST) === RST) reset = true
    take(frame)
  }
  const asking = joined(...Array.from({ length: 1_000 }, () => prefixed(Buffer.from('/no\n'))))
  muxer.maConn.send(dataFrame(20_001, SYN, asking))
  await until('the stream is reset', () => reset)
  expect(answers).toBeLessThanOrEqual(STREAM_WRITES_MAX)
  expect(attacker.cut).toBe(false)
})

test('a push of ten messages of identify is cut off', async () => {
  const attacker = await attack()
  const message = manyAddresses(8_000)
  await attacker.send(await attacker.open(PUSH), joined(...Array.from({ length: 10 }, () => message)))
  await cutFor(attacker.id, /oversize \/ipfs\/id\/push/)
})

/** An address with a long peer id. Writing it in base 58 takes time with the square of its length. */
function longAddress(bytes: number): Uint8Array {
  return joined(varint(421), prefixed(joined(Uint8Array.of(0x12), prefixed(new Uint8Array(bytes).fill(255)))))
}

test('a push of identify with an address of thousands of bytes is cut off', async () => {
  const attacker = await attack()
  await attacker.send(await attacker.open(PUSH), prefixed(field(2, longAddress(7_900))))
  await cutFor(attacker.id, /oversize \/ipfs\/id\/push/)
})

test('a push of identify with such an address in a signed record is cut off', async () => {
  const attacker = await attack()
  const record = joined(field(1, Buffer.from('id')), field(3, field(1, longAddress(7_800))))
  const envelope = joined(field(1, Buffer.from('key')), field(3, record), field(5, Buffer.from('signature')))
  await attacker.send(await attacker.open(PUSH), prefixed(field(8, envelope)))
  await cutFor(attacker.id, /oversize \/ipfs\/id\/push/)
})

test('a push of identify with addresses by the thousand is cut off', async () => {
  const attacker = await attack()
  const message = joined(...Array.from({ length: 1_900 }, () => field(2, multiaddr('/http').bytes)))
  await attacker.send(await attacker.open(PUSH), prefixed(message))
  await cutFor(attacker.id, /oversize \/ipfs\/id\/push/)
})

test('a peer whose answer to identify is too long is cut off', async () => {
  const node = await createLibp2p({
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
  })
  closing.push(() => node.stop())
  const message = manyAddresses(8_000)
  await node.handle(IDENTIFY, (stream) => void stream.send(joined(...Array.from({ length: 10 }, () => message))))
  await node.start()
  await node.dial(multiaddr(address))
  await cutFor(node.peerId.toString(), /oversize \/ipfs\/id\/1/)
})

test('a peer that repeats identify or autonat requests is answered only some times', async () => {
  const attacker = await attack()
  const { muxer } = attacker.connection as unknown as { muxer: Muxer }
  const take = muxer.handleFrame.bind(muxer)
  let resets = 0
  muxer.handleFrame = (frame) => {
    if ((frame.header.flag & RST) === RST) resets++
    take(frame)
  }
  for (const [protocol, question] of [
    [IDENTIFY, new Uint8Array(0)],
    [AUTONAT, prefixed(Uint8Array.of(8, 0))],
  ] as const) {
    const { burst } = (LIB_BOUNDS.get(protocol) as LibBounds).answered
    resets = 0
    for (let i = 0; i < 4 * burst; i++) await ask(await attacker.open(protocol), question)
    expect(resets).toBeGreaterThan(burst)
    // The library asked once by itself when it connected.
    expect(resets).toBeLessThanOrEqual(3 * burst + 1)
  }
})

test('a question of autonat that names addresses by the hundred is cut off', async () => {
  const attacker = await attack()
  const id = field(1, createHash('sha256').update('x').digest())
  const addresses = Array.from({ length: 200 }, (_, i) => field(2, multiaddr(`/ip4/127.0.0.1/tcp/${i + 1}`).bytes))
  const dial = field(2, field(1, joined(id, ...addresses)))
  await attacker.send(await attacker.open(AUTONAT), prefixed(joined(Uint8Array.of(8, 0), dial)))
  await cutFor(attacker.id, /oversize \/libp2p\/autonat/)
})

test('honest hosts still tell each other where they listen', async () => {
  const [one, two] = await Promise.all([startHost({ dht: true }), startHost({ dht: true })])
  closing.push(
    () => one.stop(),
    () => two.stop(),
  )
  const told: string[] = []
  two.finder.onFound((peer, addresses, by) => void told.push(`${by} ${peer} ${addresses[0]}`))
  await connect(one, two)
  const port = (one.addresses()[0] as string).split('/')[4]
  await until('one said where it is', () => told.includes(`identify ${one.self} /ip4/127.0.0.1/tcp/${port}`))
})

/** A libp2p node with our settings, without our host around it. */
async function bareNode(): Promise<Awaited<ReturnType<typeof buildNode>>['node']> {
  const log = { debug: () => {}, info: () => {}, warn: () => {} }
  const clock = { now: () => 0 }
  const links = new Links({ clock, log, blame: () => {}, ended: () => {} })
  const gossip = new Gossip({ genesis: TEST_GENESIS, links, log, blame: () => {} })
  const { node } = await buildNode(
    {
      ...{ key: await generateKeyPair('Ed25519'), genesis: TEST_GENESIS, agent: 'test', clock },
      ...{ listen: { host: '127.0.0.1', port: 0 }, announce: null, inboundMax: 8, outboundMax: 8 },
      ...{ dht: false, mdns: false, upnp: false, autonat: false, allowPrivate: true },
    },
    { gater: {}, table: null, gossip },
  )
  node.addEventListener('connection:open', ({ detail }) => links.add(detail))
  return node
}

test('what a peer says of itself is stored without its addresses, and with some of its protocols', async () => {
  const node = await bareNode()
  const peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519'))
  const multiaddrs = Array.from({ length: 1_000 }, (_, i) => multiaddr(`/ip4/1.1.1.1/tcp/${i + 1}`))
  const addresses = multiaddrs.map((address) => ({ multiaddr: address, isCertified: true }))
  const protocols = Array.from({ length: 1_000 }, (_, i) => `/p/${i}`)
  await node.peerStore.patch(peer, { addresses, protocols })
  await node.peerStore.merge(peer, { multiaddrs, protocols: ['/ours/1'] })
  const noted = await node.peerStore.get(peer)
  expect(noted.addresses).toEqual([])
  expect(noted.protocols).toHaveLength(PEER_PROTOCOLS_MAX + 1)
  expect(noted.protocols).toContain('/ours/1')
})

test('a good peer that names others by gossip does not make us connect to them', async () => {
  const node = await bareNode()
  await node.start()
  closing.push(() => node.stop())
  interface Inside {
    subscribe(topic: string): void
    readonly score: { score(): number }
    readonly opts: { readonly scoreParams: { readonly topicScoreCap: number } }
    handlePrune(id: string, prunes: unknown): Promise<void>
    pxConnect(peers: unknown): Promise<void>
  }
  const { gossip } = node.services as unknown as { gossip: Inside }
  const topic = topicId(TEST_GENESIS, 'transactions')
  gossip.subscribe(topic)
  gossip.score.score = () => gossip.opts.scoreParams.topicScoreCap
  let told = 0
  gossip.pxConnect = async () => void told++
  let pruned = 0
  const handlePrune = gossip.handlePrune.bind(gossip)
  gossip.handlePrune = async (...prune) => {
    await handlePrune(...prune)
    pruned++
  }
  const attacker = await Attacker.connect((node.getMultiaddrs()[0] as Multiaddr).toString())
  closing.push(() => attacker.stop())
  const id = joined(Uint8Array.of(0x12), prefixed(new Uint8Array(200).fill(255)))
  const prune = prefixed(field(3, field(4, joined(field(1, Buffer.from(topic)), field(2, field(1, id))))))
  await attacker.send(await attacker.open(GOSSIP), joined(subscribeFrame(topic), prune))
  await until('it was heard', () => pruned > 0)
  expect(told).toBe(0)
})

test('a peer that names another by an id of a MiB is cut off', async () => {
  const attacker = await attack()
  const id = joined(Uint8Array.of(0x12), prefixed(new Uint8Array(1_000_000)))
  await attacker.send(await attacker.open(GOSSIP), prefixed(field(3, field(4, field(2, field(1, id))))))
  await cutFor(attacker.id, /oversize gossip/)
})
