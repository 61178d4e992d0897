/**
 * How a page of the state tree is stored. First two masks of 16 bits, little-endian: the slots with leaves, and the
 * slots with a page below. Then, slot by slot, the path and value hash of a leaf, or the hash of the page below. Then
 * the hash of each pair of slots that has a leaf. All other hashes of the page follow from these, so they are not
 * stored.
 */

/** Bytes of a hash, of a path and of a value hash. */
export const HASH_BYTES = 32
/** Bytes of the two masks. */
export const FORM_HEAD_BYTES = 4
const LEAF_BYTES = 2 * HASH_BYTES
const EVEN_SLOTS = 0x5555

/** Slots with leaves, one bit each. */
export function leavesIn(form: Uint8Array): number {
  return (form[0] as number) | ((form[1] as number) << 8)
}

/** Slots with pages below, one bit each. */
export function innerIn(form: Uint8Array): number {
  return (form[2] as number) | ((form[3] as number) << 8)
}

/** Whether one of the two slots of a pair holds a leaf. Pairs are counted from 0. */
export function pairHasLeaf(leaves: number, pair: number): boolean {
  return ((leaves >>> (2 * pair)) & 0b11) !== 0
}

/** Both arguments are masks of slots. */
export function formBytes(leaves: number, inner: number): number {
  return pairsAt(leaves, inner) + HASH_BYTES * count(pairsWithLeaves(leaves))
}

/** Where the content of a filled slot begins. */
export function slotAt(form: Uint8Array, slot: number): number {
  const before = (1 << slot) - 1
  return pairsAt(leavesIn(form) & before, innerIn(form) & before)
}

/** Where the hash of a pair with a leaf begins. */
export function pairAt(form: Uint8Array, pair: number): number {
  const leaves = leavesIn(form)
  const before = (1 << (2 * pair)) - 1
  return pairsAt(leaves, innerIn(form)) + HASH_BYTES * count(pairsWithLeaves(leaves) & before)
}

function pairsAt(leaves: number, inner: number): number {
  return FORM_HEAD_BYTES + LEAF_BYTES * count(leaves) + HASH_BYTES * count(inner)
}

/** Pairs with a leaf, one bit each: that of the pair's first slot. */
function pairsWithLeaves(leaves: number): number {
  return (leaves | (leaves >>> 1)) & EVEN_SLOTS
}

function count(bits: number): number {
  let sum = bits - ((bits >>> 1) & 0x5555)
  sum = (sum & 0x3333) + ((sum >>> 2) & 0x3333)
  sum = (sum + (sum >>> 4)) & 0x0f0f
  return (sum + (sum >>> 8)) & 0x1f
}
