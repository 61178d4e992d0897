import { hashPairs, taggedHash } from '../crypto/hash.ts'
import { nodeTag } from '../crypto/merkle.ts'
import { ZERO_32 } from '../primitives/bytes.ts'

/** A record in the tree: the path of its key and the hash of its value, and what the two hash to. */
export interface Leaf {
  readonly path: Uint8Array
  readonly value: Uint8Array
  readonly hash: Uint8Array
}

/** What a node of a page is: nothing, the only leaf below it, or a node above at least two. */
export const EMPTY = 0
/** The only leaf below it. */
export const SINGLE = 1
/** A node above at least two leaves. */
export const INNER = 2

/** Slots of a page. */
export const PAGE_SLOTS = 16
/** Levels of the tree in a page. */
export const PAGE_LEVELS = 4
/** The nodes of a page are numbered as in a heap: 1 is the root, 2n and 2n + 1 are below n, the slots are 16 to 31. */
export const PAGE_ROOT = 1

const NODES = 32
const HASH_BYTES = 32
const HASH_WORDS = 8
const NODE_TAG = new Uint32Array(Uint8Array.from(nodeTag('stateNode')).buffer)

/**
 * A page holds four levels of the state tree: sixteen slots, each empty, a leaf, or the root of the page below, and the
 * nodes above them. A subtree with a single leaf IS that leaf; a missing side is hashed as zeros. Pages are how this node
 * keeps the tree; consensus knows the tree alone. A page is changed only by whoever made it, before it is shared.
 *
 * Thousands of pages change with a full block, so a page is three objects: the hashes of its nodes, two sets of bits that
 * say what the nodes are, and its leaves.
 */
export class Page {
  readonly #words: Uint32Array<ArrayBuffer>
  readonly #leaves: (Leaf | undefined)[]
  /** Nodes that are not empty, and those of them that are above at least two leaves; a bit each. */
  #filled: number
  #inner: number
  /** Slots whose nodes above are out of date, a bit each. */
  #stale = 0

  private constructor(words: Uint32Array<ArrayBuffer>, leaves: (Leaf | undefined)[], filled: number, inner: number) {
    this.#words = words
    this.#leaves = leaves
    this.#filled = filled
    this.#inner = inner
  }

  static empty(): Page {
    return new Page(new Uint32Array(NODES * HASH_WORDS), new Array(PAGE_SLOTS), 0, 0)
  }

  /** A copy to change; leaves are shared, since they never change. */
  copy(): Page {
    return new Page(this.#words.slice(), this.#leaves.slice(), this.#filled, this.#inner)
  }

  /** What stands in a slot. */
  slotKind(slot: number): number {
    return this.kind(PAGE_SLOTS + slot)
  }

  /** The leaf in a slot, if that is what it holds. */
  leafAt(slot: number): Leaf | undefined {
    return this.#leaves[slot]
  }

  setLeaf(slot: number, leaf: Leaf): void {
    this.#set(slot, SINGLE, leaf.hash)
    this.#leaves[slot] = leaf
  }

  setInner(slot: number, hash: Uint8Array): void {
    this.#set(slot, INNER, hash)
    this.#leaves[slot] = undefined
  }

  clear(slot: number): void {
    this.#set(slot, EMPTY, ZERO_32)
    this.#leaves[slot] = undefined
  }

  /** Kind of a node. */
  kind(node: number): number {
    return ((this.#filled >>> node) & 1) + ((this.#inner >>> node) & 1)
  }

  /** Hash of a node, zeros for an empty one: a copy. */
  hash(node: number): Uint8Array {
    const hash = new Uint8Array(HASH_BYTES)
    this.writeHash(node, hash, 0)
    return hash
  }

  /** Writes the hash of a node at an offset. */
  writeHash(node: number, target: Uint8Array, offset: number): void {
    target.set(new Uint8Array(this.#words.buffer, node * HASH_BYTES, HASH_BYTES), offset)
  }

  /** The only leaf below a node of kind {@link SINGLE}. */
  singleLeaf(node: number): Leaf {
    let at = node
    while (at < PAGE_SLOTS) at = this.kind(2 * at) === EMPTY ? 2 * at + 1 : 2 * at
    return this.#leaves[at - PAGE_SLOTS] as Leaf
  }

  /** Brings the nodes of several pages up to date, level by level together. */
  static rehash(pages: readonly Page[]): void {
    const stale = pages.filter((page) => page.#stale !== 0)
    for (let level = PAGE_LEVELS - 1; level >= 0; level--) {
      // One entry a node: the place of its page in the list, and its number.
      const pending: number[] = []
      for (const [i, page] of stale.entries()) page.#settle(level, i * NODES, pending)
      const { messages, results } = scratchFor(pending.length)
      for (let i = 0; i < pending.length; i++) {
        const entry = pending[i] as number
        ;(stale[Math.floor(entry / NODES)] as Page).#writeMessage(entry % NODES, messages, i * 2 * HASH_WORDS)
      }
      hashPairs(
        new Uint8Array(messages.buffer, 0, pending.length * 64),
        new Uint8Array(results.buffer, 0, pending.length * HASH_BYTES),
      )
      for (let i = 0; i < pending.length; i++) {
        const entry = pending[i] as number
        ;(stale[Math.floor(entry / NODES)] as Page).#readHash(entry % NODES, results, i * HASH_WORDS)
      }
    }
    for (const page of stale) page.#stale = 0
  }

  /** Makes the nodes of a level, whose slots changed, what they come to without hashing; the others are added to a list. */
  #settle(level: number, base: number, unsettled: number[]): void {
    const first = 1 << level
    const width = PAGE_SLOTS >> level
    const mask = (1 << width) - 1
    for (let node = first; node < 2 * first; node++) {
      if ((this.#stale & (mask << ((node - first) * width))) === 0) continue
      const left = this.kind(2 * node)
      const right = this.kind(2 * node + 1)
      if (left === EMPTY && right === EMPTY) this.#become(node, EMPTY, 0)
      else if (left === SINGLE && right === EMPTY) this.#become(node, SINGLE, 2 * node)
      else if (left === EMPTY && right === SINGLE) this.#become(node, SINGLE, 2 * node + 1)
      else unsettled.push(base + node)
    }
  }

  /** Writes the 64-byte message of a node at a word of a buffer. */
  #writeMessage(node: number, target: Uint32Array, at: number): void {
    const left = 2 * node * HASH_WORDS
    for (let i = 0; i < HASH_WORDS; i++) {
      target[at + i] = (this.#words[left + i] as number) ^ (NODE_TAG[i] as number)
      target[at + HASH_WORDS + i] = this.#words[left + HASH_WORDS + i] as number
    }
  }

  /** Takes a node's hash from a word of a buffer. */
  #readHash(node: number, source: Uint32Array, at: number): void {
    for (let i = 0; i < HASH_WORDS; i++) this.#words[node * HASH_WORDS + i] = source[at + i] as number
    this.#mark(node, INNER)
  }

  /** Makes a node what one of its children is, or nothing. */
  #become(node: number, kind: number, child: number): void {
    this.#mark(node, kind)
    const to = node * HASH_WORDS
    if (kind === EMPTY) this.#words.fill(0, to, to + HASH_WORDS)
    else this.#words.copyWithin(to, child * HASH_WORDS, (child + 1) * HASH_WORDS)
  }

  #set(slot: number, kind: number, hash: Uint8Array): void {
    const node = PAGE_SLOTS + slot
    this.#mark(node, kind)
    new Uint8Array(this.#words.buffer, node * HASH_BYTES, HASH_BYTES).set(hash)
    this.#stale |= 1 << slot
  }

  #mark(node: number, kind: number): void {
    const bit = 1 << node
    this.#filled = kind === EMPTY ? this.#filled & ~bit : this.#filled | bit
    this.#inner = kind === INNER ? this.#inner | bit : this.#inner & ~bit
  }
}

interface Scratch {
  readonly messages: Uint32Array<ArrayBuffer>
  readonly results: Uint32Array<ArrayBuffer>
}

let scratch: Scratch = { messages: new Uint32Array(0), results: new Uint32Array(0) }

/** Buffers for so many nodes, kept between calls: hashing must not leave garbage behind for every page. */
function scratchFor(nodes: number): Scratch {
  if (scratch.results.length < nodes * HASH_WORDS) {
    scratch = { messages: new Uint32Array(nodes * 2 * HASH_WORDS), results: new Uint32Array(nodes * HASH_WORDS) }
  }
  return scratch
}

/**
 * Leaf of a record: H(leaf tag, path || value hash). In a proof of absence both are bytes that the prover chooses freely,
 * so this message must never be one of a node: it is 86 bytes long, a node's is 64.
 */
export function makeLeaf({ path, value }: Pick<Leaf, 'path' | 'value'>): Leaf {
  return { path, value, hash: taggedHash('stateLeaf', path, value) }
}

/** One node of the tree. */
export function hashStateNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  const page = Page.empty()
  page.setInner(0, left)
  page.setInner(1, right)
  Page.rehash([page])
  return page.hash(PAGE_SLOTS / 2)
}
