import fc from 'fast-check'
import { TAB_RULES } from '../../config/networks/rules.ts'
import type { NetworkParams, Rules } from '../../consensus/chain/params.ts'
import type { GenesisLedgers } from '../../consensus/ledger/rules.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { NEWCOMERS } from './actors.ts'
import { testParams } from './network.ts'

const EASIEST = 2n ** 256n - 1n

/** Native base units that the test network's genesis mints, those in its pools included. */
const MINTED = 1_044_000_000_000_000n

/** Random rules of the money ledgers. */
const money = fc.record({
  locks: fc.constantFrom([0, 1, 3, 10], [1, 2, 2, 5], [10, 100, 1_000, 10_000]),
  rates: fc.constantFrom([100n, 300n, 500n, 800n], [0n, 1n, 10_000n, 1_000_000n], [7n, 7n, 7n, 7n]),
  blocksPerYear: fc.constantFrom(10_512_000n, 1_000n, 50n),
  stakingShareBps: fc.constantFrom(1_000n, 10_000n, 1n, 0n),
  rotationDelay: fc.constantFrom(1, 2, 5, 20),
  dayBlocks: fc.constantFrom(28_800, 3, 10),
  /** The daily mint cap, as a multiple of the least deposit. */
  dailyDeposits: fc.constantFrom(200_000n, 3n, 10n),
  feeBps: fc.constantFrom(10n, 0n, 9_999n),
  createBurn: fc.constantFrom(1_000_000_000n, 0n, 10n ** 14n),
})

/** Random contents of genesis. */
const beginning = fc.record({
  /** Reserve of the stable dollar, in percent of its supply. */
  backing: fc.constantFrom(100n, 100n, 150n, 150n, 60n, 1n, 0n),
  freezableStable: fc.boolean(),
  stableCap: fc.constantFrom(0n, 0n, 210_000_000_000n),
  pools: fc.constantFrom(3, 3, 3, 2, 0),
  committee: fc.constantFrom(2, 2, 2, 2, 2, 2, 1, 1, 1, 3, 3, null),
  gift: fc.boolean(),
  vaults: fc.constantFrom(10, 10, 10, 9, 8, 2),
})

type Money = typeof money extends fc.Arbitrary<infer T> ? T : never
type Beginning = typeof beginning extends fc.Arbitrary<infer T> ? T : never

/** Rules of the money ledgers. */
function moneyRules(base: Rules, choice: Money): Pick<Rules, 'staking' | 'bridge' | 'token'> {
  const { staking, bridge } = base
  const { rates, locks, blocksPerYear, rotationDelay, dayBlocks, dailyDeposits, feeBps, createBurn } = choice
  const tiers = staking.tiers.map((_, i) => ({ lockBlocks: locks[i] as number, yearlyBps: rates[i] as bigint }))
  const networks = bridge.networks.map((one) => ({ ...one, feeBps, dailyMintCap: one.minimum * dailyDeposits }))
  return {
    staking: { tiers, blocksPerYear },
    bridge: { networks, dayBlocks, rotationDelay },
    token: { createBurn },
  }
}

/** The genesis ledgers with another backing, fewer pools and another committee. The bridge's books still balance. */
function genesisLedgers(base: GenesisLedgers, choice: Beginning): GenesisLedgers {
  const [stable] = base.stables
  const [deposit] = base.bridge.deposited
  const committee = base.bridge.committee
  if (stable === undefined || deposit === undefined || committee === null) throw new Error('not the test network')
  const reserve = (stable.reserve * choice.backing) / 100n
  const tokens = base.tokens.map((token) =>
    token.kind === 'stable' ? { ...token, freezable: choice.freezableStable, maxSupply: choice.stableCap } : token,
  )
  const amount = deposit.amount + reserve - stable.reserve
  // A token balance opens an account that has no allocation of coins.
  const newcomer = NEWCOMERS[4]?.address as Address
  const plain = base.tokens.find(({ kind }) => kind === 'plain')?.symbol
  const gift = plain === undefined ? [] : [{ symbol: plain, address: newcomer, amount: 77n }]
  return {
    ...base,
    tokens,
    balances: choice.gift ? [...base.balances, ...gift] : base.balances,
    stables: [{ ...stable, reserve }],
    pools: base.pools.slice(0, choice.pools),
    bridge: {
      committee: choice.committee === null ? null : { ...committee, threshold: choice.committee },
      vaults: base.bridge.vaults.slice(0, choice.vaults),
      deposited: [{ ...deposit, amount }],
    },
  }
}

const chain = fc.record({
  invokeTerms: fc.constantFrom([100, 400, 1_200, 9_600], [1, 2, 3, 4], [3, 10, 25, 60]),
  rewardMaturity: fc.constantFrom(100, 1, 2, 7),
  epochBlocks: fc.constantFrom(20, 1, 3),
  powLimit: fc.constantFrom(EASIEST, 2n ** 250n, 2n ** 256n / 1_000n - 1n),
  harder: fc.nat(20),
  // With shorter half-lives, targets could get so low that the sum of work exceeds 256 bits.
  halfLifeMs: fc.constantFrom(300_000, 20_000, 6_000),
  anchorResetGapMs: fc.constantFrom(null, 120_000, 2_000),
  baseFee: fc.constantFrom(32n, 33n, 1_000n, 100_000n),
  supplyCap: fc.constantFrom(10n ** 16n, 10n ** 16n, MINTED, MINTED + 10_000n),
  subsidyDivisor: fc.constantFrom(2n ** 23n, 100n),
  deliveredBurnDivisor: fc.constantFrom(100n, 3n, 1n),
})

/** Rules about tabs, and whether the first step has them or the second brings them. */
const tabs = fc.record({
  begin: fc.constantFrom('at genesis', 'at genesis', 'at genesis', 'with the second step'),
  terms: fc.constantFrom([2, 5, 12, 40], [1_200, 28_800], [1, 2, 3, 4]),
  closeDelays: fc.constantFrom([1, 3, 9], [400, 1_200, 28_800], [1, 2, 4]),
  callBurn: fc.constantFrom(20_000n, 0n, 25_000n),
  burnDivisor: fc.constantFrom(100n, 1n, 7n),
})

type Tabs = typeof tabs extends fc.Arbitrary<infer T> ? T : never

type Chain = typeof chain extends fc.Arbitrary<infer T> ? T : never

/** The rules with tabs. */
function withTabs(tx: Rules['tx'], { begin: _, ...choice }: Tabs): Rules['tx'] {
  return { ...tx, tabs: { ...TAB_RULES, ...choice } }
}

/** The first step's rules. */
function firstRules(rules: Rules, choice: Chain, moneyChoice: Money, tabChoice: Tabs): Rules {
  const { invokeTerms, rewardMaturity, epochBlocks, supplyCap, subsidyDivisor, deliveredBurnDivisor } = choice
  const { powLimit, halfLifeMs, anchorResetGapMs } = choice
  const { stakingShareBps } = moneyChoice
  const initialTarget = powLimit >> BigInt(choice.harder)
  // As few epochs as the longest term allows, so that some entries are dropped.
  const priceEpochsKept = Math.ceil(Math.max(...invokeTerms) / epochBlocks) + 3
  return {
    ...rules,
    ...moneyRules(rules, moneyChoice),
    tx: { ...(tabChoice.begin === 'at genesis' ? withTabs(rules.tx, tabChoice) : rules.tx), invokeTerms },
    block: { ...rules.block, powLimit, initialTarget, halfLifeMs, anchorResetGapMs },
    coin: { ...rules.coin, rewardMaturity, supplyCap, subsidyDivisor, stakingShareBps },
    market: { ...rules.market, epochBlocks, deliveredBurnDivisor, priceEpochsKept },
  }
}

const NEW_TIER = { lockBlocks: 2, yearlyBps: 250_000n }
const NEW_FEE_BPS = 1_000
const NEW_TERM = 30_000

/** Another pace of blocks. Half-lives only get longer, because with shorter ones the sum of work could exceed 256 bits. */
const pace = fc.record({
  pace: fc.constantFrom([3_000, 1], [3_000, 2], [500, 1], [6_000, 2], [60_000, 20]),
  /** How many times easier the easiest target becomes, as far as possible. */
  easier: fc.constantFrom(1n, 1n, 4n),
  anchorResetGapMs: fc.constantFrom(null, 120_000, 2_000),
  baseFeeChangeDivisor: fc.constantFrom(32n, 8n),
})

type Pace = typeof pace extends fc.Arbitrary<infer T> ? T : never

function pacedRules(block: Rules['block'], { pace, easier, ...change }: Pace): Rules['block'] {
  const [spacingMs, slower] = pace as [number, number]
  const powLimit = block.powLimit * easier > EASIEST ? EASIEST : block.powLimit * easier
  return { ...block, ...change, powLimit, spacingMs, halfLifeMs: block.halfLifeMs * slower }
}

/** Brings tabs, or adds a term and a delay and burns by other rules. */
function laterTabs(tx: Rules['tx'], choice: Tabs): Rules['tx'] {
  const { tabs } = tx
  if (tabs === undefined) return withTabs(tx, choice)
  const { callBurn, burnDivisor } = choice
  const more = { terms: [...tabs.terms, NEW_TERM], closeDelays: [...tabs.closeDelays, NEW_TERM] }
  return { ...tx, tabs: { ...tabs, ...more, callBurn, burnDivisor } }
}

/** The second step's rules: other rates, caps and delays, another pace and subsidy, one more stake tier and one more pool fee. */
function laterRules(rules: Rules, choice: Money, paceChoice: Pace, tabChoice: Tabs): Rules {
  const { staking, bridge, token } = moneyRules(rules, choice)
  const { blocksPerYear } = rules.staking
  const tiers = [...staking.tiers, NEW_TIER]
  const { stakingShareBps } = choice
  return {
    ...rules,
    block: pacedRules(rules.block, paceChoice),
    bridge: { ...bridge, dayBlocks: rules.bridge.dayBlocks },
    token,
    staking: { tiers, blocksPerYear },
    coin: { ...rules.coin, stakingShareBps, subsidyDivisor: 1_000n },
    tx: {
      ...laterTabs(rules.tx, tabChoice),
      stakeTiers: tiers.length,
      poolFeesBps: [...rules.tx.poolFeesBps, NEW_FEE_BPS],
    },
  }
}

/** Height of a second step, if there is one. */
const secondStep = fc.constantFrom(null, null, 5, 9, 20)

/** Networks with random rules and random contents of genesis. Shrinking leads towards the rules of `testParams`. */
export const paramsArbitrary: fc.Arbitrary<NetworkParams> = fc
  .record({ chain, money, beginning, secondStep, later: money, pace, tabs, laterTabs: tabs })
  .map((choice) => {
    const base = testParams()
    const [step] = base.steps
    if (step === undefined) throw new Error('no rules')
    const rules = firstRules(step.rules, choice.chain, choice.money, choice.tabs)
    const ledgers = genesisLedgers(base.genesis.ledgers, choice.beginning)
    const { secondStep: fromHeight } = choice
    const second = (): Rules => laterRules(rules, choice.later, choice.pace, choice.laterTabs)
    const later = fromHeight === null ? [] : [{ fromHeight, rules: second() }]
    return {
      ...base,
      genesis: { ...base.genesis, baseFee: choice.chain.baseFee, ledgers },
      steps: [{ fromHeight: 0, rules }, ...later],
    }
  })
