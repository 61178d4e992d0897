import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Differential, freePow } from '../support/differential.ts'
import { testParams } from '../support/network.ts'
import { Player, plansArbitrary, Seen } from '../support/plans.ts'
import { paramsArbitrary } from '../support/random-networks.ts'
import { CODE } from '../support/reference/outcome.ts'
import { KINDS } from '../support/reference/payloads.ts'
import { runs } from '../support/runs.ts'
import type { Op } from '../support/scenario.ts'

const QUIET = { afterMs: 3_000, behindMs: 0, miner: 0, fork: 0, signal: 0, empty: 0, flood: false } as const

/** Invokes of two agents, each with a term of the launch rules by its index; 0 is the shortest. */
const invokes = (...terms: number[]): Op[] =>
  terms.map((term, i) => ({ kind: 'invoke', n: [i + 2, i % 2, 0, 3, i % 3, term, 0, 1, 0, 0, 0, 0] }))

const RUNS = 55

/** `count` chains of random networks, from a seed. */
const chains = (seed: number, count: number) =>
  fc.sample(fc.tuple(paramsArbitrary, plansArbitrary), { seed, numRuns: count })
/** Chains that start every run and contain the rare cases. The last one has a deposit too low for a tab, which the others lack. */
const FIRST = [...chains(4, 20), ...chains(6, 15).slice(-1)]

describe('the node and a second reading of the specification', () => {
  it('agree on everything about random chains of random networks', { timeout: 10_000_000 }, async () => {
    const seen = new Seen()
    let reorganisations = 0
    await fc.assert(
      fc.asyncProperty(paramsArbitrary, plansArbitrary, async (params, plans) => {
        const pair = await Differential.open(params, freePow)
        const player = new Player(pair, seen)
        await player.prepare()
        for (const plan of plans) await player.play(plan)
        pair.compareReceipts()
        reorganisations += pair.counts.reorganisations
      }),
      // Shrinking ends at the limit too, with the smallest failure found so far.
      { numRuns: runs(RUNS), examples: FIRST, interruptAfterTimeLimit: runs(900_000), markInterruptAsFailure: true },
    )
    // A run that reached too few cases proves little.
    if (runs(RUNS) >= RUNS) {
      for (const [name, code] of Object.entries(CODE))
        expect(seen.times(`code ${code}`) + seen.times(`entry ${code}`), name).toBeGreaterThan(0)
      for (const kind of Object.keys(KINDS)) expect(seen.times(`${kind} 0`), kind).toBeGreaterThan(0)
      // Only swaps of three hops have four amounts.
      expect(seen.times('amounts 4')).toBeGreaterThan(0)
      for (const type of [1, 2, 3, 4, 5]) expect(seen.times(`receipt ${type}`), `${type}`).toBeGreaterThan(10)
      expect(reorganisations).toBeGreaterThan(10)
    }
  })

  it('agree until the deadlines and maturities of the launch rules', { timeout: 1_000_000 }, async () => {
    const seen = new Seen()
    const pair = await Differential.open(testParams(), freePow)
    const player = new Player(pair, seen)
    await player.prepare()
    const block = async (...terms: number[]): Promise<void> =>
      player.play({ ...QUIET, maker: 'reference', miner: pair.test.height % 256, ops: invokes(...terms) })
    // Two blocks share a deadline, with two calls each. The calls of term 400 are refunded before those of term 100, since
    // they were mined earlier.
    await block(1, 0, 1, 2, 3)
    const first = pair.test.height
    while (pair.test.height < first + 299) await block()
    await block(0, 0, 1)
    const last = runs(1) > 1 ? first + 1_210 : first + 410
    while (pair.test.height < last) await block()
    pair.compareReceipts()
    expect(seen.times('receipt 2')).toBe(last - 100)
    // Calls that expired, in order: one of term 100, two of term 400, two of term 100 from the later block. In a long run also one of term
    // 400 from the later block, and one of term 1,200.
    expect(seen.times('receipt 3')).toBe(runs(1) > 1 ? 7 : 5)
  })
})
