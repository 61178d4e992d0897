import { describe, expect, it, vi } from 'vitest'
import { uint32LE } from '../../../../consensus/primitives/bytes.ts'
import { LeafTable } from '../../../../consensus/state/leaf-table.ts'
import { makeLeaf, Page } from '../../../../consensus/state/page.ts'
import { nibbleOf } from '../../../../consensus/state/tree.ts'
import { tagged } from '../../../vectors/generate/tx-wire.ts'

const HALF = 16
/** Number of leaves whose hashes begin alike, and number of slots in a table for twice as many leaves. */
const ALIKE = 2_000
const PLACES = 8_192

const hashOf = (number: number): Uint8Array => tagged('text', Uint8Array.of(number))

/** The first half of one hash and the second half of another. */
const halves = (first: Uint8Array, second: Uint8Array): Uint8Array =>
  Uint8Array.of(...first.subarray(0, HALF), ...second.subarray(HALF))

function formWith(leaves: readonly { readonly path: Uint8Array; readonly value: Uint8Array }[]): Uint8Array {
  const page = Page.empty()
  for (const leaf of leaves) page.setLeaf(nibbleOf(leaf.path, 0), makeLeaf(leaf))
  return page.form()
}

/** Leaves in different slots. */
const LEAVES = Array.from({ length: 200 }, (_, i) => ({ path: hashOf(i), value: hashOf(255 - i) })).filter(
  ({ path }, i, all) => all.findIndex((other) => nibbleOf(other.path, 0) === nibbleOf(path, 0)) === i,
)

/** Counts how often `work` reads a slot of the table. */
function placesLookedAt(work: () => void): number {
  const Places = Uint32Array
  let looks = 0
  const get = (places: Uint32Array, at: string): unknown => {
    looks += 1
    return places[at as unknown as number]
  }
  vi.stubGlobal('Uint32Array', function counted(length: number) {
    // Other arrays, such as those of hashing, are not counted.
    if (length !== PLACES) return new Places(length)
    return new Proxy(new Places(length), { get, set: (places, at, value) => Reflect.set(places, at, value) })
  })
  try {
    work()
  } finally {
    vi.unstubAllGlobals()
  }
  return looks
}

describe('a table of leaves', () => {
  it('has those of its pages and no others', () => {
    const table = new LeafTable(LEAVES.length, hashOf(0))
    expect(LEAVES.length).toBeGreaterThan(8)
    expect(table.add(formWith(LEAVES.slice(0, 4)))).toBe(true)
    expect(table.add(formWith(LEAVES.slice(4)))).toBe(true)
    for (const { path, value } of LEAVES) {
      expect(table.has(path, value)).toBe(true)
      expect(table.has(path, path)).toBe(false)
      expect(table.has(value, value)).toBe(false)
    }
  })

  it('takes no leaf for another one whose path or value hash is alike in any half', () => {
    const table = new LeafTable(LEAVES.length, hashOf(0))
    table.add(formWith(LEAVES))
    const other = hashOf(201)
    for (const { path, value } of LEAVES) {
      const [paths, values] = [path, value].map((hash) => [hash, halves(hash, other), halves(other, hash)])
      const found = paths!.flatMap((p) => values!.filter((v) => table.has(p, v)))
      expect(found).toEqual([value])
    }
  })

  it('says where there is no room for more, and keeps what it has', () => {
    const [first, ...others] = LEAVES as [(typeof LEAVES)[0], ...typeof LEAVES]
    const table = new LeafTable(1, hashOf(0))
    expect(table.add(formWith([first]))).toBe(true)
    expect(table.add(formWith(others))).toBe(false)
    expect(table.has(first.path, first.value)).toBe(true)
    for (const { path, value } of others) expect(table.has(path, value)).toBe(false)
  })

  it('looks at few places, whatever leaves were sought out whose hashes begin alike', () => {
    const value = hashOf(0)
    const alike: Uint8Array[] = []
    for (let i = 0; alike.length < ALIKE; i++) {
      const path = tagged('text', uint32LE(i))
      const [low = 0, high = 0] = makeLeaf({ path, value }).hash
      if (low + 256 * (high & 0x1f) < ALIKE / 2) alike.push(path)
    }
    const looks = placesLookedAt(() => {
      const table = new LeafTable(2 * ALIKE, hashOf(1))
      for (const path of alike) table.add(formWith([{ path, value }]))
      for (const path of alike) expect(table.has(path, value)).toBe(true)
    })
    // Each leaf that is found takes at least two looks.
    expect(looks).toBeLessThan(8 * ALIKE)
  })
})
