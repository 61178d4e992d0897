import { taggedHash } from '../crypto/hash.ts'
import { makeLeaf, PAGE_SLOTS } from './page.ts'
import { HASH_BYTES, leavesIn, slotAt } from './page-form.ts'

/**
 * The leaves of a proven tree, to look records up in any order: the order of keys is not that of the tree. The whole
 * leaf hash is kept; it commits to path and value hash. With only a part of it, an attacker could search for a true and
 * a false record that are alike in that part.
 */
export class LeafTable {
  readonly #hashes: Uint8Array
  /** Hash table with linear probing, seeded by the constructor. It holds the numbers of leaves, counted from 1. */
  readonly #places: Uint32Array
  readonly #mask: number
  readonly #shift: number
  readonly #factors: readonly [number, number]
  readonly #most: number
  #count = 0

  /**
   * For at most `most` leaves. `seed` has 8 bytes or more that the makers of the leaves could not know, such as the
   * root over them. Otherwise an attacker could try keys until many leaves share one place, and each look-up would walk
   * through all of them.
   */
  constructor(most: number, seed: Uint8Array) {
    const bits = Math.ceil(Math.log2(2 * most + 2))
    const places = 2 ** bits
    this.#hashes = new Uint8Array(most * HASH_BYTES)
    this.#places = new Uint32Array(places)
    this.#mask = places - 1
    this.#shift = 32 - bits
    // Odd factors, so that no bit of a hash is lost.
    this.#factors = [wordAt(seed, 0) | 1, wordAt(seed, 4) | 1]
    this.#most = most
  }

  /** False if there is no room for the leaves of the page. */
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

  has(path: Uint8Array, value: Uint8Array): boolean {
    const { hash } = makeLeaf({ path, value })
    for (let place = this.#placeOf(hash); this.#places[place] !== 0; place = (place + 1) & this.#mask) {
      if (this.#is(((this.#places[place] as number) - 1) * HASH_BYTES, hash)) return true
    }
    return false
  }

  /** Compares without views: a large state has millions of leaves. */
  #is(at: number, hash: Uint8Array): boolean {
    for (let i = 0; i < HASH_BYTES; i++) if (this.#hashes[at + i] !== hash[i]) return false
    return true
  }

  #placeOf(hash: Uint8Array): number {
    const [first, second] = this.#factors
    return (Math.imul(wordAt(hash, 0), first) + Math.imul(wordAt(hash, 4), second)) >>> this.#shift
  }
}

/** Four bytes as a number, without views or arrays: a large state has millions of leaves. */
function wordAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
  return low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
}
