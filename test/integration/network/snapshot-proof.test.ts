import { beforeAll, describe, expect, it } from 'vitest'
import { finishAdoption } from '../../../consensus/chain/adoption.ts'
import { collect, type KeyValueStore, MemoryKeyValueStore, type Write } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import { SpacedStore } from '../../../consensus/chain/spaced-store.ts'
import { ACCOUNTS } from '../../../consensus/ledger/account.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import {
  bool,
  byteList,
  container,
  decodeOwn,
  encode,
  hex32,
  safeUint64,
  uint8,
  uint32,
} from '../../../consensus/primitives/codec.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import type { StateKey } from '../../../consensus/state/table.ts'
import type { PageId } from '../../../consensus/state/tree.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import { readTaking, STAGES } from '../../../src/p2p/snapshot/taking-mark.ts'
import { replyCodec } from '../../../src/p2p/wire/messages.ts'
import { seeded } from '../../sim/miners.ts'
import { blocksFrom } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import {
  connect,
  type JoiningNode,
  joiningNode,
  type ServingNode,
  servingNode,
  takeSnapshot,
} from '../../support/snapshot-nodes.ts'
import { stateOf } from '../../support/snapshot-state.ts'
import { copyStore, DyingStore } from '../../support/stores.ts'

const RULES = restlessRuleBook()
const HEIGHT = 20
const OK = { ok: true, value: undefined }

/** The format of the progress mark in the first release. */
const FIRST_MARK = container('TakingMark', {
  ...{ height: uint32, id: hex32<BlockId>(), stage: uint8, after: byteList(256), begun: bool, leaves: safeUint64 },
  ...{ records: safeUint64, stale: bool, completeTo: byteList(256) },
})

let source: TestChain
let store: MemoryKeyValueStore
let server: ServingNode

beforeAll(async () => {
  store = new MemoryKeyValueStore()
  source = await TestChain.open(RULES, store)
  server = servingNode('server', source, store)
  await new RandomChain(source, seeded(7)).grow(HEIGHT)
})

const newest = () => server.snapshots.refs()[0] as never
const unproven = (height = source.height) => ({ ok: false, fault: fault('chain/state-unproven', { height }) })

async function node(disk: KeyValueStore, name = 'joining', rules = RULES): Promise<JoiningNode> {
  const joined = await joiningNode(rules, disk, name)
  await connect(joined, server)
  return joined
}

/**
 * A disk on which a snapshot was interrupted as soon as `isSoFar` holds. By default all is fetched, and the state is not read back and
 * proven yet.
 */
async function takenDisk(isSoFar = (disk: KeyValueStore) => readTaking(disk)?.stage === STAGES.derived) {
  const disk = new MemoryKeyValueStore()
  await TestChain.open(RULES, disk)
  for (let batches = 8; ; batches++) {
    const trial = await copyStore(disk)
    const life = await node(new DyingStore(trial, batches), `life ${batches}`)
    const taken = await takeSnapshot(life, source, newest()).catch(() => undefined)
    if (isSoFar(trial)) return trial
    if (taken?.ok) throw new Error('it was never so far')
  }
}

async function write(disk: KeyValueStore, ...writes: Write[]): Promise<void> {
  await disk.batch(writes, () => {})
}

/** Expects the node to be at the source's head, to have blamed no peer, and to follow the source. */
async function expectJoined({ test, peers, wire }: JoiningNode): Promise<void> {
  expect(await stateOf(test)).toEqual(await stateOf(source))
  expect((await auditState(test.chain)).sound).toBe(true)
  expect([wire.ended.size, peers.reputation.pointsOf(server.wire.self)]).toEqual([0, 0])
  test.nowMs = source.nowMs
  expect(await test.import(await source.mine())).toBe('connected')
}

const ACCOUNT = KEYS.state(ACCOUNTS.key(wallet(1).address))
const OTHER = KEYS.state(ACCOUNTS.key(wallet(9).address))

/** Gives an account the record of another one. */
function falseAccount(room: KeyValueStore): Write {
  return { key: ACCOUNT, value: room.get(OTHER) as Uint8Array }
}

/** Damage to stored records and pages. */
const DAMAGE: Record<string, (room: KeyValueStore) => Write | Promise<Write>> = {
  'a record that has another value': falseAccount,
  'a record that is gone': () => ({ key: ACCOUNT }),
  'a record of no table': () => ({ key: KEYS.state('ee01' as StateKey), value: Uint8Array.of(1) }),
  'a page that is gone': async (room) => {
    const [first] = await collect(room.range({ gte: KEYS.page('1' as PageId), limit: 1 }), ([key]) => key)
    return { key: first as Uint8Array }
  },
  'a page too many': () => ({ key: KEYS.page('0000000' as PageId), value: new Uint8Array(4) }),
}

describe('a state that was not proven', () => {
  it('is not adopted, whatever is on the disk', async () => {
    const disk = await takenDisk()
    const joined = await node(disk)
    const { chain } = joined.test
    expect(await chain.adopt(source.height)).toEqual(unproven())
    expect([chain.head.header.height, chain.moving]).toEqual([0, false])
    const means = { pacer: { due: () => false, pause: async () => {} }, stopped: () => false }
    expect(await chain.database.staged.prove(source.height, means)).toEqual(OK)
    const key = KEYS.state(ACCOUNTS.key(wallet(1).address))
    const room = chain.database.staged.store()
    await write(room, { key, value: room.get(key) as Uint8Array })
    expect(await chain.adopt(source.height)).toEqual(unproven())
    expect(await takeSnapshot(joined, source, newest())).toEqual(OK)
    await expectJoined(joined)
  })

  it('is proven in short slices, and gives up when the node stops', async () => {
    const joined = await node(await takenDisk())
    const { staged } = joined.test.chain.database
    let pauses = 0
    const pacer = { due: () => true, pause: async () => void pauses++ }
    expect(await staged.prove(source.height, { pacer, stopped: () => false })).toEqual(OK)
    expect(pauses).toBeGreaterThan(100)
    for (let left = 0; left < 80; left += 20) {
      let asked = 0
      const stopped = (): boolean => asked++ >= left
      expect(await staged.prove(source.height, { pacer, stopped })).toEqual({
        ok: false,
        fault: fault('chain/stopped'),
      })
      expect(staged.isProven(source.height)).toBe(false)
    }
  })

  for (const [name, damage] of Object.entries(DAMAGE)) {
    it(`is given up for ${name}, without blame, and fetched again`, async () => {
      const disk = await takenDisk()
      const room = (await TestChain.open(RULES, disk)).chain.database.staged.store()
      await write(room, await damage(room))
      const joined = await node(disk)
      expect(await takeSnapshot(joined, source, newest())).toEqual(unproven())
      expect(joined.test.height).toBe(0)
      expect(joined.peers.reputation.pointsOf(server.wire.self)).toBe(0)
      expect(await takeSnapshot(joined, source, newest())).toEqual(OK)
      await expectJoined(joined)
    })
  }
})

describe('a folder of the first release', () => {
  it('in the middle of a snapshot goes on with its true parts, with the same snapshot or a newer one', async () => {
    for (const blocks of [0, 3]) {
      const disk = await takenDisk()
      const mark = readTaking(disk)
      await write(disk, {
        key: KEYS.meta('taking'),
        value: encode(FIRST_MARK, { ...(mark as NonNullable<typeof mark>), completeTo: encodeText('f'.repeat(64)) }),
      })
      for (let i = 0; i < blocks; i++) await source.mine()
      const joined = await node(disk)
      server.wire.asked.length = 0
      expect(await takeSnapshot(joined, source, newest())).toEqual(OK)
      // The node does not ask again for pages that it has.
      if (blocks === 0) expect(server.wire.asked).not.toContain('statePages')
      await expectJoined(joined)
    }
  })

  const isAdopting = (disk: KeyValueStore): boolean => disk.get(KEYS.meta('adopting')) !== undefined

  it('that was adopting a wrong state gives it up, and can also begin by blocks', async () => {
    const disk = await takenDisk(isAdopting)
    const room = new SpacedStore(disk, 1)
    await write(room, falseAccount(room))
    // The node died after the headers were written and before the head moved.
    await finishAdoption(new MarklessStore(disk), () => {})
    expect(disk.get(KEYS.entry(source.chain.head.id))).toBeDefined()

    const byBlocks = await node(await copyStore(disk), 'by blocks')
    expect([byBlocks.test.height, byBlocks.test.chain.database.base]).toEqual([0, 0])
    byBlocks.test.nowMs = source.nowMs
    for (const block of blocksFrom(source, 1)) expect(await byBlocks.test.import(block)).toBe('connected')

    const bySnapshot = await node(disk, 'by snapshot')
    expect(bySnapshot.test.height).toBe(0)
    expect(await takeSnapshot(bySnapshot, source, newest())).toEqual(OK)
    await expectJoined(bySnapshot)
  })

  it('that was adopting the right state finishes', async () => {
    const disk = await takenDisk(isAdopting)
    await expectJoined(await node(disk))
  })
})

describe('a release with a further rule step', () => {
  it.each([
    ['in the middle of a take', STAGES.derived],
    ['as its state is adopted', 'adopting'],
  ])('goes on with nothing that the release before judged: %s', async (_, at) => {
    const isAdopting = (disk: KeyValueStore): boolean => disk.get(KEYS.meta('adopting')) !== undefined
    const disk = await (at === 'adopting' ? takenDisk(isAdopting) : takenDisk())
    const joined = await node(disk, 'later', restlessRuleBook(9_000))
    expect([joined.test.height, joined.sync.keptTip(), readTaking(disk)]).toEqual([0, undefined, undefined])
    expect(disk.get(KEYS.entry(source.chain.head.id))).toBeUndefined()
    expect(await takeSnapshot(joined, source, newest())).toEqual(OK)
    await expectJoined(joined)
  })
})

/** A store that drops writes of all marks (`KEYS.meta`), among them that of the head. */
class MarklessStore extends DyingStore {
  constructor(store: KeyValueStore) {
    super(store, Number.POSITIVE_INFINITY)
  }

  override batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    const mark = KEYS.meta('head')[0]
    return super.batch(
      writes.filter(({ key }) => key[0] !== mark),
      onDurable,
    )
  }
}

/** A path that no small tree has. */
const STRAY = encodeText('00000')

function sortedById<T extends { readonly id: Uint8Array }>(pages: readonly T[]): T[] {
  return pages.toSorted((a, b) => (toHex(a.id) < toHex(b.id) ? -1 : 1))
}

describe('a peer', () => {
  it('that serves pages left over from another state is not blamed, and the pages are not used', async () => {
    server.wire.tamper = (asked, bytes) => {
      if (asked !== 'statePages' || bytes[0] !== 0) return bytes
      const { pages, done } = decodeOwn(replyCodec(asked), bytes.subarray(1))
      // Below each page it adds one that the tree does not have, in order.
      const last = pages.at(-1)?.id ?? STRAY
      const strays = pages.map(({ id, form }) => ({ id: Uint8Array.of(...id, ...STRAY), form }))
      const all = [...pages, ...strays].filter(({ id }) => done || toHex(id) <= toHex(last))
      return Uint8Array.of(0, ...encode(replyCodec(asked), { pages: sortedById(all), done }))
    }
    const joined = await node(new MemoryKeyValueStore())
    expect(await takeSnapshot(joined, source, newest())).toEqual(OK)
    server.wire.tamper = (_, bytes) => bytes
    await expectJoined(joined)
  })

  it('that serves the rest after a restart is not blamed for what another left out before', async () => {
    const liar = servingNode('liar', source, store)
    await source.mine()
    liar.wire.tamper = (asked, bytes) => {
      if (asked !== 'stateRecords' || bytes[0] !== 0) return bytes
      const { records, done } = decodeOwn(replyCodec(asked), bytes.subarray(1))
      return Uint8Array.of(0, ...encode(replyCodec(asked), { records: records.slice(1), done }))
    }
    const disk = new MemoryKeyValueStore()
    const first = await joiningNode(RULES, disk, 'first life')
    await connect(first, liar)
    let left = 4
    const stopped = (): boolean => liar.wire.asked.includes('stateRecords') && left-- <= 0
    expect(await takeSnapshot(first, source, newest(), { stopped })).toMatchObject({ ok: false })
    expect(readTaking(disk)).toMatchObject({ stage: 1, begun: true })
    const second = await node(disk, 'second life')
    expect(await takeSnapshot(second, source, newest())).toEqual(OK)
    await expectJoined(second)
  })
})
