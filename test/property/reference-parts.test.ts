import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NETWORKS } from '../../config/networks/table.ts'
import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import { type Anchor, anchorAfter, targetAfter, unclampedTarget } from '../../consensus/block/difficulty.ts'
import type { Header } from '../../consensus/block/header.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { merkleRoot, RECEIPT_TREE, TRANSACTION_TREE, WITNESS_TREE } from '../../consensus/crypto/merkle.ts'
import { REWARDS } from '../../consensus/ledger/rewards.ts'
import type { Page } from '../../consensus/state/page.ts'
import type { AnyStateTable } from '../../consensus/state/table.ts'
import { type PageId, type TreeUpdate, updateTreeNow } from '../../consensus/state/tree.ts'
import type { StateChange } from '../../consensus/state/view.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { testParams } from '../support/network.ts'
import { hex, littleEndian, tagged, unhex } from '../support/reference/bytes.ts'
import { ReferenceChain } from '../support/reference/chain.ts'
import * as reference from '../support/reference/difficulty.ts'
import { heightId } from '../support/reference/ledger.ts'
import { listRoot, stateRoot } from '../support/reference/trees.ts'
import { runs } from '../support/runs.ts'

const LAUNCH = (testParams().steps[0] as NonNullable<ReturnType<typeof testParams>['steps'][number]>).rules.block

const u256 = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n })
const target = fc.oneof(
  u256,
  fc.nat(255).map((bits) => 2n ** BigInt(bits)),
  fc.constant(2n ** 256n - 1n),
)

const blockRules = fc
  .record({
    powLimit: target,
    below: fc.nat(40),
    halfLifeMs: fc.constantFrom(300_000, 1, 7, 1_000, 65_536, 3_600_000),
    anchorResetGapMs: fc.constantFrom(null, 120_000, 1, 5_000),
  })
  .map(({ below, ...change }) => {
    const initialTarget = change.powLimit >> BigInt(below)
    return { ...LAUNCH, ...change, initialTarget: initialTarget > 0n ? initialTarget : 1n }
  })

const gapMs = fc.oneof(
  fc.constant(3_000),
  fc.integer({ min: 1, max: 50 }),
  fc.integer({ min: 1, max: 30_000 }),
  fc.integer({ min: 1, max: 10_000_000 }),
  fc.constantFrom(119_999, 120_000, 120_001),
  fc.integer({ min: 1, max: 2 ** 40 }),
)

describe('difficulty', () => {
  it('agrees on the unclamped target of any anchor', () => {
    const time = fc.oneof(fc.integer({ min: -(2 ** 20), max: 2 ** 24 }), fc.integer({ min: -(2 ** 44), max: 2 ** 44 }))
    fc.assert(
      fc.property(target, fc.nat(2 ** 31), fc.nat(2 ** 20), time, blockRules, (at, height, blocks, drift, rules) => {
        const anchor: Anchor = { height, timeMs: 2 ** 50, target: at }
        const point = { height: height + blocks, timeMs: 2 ** 50 + rules.spacingMs * blocks + drift }
        expect(unclampedTarget(anchor, point, rules)).toBe(reference.unclampedTarget(anchor, point, rules))
      }),
      { numRuns: runs(5_000) },
    )
  })

  it('agrees on every target and anchor of a random chain', () => {
    let [resets, limits] = [0, 0]
    fc.assert(
      fc.property(blockRules, fc.array(gapMs, { minLength: 1, maxLength: 40, size: 'max' }), (rules, gaps) => {
        const headers = [{ height: 0, timeMs: 1_000, target: rules.powLimit }]
        let anchor: Anchor | null = null
        for (const gap of gaps) {
          const parent = headers[headers.length - 1] as (typeof headers)[number]
          const next = reference.targetAfter(headers, () => rules)
          expect(targetAfter(anchor, parent, rules)).toBe(next)
          const header = { height: parent.height + 1, timeMs: parent.timeMs + gap, target: next }
          const moved: Anchor = anchorAfter(anchor, parent, header as Header, rules)
          if (anchor !== null && moved !== anchor) resets++
          if (next === rules.powLimit) limits++
          anchor = moved
          headers.push(header)
        }
      }),
      { numRuns: runs(1_000) },
    )
    expect(resets).toBeGreaterThan(100)
    expect(limits).toBeGreaterThan(100)
  })
})

describe('base fee', () => {
  it('agrees for any parent', () => {
    const fee = fc.oneof(
      fc.bigInt({ min: 32n, max: 200n }),
      fc.bigInt({ min: 32n, max: 2n ** 62n }),
      fc.constant(2n ** 62n),
    )
    // Weights above the limit too: the parent may be of a step with a higher limit.
    const limits = [0, 999_999, 1_000_000, 1_000_001, 2_000_000, 2_000_001, 2 ** 31]
    const weight = fc.oneof(fc.nat(2_000_000), fc.constantFrom(...limits))
    fc.assert(
      fc.property(fee, weight, (baseFee, weightUsed) => {
        expect(baseFeeAfter({ baseFee, weightUsed }, LAUNCH)).toBe(
          reference.baseFeeAfter(baseFee, BigInt(weightUsed), LAUNCH),
        )
      }),
      { numRuns: runs(5_000) },
    )
  })
})

describe('list trees', () => {
  it('agree for every length', () => {
    const trees = [
      ['tx', TRANSACTION_TREE],
      ['witness', WITNESS_TREE],
      ['receipt', RECEIPT_TREE],
    ] as const
    const items: Uint8Array[] = []
    for (let count = 0; count <= 300; count++) {
      for (const [name, tree] of trees)
        expect(hex(merkleRoot(tree, items)), `${count}`).toBe(hex(listRoot(name, items)))
      items.push(tagged('text', littleEndian(BigInt(count), 2)).subarray(0, 1 + (count % 32)))
    }
  })
})

describe('genesis', () => {
  it.each(Object.entries(NETWORKS))('of %s has the same id', (_, params) => {
    expect(createRuleBook(params, PROTOCOL).genesis.block.id).toBe(
      new ReferenceChain(params.genesis, params.steps).genesisId,
    )
  })
})

/** Heights whose keys in one table have a path that shares its first 24 bits with another one's, so that the tree gets deep. */
function crowdedHeights(): number[] {
  const paths = Array.from({ length: 60_000 }, (_, height) => ({
    height,
    path: hex(tagged('state-key', unhex(`04${heightId(height)}`))),
  }))
  paths.sort((a, b) => (a.path < b.path ? -1 : 1))
  const crowded = new Set<number>()
  for (let i = 1; i < paths.length; i++) {
    const [a, b] = [paths[i - 1] as (typeof paths)[number], paths[i] as (typeof paths)[number]]
    if (a.path.slice(0, 6) === b.path.slice(0, 6)) crowded.add(a.height).add(b.height)
  }
  return [...crowded]
}

describe('state tree', () => {
  const heights = [...crowdedHeights(), ...Array.from({ length: 60 }, (_, i) => 100_000 + i)]

  it('agrees after any changes, and unwinds to the very pages', () => {
    const batch = fc.array(fc.tuple(fc.nat(heights.length - 1), fc.nat(3)), {
      minLength: 1,
      maxLength: 80,
      size: 'max',
    })
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 8, size: 'max' }), (batches) => {
        const records = new Map<string, Uint8Array>()
        const pages = new Map<PageId, Page>()
        const reader = { page: (id: PageId) => pages.get(id) }
        const undo: { changes: StateChange[]; root: string; pages: string }[] = []
        const write = (update: TreeUpdate): string => {
          for (const [id, page] of update.pages) page === null ? pages.delete(id) : pages.set(id, page)
          return update.root
        }
        // A chain's tree is never empty: genesis has a supply.
        for (const choices of [[[heights.length, 1]] as const, ...batches]) {
          const changes = changesOf(choices, heights, records)
          undo.push({ changes, root: hex(stateRoot(records)), pages: picture(pages) })
          for (const { key, after } of changes) after === undefined ? records.delete(key) : records.set(key, after)
          expect(write(updateTreeNow(reader, changes))).toBe(hex(stateRoot(records)))
        }
        for (const before of undo.slice(1).reverse()) {
          expect(write(updateTreeNow(reader, before.changes, true))).toBe(before.root)
          expect(picture(pages)).toBe(before.pages)
        }
      }),
      { numRuns: runs(60) },
    )
  })
})

function changesOf(
  choices: readonly (readonly [number, number])[],
  heights: readonly number[],
  records: ReadonlyMap<string, Uint8Array>,
): StateChange[] {
  const table = REWARDS as unknown as AnyStateTable
  const changes = new Map<string, StateChange>()
  for (const [index, value] of choices) {
    const key = REWARDS.key(heights[index] ?? 200_000)
    const before = records.get(key)
    const after = value === 0 ? undefined : new Uint8Array(48).fill(value)
    if (before !== undefined || after !== undefined) changes.set(key, { table, key, before, after })
  }
  return [...changes.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}

const picture = (pages: ReadonlyMap<PageId, Page>): string =>
  JSON.stringify(
    [...pages].sort(([a], [b]) => (a < b ? -1 : 1)),
    (_, value) => (value instanceof Uint8Array ? hex(value) : value),
  )
