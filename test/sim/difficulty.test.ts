import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { NETWORKS } from '../../config/networks/table.ts'
import { anchorAfter } from '../../consensus/block/difficulty.ts'
import type { BlockRules } from '../../consensus/block/rules.ts'
import { type AnchorRule, honest, type MinedBlock, meanSpacing, SimulatedChain, type Stamp, seeded } from './miners.ts'

const SEED = 20_261_101
const MAINNET = LAUNCH_RULES.block
const DEVNET = NETWORKS.devnet.steps[0]?.rules.block as BlockRules
const HOUR = 3_600_000
/** Hash rate at which a block of `work` hashes takes three seconds. */
const rateFor = (work: number): number => work / 3

console.log(`difficulty simulations, seed ${SEED}`)

function report(name: string, figures: Readonly<Record<string, number | string>>): void {
  const shown = Object.entries(figures).map(
    ([key, value]) => `${key} ${typeof value === 'number' ? round(value) : value}`,
  )
  console.log(`  ${name}: ${shown.join(', ')}`)
}

function round(value: number): number {
  return Math.abs(value) < 100 ? Math.round(value * 1_000) / 1_000 : Math.round(value)
}

/** A chain whose difficulty has settled at the rate. */
function settled(rules: BlockRules, rate: number, seed: number, rule?: AnchorRule): SimulatedChain {
  const chain = new SimulatedChain(rules, seeded(seed), rule)
  chain.mineBlocks(4_000, rate)
  return chain
}

/** Without the rule for targets above the limit: the anchor never moves once it is set. */
const withoutLimitRule: AnchorRule = (anchor, parent, header, rules) =>
  anchor ?? anchorAfter(anchor, parent, header, rules)

describe('steady mining', () => {
  it.each([2 ** 16, 2 ** 20, 2 ** 30])('at a rate for %i hashes a block keeps three seconds', (work) => {
    const chain = settled(MAINNET, rateFor(work), SEED + work)
    chain.mineBlocks(20_000, rateFor(work))
    const mean = meanSpacing(chain, 20_000)
    const works = chain.blocks.slice(-20_000).map(({ target }) => 2 ** 256 / Number(target) / work)
    report(`steady at 2^${Math.log2(work)} hashes`, {
      ...{ 'mean seconds': mean, 'least work': Math.min(...works), 'most work': Math.max(...works) },
    })
    expect(mean).toBeGreaterThan(2.97)
    expect(mean).toBeLessThan(3.03)
    // The work of a block varies with the luck of the last minutes, but not beyond these bounds.
    expect(Math.min(...works)).toBeGreaterThan(0.6)
    expect(Math.max(...works)).toBeLessThan(1.7)
  })

  it('at the easiest target is slower than three seconds, never faster', () => {
    const rate = rateFor(2 ** 14)
    const chain = settled(MAINNET, rate, SEED)
    chain.mineBlocks(20_000, rate)
    const mean = meanSpacing(chain, 20_000)
    report('steady at the easiest target', { 'mean seconds': mean })
    expect(mean).toBeGreaterThan(2.97)
    expect(mean).toBeLessThan(3.6)
  })

  it('on a devnet of one thread begins within a few seconds and keeps three', () => {
    const chain = new SimulatedChain(DEVNET, seeded(SEED))
    chain.mineBlocks(20, 8_000)
    const first = meanSpacing(chain, 19)
    chain.mineBlocks(5_000, 8_000)
    report('devnet from its start', { 'first twenty': first, 'then mean seconds': meanSpacing(chain, 4_000) })
    expect(first).toBeLessThan(6)
    expect(Math.abs(meanSpacing(chain, 4_000) - 3)).toBeLessThan(0.05)
  })
})

describe('a machine that sleeps eight hours', () => {
  /** Blocks in the hour after eight hours of sleep, and seconds that the first hundred blocks took. */
  function afterSleep(rules: BlockRules): { readonly blocks: number; readonly firstHundred: number } {
    const rate = 4_000
    const chain = settled(rules, rate, SEED)
    chain.rest(8 * HOUR)
    chain.mine(rate)
    const woken = chain.blocks.at(-1) as MinedBlock
    const blocks = chain.mineFor(HOUR, rate)
    const hundredth = chain.blocks.find(({ height }) => height === woken.height + 100) as MinedBlock
    return { blocks, firstHundred: (hundredth.timeMs - woken.timeMs) / 1_000 }
  }

  it('mines no burst on devnet rules', () => {
    const kept = afterSleep(DEVNET)
    const without = afterSleep({ ...DEVNET, anchorResetGapMs: null })
    report('devnet, the hour after eight hours of sleep', {
      ...{ blocks: kept.blocks, 'seconds of the first hundred': kept.firstHundred },
      ...{ 'blocks without the gap rule': without.blocks, 'seconds without it': without.firstHundred },
    })
    expect(kept.blocks).toBeGreaterThan(1_100)
    expect(kept.blocks).toBeLessThan(1_320)
    expect(kept.firstHundred).toBeGreaterThan(200)
    expect(without.blocks).toBeGreaterThan(kept.blocks)
    expect(without.firstHundred).toBeLessThan(kept.firstHundred)
  })
})

describe('a network that stands still for a day', () => {
  function afterStall(work: number, rule?: AnchorRule): number {
    const chain = settled(MAINNET, rateFor(work), SEED, rule)
    chain.rest(24 * HOUR)
    chain.mine(rateFor(work))
    return chain.mineFor(HOUR, rateFor(work))
  }

  it('comes back without a burst on mainnet rules', () => {
    const kept = afterStall(2 ** 22)
    const without = afterStall(2 ** 22, withoutLimitRule)
    const larger = [2 ** 18, 2 ** 20, 2 ** 24, 2 ** 26].map((work) => `${afterStall(work)} at 2^${Math.log2(work)}`)
    report('mainnet, the hour after a day without blocks', {
      ...{ 'blocks at 2^22 hashes': kept, 'without the limit rule': without, 'other rates': larger.join(' and ') },
    })
    expect(kept).toBeGreaterThan(1_200)
    expect(kept).toBeLessThan(2_150)
    expect(without).toBeGreaterThan(25_000)
    expect(without).toBeLessThan(31_500)
  })
})

describe('a change of hash rate', () => {
  const BIG = rateFor(2 ** 24)

  /** Chain time in seconds, and blocks, until the expected spacing is within a quarter of three seconds again. */
  function recovery(from: number, to: number, seed: number) {
    const chain = settled(MAINNET, from, seed)
    const start = chain.blocks.at(-1) as MinedBlock
    for (;;) {
      const expected = chain.work / to
      if (expected > 2.25 && expected < 3.75) break
      chain.mine(to)
    }
    const end = chain.blocks.at(-1) as MinedBlock
    chain.mineBlocks(4_000, to)
    return {
      ...{ seconds: (end.timeMs - start.timeMs) / 1_000, blocks: end.height - start.height },
      settledAt: meanSpacing(chain, 3_000),
    }
  }

  it('to a 200th is over within two hours', () => {
    const trials = Array.from({ length: 40 }, (_, i) => recovery(BIG, BIG / 200, SEED + i))
    const seconds = trials.map((trial) => trial.seconds).sort((a, b) => a - b)
    const worst = seconds.at(-1) as number
    report('a 200-fold loss, 40 trials', {
      ...{ 'median minutes': (seconds[20] as number) / 60, 'worst minutes': worst / 60 },
      ...{
        'most blocks': Math.max(...trials.map(({ blocks }) => blocks)),
        'then mean seconds': trials[0]?.settledAt as number,
      },
    })
    expect(worst).toBeLessThan(7_200)
    for (const { settledAt } of trials) expect(Math.abs(settledAt - 3)).toBeLessThan(0.15)
  })

  it('to 200 times as much costs some 760 blocks ahead of time, and no more', () => {
    const trials = Array.from({ length: 20 }, (_, i) => recovery(BIG / 200, BIG, SEED + i))
    const blocks = trials.map((trial) => trial.blocks)
    const chain = settled(MAINNET, BIG / 200, SEED)
    const hour = chain.mineFor(HOUR, BIG)
    report('a 200-fold gain, 20 trials', {
      ...{
        'blocks until settled': `${Math.min(...blocks)} to ${Math.max(...blocks)}`,
        'blocks of the first hour': hour,
      },
      ...{ 'worst seconds': Math.max(...trials.map(({ seconds }) => seconds)) },
    })
    expect(Math.max(...blocks)).toBeLessThan(1_100)
    expect(hour).toBeGreaterThan(1_700)
    expect(hour).toBeLessThan(2_100)
  })
})

describe('timestamps at their limits', () => {
  const DAY = 24 * HOUR
  const ahead: Stamp = (realMs, parentMs) => Math.max(Math.round(realMs) + 15_000, parentMs + 1)
  const behind: Stamp = (_, parentMs) => parentMs + 1

  /** Blocks in a day in which `share` of the hash rate stamps times with `stamp`. */
  function day(work: number, stamp: Stamp, share: number): number {
    const chain = settled(MAINNET, rateFor(work), SEED)
    const choose = seeded(SEED + 1)
    return chain.mineFor(DAY, rateFor(work), () => (choose() < share ? stamp : honest))
  }

  it.each([2 ** 14, 2 ** 20])('gain nothing material at 2^14 or 2^20 hashes a block (%i)', (work) => {
    const fair = day(work, honest, 0.3)
    const results = {
      'a third ahead': day(work, ahead, 0.3),
      'all ahead': day(work, ahead, 1),
      'a third behind': day(work, behind, 0.3),
      'half behind': day(work, behind, 0.5),
    }
    report(`blocks of a day at 2^${Math.log2(work)} hashes`, { honest: fair, ...results })
    for (const blocks of Object.values(results)) expect(Math.abs(blocks / fair - 1)).toBeLessThan(0.03)
  })

  it('of all miners, standing still and then jumping, give no more blocks than time allows', () => {
    const rate = rateFor(2 ** 20)
    const chain = settled(MAINNET, rate, SEED)
    const start = chain.realMs
    let count = 0
    // A cartel of all miners: 200 blocks a millisecond apart, then one at the latest time allowed.
    const total = chain.mineFor(DAY, rate, () => (++count % 201 === 0 ? ahead : behind))
    const allowed = (chain.realMs - start + 15_000) / 3_000
    report('a cartel that bends its times for a day', { blocks: total, 'time allows': allowed })
    expect(total).toBeLessThan(allowed * 1.03)
  })
})
