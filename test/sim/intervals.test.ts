import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { honest, type MinedBlock, SimulatedChain, type Stamp, seeded } from './miners.ts'

const SEED = 20_261_103
const BLOCKS = 100_000
const RULES = LAUNCH_RULES.block
const HASHES_PER_SECOND = 2 ** 20 / 3
const ATTACKERS = 0.3

/** The latest and the earliest time that nodes accept. */
const latest: Stamp = (realMs, parentMs) => Math.max(Math.floor(realMs) + RULES.futureMsMax, parentMs + 1)
const earliest: Stamp = (_, parentMs) => parentMs + 1

/** Times that attackers write, block after block. */
const STRATEGIES: Readonly<Record<string, () => Stamp>> = {
  'always the latest time': () => latest,
  'always the earliest time': () => earliest,
  'latest and earliest in turn': inTurns(1),
  'fifty blocks late, fifty early': inTurns(50),
  'late on an easy target, early on a hard one': () => (realMs, parentMs) =>
    (parentMs < realMs - 3_000 ? latest : earliest)(realMs, parentMs),
}

function inTurns(length: number): () => Stamp {
  let count = 0
  return () => (Math.floor(count++ / length) % 2 === 0 ? latest : earliest)
}

/** Mean seconds between blocks by the true clock and by header times, once the difficulty has settled. */
function means(attack: (() => Stamp) | undefined): { readonly real: number; readonly told: number } {
  const chain = new SimulatedChain(RULES, seeded(SEED))
  const choose = seeded(SEED + 1)
  chain.mineBlocks(2_000, HASHES_PER_SECOND)
  const first = chain.blocks.at(-1) as MinedBlock
  for (let i = 0; i < BLOCKS; i++) {
    const parentMs = (chain.blocks.at(-1) as MinedBlock).timeMs
    const { realMs, timeMs } = chain.mine(
      HASHES_PER_SECOND,
      attack !== undefined && choose() < ATTACKERS ? attack() : honest,
    )
    // Nodes must accept every block, otherwise the attack would be impossible.
    if (timeMs <= parentMs || timeMs > realMs + RULES.futureMsMax + 1) throw new Error(`time ${timeMs} at ${realMs}`)
  }
  const last = chain.blocks.at(-1) as MinedBlock
  const seconds = (ms: number): number => ms / BLOCKS / 1_000
  return { real: seconds(last.realMs - first.realMs), told: seconds(last.timeMs - first.timeMs) }
}

console.log(`intervals of ${BLOCKS} blocks, seed ${SEED}`)

describe('the mean interval of 100,000 blocks', () => {
  it.each([['always the true time', undefined] as const, ...Object.entries(STRATEGIES)])(
    'is within two percent of three seconds when three tenths of the hash rate write: %s',
    (name, attack) => {
      const { real, told } = means(attack)
      console.log(`  ${name}: ${real.toFixed(4)} s, by the headers ${told.toFixed(4)} s`)
      expect(real).toBeGreaterThan(2.94)
      expect(real).toBeLessThan(3.06)
      expect(told).toBeGreaterThan(2.94)
      expect(told).toBeLessThan(3.06)
    },
  )
})
