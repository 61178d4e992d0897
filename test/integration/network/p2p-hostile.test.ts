import { randomBytes } from 'node:crypto'
import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { PeerId } from '../../../src/p2p/network.ts'
import { protocolId, topicId } from '../../../src/p2p/wire/protocols.ts'
import { Attacker, GOSSIP, HonestProcess, VictimProcess } from '../../support/attacker.ts'
import { field, gossipFrame, joined, prefixed, subscribeFrame, varint } from '../../support/frames.ts'
import { startHost, TEST_GENESIS } from '../../support/hosts.ts'
import { until } from '../../support/processes.ts'

const MIB = 1_048_576
const SENT_MAX = 16_000_000
const DROPPED_MS = 10_000
const MEMORY_MAX = 8 * MIB
const STATUS = protocolId(TEST_GENESIS, 'status')
const BODIES = protocolId(TEST_GENESIS, 'bodies')
const TRANSACTIONS = topicId(TEST_GENESIS, 'transactions')

let victim: VictimProcess
let address: string
let honest: HonestProcess
let attackers: Attacker[]

beforeAll(async () => {
  victim = await VictimProcess.start()
  address = (await victim.report()).address
  honest = await HonestProcess.start(address)
})
afterAll(async () => {
  await honest.stop()
  await victim.stop()
})

beforeEach(async () => {
  attackers = []
  await honest.servedMore()
})

afterEach(async () => {
  await honest.servedMore()
  await Promise.all(attackers.map((attacker) => attacker.stop()))
  await blamelessOf((await honest.report()).id)
  expect(victim.alive).toBe(true)
})

/** Checks that the victim did not warn, and did not blame an honest peer. */
async function blamelessOf(id: string): Promise<void> {
  const { warnings, offences } = await victim.report()
  expect(warnings).toEqual([])
  expect(offences.filter((offence) => offence.startsWith(id))).toEqual([])
}

/** After a flood from this machine the victim accepts no connection from it for a moment. */
const WELCOME = { everyMs: 500 }

async function attack(): Promise<Attacker> {
  const connect = (): Promise<Attacker | null> => Attacker.connect(address).catch(() => null)
  const attacker = await until('the victim takes a connection', connect, WELCOME)
  attackers.push(attacker)
  return attacker
}

async function dropped(attacker: Attacker, offence: RegExp): Promise<void> {
  await until('the attacker is cut', () => attacker.cut, { ms: DROPPED_MS, everyMs: 10 })
  expect(attacker.sentBytes).toBeLessThan(SENT_MAX)
  const { offences } = await victim.report()
  expect(offences.filter((line) => line.startsWith(attacker.id)).join('\n')).toMatch(offence)
}

/** How many more bytes the victim used at the peak of `work` than at rest. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  await setTimeout(300)
  const { bytes } = await victim.report()
  victim.bytesMax = 0
  await work()
  await victim.report()
  return victim.bytesMax - bytes
}

test('random bytes as gossip', async () => {
  const attacker = await attack()
  const stream = await attacker.open(GOSSIP)
  await attacker.flood(stream, randomBytes(65_536))
  await dropped(attacker, /malformed|oversize/)
  expect(attacker.sentBytes).toBeLessThan(MIB)
})

test('gossip frames that are junk inside', async () => {
  for (const frame of [
    prefixed(field(3, field(1, Uint8Array.of(0x0a, 0x7f)))),
    prefixed(field(2, Uint8Array.of(0x12, 0xff, 0xff, 0x03))),
    prefixed(field(3, Uint8Array.of(0x0f))),
    prefixed(field(77, new Uint8Array(MIB))),
    prefixed(Uint8Array.of(0x08, 0x01)),
  ]) {
    const attacker = await attack()
    await attacker.flood(await attacker.open(GOSSIP), frame)
    await dropped(attacker, /malformed/)
  }
})

test('a gossip frame that claims more than allowed', async () => {
  const attacker = await attack()
  await attacker.flood(await attacker.open(GOSSIP), joined(varint(3 * MIB), new Uint8Array(65_536)))
  await dropped(attacker, /oversize/)
  expect(attacker.sentBytes).toBeLessThan(MIB)
})

test('megabytes of unknown topics, of duplicates, of empty frames', async () => {
  const unknown = gossipFrame('/elsewhere', new Uint8Array(MIB))
  const duplicate = gossipFrame(TRANSACTIONS, randomBytes(6_000))
  for (const bytes of [unknown, joined(...Array.from({ length: 16 }, () => duplicate)), new Uint8Array(32_768)]) {
    const attacker = await attack()
    const stream = await attacker.open(GOSSIP)
    const growth = await growthDuring(() => attacker.flood(stream, bytes))
    await dropped(attacker, /flood/)
    expect(growth).toBeLessThan(MEMORY_MAX)
  }
})

test('rejected transactions', async () => {
  const attacker = await attack()
  const stream = await attacker.open(GOSSIP)
  for (let i = 0; i < 100 && !attacker.cut; i++) {
    await attacker.send(stream, gossipFrame(TRANSACTIONS, joined(Buffer.from('!'), randomBytes(3_000))))
  }
  await dropped(attacker, /bad-transaction/)
})

test('requests that never end', async () => {
  const attacker = await attack()
  const streams = await Promise.all(Array.from({ length: 8 }, () => attacker.open(STATUS)))
  const endMs = performance.now() + DROPPED_MS
  for (; !attacker.cut && performance.now() < endMs; await setTimeout(500)) {
    for (const stream of streams) await attacker.send(stream, Uint8Array.of(0x60))
  }
  await dropped(attacker, /timeout/)
})

test('a request that is longer than allowed, junk behind it, one that ends in the middle', async () => {
  for (const [bytes, offence] of [
    [joined(varint(2_000_000), new Uint8Array(1_000)), /oversize/],
    [joined(prefixed(new Uint8Array(10)), new Uint8Array(10)), /malformed/],
    [Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff), /oversize/],
  ] as const) {
    const attacker = await attack()
    await attacker.send(await attacker.open(STATUS), bytes)
    await dropped(attacker, offence)
  }
  const attacker = await attack()
  const stream = await attacker.open(STATUS)
  await attacker.send(stream, Uint8Array.of(10, 1, 2))
  await stream.close()
  await dropped(attacker, /malformed/)
})

for (const how of ['the socket', 'the streams']) {
  test(`pages that are asked for and not read: ${how}`, async () => {
    const attacker = await attack()
    const growth = await growthDuring(async () => {
      const opened = await Promise.all(Array.from({ length: 16 }, () => attacker.open(BODIES)))
      if (how === 'the socket') attacker.deafen()
      else for (const stream of opened) stream.pause()
      for (const stream of opened) {
        stream.send(prefixed(new Uint8Array(4)))
        attacker.sentBytes += 5
      }
      await until('the attacker is cut', async () => !(await victim.report()).peers.includes(attacker.id), {
        ms: DROPPED_MS,
        everyMs: 200,
      })
    })
    expect(growth).toBeLessThan(MEMORY_MAX)
  })
}

test('pings of the muxer whose answers are not read', async () => {
  const attacker = await attack()
  attacker.deafen()
  const growth = await growthDuring(async () => {
    const endMs = performance.now() + DROPPED_MS
    for (let round = 0; performance.now() < endMs && attacker.sentBytes < SENT_MAX; round++) {
      if (!attacker.cut) attacker.ping(5_000)
      await setTimeout(5)
      if (round % 20 === 19 && !(await victim.report()).peers.includes(attacker.id)) return
    }
  })
  expect((await victim.report()).peers).not.toContain(attacker.id)
  expect(growth).toBeLessThan(MEMORY_MAX)
})

test('2,000 streams at once', async () => {
  const attacker = await attack()
  const growth = await growthDuring(async () => {
    const opened = await Promise.allSettled(Array.from({ length: 2_000 }, () => attacker.open(STATUS)))
    expect(opened.some(({ status }) => status === 'rejected')).toBe(true)
  })
  expect(growth).toBeLessThan(MEMORY_MAX)
})

test('silent connections, and more nodes than there are places', async () => {
  const sockets: Socket[] = []
  const port = Number(address.split('/')[4])
  const growth = await growthDuring(async () => {
    for (let i = 0; i < 500; i++) {
      const socket = connectSocket(port, '127.0.0.1')
      socket.on('error', () => {})
      sockets.push(socket)
    }
    await setTimeout(1_000)
  })
  for (const socket of sockets) socket.destroy()
  expect(growth).toBeLessThan(MEMORY_MAX)
})

test('a peer that does not read its gossip', async () => {
  const publisher = await startHost()
  const dial = async (): Promise<PeerId | null> => {
    const dialled = await publisher.dial(address)
    return dialled.ok ? dialled.value : null
  }
  const peer = await until('the victim takes a connection', dial, WELCOME)
  publisher.subscribe('blocks', async () => 'accept')
  await until('the mesh', () => publisher.meshOf('blocks').includes(peer))
  const load = async (): Promise<void> => {
    // More than the socket buffers of both ends hold.
    for (let i = 0; i < 20; i++) {
      // Not `!` as the first byte: the victim would reject that.
      publisher.publish('blocks', joined(Buffer.from('.'), randomBytes(MIB)))
      await setTimeout(600)
    }
  }
  const alone = await growthDuring(load)
  await setTimeout(6_000)
  const attacker = await attack()
  await attacker.send(await attacker.open(GOSSIP), subscribeFrame(topicId(TEST_GENESIS, 'blocks')))
  await until('the victim has a stream to the attacker', () => attacker.connection.streams.length > 1)
  attacker.deafen()
  const withAttacker = await growthDuring(load)
  expect(withAttacker - alone).toBeLessThan(MEMORY_MAX)
  await until('the attacker is cut', async () => !(await victim.report()).peers.includes(attacker.id), {
    ms: DROPPED_MS,
    everyMs: 200,
  })
  await blamelessOf(publisher.self)
  await publisher.stop()
})
