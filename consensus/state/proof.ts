import { equal, fromHex, toHex, ZERO_32 } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import { elementHash, hashLeaves, hashStateNode, PAGE_LEVELS, pageLevels } from './page.ts'
import type { StateKey } from './table.ts'
import { type PageId, type PageReader, pathOf, valueHash } from './tree.ts'

/**
 * Proof of what the state holds under a key: the sibling hashes from the top down, and the leaf where the walk ends
 * (the record's own: presence; another's or none: absence).
 */
export interface StateProof {
  readonly siblings: readonly Uint8Array[]
  readonly leaf: { readonly path: Uint8Array; readonly value: Uint8Array } | null
}

/** Builds the proof for a key. */
export function proveState(reader: PageReader, key: StateKey): StateProof {
  const path = pathOf(key)
  const nibbles = toHex(path)
  const siblings: Uint8Array[] = []
  for (let depth = 0; ; depth++) {
    const page = reader.page(nibbles.slice(0, depth) as PageId)
    if (page === undefined) return { siblings, leaf: null }
    const levels = pageLevels([page])[0] as ReturnType<typeof pageLevels>[number]
    let at = 0
    for (let level = 0; level <= PAGE_LEVELS; level++) {
      const element = levels[level]?.[at] ?? null
      if (element === null) return { siblings, leaf: null }
      if (element.leaf !== null) return { siblings, leaf: { path: element.leaf.path, value: element.leaf.value } }
      if (level === PAGE_LEVELS) break
      const next = at * 2 + bitOf(path, depth * PAGE_LEVELS + level)
      siblings.push(elementHash(levels[level + 1]?.[next ^ 1] ?? null))
      at = next
    }
  }
}

/** Whether the proof shows that `key` holds `value` (undefined: nothing) under the root. */
export function verifyStateProof(root: Hash, key: StateKey, value: Uint8Array | undefined, proof: StateProof): boolean {
  const path = pathOf(key)
  const { siblings, leaf } = proof
  if (siblings.length > 256 || siblings.some(({ length }) => length !== 32)) return false
  if (leaf !== null && (leaf.path.length !== 32 || leaf.value.length !== 32)) return false
  if (!endsRightly(path, value, proof)) return false
  let hash = leaf === null ? ZERO_32 : (hashLeaves([leaf])[0] as Uint8Array)
  for (let depth = siblings.length - 1; depth >= 0; depth--) {
    const sibling = siblings[depth] as Uint8Array
    hash = bitOf(path, depth) === 0 ? hashStateNode(hash, sibling) : hashStateNode(sibling, hash)
  }
  return equal(hash, fromHex(root))
}

function endsRightly(path: Uint8Array, value: Uint8Array | undefined, { siblings, leaf }: StateProof): boolean {
  if (value !== undefined) return leaf !== null && equal(leaf.path, path) && equal(leaf.value, valueHash(value))
  if (leaf === null) return true
  if (equal(leaf.path, path)) return false
  for (let depth = 0; depth < siblings.length; depth++) if (bitOf(leaf.path, depth) !== bitOf(path, depth)) return false
  return true
}

function bitOf(path: Uint8Array, depth: number): 0 | 1 {
  return (((path[depth >> 3] as number) >> (7 - (depth & 7))) & 1) as 0 | 1
}
