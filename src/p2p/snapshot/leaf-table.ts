import { type KeyValueStore, prefixRange } from '../../../consensus/chain/key-value.ts'
import { prefixKey } from '../../../consensus/chain/layout.ts'
import type { Pacer } from '../../../consensus/chain/ports.ts'
import { PAGE_SLOTS } from '../../../consensus/state/page.ts'
import { HASH_BYTES, leavesIn, slotAt } from '../../../consensus/state/page-form.ts'

/** Leaves held in memory at most; one takes about 44 bytes. A larger tree is looked up on the disk. */
export const TABLE_LEAVES_MAX = 2_000_000
/**
 * Bytes of path and of value hash that are held. Both halves together are 256 bits, so that nobody makes a record up that the
 * table takes for another.
 */
const PART_BYTES = HASH_BYTES / 2
const ENTRY_BYTES = 2 * PART_BYTES

/** The leaves of a proven tree, for lookups in any order: records come in that of their keys, which is none in the tree. */
export class LeafTable {
  readonly #entries: Uint8Array
  /** Number of an entry, counted from 1, by the first bits of its path; the next free place where that is taken. */
  readonly #places: Uint32Array
  readonly #mask: number
  #count = 0

  /** For so many leaves at most. */
  constructor(leaves: number) {
    const places = 2 ** Math.ceil(Math.log2(2 * leaves + 2))
    this.#entries = new Uint8Array(leaves * ENTRY_BYTES)
    this.#places = new Uint32Array(places)
    this.#mask = places - 1
  }

  /** Takes in the leaves of a page. */
  add(form: Uint8Array): void {
    const leaves = leavesIn(form)
    for (let slot = 0; slot < PAGE_SLOTS; slot++) {
      if (((leaves >>> slot) & 1) === 0) continue
      const at = slotAt(form, slot)
      const to = this.#count * ENTRY_BYTES
      for (let i = 0; i < PART_BYTES; i++) {
        this.#entries[to + i] = form[at + i] as number
        this.#entries[to + PART_BYTES + i] = form[at + HASH_BYTES + i] as number
      }
      let place = this.#placeOf(form, at)
      while (this.#places[place] !== 0) place = (place + 1) & this.#mask
      this.#count += 1
      this.#places[place] = this.#count
    }
  }

  /** Whether a leaf with this path and value hash was taken in. */
  has(path: Uint8Array, valueHash: Uint8Array): boolean {
    for (let place = this.#placeOf(path, 0); this.#places[place] !== 0; place = (place + 1) & this.#mask) {
      if (this.#is(((this.#places[place] as number) - 1) * ENTRY_BYTES, path, valueHash)) return true
    }
    return false
  }

  #is(at: number, path: Uint8Array, valueHash: Uint8Array): boolean {
    for (let i = 0; i < PART_BYTES; i++) {
      if (this.#entries[at + i] !== path[i] || this.#entries[at + PART_BYTES + i] !== valueHash[i]) return false
    }
    return true
  }

  /** Paths are hashes: any of their bits will do. */
  #placeOf(bytes: Uint8Array, at: number): number {
    const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as [number, number, number, number]
    return (a | (b << 8) | (c << 16) | (d << 24)) & this.#mask
  }
}

/** The leaves of a stored tree, undefined if there are too many. */
export async function leafTableOf(
  staging: KeyValueStore,
  leaves: number,
  pacer: Pacer,
): Promise<LeafTable | undefined> {
  if (leaves > TABLE_LEAVES_MAX) return undefined
  const table = new LeafTable(leaves)
  for await (const [, form] of staging.range(prefixRange(prefixKey('page')))) {
    table.add(form)
    if (pacer.due()) await pacer.pause()
  }
  return table
}
