import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { NETWORKS } from '../../../../config/networks/table.ts'
import { sizeInBlock } from '../../../../consensus/block/block.ts'
import {
  assertParams,
  type NetworkParams,
  REFUNDS_PER_BLOCK_MAX,
  type Rules,
  refundsPerBlockMax,
} from '../../../../consensus/chain/params.ts'
import { weightOf } from '../../../../consensus/tx/weight.ts'
import { testParams } from '../../../support/network.ts'
import { agentId, filled, SAMPLE, serviceId, unsigned } from '../../../support/unsigned.ts'

const { block, tx, coin, market } = LAUNCH_RULES

function withRules(change: Partial<Rules>): NetworkParams {
  return { ...testParams(), steps: [{ fromHeight: 0, rules: { ...LAUNCH_RULES, ...change } }] }
}

function withLater(change: Partial<Rules>): NetworkParams {
  const first = { fromHeight: 0, rules: LAUNCH_RULES }
  return { ...testParams(), steps: [first, { fromHeight: 10, rules: { ...LAUNCH_RULES, ...change } }] }
}

describe('network parameters', () => {
  it.each(Object.values(NETWORKS))('of $name are sound', (params) => {
    expect(() => assertParams(params)).not.toThrow()
  })

  it.each([
    ['a base fee floor below 32', { block: { ...block, baseFeeMin: 31n } }, 'base fee floor'],
    ['an odd weight limit', { block: { ...block, weightMax: 1_999_999 } }, 'weight limit'],
    ['an initial target above the easiest', { block: { ...block, initialTarget: block.powLimit + 1n } }, 'targets fit'],
    ['a target of 257 bits', { block: { ...block, powLimit: 1n << 256n } }, 'targets fit'],
    ['a supply of 2^112', { coin: { ...coin, supplyCap: 1n << 112n } }, 'supply stays below'],
    ['a staking share above the whole', { coin: { ...coin, stakingShareBps: 10_001n } }, 'staking share'],
    ['rewards that mature at once', { coin: { ...coin, rewardMaturity: 0 } }, 'rewards mature'],
    ['rewards that mature between blocks', { coin: { ...coin, rewardMaturity: 1.5 } }, 'rewards mature'],
    ['a subsidy of everything divided by nothing', { coin: { ...coin, subsidyDivisor: 0n } }, 'divisors'],
    ['a burn divided by nothing', { market: { ...market, deliveredBurnDivisor: 0n } }, 'divisors'],
    ['a term of no blocks', { tx: { ...tx, invokeTerms: [0] } }, 'whole numbers'],
    ['half a term', { tx: { ...tx, invokeTerms: [1.5] } }, 'whole numbers'],
    ['a term named twice', { tx: { ...tx, invokeTerms: [5, 5] } }, 'named twice'],
    ['no terms', { tx: { ...tx, invokeTerms: [] } }, 'invokes have terms'],
    ['an amount of nothing', { tx: { ...tx, invokeAmountMin: 0n } }, 'invokes have terms'],
    ['no epochs', { market: { ...market, epochBlocks: 0 } }, 'price'],
    ['more refunds in a block than are bounded', { tx: { ...tx, invokeTerms: [1, 2, 3, 4, 5, 6] } }, 'refunds due'],
    [
      'refunds that nobody pays for',
      { tx: { ...tx, weight: { ...tx.weight, invokeRefund: 599 } } },
      'prepays its refund',
    ],
  ])('with %s are refused', (_, change, says) => {
    expect(() => assertParams(withRules(change))).toThrow(says)
  })

  it('with steps that do not begin at 0 or do not ascend are refused', () => {
    const step = (fromHeight: number) => ({ fromHeight, rules: LAUNCH_RULES })
    const steps = (...heights: number[]) => ({ ...testParams(), steps: heights.map(step) })
    expect(() => assertParams(steps(0, 10, 20))).not.toThrow()
    expect(() => assertParams(steps(1))).toThrow('begins at height 0')
    expect(() => assertParams(steps())).toThrow('begins at height 0')
    expect(() => assertParams(steps(0, 10, 10))).toThrow('rule steps ascend')
  })

  it('with a step that drops a term are refused: escrows that named it would be stranded', () => {
    const later = (invokeTerms: readonly number[]) => withLater({ tx: { ...tx, invokeTerms } })
    expect(() => assertParams(later([50, ...tx.invokeTerms]))).not.toThrow()
    expect(() => assertParams(later(tx.invokeTerms.slice(1)))).toThrow('keeps every escrow term')
  })

  it('with a step that shortens the maturity of rewards are refused: those in between would never mature', () => {
    const later = (rewardMaturity: number) => withLater({ coin: { ...coin, rewardMaturity } })
    expect(() => assertParams(later(coin.rewardMaturity + 50))).not.toThrow()
    expect(() => assertParams(later(coin.rewardMaturity - 1))).toThrow('never shortens the maturity')
  })

  it('with a step that names another supply cap are refused: the cap is in the state since genesis', () => {
    for (const change of [-1n, 1n]) {
      const supplyCap = coin.supplyCap + change
      expect(() => assertParams(withLater({ coin: { ...coin, supplyCap } }))).toThrow('keeps the supply cap')
    }
  })

  it('with steps that only together owe too many refunds in a block are refused', () => {
    const [a = 0, b = 0, c = 0, d = 0] = tx.invokeTerms
    const small = { ...block, bytesMax: block.bytesMax / 2 }
    const more = { ...tx, invokeTerms: [a, b, c, d, 7, 8, 9] }
    expect(() => assertParams(withRules({ block: small, tx: more }))).not.toThrow()
    expect(() => assertParams(withLater({ block: small, tx: more }))).toThrow('over all steps')
  })

  it('with a genesis out of bounds are refused', () => {
    const genesis = (change: Partial<NetworkParams['genesis']>) => {
      const params = testParams()
      return { ...params, genesis: { ...params.genesis, ...change } }
    }
    expect(() => assertParams(genesis({ baseFee: 31n }))).toThrow('genesis base fee')
    const allocations = [{ address: filled(1), amount: coin.supplyCap + 1n }]
    expect(() => assertParams(genesis({ allocations }))).toThrow('fit the supply cap')
  })

  it.each(['f', 'FAR', 'far1', 'abcdefghijk'])('with the address prefix %s are refused', (addressPrefix) => {
    expect(() => assertParams({ ...testParams(), addressPrefix })).toThrow('address prefix')
  })

  it('that fund an account twice are refused: its coins would be counted twice and held once', () => {
    const params = testParams()
    const allocations = [1, 2].map(() => ({ address: filled(1), amount: 5n }))
    expect(() => assertParams({ ...params, genesis: { ...params.genesis, allocations } })).toThrow()
  })
})

describe('the bound on refunds in a block', () => {
  /** The smallest invoke that there can be. */
  const smallest = unsigned(
    'agent_invoke',
    SAMPLE.agent_invoke({ agentId: agentId('abc'), serviceId: serviceId('abcd') }),
  )

  it('is not below what full blocks of the smallest invokes hold', () => {
    const byBytes = Math.floor(block.bytesMax / sizeInBlock(smallest))
    const byWeight = Math.floor(block.weightMax / weightOf(smallest, tx))
    const most = Math.min(byBytes, byWeight, Math.floor(block.writesMax / 4)) * tx.invokeTerms.length
    expect(refundsPerBlockMax(LAUNCH_RULES)).toBeGreaterThanOrEqual(most)
    expect(refundsPerBlockMax(LAUNCH_RULES)).toBeLessThanOrEqual(REFUNDS_PER_BLOCK_MAX)
  })
})
