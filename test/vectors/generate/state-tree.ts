import { hex, join, madeBytes, sha256 } from './bytes.ts'
import { tagged, u8, u32, type VectorSet, xor } from './tx-wire.ts'

/**
 * A proof in a vector. This file computes roots and proofs from the recursive definition in docs/spec/blocks.md,
 * section 6.
 */

interface TreeProof {
  readonly key: string
  /** Null: the proof shows that the key is absent. */
  readonly value: string | null
  readonly siblings: readonly string[]
  readonly leaf: { readonly path: string; readonly value: string } | null
}

export interface TreeCase {
  readonly name: string
  readonly records: readonly { readonly key: string; readonly value: string }[]
  readonly root: string
  readonly proofs: readonly TreeProof[]
  /** Proofs that must be refused under the root. */
  readonly refused: readonly (TreeProof & { readonly why: string })[]
}

interface Leaf {
  readonly path: Uint8Array
  readonly value: Uint8Array
}

/**
 * Hash of the tag of leaves. Real leaves hash the tag together with their data. Only forged leaves have this hash
 * folded into their path.
 */
const LEAF_TAG = tagged('farthing/state-leaf/1')
const NODE_TAG = tagged('farthing/state-node/1')
const ZERO_32 = new Uint8Array(32)
/** How many records of a case get forged absences. */
const FORGED_KEYS = 4

function bit(path: Uint8Array, depth: number): number {
  return ((path[depth >> 3] as number) >> (7 - (depth & 7))) & 1
}

/** Hash of the subtree at `depth` that holds exactly these leaves. */
export function treeHash(leaves: readonly Leaf[], depth = 0): Uint8Array {
  const [only] = leaves
  if (only === undefined) return ZERO_32
  if (leaves.length === 1) return tagged('farthing/state-leaf/1', only.path, only.value)
  const side = (which: number) =>
    treeHash(
      leaves.filter(({ path }) => bit(path, depth) === which),
      depth + 1,
    )
  return sha256(xor(side(0), NODE_TAG), side(1))
}

function proofOf(leaves: readonly Leaf[], path: Uint8Array): Pick<TreeProof, 'siblings' | 'leaf'> {
  const siblings: string[] = []
  let here = leaves
  for (let depth = 0; here.length > 1; depth++) {
    const turn = bit(path, depth)
    siblings.push(
      hex(
        treeHash(
          here.filter((leaf) => bit(leaf.path, depth) !== turn),
          depth + 1,
        ),
      ),
    )
    here = here.filter((leaf) => bit(leaf.path, depth) === turn)
  }
  const [end] = here
  return { siblings, leaf: end === undefined ? null : { path: hex(end.path), value: hex(end.value) } }
}

/** The inner nodes on the way to a path, from the top: the children of each, and the siblings above it. */
function nodesOnWay(leaves: readonly Leaf[], path: Uint8Array) {
  const nodes: { readonly left: Uint8Array; readonly right: Uint8Array; readonly siblings: readonly string[] }[] = []
  const siblings: string[] = []
  let here = leaves
  for (let depth = 0; here.length > 1; depth++) {
    const halves = [0, 1].map((which) => here.filter((leaf) => bit(leaf.path, depth) === which))
    const [left, right] = halves.map((half) => treeHash(half, depth + 1)) as [Uint8Array, Uint8Array]
    nodes.push({ left, right, siblings: [...siblings] })
    const turn = bit(path, depth)
    siblings.push(hex(turn === 0 ? right : left))
    here = halves[turn] as readonly Leaf[]
  }
  return nodes
}

/**
 * Forged absences of present keys: an inner node in place of the last leaf, its 64 bytes used as path and value. If the
 * leaf tag were folded into the path, as the node tag is into a left half, the first of each pair would verify.
 */
function forgedAbsences(leaves: readonly Leaf[], keys: readonly Uint8Array[]): TreeCase['refused'] {
  return keys.flatMap((key) => {
    const path = pathOf(key)
    return nodesOnWay(leaves, path).flatMap(({ left, right, siblings }, depth) => {
      const bare = xor(left, NODE_TAG)
      return [xor(bare, LEAF_TAG), bare]
        .filter((shown) => Array.from({ length: depth }, (_, at) => bit(shown, at) === bit(path, at)).every(Boolean))
        .map((shown) => ({
          ...{ why: `the node at depth ${depth} as a leaf`, key: hex(key), value: null },
          ...{ siblings, leaf: { path: hex(shown), value: hex(right) } },
        }))
    })
  })
}

/** Proofs with the same bytes but other field lengths. */
function misfitted(key: Uint8Array, proof: Pick<TreeProof, 'siblings' | 'leaf'>): TreeCase['refused'] {
  const { siblings, leaf } = proof
  if (leaf === null) return []
  const bytes = leaf.path + leaf.value
  const head = { key: hex(key), value: null }
  const cut = (at: number) => ({ path: bytes.slice(0, at), value: bytes.slice(at) })
  return [
    ...[62, 66, 0, 128].map((at) => ({ ...head, why: `a path of ${at / 2} bytes`, siblings, leaf: cut(at) })),
    { ...head, why: 'a value of 33 bytes', siblings, leaf: { ...leaf, value: `${leaf.value}00` } },
    { ...head, why: 'a sibling of 31 bytes', siblings: siblings.map((one) => one.slice(2)), leaf },
    { ...head, why: 'a sibling of 64 bytes', siblings: [siblings.join('')], leaf },
  ].filter(({ why }) => siblings.length > 1 || !why.startsWith('a sibling'))
}

function pathOf(key: Uint8Array): Uint8Array {
  return tagged('farthing/state-key/1', key)
}

function treeCase(
  name: string,
  records: readonly (readonly [Uint8Array, Uint8Array])[],
  absent: readonly Uint8Array[],
) {
  const leaves = records.map(([key, value]) => ({
    path: pathOf(key),
    value: tagged('farthing/state-value/1', value),
  }))
  return {
    name,
    records: records.map(([key, value]) => ({ key: hex(key), value: hex(value) })),
    root: hex(treeHash(leaves)),
    proofs: [
      ...records.map(([key, value]) => ({ key: hex(key), value: hex(value), ...proofOf(leaves, pathOf(key)) })),
      ...absent.map((key) => ({ key: hex(key), value: null, ...proofOf(leaves, pathOf(key)) })),
    ],
    refused: [
      ...forgedAbsences(
        leaves,
        records.slice(0, FORGED_KEYS).map(([key]) => key),
      ),
      ...absent.slice(0, 1).flatMap((key) => misfitted(key, proofOf(leaves, pathOf(key)))),
    ],
  }
}

function madeKey(i: number): Uint8Array {
  return join(u8(0x01), madeBytes(`state key ${i}`, 32))
}

/** The first `count` made-up keys whose paths share their first `bits` bits with key 0's. */
function neighbours(bits: number, count: number): readonly Uint8Array[] {
  const wanted = pathOf(madeKey(0))
  const found: Uint8Array[] = [madeKey(0)]
  for (let i = 1; found.length < count; i++) {
    const path = pathOf(madeKey(i))
    if (Array.from({ length: bits }, (_, depth) => bit(path, depth) === bit(wanted, depth)).every(Boolean)) {
      found.push(madeKey(i))
    }
  }
  return found
}

export function stateTree(): VectorSet<TreeCase> {
  const records = (keys: readonly Uint8Array[]) =>
    keys.map((key, i) => [key, join(u32(i), madeBytes(`v${i}`, i))] as const)
  const first = (count: number) => records(Array.from({ length: count }, (_, i) => madeKey(i)))
  const absent = (count: number) => Array.from({ length: count }, (_, i) => madeKey(100_000 + i))
  const close = neighbours(11, 4)
  return {
    about:
      'State roots over small sets of records, with proofs of presence (value) and absence (null), good and forged.',
    spec: 'blocks.md, section 6',
    cases: [
      treeCase('nothing', [], absent(2)),
      ...[1, 2, 3, 4, 9, 17, 40].map((count) => treeCase(`${count} records`, first(count), absent(6))),
      treeCase('four records that share eleven bits of their paths', records(close), absent(3)),
      treeCase('two of them, a third proved absent', records(close.slice(0, 2)), close.slice(2)),
      treeCase('one of them alone', records(close.slice(0, 1)), close.slice(1)),
      treeCase('an empty value and an empty id', [[u8(0x03), new Uint8Array(0)]], [u8(0x66)]),
    ],
  }
}
