import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../../../config/networks/rules.ts'
import { NETWORKS } from '../../../../config/networks/table.ts'
import { sizeInBlock } from '../../../../consensus/block/block.ts'
import {
  assertParams,
  type NetworkParams,
  REFUNDS_PER_BLOCK_MAX,
  type Rules,
  refundsPerBlockMax,
} from '../../../../consensus/chain/params.ts'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import type { GenesisToken } from '../../../../consensus/ledger/rules.ts'
import type { TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import type { TabRules } from '../../../../consensus/tx/rules.ts'
import { weightOf } from '../../../../consensus/tx/weight.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { testParams } from '../../../support/network.ts'
import { agentId, filled, SAMPLE, serviceId, unsigned } from '../../../support/unsigned.ts'

const { block, tx, coin, market, staking, bridge } = LAUNCH_RULES

/** Rules of transactions in a step with tabs, some rules about tabs replaced. */
const withTabs = (change: Partial<TabRules> = {}) => ({ ...tx, tabs: { ...TAB_RULES, ...change } })

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

  it('of no two networks begin with the same block, or share addresses or rules', () => {
    const all = Object.values(NETWORKS)
    const books = all.map((params) => createRuleBook(params, PROTOCOL))
    for (const names of [
      all.map(({ addressPrefix }) => addressPrefix),
      books.map(({ genesis }) => genesis.block.id),
      books.map(({ fingerprint }) => fingerprint),
    ])
      expect(new Set(names).size).toBe(all.length)
  })

  it('leave a network that people join no rule for machines that sleep', () => {
    const gaps = Object.values(NETWORKS).map(({ name, steps }) => [name, steps[0]?.rules.block.anchorResetGapMs])
    expect(gaps).toEqual([
      ['mainnet', null],
      ['testnet', null],
      ['devnet', 120_000],
    ])
  })

  it.each([
    ['a base fee floor below 32', { block: { ...block, baseFeeMin: 31n } }, 'base fee floor'],
    ['an odd weight limit', { block: { ...block, weightMax: 1_999_999 } }, 'weight limit'],
    ['a weight limit of nothing', { block: { ...block, weightMax: 0 } }, 'weight limit'],
    [
      'a base fee that moves by everything and more',
      { block: { ...block, baseFeeChangeDivisor: 0n } },
      'base fee moves',
    ],
    ['a half-life of nothing', { block: { ...block, halfLifeMs: 0 } }, 'whole milliseconds'],
    ['a spacing between milliseconds', { block: { ...block, spacingMs: 0.5 } }, 'whole milliseconds'],
    ['a gap of half a millisecond', { block: { ...block, anchorResetGapMs: 0.5 } }, 'whole milliseconds'],
    ['a target that no hash meets', { block: { ...block, initialTarget: 0n } }, 'targets fit'],
    ['an initial target above the easiest', { block: { ...block, initialTarget: block.powLimit + 1n } }, 'targets fit'],
    ['a target of 257 bits', { block: { ...block, powLimit: 1n << 256n } }, 'targets fit'],
    ['a supply of 2^112', { coin: { ...coin, supplyCap: 1n << 112n } }, 'supply stays below'],
    ['a staking share above the whole', { coin: { ...coin, stakingShareBps: 10_001n } }, 'staking share'],
    ['a supply without a cap', { coin: { ...coin, supplyCap: 0n } }, 'supply has a cap'],
    ['rewards that mature at once', { coin: { ...coin, rewardMaturity: 0 } }, 'rewards mature'],
    ['rewards that mature between blocks', { coin: { ...coin, rewardMaturity: 1.5 } }, 'rewards mature'],
    ['a subsidy of everything divided by nothing', { coin: { ...coin, subsidyDivisor: 0n } }, 'divisors'],
    ['a burn divided by nothing', { market: { ...market, deliveredBurnDivisor: 0n } }, 'divisors'],
    ['a term of no blocks', { tx: { ...tx, invokeTerms: [0] } }, 'whole numbers'],
    ['half a term', { tx: { ...tx, invokeTerms: [1.5] } }, 'whole numbers'],
    ['a term that ends at no height there is', { tx: { ...tx, invokeTerms: [2 ** 31] } }, 'whole numbers'],
    ['a term named twice', { tx: { ...tx, invokeTerms: [5, 5] } }, 'named twice'],
    ['no terms', { tx: { ...tx, invokeTerms: [] } }, 'invokes have terms'],
    ['an amount of nothing', { tx: { ...tx, invokeAmountMin: 0n } }, 'invokes have terms'],
    ['a burn below nothing', { token: { createBurn: -1n } }, 'creating a token burns'],
    ['a burn of 2^112', { token: { createBurn: 1n << 112n } }, 'creating a token burns'],
    ['half a day', { bridge: { ...bridge, dayBlocks: 0.5 } }, 'days and delays'],
    ['a delay between blocks', { bridge: { ...bridge, rotationDelay: 1.5 } }, 'days and delays'],
    ['a delay that ends at no height there is', { bridge: { ...bridge, rotationDelay: 2 ** 31 } }, 'days and delays'],
    ['no epochs', { market: { ...market, epochBlocks: 0 } }, 'epoch has blocks'],
    ['more refunds in a block than are bounded', { tx: { ...tx, invokeTerms: [1, 2, 3, 4, 5, 6] } }, 'refunds due'],
    [
      'refunds that no caller pays for',
      { tx: { ...tx, weight: { ...tx.weight, invokeRefund: 599 } } },
      'prepays its refund',
    ],
  ])('with %s are refused', (_, change, says) => {
    expect(() => assertParams(withRules(change))).toThrow(says)
  })

  it('with a bridge to what is no bridged token, in any step, are refused', () => {
    for (const symbol of ['FUSD', 'NONE'] as TokenSymbol[]) {
      const networks = bridge.networks.map((network, i) => (i === 9 ? { ...network, asset: symbol } : network))
      expect(() => assertParams(withRules({ bridge: { ...bridge, networks } }))).toThrow('bridged token')
    }
  })

  it('with a mint cap below the least deposit are refused: what arrived could never be minted', () => {
    const capped = (dailyMintCap: bigint) =>
      withRules({ bridge: { ...bridge, networks: bridge.networks.map((network) => ({ ...network, dailyMintCap })) } })
    const most = bridge.networks.reduce((max, { minimum }) => (minimum > max ? minimum : max), 0n)
    expect(() => assertParams(capped(most))).not.toThrow()
    expect(() => assertParams(capped(most - 1n))).toThrow('a mint cap')
  })

  it('with a market dollar that any account could create, or that counts otherwise, are refused', () => {
    const params = testParams()
    const { ledgers } = params.genesis
    const { dollar } = market.pricedPool
    const dollars = (change: (token: GenesisToken) => readonly GenesisToken[]): NetworkParams => {
      const tokens = ledgers.tokens.flatMap((token) => (token.symbol === dollar ? change(token) : [token]))
      return { ...params, genesis: { ...params.genesis, ledgers: { ...ledgers, tokens } } }
    }
    expect(() => assertParams(dollars((token) => [token]))).not.toThrow()
    expect(() => assertParams(dollars(() => []))).toThrow('market dollar')
    expect(() => assertParams(dollars((token) => [{ ...token, decimals: 8 }]))).toThrow('market dollar')
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

  it.each<[string, Partial<TabRules>, string]>([
    ['no term', { terms: [] }, 'which ascend'],
    ['no close delay', { closeDelays: [] }, 'which ascend'],
    ['terms that do not ascend', { terms: [400, 400] }, 'which ascend'],
    ['a term of no blocks', { terms: [0, 400] }, 'whole numbers'],
    ['half a close delay', { closeDelays: [1.5] }, 'whole numbers'],
    ['a term that ends at no height there is', { terms: [2 ** 31] }, 'whole numbers'],
    ['too many spans', { terms: Array.from({ length: 14 }, (_, i) => i + 1) }, 'due in one block'],
    ['a deposit of nothing', { depositMin: 0n }, 'least deposit'],
    ['a deposit that no supply has', { depositMin: 1n << 112n }, 'least deposit'],
    ['a burn above what is counted', { callBurn: 100_001n }, 'burns a part'],
    ['a burn divided by nothing', { burnDivisor: 0n }, 'divisors'],
    ['calls that count for nothing', { countedAmount: 0n, callBurn: 0n }, 'divisors'],
    ['a return that is not paid for', { openReturn: 799 }, 'prepays its return'],
    ['a moved return that is not paid for', { closeMove: 399 }, 'prepays the move'],
  ])('with tabs of %s are refused', (_, change, reason) => {
    expect(() => assertParams(withRules({ tx: withTabs() }))).not.toThrow()
    expect(() => assertParams(withRules({ tx: withTabs(change) }))).toThrow(reason)
  })

  it('with a step that drops tabs, a term or a delay of them are refused; one that adds them is not', () => {
    const first = { fromHeight: 0, rules: { ...LAUNCH_RULES, tx: withTabs() } }
    const followedBy = (later: Rules['tx']) => ({
      ...{ ...testParams(), steps: [first, { fromHeight: 10, rules: { ...LAUNCH_RULES, tx: later } }] },
    })
    const { terms, closeDelays } = TAB_RULES
    expect(() => assertParams(withLater({ tx: withTabs() }))).not.toThrow()
    expect(() => assertParams(followedBy(withTabs({ terms: [...terms, 900_000], callBurn: 1n })))).not.toThrow()
    for (const later of [tx, withTabs({ terms: terms.slice(1) }), withTabs({ closeDelays: closeDelays.slice(1) })])
      expect(() => assertParams(followedBy(later))).toThrow('a later step keeps tabs')
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

  it('with a step under another chain id are refused: signatures and attestations are made for the first', () => {
    expect(() => assertParams(withLater({ tx: { ...tx, chainId: tx.chainId + 1 } }))).toThrow('keeps the chain id')
  })

  it('with a step that reads a bridge network otherwise are refused: withdrawals under way name addresses of it', () => {
    const networks = bridge.networks.map((one, i) => (i === 0 ? { ...one, format: 'solana' as const } : one))
    const bridgeFormats = networks.map(({ format }) => format)
    const later = withLater({ bridge: { ...bridge, networks }, tx: { ...tx, bridgeFormats } })
    expect(() => assertParams(later)).toThrow('keeps every bridge network')
  })

  it('with rates, locks or years that the staking ledger could not count are refused', () => {
    const tiers = (change: Partial<(typeof staking.tiers)[number]>) =>
      withRules({ staking: { ...staking, tiers: staking.tiers.map((tier) => ({ ...tier, ...change })) } })
    expect(() => assertParams(tiers({ yearlyBps: 1_000_000n, lockBlocks: 2 ** 31 - 1 }))).not.toThrow()
    expect(() => assertParams(tiers({ yearlyBps: 1_000_001n }))).toThrow('locks and rates')
    expect(() => assertParams(tiers({ lockBlocks: 2 ** 31 }))).toThrow('locks end')
    const year = (blocksPerYear: bigint) => withRules({ staking: { ...staking, blocksPerYear } })
    expect(() => assertParams(year((1n << 32n) - 1n))).not.toThrow()
    for (const blocks of [0n, 1n << 32n]) expect(() => assertParams(year(blocks))).toThrow('a year has blocks')
    expect(() => assertParams(withRules({ tx: { ...tx, stakeAmountMin: 0n } }))).toThrow('least amount')
  })

  it('with a step that drops a tier or names another year are refused: stakes are counted by them', () => {
    const later = (change: Partial<typeof staking>, stakeTiers: number) =>
      withLater({ staking: { ...staking, ...change }, tx: { ...tx, stakeTiers } })
    const { length } = staking.tiers
    expect(() => assertParams(later({ tiers: staking.tiers.slice(1) }, length - 1))).toThrow('keeps every staking tier')
    expect(() => assertParams(later({ blocksPerYear: staking.blocksPerYear + 1n }, length))).toThrow('blocks of a year')
  })

  it('with a step that makes the easiest target harder are refused: the chain would stand still', () => {
    const later = (powLimit: bigint) => withLater({ block: { ...block, powLimit, initialTarget: powLimit } })
    expect(() => assertParams(later(block.powLimit + 1n))).not.toThrow()
    expect(() => assertParams(later(block.powLimit - 1n))).toThrow('never makes the easiest target harder')
  })

  it.each(['memoryKiB', 'passes', 'lanes'] as const)(
    'with a step that changes the %s of a hash are refused',
    (name) => {
      const pow = { ...block.pow, [name]: block.pow[name] + 1 }
      expect(() => assertParams(withLater({ block: { ...block, pow } }))).toThrow('keeps the cost of a hash')
    },
  )

  it('with a step that counts the days of the bridge otherwise are refused: a day’s cap could be minted twice', () => {
    const later = (dayBlocks: number) => withLater({ bridge: { ...bridge, dayBlocks } })
    for (const blocks of [bridge.dayBlocks - 1, bridge.dayBlocks * 2])
      expect(() => assertParams(later(blocks))).toThrow('keeps the blocks of a day')
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
  /** The smallest possible agent_invoke. */
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
