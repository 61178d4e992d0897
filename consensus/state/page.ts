import { hashPairs } from '../crypto/hash.ts'
import { nodeTag, xorInto } from '../crypto/merkle.ts'
import { ZERO_32 } from '../primitives/bytes.ts'

/**
 * A page holds four levels of the state tree: sixteen slots, each empty, a leaf, or the root of the page below. The
 * hashes between slots and page root follow from the slots, so only these are stored. Pages are how this node keeps
 * the tree; consensus knows the tree alone.
 */
export type Slot =
  | { readonly kind: 'leaf'; readonly path: Uint8Array; readonly value: Uint8Array; readonly hash: Uint8Array }
  | { readonly kind: 'inner'; readonly hash: Uint8Array }

/** Sixteen slots. */
export type Page = readonly (Slot | null)[]

/** Slots of a page. */
export const PAGE_SLOTS = 16
/** Levels of the tree in a page. */
export const PAGE_LEVELS = 4

const LEAF_TAG = nodeTag('stateLeaf')
const NODE_TAG = nodeTag('stateNode')
const HASH_BYTES = 32

/** A point of the tree inside a page: nothing, one single leaf, or a node above at least two. */
export type Element = { readonly hash: Uint8Array; readonly leaf: (Slot & { kind: 'leaf' }) | null } | null

/** Hashes of many leaves at once: SHA-256((path xor leaf tag) || value hash). */
export function hashLeaves(
  leaves: readonly { readonly path: Uint8Array; readonly value: Uint8Array }[],
): readonly Uint8Array[] {
  const messages = new Uint8Array(leaves.length * 64)
  leaves.forEach(({ path, value }, i) => {
    messages.set(path, i * 64)
    xorInto(messages, i * 64, LEAF_TAG)
    messages.set(value, i * 64 + HASH_BYTES)
  })
  return hashMessages(messages)
}

/**
 * All levels of several pages, each from its sixteen slots (index 4) up to its root (index 0). A subtree with a single
 * leaf IS that leaf; a missing side is hashed as zeros. The pages of a call are hashed level by level together.
 */
export function pageLevels(pages: readonly Page[]): readonly (readonly (readonly Element[])[])[] {
  let level: readonly (readonly Element[])[] = pages.map((page) => page.map(elementOf))
  const levels = pages.map((_, i) => [level[i] as readonly Element[]])
  for (let height = PAGE_LEVELS; height > 0; height--) {
    level = combineLevel(level)
    for (let i = 0; i < pages.length; i++) levels[i]?.unshift(level[i] as readonly Element[])
  }
  return levels
}

/** Roots of several pages. */
export function pageRoots(pages: readonly Page[]): readonly Element[] {
  return pageLevels(pages).map((levels) => levels[0]?.[0] ?? null)
}

/** Hash that stands for an element in its parent. */
export function elementHash(element: Element): Uint8Array {
  return element === null ? ZERO_32 : element.hash
}

/** One node of the tree. */
export function hashStateNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  const message = new Uint8Array(64)
  message.set(left)
  xorInto(message, 0, NODE_TAG)
  message.set(right, HASH_BYTES)
  return hashMessages(message)[0] as Uint8Array
}

function elementOf(slot: Slot | null): Element {
  if (slot === null) return null
  return { hash: slot.hash, leaf: slot.kind === 'leaf' ? slot : null }
}

function combineLevel(level: readonly (readonly Element[])[]): readonly (readonly Element[])[] {
  const pending: { readonly left: Element; readonly right: Element; readonly row: Element[]; readonly at: number }[] =
    []
  const above = level.map((elements) => {
    const row: Element[] = []
    for (let i = 0; i < elements.length; i += 2) {
      const left = elements[i] ?? null
      const right = elements[i + 1] ?? null
      const single = singleOf(left, right)
      if (single === undefined) pending.push({ left, right, row, at: row.length })
      row.push(single ?? null)
    }
    return row
  })
  const messages = new Uint8Array(pending.length * 64)
  pending.forEach(({ left, right }, i) => {
    messages.set(elementHash(left), i * 64)
    xorInto(messages, i * 64, NODE_TAG)
    messages.set(elementHash(right), i * 64 + HASH_BYTES)
  })
  hashMessages(messages).forEach((hash, i) => {
    const { row, at } = pending[i] as (typeof pending)[number]
    row[at] = { hash, leaf: null }
  })
  return above
}

/** What two neighbours come to without hashing: nothing, or the only leaf. Undefined if they make a node. */
function singleOf(left: Element, right: Element): Element | undefined {
  if (left === null && right === null) return null
  if (left === null) return right?.leaf ? right : undefined
  return right === null && left.leaf ? left : undefined
}

function hashMessages(messages: Uint8Array): readonly Uint8Array[] {
  const output = new Uint8Array(messages.length / 2)
  hashPairs(messages, output)
  return Array.from({ length: messages.length / 64 }, (_, i) => output.slice(i * HASH_BYTES, (i + 1) * HASH_BYTES))
}
