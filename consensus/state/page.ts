import { hashPairs, taggedHash } from '../crypto/hash.ts'
import { hashNode, nodeTag } from '../crypto/merkle.ts'
import { assert } from '../primitives/assert.ts'
import { copy, equal } from '../primitives/bytes.ts'
import { FORM_HEAD_BYTES, formBytes, HASH_BYTES, innerIn, leavesIn, pairAt, pairHasLeaf, slotAt } from './page-form.ts'

/** A record in the tree: the path of its key, the hash of its value, and the hash of path and value hash. */
export interface Leaf {
  readonly path: Uint8Array
  readonly value: Uint8Array
  readonly hash: Uint8Array
}

/** Kind of a node without a leaf below it. */
export const EMPTY = 0
/** Kind of a node with a single leaf below it. */
export const SINGLE = 1
/** Kind of a node with at least two leaves below it. */
export const INNER = 2

/** Slots of a page. */
export const PAGE_SLOTS = 16
/** Levels of the tree in one page. */
export const PAGE_LEVELS = 4
/** Nodes are numbered as in a heap: 1 is the root, 2n and 2n + 1 are below n, and 16 to 31 are the slots. */
export const PAGE_ROOT = 1

const NODES = 2 * PAGE_SLOTS
/** Pairs of neighbouring slots. It is also the number of the node above the first pair. */
const PAIRS = PAGE_SLOTS / 2
const WORD_BYTES = 4
const HASH_WORDS = HASH_BYTES / WORD_BYTES
const NODE_TAG = nodeTag('stateNode')
const NODE_TAG_WORDS = new Uint32Array(Uint8Array.from(NODE_TAG).buffer)
const NOTHING = new Uint8Array(FORM_HEAD_BYTES)

/** Slots below each node, one bit each. */
const SLOTS_BELOW = Uint16Array.from({ length: NODES }, (_, node) => {
  const first = 1 << levelOf(node)
  const width = PAGE_SLOTS / first
  return node === 0 ? 0 : ((1 << width) - 1) << ((node - first) * width)
})

function levelOf(node: number): number {
  return 31 - Math.clz32(node)
}

/** What a changed page has beside its stored form. */
interface Draft {
  /** Hashes of the page's nodes, from word `at` on. Only those of known nodes are valid. */
  readonly words: Uint32Array
  readonly at: number
  /** Nodes whose hashes are up to date, one bit each. */
  known: number
  /** Leaves set since the draft began, by slot. */
  readonly leaves: (Leaf | undefined)[]
}

/**
 * A page holds four levels of the state tree: sixteen slots and the nodes above them. A slot is empty, a leaf, or the
 * root of the page below. A subtree with a single leaf IS that leaf; an empty side is hashed as zeros. Pages are how
 * this node stores the tree; consensus knows only the tree. Only the maker of a page may change it, and only before it
 * is shared. An unchanged page is just its stored form, so no leaf is hashed to open a page: a full block opens
 * thousands.
 */
export class Page {
  #form: Uint8Array
  /** Slots with leaves, and slots with pages below, one bit each. */
  #leaves: number
  #inner: number
  /** Undefined while the page is unchanged. */
  #draft: Draft | undefined = undefined

  private constructor(form: Uint8Array) {
    this.#form = form
    this.#leaves = leavesIn(form)
    this.#inner = innerIn(form)
  }

  static empty(): Page {
    return new Page(NOTHING)
  }

  /** The form must not change afterwards. */
  static ofForm(form: Uint8Array): Page {
    // Hashes are copied as words, so the form must be aligned to words.
    const page = new Page(form.byteOffset % WORD_BYTES === 0 ? form : copy(form))
    const sound = (page.#leaves & page.#inner) === 0 && form.length === formBytes(page.#leaves, page.#inner)
    assert(sound, 'a stored page does not decode')
    return page
  }

  /** The result must not be changed. */
  form(): Uint8Array {
    if (this.#draft === undefined) return this.#form
    Page.rehash([this])
    this.#form = this.#formOf(this.#draft)
    this.#draft = undefined
    return this.#form
  }

  copy(): Page {
    return new Page(this.form())
  }

  slotKind(slot: number): number {
    return this.kind(PAGE_SLOTS + slot)
  }

  holds(slot: number, path: Uint8Array): boolean {
    if (!this.#isLeaf(slot)) return false
    const own = this.#draft?.leaves[slot]
    if (own !== undefined) return equal(own.path, path)
    const at = slotAt(this.#form, slot)
    for (let i = 0; i < HASH_BYTES; i++) if (this.#form[at + i] !== path[i]) return false
    return true
  }

  leafAt(slot: number): Leaf | undefined {
    if (!this.#isLeaf(slot)) return undefined
    return this.#draft?.leaves[slot] ?? makeLeaf(this.#leafOfForm(slot))
  }

  setLeaf(slot: number, leaf: Leaf): void {
    const draft = this.#set(slot, SINGLE)
    draft.leaves[slot] = leaf
    keepHash(draft, PAGE_SLOTS + slot, leaf.hash)
  }

  setInner(slot: number, hash: Uint8Array): void {
    keepHash(this.#set(slot, INNER), PAGE_SLOTS + slot, hash)
  }

  clear(slot: number): void {
    this.#set(slot, EMPTY)
  }

  kind(node: number): number {
    const below = SLOTS_BELOW[node] as number
    if ((this.#inner & below) !== 0) return INNER
    const leaves = this.#leaves & below
    if (leaves === 0) return EMPTY
    return (leaves & (leaves - 1)) === 0 ? SINGLE : INNER
  }

  /** A copy of a node's hash; zeros for an empty node. */
  hash(node: number): Uint8Array {
    const kind = this.kind(node)
    if (kind === EMPTY) return new Uint8Array(HASH_BYTES)
    const kept = this.#keptHash(node)
    if (kept !== undefined) return copy(kept)
    if (kind === SINGLE) return copy(this.singleLeaf(node).hash)
    return hashStateNode(this.hash(2 * node), this.hash(2 * node + 1))
  }

  /** The node must be of kind {@link SINGLE}. */
  singleLeaf(node: number): Leaf {
    return this.leafAt(levelOf(this.#leaves & (SLOTS_BELOW[node] as number))) as Leaf
  }

  /** Computes the missing hashes of several pages, one level of all pages at a time. */
  static rehash(pages: readonly Page[]): void {
    const stale = pages.filter((page) => page.#draft !== undefined && !isKnown(page.#draft, PAGE_ROOT))
    for (let level = PAGE_LEVELS - 1; level >= 0; level--) {
      // One entry a node: `page index * NODES + node`.
      const pending: number[] = []
      for (let i = 0; i < stale.length; i++) (stale[i] as Page).#settle(level, i * NODES, pending)
      const { messages, results } = scratchFor(pending.length)
      for (let i = 0; i < pending.length; i++) {
        const entry = pending[i] as number
        ;(stale[Math.floor(entry / NODES)] as Page).#writeMessage(entry % NODES, messages, i * 2 * HASH_WORDS)
      }
      hashPairs(
        new Uint8Array(messages.buffer, 0, pending.length * 2 * HASH_BYTES),
        new Uint8Array(results.buffer, 0, pending.length * HASH_BYTES),
      )
      for (let i = 0; i < pending.length; i++) {
        const entry = pending[i] as number
        const draft = (stale[Math.floor(entry / NODES)] as Page).#draft as Draft
        const node = entry % NODES
        copyWords(results, i * HASH_WORDS, draft.words, wordOf(draft, node), HASH_WORDS)
        know(draft, node)
      }
    }
  }

  #isLeaf(slot: number): boolean {
    return ((this.#leaves >>> slot) & 1) === 1
  }

  /** Settles a level: a node with one leaf takes its child's hash, and an inner node goes to `unsettled`. */
  #settle(level: number, base: number, unsettled: number[]): void {
    const draft = this.#draft as Draft
    const first = 1 << level
    for (let node = first; node < 2 * first; node++) {
      const kind = this.kind(node)
      if (isKnown(draft, node) || kind === EMPTY) continue
      if (first === PAIRS) this.#hashLeaves(draft, node)
      if (kind === INNER) unsettled.push(base + node)
      else this.#become(draft, node)
    }
  }

  #hashLeaves(draft: Draft, pair: number): void {
    for (let node = 2 * pair; node <= 2 * pair + 1; node++) {
      if (isKnown(draft, node) || this.kind(node) !== SINGLE) continue
      const at = slotAt(this.#form, node - PAGE_SLOTS)
      // Path and value hash lie side by side.
      keepHash(draft, node, taggedHash('stateLeaf', this.#form.subarray(at, at + 2 * HASH_BYTES)))
    }
  }

  #become(draft: Draft, node: number): void {
    const child = this.kind(2 * node) === EMPTY ? 2 * node + 1 : 2 * node
    copyWords(draft.words, wordOf(draft, child), draft.words, wordOf(draft, node), HASH_WORDS)
    know(draft, node)
  }

  /** Writes the 64 bytes that a node hashes, from word `at` on. */
  #writeMessage(node: number, target: Uint32Array, at: number): void {
    const draft = this.#draft as Draft
    const left = wordOf(draft, 2 * node)
    const [hasLeft, hasRight] = [this.kind(2 * node) !== EMPTY, this.kind(2 * node + 1) !== EMPTY]
    for (let i = 0; i < HASH_WORDS; i++) {
      target[at + i] = (hasLeft ? (draft.words[left + i] as number) : 0) ^ (NODE_TAG_WORDS[i] as number)
      target[at + HASH_WORDS + i] = hasRight ? (draft.words[left + HASH_WORDS + i] as number) : 0
    }
  }

  /** The caller writes the content of the slot. All hashes above it become stale. */
  #set(slot: number, kind: number): Draft {
    this.#draft ??= this.#begin()
    const draft = this.#draft
    const bit = 1 << slot
    this.#leaves = kind === SINGLE ? this.#leaves | bit : this.#leaves & ~bit
    this.#inner = kind === INNER ? this.#inner | bit : this.#inner & ~bit
    if (slot < draft.leaves.length) draft.leaves[slot] = undefined
    for (let node = PAGE_SLOTS + slot; node >= PAGE_ROOT; node >>= 1) draft.known &= ~(1 << node)
    return draft
  }

  /** A draft with all hashes that the form holds. */
  #begin(): Draft {
    const draft: Draft = { ...takeWords(), known: 0, leaves: [] }
    const words = wordsOf(this.#form)
    for (let node = PAIRS; node < NODES; node++) {
      const at = this.#atInForm(node)
      if (at < 0) continue
      copyWords(words, at / WORD_BYTES, draft.words, wordOf(draft, node), HASH_WORDS)
      know(draft, node)
    }
    return draft
  }

  /** Offset of a node's hash in the form, negative if it is not stored. Valid only before the first change. */
  #atInForm(node: number): number {
    if (node >= PAGE_SLOTS)
      return this.slotKind(node - PAGE_SLOTS) === INNER ? slotAt(this.#form, node - PAGE_SLOTS) : -1
    return node >= PAIRS && pairHasLeaf(this.#leaves, node - PAIRS) ? pairAt(this.#form, node - PAIRS) : -1
  }

  #keptHash(node: number): Uint8Array | undefined {
    const draft = this.#draft
    if (draft !== undefined) return isKnown(draft, node) ? hashBytes(draft, node) : undefined
    const at = this.#atInForm(node)
    return at < 0 ? undefined : this.#form.subarray(at, at + HASH_BYTES)
  }

  #leafOfForm(slot: number): Pick<Leaf, 'path' | 'value'> {
    const at = slotAt(this.#form, slot)
    return {
      path: copy(this.#form.subarray(at, at + HASH_BYTES)),
      value: copy(this.#form.subarray(at + HASH_BYTES, at + 2 * HASH_BYTES)),
    }
  }

  /** All hashes of the page must be known. */
  #formOf(draft: Draft): Uint8Array {
    const form = new Uint8Array(formBytes(this.#leaves, this.#inner))
    form.set([this.#leaves & 0xff, this.#leaves >> 8, this.#inner & 0xff, this.#inner >> 8])
    const [words, before] = [wordsOf(form), wordsOf(this.#form)]
    for (let slot = 0; slot < PAGE_SLOTS; slot++) {
      const kind = this.slotKind(slot)
      if (kind === EMPTY) continue
      const at = slotAt(form, slot)
      const own = draft.leaves[slot]
      if (kind === INNER) copyWords(draft.words, wordOf(draft, PAGE_SLOTS + slot), words, at / WORD_BYTES, HASH_WORDS)
      else if (own === undefined)
        copyWords(before, slotAt(this.#form, slot) / WORD_BYTES, words, at / WORD_BYTES, 2 * HASH_WORDS)
      else writeLeaf(form, at, own)
    }
    for (let pair = 0; pair < PAIRS; pair++) {
      if (!pairHasLeaf(this.#leaves, pair)) continue
      copyWords(draft.words, wordOf(draft, PAIRS + pair), words, pairAt(form, pair) / WORD_BYTES, HASH_WORDS)
    }
    return form
  }
}

function isKnown({ known }: Draft, node: number): boolean {
  return ((known >>> node) & 1) === 1
}

function know(draft: Draft, node: number): void {
  draft.known |= 1 << node
}

function wordOf({ at }: Draft, node: number): number {
  return at + node * HASH_WORDS
}

function hashBytes(draft: Draft, node: number): Uint8Array {
  return new Uint8Array(draft.words.buffer, wordOf(draft, node) * WORD_BYTES, HASH_BYTES)
}

function keepHash(draft: Draft, node: number, hash: Uint8Array): void {
  hashBytes(draft, node).set(hash)
  know(draft, node)
}

function writeLeaf(form: Uint8Array, at: number, { path, value }: Leaf): void {
  form.set(path, at)
  form.set(value, at + HASH_BYTES)
}

function wordsOf(form: Uint8Array): Uint32Array {
  return new Uint32Array(form.buffer, form.byteOffset, form.length / WORD_BYTES)
}

/** Copies without views: making a view costs more than copying the words. */
function copyWords(source: Uint32Array, from: number, target: Uint32Array, to: number, count: number): void {
  for (let i = 0; i < count; i++) target[to + i] = source[from + i] as number
}

/** Drafts that share one chunk of memory. */
const DRAFTS_PER_CHUNK = 64
const DRAFT_WORDS = NODES * HASH_WORDS
let chunk = new Uint32Array(0)
let chunkUsed = 0

/**
 * Memory for the hashes of a draft, from the present chunk. A chunk is not reused: it is freed with the last of its
 * drafts.
 */
function takeWords(): Pick<Draft, 'words' | 'at'> {
  if (chunkUsed === chunk.length) {
    chunk = new Uint32Array(DRAFTS_PER_CHUNK * DRAFT_WORDS)
    chunkUsed = 0
  }
  chunkUsed += DRAFT_WORDS
  return { words: chunk, at: chunkUsed - DRAFT_WORDS }
}

interface Scratch {
  readonly messages: Uint32Array<ArrayBuffer>
  readonly results: Uint32Array<ArrayBuffer>
}

let scratch: Scratch = { messages: new Uint32Array(0), results: new Uint32Array(0) }

/** Kept between calls, so that hashing makes no garbage for every page. */
function scratchFor(nodes: number): Scratch {
  if (scratch.results.length < nodes * HASH_WORDS) {
    scratch = { messages: new Uint32Array(nodes * 2 * HASH_WORDS), results: new Uint32Array(nodes * HASH_WORDS) }
  }
  return scratch
}

/**
 * Leaf of a record: H(leaf tag, path || value hash). In a proof of absence the prover chooses path and value hash
 * freely. A leaf's message is 86 bytes long and a node's 64, so neither can be shown as the other.
 */
export function makeLeaf({ path, value }: Pick<Leaf, 'path' | 'value'>): Leaf {
  return { path, value, hash: taggedHash('stateLeaf', path, value) }
}

/** Hash of a node of the tree. */
export function hashStateNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  return hashNode(left, right, NODE_TAG)
}
