import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathBetween, SideBranches } from '../../../../consensus/chain/fork-choice.ts'
import type { BlockEntry } from '../../../../consensus/chain/layout.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import { runs } from '../../../support/runs.ts'

/** Blocks named after branch and height: `b5` is on branch `b`. Branches fork after `m4`. */
const PARENTS: Readonly<Record<string, string>> = {
  ...{ m1: 'm0', m2: 'm1', m3: 'm2', m4: 'm3' },
  ...{ a5: 'm4', a6: 'a5', b5: 'm4', b6: 'b5', b7: 'b6', b8: 'b7' },
}

function entry(id: string): BlockEntry {
  return { id, header: { height: Number(id.slice(1)), parent: PARENTS[id] } } as unknown as BlockEntry
}

function path(from: string, to: string) {
  const { disconnect, connect } = pathBetween({ entry: (id) => entry(id) }, entry(from), entry(to))
  return [disconnect.map(({ id }) => id).join(' '), connect.map(({ id }) => id).join(' ')]
}

describe('the path between two tips', () => {
  it.each([
    ['m4', 'm4', '', ''],
    ['m2', 'm4', '', 'm3 m4'],
    ['m4', 'm1', 'm4 m3 m2', ''],
    ['a6', 'b6', 'a6 a5', 'b5 b6'],
    ['a5', 'b8', 'a5', 'b5 b6 b7 b8'],
    ['b8', 'a5', 'b8 b7 b6 b5', 'a5'],
    ['a6', 'm0', 'a6 a5 m4 m3 m2 m1', ''],
  ])('from %s to %s takes off "%s" and puts on "%s"', (from, to, off, on) => {
    expect(path(from, to)).toEqual([off, on])
  })

  it('is a bug when a parent is missing', () => {
    const entries = { entry: () => undefined }
    expect(() => pathBetween(entries, entry('a6'), entry('b6'))).toThrow('missing from the store')
  })
})

/** A block of a random tree: the earlier block that it builds on, and its work. */
interface Grown {
  readonly parent: number
  readonly work: number
  readonly invalid: boolean
}

/** Blocks `0` to `n`, each on an earlier one; block 0 is genesis. */
class Tree {
  readonly entries: readonly BlockEntry[]
  /** Blocks of the best chain. */
  best: ReadonlySet<string> = new Set(['0'])

  constructor(grown: readonly Grown[]) {
    const entries = [{ id: '0', header: { height: 0, parent: '' }, totalWork: 0n, invalid: false }]
    for (const [i, { parent, work, invalid }] of grown.entries()) {
      const on = entries[parent % (i + 1)] as (typeof entries)[number]
      const header = { height: on.header.height + 1, parent: on.id }
      entries.push({ id: String(i + 1), header, totalWork: on.totalWork + BigInt(work), invalid })
    }
    this.entries = entries as unknown as readonly BlockEntry[]
  }

  entry(id: string): BlockEntry {
    return this.entries[Number(id)] as BlockEntry
  }

  ancestors(id: string): readonly string[] {
    const found: string[] = []
    for (let at = id; at !== ''; at = this.entry(at).header.parent) found.push(at)
    return found
  }

  forkHeight(id: string): number {
    const fork = this.ancestors(id).find((ancestor) => this.best.has(ancestor)) as string
    return this.entry(fork).header.height
  }

  side(): readonly BlockEntry[] {
    return this.entries.filter(({ id }) => !this.best.has(id))
  }
}

const grown = fc.record({ parent: fc.nat(), work: fc.integer({ min: 1, max: 4 }), invalid: fc.constant(false) })

describe('blocks off the best chain', () => {
  /** Moves the best chain to a tip, one block at a time as a chain does. */
  function move(tree: Tree, side: SideBranches, tip: string): void {
    const goal = new Set(tree.ancestors(tip))
    const off = [...tree.best].filter((id) => !goal.has(id)).map((id) => tree.entry(id))
    for (const entry of off.toSorted((a, b) => b.header.height - a.header.height)) side.addUnwound(entry)
    for (const id of goal) side.delete(id as BlockId)
    tree.best = goal
  }

  it('fork off, follow and end as the tree says, wherever the best chain moves', () => {
    const tips = fc.array(fc.nat(), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(grown, { minLength: 1, maxLength: 40 }), tips, fc.nat(40), (blocks, moves, floor) => {
        const tree = new Tree(blocks)
        const side = new SideBranches()
        for (const entry of tree.side()) side.add(entry)
        for (const pick of moves) {
          move(tree, side, String(pick % tree.entries.length))
          const here = tree.side()
          expect([...side.ids()].toSorted()).toEqual(here.map(({ id }) => id).toSorted())
          expect(here.map(({ id }) => side.forkHeight(id))).toEqual(here.map(({ id }) => tree.forkHeight(id)))
          const below = here.filter(({ id }) => tree.forkHeight(id) < floor)
          expect([...side.forkingBelow(floor)].toSorted()).toEqual(below.map(({ id }) => id).toSorted())
          for (const { id } of here) {
            const children = here.filter((other) => other.id !== id && tree.ancestors(other.id).includes(id))
            expect([...side.descendantsOf(id)].toSorted()).toEqual(children.map((child) => child.id).toSorted())
          }
        }
      }),
      { numRuns: runs(150) },
    )
  })

  it('are chosen by work among those that fork high enough and are neither invalid nor refused', () => {
    const maybeInvalid = fc.tuple(grown, fc.nat(3)).map(([one, n]) => ({ ...one, invalid: n === 0 }))
    const scene = fc.record({
      blocks: fc.array(maybeInvalid, { minLength: 1, maxLength: 40 }),
      tip: fc.nat(),
      forkHeightMin: fc.nat(5),
      work: fc.nat(12),
      refused: fc.array(fc.nat(40)),
    })
    fc.assert(
      fc.property(scene, ({ blocks, tip, forkHeightMin, work, refused }) => {
        const tree = new Tree(blocks)
        const side = new SideBranches()
        for (const entry of tree.side()) side.add(entry)
        move(tree, side, String(tip % tree.entries.length))
        const wish = { totalWork: BigInt(work), forkHeightMin, refused: new Set(refused.map(String)) as never }
        const fit = tree.side().filter(({ id, totalWork, invalid }) => {
          return (
            totalWork > wish.totalWork &&
            !invalid &&
            !refused.includes(Number(id)) &&
            tree.forkHeight(id) >= forkHeightMin
          )
        })
        const most = fit.reduce((sum, { totalWork }) => (totalWork > sum ? totalWork : sum), 0n)
        const chosen = side.heaviest(wish)
        if (fit.length === 0) expect(chosen).toBeUndefined()
        else expect(fit.find(({ id }) => id === chosen)?.totalWork).toBe(most)
      }),
      { numRuns: runs(300) },
    )
  })

  it('of the same work are chosen in the order in which they came, also when one of them was marked since', () => {
    const side = new SideBranches()
    const of = (id: string, invalid = false) => {
      return { id, header: { height: 1, parent: '0' }, totalWork: 5n, invalid } as unknown as BlockEntry
    }
    for (const id of ['a', 'b', 'c']) side.add(of(id))
    const wish = { totalWork: 4n, forkHeightMin: 0, refused: new Set<BlockId>() }
    expect(side.heaviest(wish)).toBe('a')
    side.add(of('a', true))
    expect([side.heaviest(wish), side.size]).toEqual(['b', 3])
    side.add(of('a'))
    expect(side.heaviest(wish)).toBe('a')
    expect(side.heaviest({ ...wish, totalWork: 5n })).toBeUndefined()
  })

  it('are the only ones that fork off: to ask for another is a bug', () => {
    expect(() => new SideBranches().forkHeight('x' as BlockId)).toThrow('off the best chain')
  })
})
