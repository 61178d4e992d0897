import { taggedHash } from '../crypto/hash.ts'
import { makeLeaf, PAGE_SLOTS } from './page.ts'
import { HASH_BYTES, leavesIn, slotAt } from './page-form.ts'

/**
 * The leaves of a proven tree, for lookups in any order: records come in that of their keys, which is none in the tree. A leaf is
 * held as its whole hash, which commits to path and value hash: of a part of either, an attacker who mines both a true and a false
 * record would find two that are alike.
 */
export class LeafTable {
  readonly #hashes: Uint8Array
  /** Number of a leaf, counted from 1, by its hash and the seed; the next free place where that is taken. */
  readonly #places: Uint32Array
  readonly #mask: number
  readonly #shift: number
  readonly #factors: readonly [number, number]
  readonly #most: number
  #count = 0

  /**
   * For so many leaves at most. `seed`: 8 bytes or more which those who made the leaves could not know, as the root over them: else
   * accounts whose leaves lie side by side, found by trying keys, would make each look-up as long as they are many.
   */
  constructor(most: number, seed: Uint8Array) {
    const bits = Math.ceil(Math.log2(2 * most + 2))
    const places = 2 ** bits
    this.#hashes = new Uint8Array(most * HASH_BYTES)
    this.#places = new Uint32Array(places)
    this.#mask = places - 1
    this.#shift = 32 - bits
    // Odd, so that no bit of a hash is lost.
    this.#factors = [wordAt(seed, 0) | 1, wordAt(seed, 4) | 1]
    this.#most = most
  }

  /** Takes in the leaves of a page; false where there is no room for them. */
  add(form: Uint8Array): boolean {
    const leaves = leavesIn(form)
    for (let slot = 0; slot < PAGE_SLOTS; slot++) {
      if (((leaves >>> slot) & 1) === 0) continue
      if (this.#count === this.#most) return false
      const at = slotAt(form, slot)
      // Path and value hash lie side by side.
      const hash = taggedHash('stateLeaf', form.subarray(at, at + 2 * HASH_BYTES))
      this.#hashes.set(hash, this.#count * HASH_BYTES)
      let place = this.#placeOf(hash)
      while (this.#places[place] !== 0) place = (place + 1) & this.#mask
      this.#count += 1
      this.#places[place] = this.#count
    }
    return true
  }

  /** Whether a leaf with this path and value hash was taken in. */
  has(path: Uint8Array, value: Uint8Array): boolean {
    const { hash } = makeLeaf({ path, value })
    for (let place = this.#placeOf(hash); this.#places[place] !== 0; place = (place + 1) & this.#mask) {
      if (this.#is(((this.#places[place] as number) - 1) * HASH_BYTES, hash)) return true
    }
    return false
  }

  /** Without views: a large state has millions of leaves. */
  #is(at: number, hash: Uint8Array): boolean {
    for (let i = 0; i < HASH_BYTES; i++) if (this.#hashes[at + i] !== hash[i]) return false
    return true
  }

  #placeOf(hash: Uint8Array): number {
    const [first, second] = this.#factors
    return (Math.imul(wordAt(hash, 0), first) + Math.imul(wordAt(hash, 4), second)) >>> this.#shift
  }
}

/** Four bytes as a number; without views or lists, for a large state has millions of leaves. */
function wordAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
  return low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
}
