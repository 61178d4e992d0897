import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HeaderTip, headerTipOf } from '../../consensus/block/header-tip.ts'
import type { BlockRules } from '../../consensus/block/rules.ts'
import { MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { importAll } from '../support/branches.ts'
import { TestChain } from '../support/chain.ts'
import { childHeader, headerBranch } from '../support/header-branch.ts'
import { testParams } from '../support/network.ts'
import { runs } from '../support/runs.ts'

/** A target far from the easiest one and from 1. */
const MIDDLE = 1n << 200n
/** Below this, the rounding of a target to an integer counts beside the margin of a move. */
const SMALL = 1n << 16n

const change = fc.record(
  {
    spacingMs: fc.constantFrom(500, 1_000, 3_000, 6_000, 60_000),
    halfLifeMs: fc.constantFrom(60_000, 300_000, 3_600_000),
    easier: fc.constantFrom(1n, 2n, 1_000n),
    anchorResetGapMs: fc.constantFrom(null, 2_000, 120_000),
    baseFeeChangeDivisor: fc.constantFrom(8n, 32n, 100n),
    baseFeeMin: fc.constantFrom(32n, 50n),
    weightMax: fc.constantFrom(200_000, 2_000_000, 4_000_000),
  },
  { requiredKeys: [] },
)

type Change = Partial<BlockRules> & { readonly easier?: bigint }

/** A network whose block rules change at these heights. */
function network(first: Partial<BlockRules>, later: readonly (Change & { readonly after: number })[]): NetworkParams {
  const params = testParams()
  const [step] = params.steps
  if (step === undefined) throw new Error('no rules')
  let rules = { ...step.rules, block: { ...step.rules.block, ...first } }
  let fromHeight = 0
  const steps = [{ fromHeight, rules }]
  for (const { after, easier = 1n, ...block } of later) {
    const powLimit = rules.block.powLimit * easier
    fromHeight += after
    rules = { ...rules, block: { ...rules.block, ...block, powLimit } }
    steps.push({ fromHeight, rules })
  }
  return { ...params, steps }
}

async function genesisTip(ruleBook: RuleBook): Promise<HeaderTip> {
  const { database } = (await TestChain.open(ruleBook)).chain
  return headerTipOf(database, database.head)
}

/** The rules without the steps from a height on. */
function without({ params }: RuleBook, fromHeight: number): RuleBook {
  return createRuleBook({ ...params, steps: params.steps.filter((step) => step.fromHeight < fromHeight) }, PROTOCOL)
}

function logTwo(target: bigint): number {
  const bits = target.toString(2).length
  return bits + Math.log2(Number(target >> BigInt(Math.max(0, bits - 50))) / 2 ** Math.min(bits, 50))
}

describe('a rule step', () => {
  it('that doubles the spacing of a chain on time asks of its next block what was asked of the last', async () => {
    for (const [spacingMs, halfLifeMs] of [
      [6_000, 300_000],
      [1_000, 300_000],
      [3_000, 30_000],
    ] as const) {
      const params = network({ powLimit: MIDDLE, initialTarget: MIDDLE >> 40n }, [
        { after: 2_001, spacingMs, halfLifeMs },
      ])
      const ruleBook = createRuleBook(params, PROTOCOL)
      const before = headerBranch(ruleBook, await genesisTip(ruleBook), 2_000).at(-1) as HeaderTip
      expect(before.header.target).toBe(MIDDLE >> 40n)
      const after = headerBranch(ruleBook, before, 20)
      expect(new Set(after.map(({ header }) => header.target))).toEqual(new Set([MIDDLE >> 40n]))
    }
  })

  it('of any kind moves neither the target nor the base fee by more than any block may', async () => {
    const step = fc.tuple(change, fc.integer({ min: 1, max: 60 })).map(([rules, after]) => ({ ...rules, after }))
    const gap = fc.constantFrom(1, 500, 3_000, 3_000, 3_000, 20_000, 130_000)
    let steps = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 60 }),
        fc.array(fc.tuple(gap, fc.nat(1_000)), { minLength: 120, maxLength: 200, size: 'max' }),
        async (later, harder, blocks) => {
          const first = { powLimit: MIDDLE, initialTarget: MIDDLE >> BigInt(harder) }
          const ruleBook = createRuleBook(network(first, later), PROTOCOL)
          let tip = await genesisTip(ruleBook)
          let grandparentMs = tip.header.timeMs
          for (const [gapMs, permille] of blocks) {
            const height = tip.header.height + 1
            const rules = ruleBook.at(height).block
            const weightUsed = Math.floor((rules.weightMax * permille) / 1_000)
            const { header } = childHeader(ruleBook, tip, { timeMs: tip.header.timeMs + gapMs, weightUsed })
            const ended = ruleBook.at(height - 1).block
            if (ended !== rules) {
              steps++
              if (height > 1) expect(header.target).toBe(childHeader(without(ruleBook, height), tip).header.target)
            }
            if (height > 1 && tip.header.target > SMALL && header.target > SMALL) {
              const late = tip.header.timeMs - grandparentMs
              const most = (late + ended.spacingMs) / ended.halfLifeMs + 0.01
              expect(Math.abs(logTwo(header.target) - logTwo(tip.header.target))).toBeLessThan(most)
            }
            const moved = header.baseFee - tip.header.baseFee
            const share = tip.header.baseFee / rules.baseFeeChangeDivisor
            const atFloor = header.baseFee === rules.baseFeeMin
            expect(atFloor || (moved <= (share > 1n ? share : 1n) && -moved <= share)).toBe(true)
            grandparentMs = tip.header.timeMs
            const change = { timeMs: header.timeMs, weightUsed }
            tip = headerBranch(ruleBook, tip, 1, change)[0] as HeaderTip
          }
        },
      ),
      { numRuns: runs(40) },
    )
    expect(steps).toBeGreaterThan(40)
  })

  it('that a stored chain does not know yet is heard when it comes', async () => {
    const soon = network({}, [{ after: 6, spacingMs: 60_000, halfLifeMs: 3_600_000 }])
    const later = createRuleBook(soon, PROTOCOL)
    const store = new MemoryKeyValueStore()
    const old = await TestChain.open(without(later, 6), store)
    const blocks = []
    for (let i = 0; i < 5; i++) blocks.push(await old.mine())
    const continued = await TestChain.open(later, store)
    expect(continued.chain.head.id).toBe(old.chain.head.id)
    const fresh = await TestChain.open(later)
    for (const block of blocks) expect(await importAll(fresh, [block])).toBe('connected')
    expect(continued.chain.childOf(continued.chain.head)).toEqual(fresh.chain.childOf(fresh.chain.head))
    for (let i = 0; i < 3; i++) {
      const block = await continued.mine()
      expect(await importAll(fresh, [block])).toBe('connected')
    }
    expect(continued.chain.head.anchor?.height).toBe(5)
  })
})
