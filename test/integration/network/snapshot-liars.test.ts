import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { decodeOwn, encode } from '../../../consensus/primitives/codec.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import type { OFFENCES } from '../../../src/p2p/peers/offences.ts'
import { type ReplyOf, replyCodec } from '../../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import { seeded } from '../../sim/miners.ts'
import { TestChain } from '../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import { connect, joiningNode, servingNode, takeSnapshot } from '../../support/snapshot-nodes.ts'
import { DyingStore } from '../../support/stores.ts'
import type { Tamper } from '../../support/wire.ts'

const RULES = restlessRuleBook()
const HEIGHT = 20

let test: TestChain
let store: MemoryKeyValueStore

beforeAll(async () => {
  store = new MemoryKeyValueStore()
  test = await TestChain.open(RULES, store)
})

/** A server with a snapshot of the chain's head. */
async function serverAt(name: string) {
  const server = servingNode(name, test, store)
  if (test.height === 0) await new RandomChain(test, seeded(7)).grow(HEIGHT)
  else await test.mine()
  return server
}

/** Changes the replies of a protocol. */
function lie<P extends ProtocolName>(protocol: P, change: (reply: ReplyOf<P>, nth: number) => ReplyOf<P>): Tamper {
  let count = 0
  return (asked, bytes) => {
    if (asked !== protocol || bytes[0] !== 0) return bytes
    const changed = change(decodeOwn(replyCodec(protocol), bytes.subarray(1)), count++)
    return Uint8Array.of(0, ...encode(replyCodec(protocol), changed))
  }
}

function flipped(bytes: Uint8Array, at = bytes.length - 1): Uint8Array {
  return bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
}

const LIES: Record<string, { readonly tamper: () => Tamper; readonly offence: keyof typeof OFFENCES }> = {
  'a page with another hash in it': {
    tamper: () =>
      lie('statePages', ({ pages, done }) => ({
        pages: pages.map(({ id, form }) => ({ id, form: flipped(form) })),
        done,
      })),
    offence: 'bad-state',
  },
  'a page with another leaf': {
    tamper: () =>
      lie('statePages', ({ pages, done }) => ({
        pages: pages.map(({ id, form }) => ({ id, form: flipped(form, 5) })),
        done,
      })),
    offence: 'bad-state',
  },
  'a page left out': {
    tamper: () => lie('statePages', ({ pages, done }, nth) => ({ pages: nth === 1 ? pages.slice(1) : pages, done })),
    offence: 'bad-state',
  },
  'pages that end too early': {
    tamper: () => lie('statePages', ({ pages }) => ({ pages, done: true })),
    offence: 'bad-state',
  },
  'no pages at all': { tamper: () => lie('statePages', () => ({ pages: [], done: false })), offence: 'bad-state' },
  'a page that is none': {
    tamper: () =>
      lie('statePages', ({ pages, done }) => ({
        pages: pages.map(({ id }) => ({ id, form: new Uint8Array(3) })),
        done,
      })),
    offence: 'bad-state',
  },
  'a record of another value': {
    tamper: () =>
      lie('stateRecords', ({ records, done }) => ({
        records: records.map(({ key, value }) => ({ key, value: flipped(value) })),
        done,
      })),
    offence: 'bad-state',
  },
  'a record more than there are': {
    tamper: () =>
      lie('stateRecords', ({ records, done }) => ({
        records: [...records, { key: new Uint8Array(33).fill(0xdf), value: new Uint8Array(4) }],
        done,
      })),
    offence: 'bad-state',
  },
  'a record twice': {
    tamper: () =>
      lie('stateRecords', ({ records, done }) => ({ records: records.flatMap((record) => [record, record]), done })),
    offence: 'bad-state',
  },
  'records that end too early': {
    tamper: () => lie('stateRecords', ({ records }) => ({ records, done: true })),
    offence: 'bad-state',
  },
  'a record left out': {
    tamper: () =>
      lie('stateRecords', ({ records, done }, nth) => ({ records: nth === 0 ? records.slice(1) : records, done })),
    offence: 'bad-state',
  },
  'keys of no account': {
    tamper: () => lie('keyPages', ({ done }) => ({ keys: [new Uint8Array(9)], done })),
    offence: 'bad-keys',
  },
  'keys again and again': { tamper: () => lie('keyPages', () => ({ keys: [], done: false })), offence: 'bad-keys' },
}

describe('a peer that gives', () => {
  for (const [name, { tamper, offence }] of Object.entries(LIES)) {
    it(`${name} is thrown out, and the state comes from others`, async () => {
      const liar = await serverAt('liar')
      liar.wire.tamper = tamper()
      const node = await joiningNode(RULES, new MemoryKeyValueStore())
      await connect(node, liar)
      const snapshot = liar.snapshots.refs()[0] as never
      expect(await takeSnapshot(node, test, snapshot)).toMatchObject({
        ok: false,
        fault: { code: 'p2p/snapshot-unserved' },
      })
      expect(node.wire.ended.get(liar.wire.self)).toBe(offence)
      expect(node.test.height).toBe(0)

      const honest = servingNode('honest', test, store)
      honest.snapshots.start()
      await test.mine()
      const newer = honest.snapshots.refs()[0] as never
      await connect(node, honest)
      expect(await takeSnapshot(node, test, newer)).toEqual({ ok: true, value: undefined })
      expect(node.test.chain.head.id).toBe(test.chain.head.id)
      expect((await auditState(node.test.chain)).sound).toBe(true)
      expect(node.wire.ended.has(honest.wire.self)).toBe(false)
    })
  }
})

/**
 * Ids of a stray page at the end of a reply, each made from the reply's pages. If the node asked for the pages after such an id, an honest
 * peer would answer with pages that the reply gave already.
 */
const STRAYS: Record<string, (pages: ReplyOf<'statePages'>['pages']) => Uint8Array> = {
  'from before all of them': () => new Uint8Array(0),
  'that it gave before': (pages) => (pages[1] ?? pages[0])?.id ?? new Uint8Array(0),
}

describe('a true reply with a page at its end', () => {
  for (const [name, idOf] of Object.entries(STRAYS)) {
    it(`${name} has no honest peer thrown out`, async () => {
      const honest = ['h1', 'h2', 'h3'].map((peer) => servingNode(peer, test, store, { most: 3 }))
      const liar = await serverAt('liar')
      liar.wire.tamper = lie('statePages', ({ pages, done }) => {
        return { pages: [...pages, { id: idOf(pages), form: new Uint8Array(4) }], done }
      })
      const node = await joiningNode(RULES, new MemoryKeyValueStore())
      for (const server of [liar, ...honest]) await connect(node, server)
      const snapshot = liar.snapshots.refs()[0] as never
      expect(await takeSnapshot(node, test, snapshot)).toEqual({ ok: true, value: undefined })
      expect(node.test.chain.head.id).toBe(test.chain.head.id)
      expect(honest.map(({ wire }) => node.peers.reputation.pointsOf(wire.self))).toEqual([0, 0, 0])
    })
  }
})

describe('a take that is broken off', () => {
  it('goes on from every point at which the process dies, and ends with the same state', {
    timeout: 120_000,
  }, async () => {
    const server = await serverAt('server')
    const snapshot = server.snapshots.refs()[0] as never
    let died = 0
    for (let batches = 1; ; batches++) {
      const disk = new MemoryKeyValueStore()
      await TestChain.open(RULES, disk)
      const first = await joiningNode(RULES, new DyingStore(disk, batches), `joining ${batches}`)
      await connect(first, server)
      const taken = await takeSnapshot(first, test, snapshot).catch(() => undefined)
      if (taken?.ok) break
      died += 1
      const again = await joiningNode(RULES, disk, `again ${batches}`)
      if (again.test.height === 0) {
        await connect(again, server)
        expect(await takeSnapshot(again, test, snapshot)).toEqual({ ok: true, value: undefined })
      }
      expect(again.test.chain.head.id).toBe(test.chain.head.id)
      expect((await auditState(again.test.chain)).sound).toBe(true)
    }
    expect(died).toBeGreaterThan(20)
    expect(server.wire.ended.size).toBe(0)
  })

  it('goes on with a newer snapshot where no peer serves the old one any more', async () => {
    const server = await serverAt('server')
    const disk = new MemoryKeyValueStore()
    const node = await joiningNode(RULES, disk)
    await connect(node, server)
    for (let replies = 2; replies <= 40; replies += 4) {
      const snapshot = server.snapshots.refs()[0] as never
      let left = replies
      const stopped = (): boolean => left-- <= 0
      const taken = await takeSnapshot(node, test, snapshot, { stopped })
      if (taken.ok) break
      expect(taken.fault.code).toBe('chain/stopped')
      await test.mine()
    }
    const last = server.snapshots.refs()[0] as never
    if (node.test.height === 0) expect(await takeSnapshot(node, test, last)).toEqual({ ok: true, value: undefined })
    expect((await auditState(node.test.chain)).sound).toBe(true)
    expect(node.wire.ended.size).toBe(0)
  })
})
