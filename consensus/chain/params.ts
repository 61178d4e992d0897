import type { BlockRules } from '../block/rules.ts'
import { KEY_SCHEMES } from '../crypto/schemes.ts'
import type { LedgerRules } from '../ledger/module.ts'
import type { BridgeRules, GenesisLedgers, MarketRules, StakingRules } from '../ledger/rules.ts'
import { SUPPLY_BOUND } from '../primitives/amount.ts'
import { assert } from '../primitives/assert.ts'
import type { Address } from '../primitives/ids.ts'
import { BRIDGE_NETWORKS_MAX } from '../tx/bridge-payloads.ts'
import type { TabRules } from '../tx/rules.ts'
import { assertSuccession } from './succession.ts'

/** All rules in force at a height. */
export interface Rules extends LedgerRules {
  readonly block: BlockRules
}

/** Rules in force from a height until the next step. */
export interface RuleStep {
  readonly fromHeight: number
  readonly rules: Rules
}

/** Coins that exist from the start. */
export interface Allocation {
  readonly address: Address
  readonly amount: bigint
}

/** What makes a network: its genesis and its rules by height. */
export interface NetworkParams {
  readonly name: string
  readonly addressPrefix: string
  /** Symbol of the native coin, the same as in the rules of its ledger. */
  readonly ticker: string
  readonly decimals: number
  readonly genesis: GenesisParams
  readonly steps: readonly RuleStep[]
  /** Least work that a chain must claim before its headers are hashed: the work of the chain at the release. */
  readonly minimumWork: bigint
  /** Addresses that a node without known peers dials; empty until the network has operators. */
  readonly seeds: readonly string[]
}

/** Everything that the genesis block is computed from. */
export interface GenesisParams {
  readonly timeMs: number
  readonly baseFee: bigint
  /** At most 32 bytes of text in the genesis header. */
  readonly message: string
  readonly allocations: readonly Allocation[]
  readonly ledgers: GenesisLedgers
}

/** Most refunds due in one block. The parameters must guarantee it. */
export const REFUNDS_PER_BLOCK_MAX = 2_000
/** State records that one refund writes: escrow, caller, totals. */
export const REFUND_WRITES = 3
/** A lower bound of the wire bytes of an `agent_invoke` without its signature: body and offsets come to 202. */
const INVOKE_BYTES_MIN = 200

/** Refuses unsupported parameters at start, so that a node does not meet an unbounded block at some later height. */
export function assertParams({ steps, genesis, addressPrefix, ticker }: NetworkParams): void {
  assert(steps[0]?.fromHeight === 0, 'the first rule step begins at height 0')
  steps.forEach(({ fromHeight, rules }, i) => {
    assert(i === 0 || fromHeight > (steps[i - 1]?.fromHeight as number), 'rule steps ascend')
    assertRules(rules)
    if (i > 0) assertSuccession(steps[i - 1]?.rules as Rules, rules)
  })
  assert(refundsEver(steps) <= REFUNDS_PER_BLOCK_MAX, 'refunds due in one block are bounded over all steps')
  assert(/^[a-z]{2,10}$/.test(addressPrefix), 'the address prefix is 2 to 10 letters')
  const { rules } = steps[0] as RuleStep
  assert(rules.coin.symbol === ticker, 'the native symbol is the ticker')
  assert(genesis.baseFee >= rules.block.baseFeeMin, 'the genesis base fee is at or above the floor')
  const wrapped = new Set(genesis.ledgers.tokens.filter(({ kind }) => kind === 'bridged').map(({ symbol }) => symbol))
  assert(
    steps.every(({ rules }) => rules.bridge.networks.every(({ asset }) => wrapped.has(asset))),
    'what the bridge mints is a bridged token from the start',
  )
  assertDollar(genesis.ledgers, rules.market)
  const allocated = genesis.allocations.reduce((sum, { amount }) => sum + amount, 0n)
  assert(allocated <= rules.coin.supplyCap, 'the allocations fit the supply cap')
  const addresses = new Set(genesis.allocations.map(({ address }) => address))
  assert(addresses.size === genesis.allocations.length, 'no account is funded twice')
}

/** Decimals of the dollar that prices the native coin: prices take its base unit as a millionth of a dollar. */
const DOLLAR_DECIMALS = 6

/** The dollar must be a token of genesis. Otherwise its creator could mint any amount and set the price. */
function assertDollar({ tokens }: GenesisLedgers, { pricedPool }: MarketRules): void {
  const dollar = tokens.find(({ symbol }) => symbol === pricedPool.dollar)
  assert(dollar?.decimals === DOLLAR_DECIMALS, 'the market dollar is a token of genesis with 6 decimals')
}

/** Exclusive bound of what is added to heights: records store heights in 4 bytes. */
const DELAY_BOUND = 2 ** 31

function assertRules({ block, tx, coin, market, token, staking, bridge }: Rules): void {
  assertBlockRules(block)
  assert(coin.supplyCap >= 1n, 'the supply has a cap')
  assert(coin.supplyCap < SUPPLY_BOUND, 'the supply stays below 2^112')
  assert(coin.stakingShareBps <= 10_000n, 'the staking share is a share')
  assert(Number.isSafeInteger(coin.rewardMaturity) && coin.rewardMaturity >= 1, 'rewards mature')
  assert(coin.subsidyDivisor >= 1n && market.deliveredBurnDivisor >= 1n, 'divisors are at least 1')
  assert(tx.invokeTerms.length > 0 && tx.invokeAmountMin >= 1n, 'invokes have terms and a least amount')
  assert(
    tx.invokeTerms.every((term) => Number.isSafeInteger(term) && term >= 1 && term < DELAY_BOUND),
    'terms are whole numbers of blocks',
  )
  assert(new Set(tx.invokeTerms).size === tx.invokeTerms.length, 'no term is named twice')
  assert(refundsPerBlockMax({ block, tx }) <= REFUNDS_PER_BLOCK_MAX, 'refunds due in one block are bounded')
  // The weight of the invoke pays for what its refund writes later.
  assert(tx.weight.invokeRefund >= REFUND_WRITES * tx.weight.perStateWrite, 'an invoke prepays its refund')
  assert(token.createBurn >= 0n && token.createBurn < SUPPLY_BOUND, 'creating a token burns an amount')
  assertPricing(market, tx)
  assertStaking(staking, tx)
  assertBridge(bridge, tx)
  if (tx.tabs !== undefined) assertTabs(tx.tabs, tx)
}

function assertBlockRules(block: Rules['block']): void {
  assert(block.baseFeeMin >= 32n, 'the base fee floor is at least 32')
  assert(block.baseFeeChangeDivisor >= 1n, 'the base fee moves by a share of itself')
  assert(
    block.weightMax % 2 === 0 && block.weightMax >= 2 && block.weightMax < 2 ** 31,
    'the weight limit is even and below 2^31',
  )
  assert(
    block.initialTarget >= 1n && block.initialTarget <= block.powLimit && block.powLimit < 1n << 256n,
    'targets fit 256 bits',
  )
  assert(
    [block.spacingMs, block.halfLifeMs, block.anchorResetGapMs ?? 1].every((ms) => Number.isSafeInteger(ms) && ms >= 1),
    'the spacing, the half-life and the gap of an anchor are whole milliseconds',
  )
}

/** State records that the return of a tab writes: tab, payer, totals, list of due tabs. */
const TAB_RETURN_WRITES = 4
/** State records that moving it to another height writes: two lists of due tabs. */
const TAB_MOVE_WRITES = 2
/** Most terms and close delays together: each can bring the tabs of one block to the same height. */
const TAB_DUES_MAX = 16

function assertTabs(tabs: TabRules, { weight }: Rules['tx']): void {
  const spans = [tabs.terms, tabs.closeDelays]
  assert(
    spans.every((all) => all.length > 0 && all.every((span, i) => i === 0 || span > (all[i - 1] as number))),
    'tabs have terms and close delays, which ascend',
  )
  assert(
    spans.flat().every((span) => Number.isSafeInteger(span) && span >= 1 && span < DELAY_BOUND),
    'terms and close delays of tabs are whole numbers of blocks',
  )
  assert(spans.flat().length <= TAB_DUES_MAX, 'tabs due in one block are bounded')
  assert(tabs.depositMin >= 1n && tabs.depositMin < SUPPLY_BOUND, 'a tab has a least deposit')
  // More would be burned than a claim brings.
  assert(tabs.callBurn >= 0n && tabs.callBurn <= tabs.countedAmount, 'a counted call burns a part of its amount')
  assert(tabs.burnDivisor >= 1n && tabs.countedAmount >= 1n, 'divisors of claims are at least 1')
  assert(tabs.openReturn >= TAB_RETURN_WRITES * weight.perStateWrite, 'a tab prepays its return')
  assert(tabs.closeMove >= TAB_MOVE_WRITES * weight.perStateWrite, 'a close prepays the move of the return')
}

const BPS = 10_000

function assertPricing({ epochBlocks, pricedPool, priceEpochsKept }: MarketRules, tx: Rules['tx']): void {
  assert(Number.isSafeInteger(epochBlocks) && epochBlocks > 0, 'an epoch has blocks')
  assert(
    tx.poolFeesBps.every((fee) => Number.isSafeInteger(fee) && fee > 0 && fee < BPS),
    'pool fees are shares',
  )
  assert(tx.poolFeesBps.includes(pricedPool.feeBps), 'the priced pool has a fee that pools can have')
  // To check a payment, a seller may need the price at the mining height of an escrow with the longest term, or that of
  // the epoch before.
  const longest = Math.max(...tx.invokeTerms)
  assert(priceEpochsKept * epochBlocks >= longest + 3 * epochBlocks, 'price entries outlive the longest escrow')
}

/** Highest yearly rate of a tier. It keeps all products of the staking ledger below 2^256. */
const YEARLY_BPS_MAX = 1_000_000n

function assertStaking({ tiers, blocksPerYear }: StakingRules, tx: Rules['tx']): void {
  assert(tiers.length > 0 && tiers.length <= 16 && tiers.length === tx.stakeTiers, 'staking has 1 to 16 tiers')
  assert(
    tiers.every(
      ({ lockBlocks, yearlyBps }) =>
        Number.isSafeInteger(lockBlocks) && lockBlocks >= 0 && yearlyBps >= 0n && yearlyBps <= YEARLY_BPS_MAX,
    ),
    'tiers have locks and rates',
  )
  assert(
    tiers.every(({ lockBlocks }) => lockBlocks < DELAY_BOUND),
    'locks end at a height that there is',
  )
  assert(blocksPerYear > 0n && blocksPerYear < 1n << 32n, 'a year has blocks')
  assert(tx.stakeAmountMin >= 1n, 'stakes have a least amount')
}

/** Records that a rotation writes after its delay, beside one for each network: the committee. */
const ROTATION_BASE_WRITES = 1

function assertBridge({ networks, dayBlocks, rotationDelay }: BridgeRules, tx: Rules['tx']): void {
  assert(networks.length <= BRIDGE_NETWORKS_MAX, 'the bridge names few networks')
  assert(new Set(networks.map(({ key }) => key)).size === networks.length, 'bridge networks have keys of their own')
  assert(
    networks.length === tx.bridgeFormats.length && networks.every(({ format }, i) => format === tx.bridgeFormats[i]),
    'transactions know the format of every bridge network',
  )
  assert(
    networks.every(({ feeBps, minimum }) => feeBps >= 0n && feeBps < BigInt(BPS) && minimum >= 1n),
    'bridge fees are shares and amounts have a minimum',
  )
  // A payment into a vault is minted as a whole, within one day, or never.
  assert(
    networks.every(({ minimum, dailyMintCap }) => minimum <= dailyMintCap),
    'a mint cap lets the least deposit in',
  )
  assert(
    [dayBlocks, rotationDelay].every((blocks) => Number.isSafeInteger(blocks) && blocks >= 1 && blocks < DELAY_BOUND),
    'days and delays of the bridge are whole numbers of blocks',
  )
  const writes = ROTATION_BASE_WRITES + networks.length
  assert(tx.weight.bridgeRotation >= writes * tx.weight.perStateWrite, 'a rotation prepays what it writes later')
}

/** Most escrows that can fall due in one block: one full block of invokes for each term. */
export function refundsPerBlockMax(rules: Pick<Rules, 'block' | 'tx'>): number {
  return invokesPerBlockMax(rules) * rules.tx.invokeTerms.length
}

/** Most refunds due in one block over all steps: blocks may have been larger when an escrow was opened. */
function refundsEver(steps: readonly RuleStep[]): number {
  const terms = new Set(steps.flatMap(({ rules }) => rules.tx.invokeTerms))
  return [...terms].reduce((sum, term) => {
    const allowing = steps.filter(({ rules }) => rules.tx.invokeTerms.includes(term))
    return sum + Math.max(...allowing.map(({ rules }) => invokesPerBlockMax(rules)))
  }, 0)
}

function invokesPerBlockMax({ block, tx }: Pick<Rules, 'block' | 'tx'>): number {
  const bytes = INVOKE_BYTES_MIN + KEY_SCHEMES[1].signatureBytes
  const weight = bytes + tx.weight.perSignature + tx.weight.invokeRefund
  return Math.min(Math.floor(block.bytesMax / bytes), Math.floor(block.weightMax / weight))
}
