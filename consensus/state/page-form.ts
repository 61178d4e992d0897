/**
 * How a page of the state tree is stored: which slots hold leaves and which the root of a page below (two masks of 16 bits,
 * little-endian); then slot by slot the path and the value hash of a leaf, or the hash of a page below; then the hash of
 * each pair of slots with a leaf among them. Hashes of leaves and of the other nodes follow from these and are left out.
 */

/** Bytes of a hash, a path and a value hash. */
export const HASH_BYTES = 32
/** Bytes before what is in the slots. */
export const FORM_HEAD_BYTES = 4
const LEAF_BYTES = 2 * HASH_BYTES
const EVEN_SLOTS = 0x5555

/** Slots with leaves, a bit each. */
export function leavesIn(form: Uint8Array): number {
  return (form[0] as number) | ((form[1] as number) << 8)
}

/** Slots with pages below, a bit each. */
export function innerIn(form: Uint8Array): number {
  return (form[2] as number) | ((form[3] as number) << 8)
}

/** Whether one of two slots side by side, the pairs counted from 0, holds a leaf. */
export function pairHasLeaf(leaves: number, pair: number): boolean {
  return ((leaves >>> (2 * pair)) & 0b11) !== 0
}

/** Bytes of a form with so many leaves and pages below. */
export function formBytes(leaves: number, inner: number): number {
  return pairsAt(leaves, inner) + HASH_BYTES * count(pairsWithLeaves(leaves))
}

/** Where the content of a slot begins that is not empty. */
export function slotAt(form: Uint8Array, slot: number): number {
  const before = (1 << slot) - 1
  return pairsAt(leavesIn(form) & before, innerIn(form) & before)
}

/** Where the hash of a pair stands that has a leaf. */
export function pairAt(form: Uint8Array, pair: number): number {
  const leaves = leavesIn(form)
  const before = (1 << (2 * pair)) - 1
  return pairsAt(leaves, innerIn(form)) + HASH_BYTES * count(pairsWithLeaves(leaves) & before)
}

function pairsAt(leaves: number, inner: number): number {
  return FORM_HEAD_BYTES + LEAF_BYTES * count(leaves) + HASH_BYTES * count(inner)
}

/** Pairs with a leaf, as the bits of their first slots. */
function pairsWithLeaves(leaves: number): number {
  return (leaves | (leaves >>> 1)) & EVEN_SLOTS
}

/** How many of 16 bits are set. */
function count(bits: number): number {
  let sum = bits - ((bits >>> 1) & 0x5555)
  sum = (sum & 0x3333) + ((sum >>> 2) & 0x3333)
  sum = (sum + (sum >>> 4)) & 0x0f0f
  return (sum + (sum >>> 8)) & 0x1f
}
