import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Block, bodySize } from '../../../consensus/block/block.ts'
import { type KeyValueStore, MemoryKeyValueStore, type Write } from '../../../consensus/chain/key-value.ts'
import { BASE_MARK, decodeEntry, encodeEntry, HELD_MARK, KEYS } from '../../../consensus/chain/layout.ts'
import { encode } from '../../../consensus/primitives/codec.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { Backfill } from '../../../src/p2p/snapshot/backfill.ts'
import { PAGE_BYTES } from '../../../src/p2p/wire/protocols.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { testRuleBook } from '../../support/network.ts'
import {
  type Asker,
  askerOf,
  type ServedNode,
  type StoredChain,
  startServed,
  storedChain,
} from '../../support/served-node.ts'
import { connect } from '../../support/snapshot-nodes.ts'
import { dumpStore } from '../../support/stores.ts'
import { IMPATIENT, peersOver, SILENT, Wire } from '../../support/wire.ts'

const RULES = testRuleBook()
/** Two blocks of so many transactions exceed a reply. */
const PER_BLOCK = 250
const LARGE = 3
const HEIGHT = 6
const NONE_HELD = { witnessesFrom: HEIGHT + 1, bodiesFrom: HEIGHT + 1 }

const original = new MemoryKeyValueStore()
let full: TestChain
const blocks: Block[] = []

beforeAll(async () => {
  full = await TestChain.open(RULES, original)
  for (let n = 0; n < LARGE; n++) {
    const payload = { to: wallet(9).address, amount: 1n as never, create: false }
    const signed = Array.from({ length: PER_BLOCK }, (_, i) => full.tx(wallet(1 + (i % 8)), 'transfer', payload))
    blocks.push(await full.mine(await Promise.all(signed)))
  }
  while (full.height < HEIGHT) blocks.push(await full.mine())
})

let stored: StoredChain
let served: ServedNode
let asker: Asker

beforeEach(async () => {
  stored = await storedChain(RULES)
})

afterEach(async () => {
  await asker?.stop()
  await served?.stop()
  await stored.close()
})

/** Writes the chain as a node has it that began from a snapshot at the head: no bodies, and entries without facts of the body. */
async function fromSnapshot(store: KeyValueStore): Promise<void> {
  const writes: Write[] = []
  for (const [key, value] of original.entries(new Uint8Array(0))) {
    const [prefix] = key
    const isBody = prefix === KEYS.bodies('' as BlockId)[0] || prefix === KEYS.witnesses('' as BlockId)[0]
    const isEntry = prefix === KEYS.entry('' as BlockId)[0]
    if (!isBody) writes.push({ key, value: isEntry ? bare(value) : value })
  }
  writes.push({ key: KEYS.meta('held'), value: encode(HELD_MARK, NONE_HELD) })
  writes.push({ key: KEYS.meta('base'), value: encode(BASE_MARK, { height: HEIGHT }) })
  await store.batch(writes, () => {})
}

function bare(entry: Uint8Array): Uint8Array {
  return encodeEntry({ ...decodeEntry(entry), totalTransactions: 0, bodyBytes: 0 })
}

/** Writes the bodies as older releases did, without their sizes. */
async function filledWithoutSizes(store: KeyValueStore): Promise<void> {
  await fromSnapshot(store)
  const writes = [...(await original.entries(new Uint8Array(0)))].filter(([key]) =>
    [KEYS.bodies('' as BlockId)[0], KEYS.witnesses('' as BlockId)[0]].includes(key[0]),
  )
  const mark = { key: KEYS.meta('held'), value: encode(HELD_MARK, { bodiesFrom: 0, witnessesFrom: 0 }) }
  await store.batch([...writes.map(([key, value]) => ({ key, value })), mark], () => {})
}

async function reopened(): Promise<void> {
  stored = { ...stored, test: await TestChain.open(RULES, stored.store) }
}

async function asked(ids: readonly BlockId[]) {
  served = await startServed(stored)
  asker = await askerOf(served, stored.test)
  return asker.peers.exchange.ask(asker.server, 'bodies', ids as BlockId[])
}

function archive() {
  const wire = new Wire('archive')
  const peers = peersOver(
    wire,
    RULES,
    () => ({ height: HEIGHT }),
    () => full.nowMs,
  )
  peers.exchange.answer('bodies', (_, ids) => ({
    reply: ids.map((id) => (full.chain.database.transactions(id) ?? []).map((tx) => encodeTransaction(tx))),
  }))
  return { wire, peers }
}

function backfillOf({ chain, nowMs }: TestChain) {
  const wire = new Wire('filling')
  const peers = peersOver(
    wire,
    RULES,
    () => ({}),
    () => nowMs,
  )
  const clock = { now: () => nowMs }
  const wanted = () => ({ bodiesFrom: 0, witnessesFrom: 0 })
  const onFatal = (error: unknown): void => {
    throw error
  }
  const backfill = new Backfill({
    ...{ chain, peers, clock, timers: IMPATIENT, log: SILENT, wanted, allowed: () => true, onFatal },
  })
  return { wire, peers, backfill }
}

function sizesIn({ chain: { database } }: TestChain): readonly (number | undefined)[] {
  return blocks.map(({ id }) => database.entry(id)?.bodyBytes)
}

const LARGE_IDS = (): BlockId[] => blocks.slice(0, LARGE).map(({ id }) => id)

describe('blocks that were fetched after a snapshot', () => {
  it('are stored with their true sizes, which show at once and after a restart', async () => {
    await fromSnapshot(stored.store)
    await reopened()
    expect(sizesIn(stored.test)).toEqual(blocks.map(() => 0))
    const filling = backfillOf(stored.test)
    await connect(filling, archive())
    filling.backfill.start()
    while (await filling.backfill.step());
    await filling.backfill.stop()
    const sizes = blocks.map(({ transactions }) => bodySize(transactions))
    expect(stored.test.chain.database.held).toEqual({ bodiesFrom: 0, witnessesFrom: 0 })
    expect(sizesIn(stored.test)).toEqual(sizes)
    await reopened()
    expect(sizesIn(stored.test)).toEqual(sizes)
  })

  it('that an older release stored without sizes get them at the next start, once', async () => {
    await filledWithoutSizes(stored.store)
    await reopened()
    const filling = backfillOf(stored.test)
    while (await filling.backfill.step());
    expect(sizesIn(stored.test)).toEqual(blocks.map(({ transactions }) => bodySize(transactions)))
    const after = await dumpStore(stored.store)
    await reopened()
    const again = backfillOf(stored.test)
    while (await again.backfill.step());
    expect(await dumpStore(stored.store)).toEqual(after)
  })

  it('are served in replies of at most a page, with or without known sizes', async () => {
    await filledWithoutSizes(stored.store)
    await reopened()
    const reply = await asked(LARGE_IDS())
    if (!reply.ok) throw new Error(JSON.stringify(reply.fault))
    const [first] = blocks as [Block]
    expect(reply.value).toEqual([first.transactions.map(encodeTransaction)])
    expect(bodySize(first.transactions)).toBeLessThan(PAGE_BYTES)
    expect(served.offences).toEqual([])
  })
})

describe('a request for bodies', () => {
  it('that names a block 128 times is not answered, and its sender is banned', async () => {
    await filledWithoutSizes(stored.store)
    await reopened()
    const reply = await asked(Array.from({ length: 128 }, () => blocks[0]?.id as BlockId))
    expect(reply.ok).toBe(false)
    expect(served.offences).toEqual([{ peer: asker.self, offence: 'malformed' }])
  })

  it('for the newest blocks is answered as usual', async () => {
    await filledWithoutSizes(stored.store)
    await reopened()
    const ids = blocks.slice(LARGE - 1).map(({ id }) => id)
    const reply = await asked(ids)
    expect(reply).toMatchObject({
      ok: true,
      value: blocks.slice(LARGE - 1).map(({ transactions }) => transactions.map(encodeTransaction)),
    })
  })
})
