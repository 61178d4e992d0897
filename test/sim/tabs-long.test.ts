import { afterAll, describe, expect, it } from 'vitest'
import { TabTown, type TownSize } from '../support/sim/tab-town.ts'
import { type TabVerdict, tabVerdictOn } from '../support/sim/tab-verdict.ts'

const COUNT = Number(process.env.FARTHING_SIM_SEEDS ?? 8)
const SEEDS = Array.from({ length: COUNT }, (_, i) => i + 1)
/** Below what claims may bid, about that, and far above it. */
const FLOOD_TIPS = [60n, 250n, 600n, 20_000n]
const SIZE: TownSize = {
  ...{ busyBlocks: 80, tabs: 16, splits: 0.04, ends: ['close', 'refund', 'expiry'], floodTips: FLOOD_TIPS },
}
const HUNG_MS = 600_000

async function verdictOf(seed: number, size: TownSize): Promise<TabVerdict> {
  const town = new TabTown(seed, size)
  try {
    await town.run()
    const verdict = await tabVerdictOn(town)
    const { wrong, ...figures } = verdict
    console.log(`  seed ${seed}: ${JSON.stringify(figures)}`)
    expect(wrong).toEqual([])
    return verdict
  } finally {
    await town.close()
  }
}

describe('two sellers, payers and miners in a network that splits (attack 1)', () => {
  const verdicts: TabVerdict[] = []

  afterAll(() => {
    const sum = (of: (verdict: TabVerdict) => number): number => verdicts.reduce((all, one) => all + of(one), 0)
    const kinds = ['tab_open', 'tab_fund', 'tab_claim', 'tab_close']
    const undone = kinds.map((kind) => [kind, sum((one) => one.undone[kind] ?? 0)])
    const figures = { runs: verdicts.length, calls: sum(({ calls }) => calls), stolen: sum(({ stolen }) => stolen) }
    console.log(`  ${JSON.stringify({ ...figures, undone: Object.fromEntries(undone) })}`)
  })

  it.each(SEEDS)(
    'end every tab once, and lose no more than they risked (seed %i)',
    { timeout: HUNG_MS },
    async (seed) => {
      const verdict = await verdictOf(seed, SIZE)
      verdicts.push(verdict)
      expect(verdict.calls).toBeGreaterThan(100)
    },
  )

  it('have seen all that may happen to a tab', () => {
    const seen = (of: (verdict: TabVerdict) => number): boolean => verdicts.some((verdict) => of(verdict) > 0)
    for (const kind of ['tab_open', 'tab_fund', 'tab_claim', 'tab_close']) {
      expect([kind, seen(({ undone }) => undone[kind] ?? 0)]).toEqual([kind, true])
    }
    expect([seen(({ ended }) => ended.claim), seen(({ ended }) => ended.return)]).toEqual([true, true])
    expect([seen(({ stolen }) => stolen), seen(({ floodedBlocks }) => floodedBlocks)]).toEqual([true, true])
    expect(Math.max(...verdicts.map(({ deepest }) => deepest))).toBeGreaterThan(30)
  })
})

describe('a payer who fills the blocks of the close delay (attack 4)', () => {
  const flooded = (tip: bigint): TownSize => ({ ...SIZE, splits: 0, ends: ['close'], floodTips: [tip] })

  it('keeps no claim out at a price that its value bears', { timeout: HUNG_MS }, async () => {
    const { floodedBlocks, outbid } = await verdictOf(1, flooded(100n))
    expect([floodedBlocks > 0, outbid]).toEqual([true, 0])
  })

  it('keeps one out only above the price that the seller may bid, in all blocks', { timeout: HUNG_MS }, async () => {
    const { floodedBlocks, outbid } = await verdictOf(1, flooded(20_000n))
    expect([floodedBlocks > 0, outbid > 0]).toEqual([true, true])
  })
})
