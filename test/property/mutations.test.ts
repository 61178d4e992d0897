import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBlock, encodeBlock } from '../../consensus/block/block.ts'
import { sealHeader } from '../../consensus/block/header.ts'
import type { MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import {
  decodeTransaction,
  encodeBody,
  encodeTransaction,
  encodeWitness,
  type Transaction,
} from '../../consensus/tx/transaction.ts'
import { type Actor, FUNDED, NEWCOMERS } from '../support/actors.ts'
import { TestChain } from '../support/chain.ts'
import { Differential, freePow } from '../support/differential.ts'
import { plain } from '../support/hostile.ts'
import { testParams } from '../support/network.ts'
import { type Plan, Player, placeOn, plansArbitrary, Seen } from '../support/plans.ts'
import { hex } from '../support/reference/bytes.ts'
import { BLOCK, TRANSACTION, TRANSFER, WITNESS } from '../support/reference/schemas.ts'
import { runs } from '../support/runs.ts'
import { type Op, Scenario } from '../support/scenario.ts'

/** A chain of a few blocks, and a next block that is not imported yet: it holds an invoke, a receipt and more. */
async function prepared(): Promise<{ pair: Differential; block: Uint8Array }> {
  const pair = await Differential.open(testParams(), freePow)
  await new Player(pair, new Seen()).prepare()
  const scenario = new Scenario(placeOn(pair.reference, pair.reference.headId))
  const op = (kind: Op['kind'], ...n: number[]): Op => ({ kind, n: [...n, ...new Array(12 - n.length).fill(0)] })
  const wires = [
    await scenario.make(op('invoke', 4, 1, 0, 3, 1, 0, 0)),
    await scenario.make(op('receipt', 0, 1, 0, 0, 0, 0, 0, 1)),
    await scenario.make(op('transfer', 4, 3, 0, 0, 0)),
  ]
  return { pair, block: pair.next(wires) }
}

/** Whether a change at the offset can give another valid block: signal bits, time, extra, nonce. */
const isFree = (offset: number): boolean =>
  (offset >= 2 && offset < 4) || (offset >= 40 && offset < 48) || (offset >= 284 && offset < 324)

/** Random bit masks, the same for the same seed. */
function masks(seed: number, count: number): number[] {
  return fc.sample(fc.integer({ min: 1, max: 255 }), { seed, numRuns: count })
}

/** A second chain with the same blocks. */
async function copyOf(pair: Differential): Promise<Differential> {
  const copy = await Differential.open(testParams(), freePow)
  copy.test.nowMs = pair.test.nowMs
  for (const wire of pair.taken) await copy.feed(wire)
  return copy
}

/** Decoded parts encode to the bytes they came from. */
function expectRoundTrip(wire: Uint8Array): void {
  const block = decodeBlock(wire)
  if (!block.ok) return
  const { value } = block
  const same =
    hex(encodeBlock(value)) === hex(wire) &&
    hex(sealHeader(value.header).bytes) === hex(wire.subarray(0, 324)) &&
    value.transactions.every((tx) => sameParts(tx))
  expect(same).toBe(true)
}

const sameParts = ({ body, witness, bodyBytes, witnessBytes }: Transaction): boolean =>
  hex(encodeBody(body)) === hex(bodyBytes) && hex(encodeWitness(witness)) === hex(witnessBytes)

describe('a changed byte of a block', () => {
  it('is refused, or makes another valid block, and the original is still good', async () => {
    const { pair, block } = await prepared()
    const id = pair.reference.judge(block, pair.test.nowMs).id as string
    const headId = pair.reference.headId
    const seed = Date.now() % 2 ** 31
    let others = 0
    for (let round = 0; round < runs(1); round++) {
      for (const [offset, mask] of masks(seed + round, block.length).entries()) {
        const changed = block.slice()
        changed[offset] = (changed[offset] as number) ^ mask
        const where = `seed ${seed}, byte ${offset}, mask ${mask}`
        expectRoundTrip(changed)
        const { reason } = pair.reference.judge(changed, pair.test.nowMs)
        if (reason === null) {
          expect(isFree(offset), where).toBe(true)
          const copy = await copyOf(pair)
          const verdict = await copy.feed(changed)
          expect(verdict.id, where).not.toBe(id)
          expect(copy.test.chain.head.id, where).toBe(verdict.id)
          others++
        } else {
          const { outcome } = await pair.import(changed)
          expect(outcome, `${where}: ${reason}`).toBeUndefined()
        }
      }
    }
    expect(others).toBeGreaterThanOrEqual(40)
    expect(pair.test.chain.head.id).toBe(headId)
    expect(pair.test.chain.database.side.size).toBe(0)
    expect((await pair.feed(block)).reason).toBeNull()
    expect(pair.test.chain.head.id).toBe(id)
  })
})

describe('another body under a good header', () => {
  it('is refused, and the original is still good', async () => {
    const { pair, block } = await prepared()
    const { header, transactions } = BLOCK.decode(block)
    const [first, second, third] = transactions as [Uint8Array, Uint8Array, Uint8Array]
    const bodies = [
      [],
      [first],
      [second, first, third],
      [first, second, third, third],
      [first, second, second],
      [third],
    ]
    const wires = [
      ...bodies.map((list) => BLOCK.encode({ header, transactions: list })),
      ...Array.from({ length: 200 }, (_, i) => block.subarray(0, Math.floor((block.length * i) / 200))),
      ...[1, 4, 32].map((count) => Uint8Array.from([...block, ...new Uint8Array(count)])),
    ]
    for (const wire of wires) {
      expect(pair.reference.judge(wire, pair.test.nowMs).reason).not.toBeNull()
      expect((await pair.import(wire)).outcome).toBeUndefined()
    }
    expect((await pair.feed(block)).reason).toBeNull()
  })
})

describe('a changed signature under a header that names it', () => {
  it.each([
    ['scheme 1', FUNDED[6] as Actor],
    ['scheme 2', NEWCOMERS[2] as Actor],
    ['policy', NEWCOMERS[3] as Actor],
  ])('%s is refused', async (_, who) => {
    const { pair, block } = await prepared()
    const { reference, test } = pair
    const scenario = new Scenario(placeOn(reference, reference.headId))
    const good = await scenario.sign(plain(who, 0n), who)
    const { body, witness } = TRANSACTION.decode(good)
    const decoded = WITNESS.decode(witness)
    const propose = (wire: Uint8Array): Uint8Array =>
      reference.propose(reference.headId, [wire], { timeMs: test.nowMs, miner: who.address })
    // Offsets in both halves of a signature, most of them where the halves meet and end.
    const offsets = [0, 31, 32, 63, 64, 95, 96, 1_000, -1, -40, -84, ...fc.sample(fc.nat(2_483), 10)]
    const bits = fc.sample(fc.nat(7), offsets.length)
    for (const [n, offset] of offsets.entries()) {
      const bit = bits[n] as number
      for (let i = 0; i < decoded.signatures.length; i++) {
        const signatures = decoded.signatures.map((one) => ({ ...one, bytes: one.bytes.slice() }))
        const { bytes } = signatures[i] as (typeof signatures)[number]
        const at = offset < 0 ? bytes.length + offset : offset
        bytes[at] = (bytes[at] as number) ^ (1 << bit)
        const changed = TRANSACTION.encode({ body, witness: WITNESS.encode({ ...decoded, signatures }) })
        expect(
          (await pair.import(propose(changed))).outcome,
          `bit ${bit} of byte ${at} of signature ${i}`,
        ).toBeUndefined()
      }
    }
    // The same signatures over another body.
    const other = plain(who, 0n, { payload: TRANSFER.encode({ to: who.address, amount: 2n, create: false }) })
    const foreign = TRANSACTION.decode(await scenario.sign(other, who)).body
    expect((await pair.import(propose(TRANSACTION.encode({ body: foreign, witness })))).outcome).toBeUndefined()
    expect((await pair.feed(propose(good))).reason).toBeNull()
    // This block has the height of the new head, so it only starts a side branch.
    expect((await pair.import(block)).outcome).toBe('side')
  })
})

describe('encodings', () => {
  it('of transactions and blocks are the bytes they came from', async () => {
    await fc.assert(
      fc.asyncProperty(plansArbitrary, async (plans) => {
        const pair = await Differential.open(testParams(), freePow)
        await play(pair, plans.slice(0, 8))
        for (const wire of pair.taken) {
          expectRoundTrip(wire)
          expect(decodeBlock(wire).ok).toBe(true)
          for (const one of BLOCK.decode(wire).transactions) {
            const tx = decodeTransaction(one)
            expect(tx.ok && hex(encodeTransaction(tx.value)) === hex(one) && sameParts(tx.value)).toBe(true)
          }
        }
      }),
      { numRuns: runs(5) },
    )
  })
})

/** Plays plans without branches or faults. */
async function play(pair: Differential, plans: readonly Plan[]): Promise<void> {
  const player = new Player(pair, new Seen())
  if (pair.taken.length === 0) await player.prepare()
  for (const plan of plans) await player.play({ ...plan, maker: 'reference', fork: 0, behindMs: 0, flood: false })
}

/** State records and pages as stored. */
async function stored(store: MemoryKeyValueStore): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const prefix of [0x0a, 0x0b])
    for await (const [key, value] of store.entries(Uint8Array.of(prefix))) found.set(hex(key), hex(value))
  return found
}

describe('a reorganisation', () => {
  /** Feeds `subject` the blocks of `source` beginning with number `from`, and mines more until both have the same head. */
  async function follow(subject: Differential, source: Differential, from: number): Promise<void> {
    subject.test.nowMs = Math.max(subject.test.nowMs, source.test.nowMs)
    for (const wire of source.taken.slice(from)) await subject.feed(wire)
    while (subject.reference.headId !== source.reference.headId) {
      const wire = source.next()
      subject.test.nowMs = Math.max(subject.test.nowMs, source.test.nowMs)
      await source.feed(wire)
      await subject.feed(wire)
    }
    const [own, its] = [await stored(subject.store), await stored(source.store)]
    expect(own.size).toBeGreaterThan(30)
    expect(own).toEqual(its)
  }

  it('there and back leaves the records and pages of a chain that never moved', async () => {
    let deepest = 0
    await fc.assert(
      fc.asyncProperty(plansArbitrary, plansArbitrary, plansArbitrary, async (common, one, two) => {
        const left = await Differential.open(testParams(), freePow)
        await play(left, common.slice(0, 5))
        const fork = left.taken.length
        const right = await copyOf(left)
        const subject = await copyOf(left)
        await play(left, one)
        await play(right, two)
        await follow(subject, left, fork)
        const [leftAt, rightAt] = [left.taken.length, fork]
        await follow(subject, right, rightAt)
        const rightTop = right.taken.length
        await follow(subject, left, leftAt)
        await follow(subject, right, rightTop)
        deepest = Math.max(deepest, left.taken.length - fork)
        const again = await TestChain.open(subject.test.ruleBook, subject.store, { powHasher: freePow })
        expect(again.chain.head.id).toBe(subject.reference.headId)
      }),
      { numRuns: runs(4) },
    )
    expect(deepest).toBeGreaterThan(10)
  })
})
