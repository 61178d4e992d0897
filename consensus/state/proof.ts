import { equal, isHexBytes, toHex, ZERO_32 } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import { EMPTY, hashStateNode, makeLeaf, PAGE_LEVELS, PAGE_ROOT, SINGLE } from './page.ts'
import type { StateKey } from './table.ts'
import { nibbleOf, type PageReader, pageBelow, pathOf, ROOT_PAGE, valueHash } from './tree.ts'

/**
 * Proof of what the state holds under a key: the sibling hashes from the top down, and the leaf at the end of the path.
 * The key's own leaf proves presence; another leaf, or null, proves absence.
 */
export interface StateProof {
  readonly siblings: readonly Uint8Array[]
  readonly leaf: { readonly path: Uint8Array; readonly value: Uint8Array } | null
}

/** Builds the proof for a key. */
export function proveState(reader: PageReader, key: StateKey): StateProof {
  const path = pathOf(key)
  const siblings: Uint8Array[] = []
  let id = ROOT_PAGE
  for (let depth = 0; ; depth++) {
    const page = reader.page(id)
    if (page === undefined) return { siblings, leaf: null }
    let node = PAGE_ROOT
    for (let level = 0; level <= PAGE_LEVELS; level++) {
      const kind = page.kind(node)
      if (kind === EMPTY) return { siblings, leaf: null }
      if (kind === SINGLE) {
        const { path: leafPath, value } = page.singleLeaf(node)
        return { siblings, leaf: { path: leafPath, value } }
      }
      if (level === PAGE_LEVELS) break
      const next = 2 * node + bitOf(path, depth * PAGE_LEVELS + level)
      siblings.push(page.hash(next ^ 1))
      node = next
    }
    id = pageBelow(id, nibbleOf(path, depth))
  }
}

/** An undefined `value` stands for absence. */
export function verifyStateProof(root: Hash, key: StateKey, value: Uint8Array | undefined, proof: StateProof): boolean {
  if (!isHexBytes(key)) return false
  const path = pathOf(key)
  const { siblings, leaf } = proof
  if (siblings.length > 256 || siblings.some(({ length }) => length !== 32)) return false
  if (leaf !== null && (leaf.path.length !== 32 || leaf.value.length !== 32)) return false
  if (!endsRightly(path, value, proof)) return false
  let hash = leaf === null ? ZERO_32 : makeLeaf(leaf).hash
  for (let depth = siblings.length - 1; depth >= 0; depth--) {
    const sibling = siblings[depth] as Uint8Array
    hash = bitOf(path, depth) === 0 ? hashStateNode(hash, sibling) : hashStateNode(sibling, hash)
  }
  return toHex(hash) === root
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
