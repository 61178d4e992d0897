import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import { hashStateNode, INNER, makeLeaf, PAGE_LEVELS, PAGE_SLOTS } from '../../../../consensus/state/page.ts'
import { proveState, type StateProof, verifyStateProof } from '../../../../consensus/state/proof.ts'
import { pathOf, ROOT_PAGE, updateTreeNow, valueHash } from '../../../../consensus/state/tree.ts'
import { useNativeSha256 } from '../../../../src/crypto/native-backend.ts'
import { runs } from '../../../support/runs.ts'
import { change, crowdedIds, PageStore, THINGS } from '../../../support/state.ts'
import { tagged, xor } from '../../../vectors/generate/tx-wire.ts'

useNativeSha256()

const IDS = [...crowdedIds(12, 5, 4), ...Array.from({ length: 40 }, (_, i) => 5_000_000 + i)]
const ABSENT = Array.from({ length: 10 }, (_, i) => 6_000_000 + i)

interface Tree {
  readonly store: PageStore
  readonly root: Hash
  readonly records: ReadonlyMap<number, number>
}

function treeOf(records: ReadonlyMap<number, number>): Tree {
  const store = new PageStore()
  const changes = [...records].map(([id, value]) => change(id, undefined, value))
  const update = updateTreeNow(store, changes)
  store.apply(update)
  return { store, root: update.root, records }
}

const tree = fc
  .array(fc.tuple(fc.constantFrom(...IDS), fc.nat(255)), { maxLength: 60 })
  .map((records) => treeOf(new Map(records)))

const anyId = fc.constantFrom(...IDS, ...ABSENT)

function held({ records }: Tree, id: number): Uint8Array | undefined {
  const value = records.get(id)
  return value === undefined ? undefined : Uint8Array.of(value)
}

function verifies({ root }: Tree, id: number, value: Uint8Array | undefined, proof: StateProof): boolean {
  return verifyStateProof(root, THINGS.key(id), value, proof)
}

describe('a state proof', () => {
  it('shows of every key what the tree holds, or that it holds nothing', () => {
    fc.assert(
      fc.property(tree, anyId, (t, id) => {
        expect(verifies(t, id, held(t, id), proveState(t.store, THINGS.key(id)))).toBe(true)
      }),
      { numRuns: runs(300) },
    )
  })

  it('never shows another value, nor absence of what is there, nor presence of what is not', () => {
    fc.assert(
      fc.property(tree, anyId, fc.nat(255), (t, id, lie) => {
        const proof = proveState(t.store, THINGS.key(id))
        const value = held(t, id)
        const others = [undefined, new Uint8Array(0), Uint8Array.of(lie)].filter(
          (other) => (other && toHex(other)) !== (value && toHex(value)),
        )
        for (const other of others) expect(verifies(t, id, other, proof)).toBe(false)
      }),
      { numRuns: runs(300) },
    )
  })

  it('of one key shows nothing about another', () => {
    fc.assert(
      fc.property(tree, anyId, anyId, (t, id, other) => {
        fc.pre(t.records.has(id) && id !== other)
        const proof = proveState(t.store, THINGS.key(id))
        expect(verifies(t, other, held(t, id), proof)).toBe(false)
        if (t.records.has(other)) expect(verifies(t, other, undefined, proof)).toBe(false)
      }),
      { numRuns: runs(300) },
    )
  })

  it('changed anywhere shows nothing', () => {
    fc.assert(
      fc.property(tree, anyId, fc.nat(), (t, id, pick) => {
        const proof = proveState(t.store, THINGS.key(id))
        for (const hostile of hostileProofs(proof, pick)) {
          expect(verifies(t, id, held(t, id), hostile)).toBe(false)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})

/** Spoiled copies of a valid proof. None may verify, whatever is claimed with it. */
function hostileProofs({ siblings, leaf }: StateProof, pick: number): readonly StateProof[] {
  const at = siblings.length === 0 ? 0 : pick % siblings.length
  const zero = new Uint8Array(32)
  const altered = (bytes: Uint8Array) => bytes.map((byte, i) => (i === pick % bytes.length ? byte ^ 0x80 : byte))
  const proofs: StateProof[] = [
    { siblings: [...siblings, zero], leaf },
    { siblings: [zero, ...siblings], leaf },
    { siblings: Array.from({ length: 257 }, () => zero), leaf },
  ]
  if (siblings.length > 0) {
    proofs.push(
      { siblings: siblings.toSpliced(at, 1), leaf },
      { siblings: siblings.with(at, altered(siblings[at] as Uint8Array)), leaf },
      { siblings: siblings.with(at, (siblings[at] as Uint8Array).slice(1)), leaf },
      { siblings: siblings.with(at, new Uint8Array(33)), leaf },
    )
  }
  if (leaf !== null) {
    proofs.push(
      { siblings, leaf: null },
      { siblings, leaf: { ...leaf, path: altered(leaf.path) } },
      { siblings, leaf: { ...leaf, value: altered(leaf.value) } },
      { siblings, leaf: { ...leaf, value: leaf.value.slice(1) } },
      { siblings, leaf: { ...leaf, path: new Uint8Array([...leaf.path, 0]) } },
    )
  }
  return proofs
}

/** Both children of every inner node on the path to a key, within the top page. */
function innerNodes({ store }: Tree, id: number): readonly (readonly [Uint8Array, Uint8Array])[] {
  const page = store.page(ROOT_PAGE)
  const nodes: (readonly [Uint8Array, Uint8Array])[] = []
  const slot = PAGE_SLOTS + ((pathOf(THINGS.key(id))[0] as number) >> 4)
  for (let up = PAGE_LEVELS; up > 0; up--) {
    const node = slot >> up
    if (page?.kind(node) === INNER) nodes.push([page.hash(2 * node), page.hash(2 * node + 1)])
  }
  return nodes
}

describe('a proof of absence', () => {
  const crowd = crowdedIds(12, 1, 3) as readonly [number, number, number]
  const two = treeOf(
    new Map([
      [crowd[0], 1],
      [crowd[1], 2],
    ]),
  )

  it('in an empty tree is empty', () => {
    const proof = proveState(new PageStore(), THINGS.key(1))
    expect(proof).toEqual({ siblings: [], leaf: null })
    expect(verifies(treeOf(new Map()), 1, undefined, proof)).toBe(true)
  })

  it('may end at another’s leaf on the same way', () => {
    const one = treeOf(new Map([[crowd[0], 1]]))
    const proof = proveState(one.store, THINGS.key(crowd[1]))
    expect(proof.leaf && toHex(proof.leaf.path)).toBe(toHex(pathOf(THINGS.key(crowd[0]))))
    expect(verifies(one, crowd[1], undefined, proof)).toBe(true)
  })

  it('may not end at a leaf that stands elsewhere', () => {
    const proof = proveState(two.store, THINGS.key(crowd[0]))
    const far = ABSENT.find(
      (id) => ((pathOf(THINGS.key(id))[0] as number) ^ (pathOf(THINGS.key(crowd[0]))[0] as number)) >> 7,
    )
    expect(verifies(two, far as number, undefined, proof)).toBe(false)
  })

  it('may not end at a leaf on the wrong side, even under a root that was made for it', () => {
    const [left, right] = [0, 1].map((bit) => ABSENT.find((id) => (pathOf(THINGS.key(id))[0] as number) >> 7 === bit))
    const leaf = { path: pathOf(THINGS.key(right as number)), value: valueHash(Uint8Array.of(1)) }
    const sibling = new Uint8Array(32).fill(7)
    const root = toHex(hashStateNode(makeLeaf(leaf).hash, sibling)) as Hash
    expect(verifyStateProof(root, THINGS.key(left as number), undefined, { siblings: [sibling], leaf })).toBe(false)
  })

  it('may not pass a leaf off as a node with nothing below it', () => {
    const proof = proveState(two.store, THINGS.key(crowd[0]))
    const leaf = proof.leaf as NonNullable<StateProof['leaf']>
    for (const extra of [leaf.path, leaf.value, new Uint8Array(32)]) {
      const siblings = [...proof.siblings, extra]
      expect(verifies(two, crowd[0], undefined, { siblings, leaf: null })).toBe(false)
    }
  })

  it('may not show an inner node as another’s leaf, with either tag folded in or out', () => {
    const full = treeOf(new Map(IDS.map((id, i) => [id, i])))
    const tags = [new Uint8Array(32), tagged('farthing/state-leaf/1'), tagged('farthing/state-node/1')]
    const foldings = tags.flatMap((a) => tags.map((b) => xor(a, b)))
    const fooled = IDS.flatMap((id) => {
      const { siblings } = proveState(full.store, THINGS.key(id))
      return innerNodes(full, id).flatMap(([left, right], depth) =>
        foldings
          .map((folding) => ({ path: xor(left, folding), value: right }))
          .filter((leaf) => verifies(full, id, undefined, { siblings: siblings.slice(0, depth), leaf }))
          .map(() => `${id} at depth ${depth}`),
      )
    })
    expect(fooled).toEqual([])
  })

  it('may not end at the key’s own leaf, even with another value', () => {
    const proof = proveState(two.store, THINGS.key(crowd[0]))
    expect(verifies(two, crowd[0], undefined, proof)).toBe(false)
    const leaf = { path: pathOf(THINGS.key(crowd[0])), value: valueHash(Uint8Array.of(9)) }
    expect(verifies(two, crowd[0], undefined, { ...proof, leaf })).toBe(false)
  })
})
