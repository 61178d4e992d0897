import { beforeAll, describe, expect, it } from 'vitest'
import { UNDO_BLOCKS } from '../../../consensus/chain/database.ts'
import { changeHeld } from '../../../consensus/chain/held-bodies.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { Backfill } from '../../../src/p2p/snapshot/backfill.ts'
import { heldRange } from '../../../src/p2p/sync/snapshot-door.ts'
import { PROTOCOLS } from '../../../src/p2p/wire/protocols.ts'
import { exportBlocks } from '../../../src/storage/block-file.ts'
import { KEPT_BLOCKS, Pruning, type Retention, wantedFrom } from '../../../src/storage/pruning.ts'
import { seeded } from '../../sim/miners.ts'
import { TestChain } from '../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import { connect } from '../../support/snapshot-nodes.ts'
import { copyStore, DyingStore } from '../../support/stores.ts'
import { IMPATIENT, peersOver, SILENT, Wire } from '../../support/wire.ts'

const RULES = restlessRuleBook()
const HEIGHT = 60
const DAY = 28_800

let full: TestChain
let store: MemoryKeyValueStore

beforeAll(async () => {
  store = new MemoryKeyValueStore()
  full = await TestChain.open(RULES, store)
  await new RandomChain(full, seeded(3)).grow(HEIGHT)
})

function onFatal(error: unknown): void {
  throw error
}

/** A copy of the chain without the bodies and witnesses below given heights, as if they had been pruned. */
async function lacking(
  bodiesFrom: number,
  witnessesFrom: number,
): Promise<{ test: TestChain; copy: MemoryKeyValueStore }> {
  const copy = await copyStore(store)
  const test = await TestChain.open(RULES, copy)
  const { database } = test.chain
  const ids = (to: number) => Array.from({ length: Math.max(0, to - 1) }, (_, i) => database.idAt(i + 1) as BlockId)
  await changeHeld(database, () => ({
    held: { bodiesFrom, witnessesFrom },
    writes: [
      ...ids(bodiesFrom).map((id) => ({ key: KEYS.bodies(id) })),
      ...ids(witnessesFrom).map((id) => ({ key: KEYS.witnesses(id) })),
    ],
  }))
  return { test: await TestChain.open(RULES, copy), copy }
}

/** Checks block by block that the store holds what its mark says. */
function expectTrue({ chain: { database, head } }: TestChain): void {
  const { bodiesFrom, witnessesFrom } = database.held
  for (let height = 1; height <= head.header.height; height++) {
    const id = database.idAt(height) as BlockId
    expect(database.transactionIds(id) !== undefined, `bodies at ${height}`).toBe(height >= bodiesFrom)
    expect(database.block(id) !== undefined, `witnesses at ${height}`).toBe(
      height >= Math.max(bodiesFrom, witnessesFrom),
    )
  }
}

/** A peer that serves bodies of the whole chain, `blocks` at a time; `spoil` changes what it sends. */
function archive(
  spoil: (transactions: Uint8Array[]) => Uint8Array[] = (same) => same,
  { name = 'archive', blocks = 5 } = {},
) {
  const wire = new Wire(name)
  const peers = peersOver(
    wire,
    RULES,
    () => ({ height: HEIGHT }),
    () => full.nowMs,
  )
  peers.exchange.answer('bodies', (_, ids) => ({
    reply: ids
      .slice(0, blocks)
      .map((id) => spoil((full.chain.database.transactions(id) ?? []).map((tx) => encodeTransaction(tx)))),
  }))
  return { wire, peers }
}

function backfillOf(
  { chain, nowMs }: TestChain,
  wanted: { bodiesFrom: number; witnessesFrom: number },
  clock = { now: () => nowMs },
) {
  const wire = new Wire('lacking')
  const peers = peersOver(
    wire,
    RULES,
    () => ({}),
    () => nowMs,
  )
  const backfill = new Backfill({
    ...{ chain, peers, clock, timers: IMPATIENT, log: SILENT, wanted: () => wanted, allowed: () => true, onFatal },
  })
  backfill.start()
  return { wire, peers, backfill }
}

async function allSteps(step: () => Promise<boolean>): Promise<number> {
  for (let count = 0; ; count++) if (!(await step())) return count
}

describe('what a mode keeps', () => {
  it('is everything, or bodies with some days of witnesses, or the last blocks, never what can be unwound', () => {
    const of = (mode: Retention['mode'], height: number) => wantedFrom({ mode, witnessDays: 7 }, height)
    expect(KEPT_BLOCKS).toBeGreaterThan(UNDO_BLOCKS)
    expect(of('archive', 10 ** 7)).toEqual({ bodiesFrom: 0, witnessesFrom: 0 })
    expect(of('full', 7 * DAY)).toEqual({ bodiesFrom: 0, witnessesFrom: 0 })
    expect(of('full', 9 * DAY)).toEqual({ bodiesFrom: 0, witnessesFrom: 2 * DAY })
    expect(of('pruned', 10_000)).toEqual({ bodiesFrom: 10_000 - KEPT_BLOCKS, witnessesFrom: 10_000 - KEPT_BLOCKS })
    expect(of('pruned', KEPT_BLOCKS)).toEqual({ bodiesFrom: 0, witnessesFrom: 0 })
  })

  it('is announced to peers truthfully', async () => {
    const { test } = await lacking(4, 9)
    const told = { mode: 'full', bodiesFrom: 4, witnessesFrom: 9, snapshots: [] }
    expect(heldRange(test.chain.database, 'full', [])).toEqual(told)
  })
})

describe('a chain without its older bodies', () => {
  it('goes on, and says which blocks it cannot export', async () => {
    const { test } = await lacking(20, 30)
    expectTrue(test)
    test.nowMs = full.nowMs
    await test.mine()
    const refused = await exportBlocks(test.chain, '/nonexistent/never-written', { from: 1, to: HEIGHT })
    expect(refused).toEqual({
      ok: false,
      fault: { code: 'storage/pruned', detail: { height: 1, bodiesFrom: 20, witnessesFrom: 30 } },
    })
  })

  it('fetches them from a peer that has them, newest first, and its mark is true at every moment', async () => {
    const { test, copy } = await lacking(41, 41)
    const { wire, peers } = archive()
    const filling = backfillOf(test, { bodiesFrom: 0, witnessesFrom: 30 })
    await connect(filling, { wire, peers })
    let steps = 0
    for (; await filling.backfill.step(); steps++) expectTrue(test)
    expect(steps).toBeGreaterThan(6)
    expect(test.chain.database.held).toEqual({ bodiesFrom: 0, witnessesFrom: 30 })
    for (let height = 1; height < 41; height++) {
      const id = full.chain.database.idAt(height) as BlockId
      expect(copy.get(KEYS.bodies(id))).toEqual(store.get(KEYS.bodies(id)))
    }
  })

  it('fetches few from a peer that drips block by block', async () => {
    const { test } = await lacking(41, 41)
    let nowMs = full.nowMs
    let drips = 0
    const drip = (transactions: Uint8Array[]): Uint8Array[] => {
      nowMs += PROTOCOLS.bodies.deadlineMs - 100
      drips += 1
      return transactions
    }
    const filling = backfillOf(test, { bodiesFrom: 0, witnessesFrom: 0 }, { now: () => nowMs })
    await connect(filling, archive(drip, { name: 'dripping', blocks: 1 }))
    await connect(filling, archive())
    await allSteps(() => filling.backfill.step())
    expect(test.chain.database.held).toEqual({ bodiesFrom: 0, witnessesFrom: 0 })
    expect(drips).toBe(1)
    expect(filling.wire.ended.size).toBe(0)
  })

  it('fetches them from a slow peer if a quick one lacks what it claims to have', async () => {
    const { test } = await lacking(41, 41)
    let nowMs = full.nowMs
    const slowly = (transactions: Uint8Array[]): Uint8Array[] => {
      nowMs += 1_000
      return transactions
    }
    const filling = backfillOf(test, { bodiesFrom: 0, witnessesFrom: 0 }, { now: () => nowMs })
    const [slow, empty] = [archive(slowly), archive((same) => same, { name: 'empty', blocks: 0 })]
    // The peer that was dialled is not always asked first.
    await connect(slow, filling)
    await connect(filling, empty)
    let missed = 0
    while (test.chain.database.held.bodiesFrom > 0 && missed < 20) if (!(await filling.backfill.step())) missed += 1
    expect(missed).toBeLessThan(5)
    expect(test.chain.database.held).toEqual({ bodiesFrom: 0, witnessesFrom: 0 })
  })

  it('goes on where it was when the process died', async () => {
    const { copy } = await lacking(41, 41)
    const { wire, peers } = archive()
    const dying = await TestChain.open(RULES, new DyingStore(copy, 3))
    const first = backfillOf(dying, { bodiesFrom: 0, witnessesFrom: 0 })
    await connect(first, { wire, peers })
    await expect(allSteps(() => first.backfill.step())).rejects.toThrow('the process died')
    const again = await TestChain.open(RULES, copy)
    expect(again.chain.database.held).toEqual({ bodiesFrom: 26, witnessesFrom: 26 })
    expectTrue(again)
  })

  it('disconnects a peer whose bodies do not match the blocks, and stores none of them', async () => {
    const { test } = await lacking(41, 41)
    const other = encodeTransaction(
      full.chain.database.transactions(full.chain.database.idAt(1) as BlockId)?.[0] as never,
    )
    const { wire, peers } = archive((transactions) => [...transactions, other])
    const filling = backfillOf(test, { bodiesFrom: 0, witnessesFrom: 0 })
    await connect(filling, { wire, peers })
    expect(await filling.backfill.step()).toBe(false)
    expect(filling.wire.ended.get(wire.self)).toBe('bad-body')
    expect(test.chain.database.held).toEqual({ bodiesFrom: 41, witnessesFrom: 41 })
  })
})

/** The chain, but with a head at a height of `by` above the number of blocks that every mode keeps. */
function taller({ chain }: TestChain, by: number) {
  const head = { ...chain.head, header: { ...chain.head.header, height: KEPT_BLOCKS + by } }
  return { database: chain.database, head } as unknown as TestChain['chain']
}

describe('pruning', () => {
  it('deletes nothing of a chain that is no longer than what is kept', async () => {
    const { test } = await lacking(0, 0)
    const retention: Retention = { mode: 'pruned', witnessDays: 1 }
    expect(await new Pruning({ chain: test.chain, retention, timers: IMPATIENT, onFatal }).step()).toBe(false)
    expectTrue(test)
    expect(test.chain.database.held).toEqual({ bodiesFrom: 0, witnessesFrom: 0 })
  })

  it('deletes older bodies together with a new mark, and keeps the rest', async () => {
    const { test, copy } = await lacking(0, 12)
    const retention: Retention = { mode: 'pruned', witnessDays: 1 }
    const pruning = new Pruning({ chain: taller(test, 25), retention, timers: IMPATIENT, onFatal })
    expect(await allSteps(() => pruning.step())).toBe(1)
    expect(test.chain.database.held).toEqual({ bodiesFrom: 25, witnessesFrom: 25 })
    expectTrue(await TestChain.open(RULES, copy))
  })
})
