import type { BlockRules } from '../block/rules.ts'
import { KEY_SCHEMES } from '../crypto/schemes.ts'
import type { LedgerRules } from '../ledger/module.ts'
import { assert } from '../primitives/assert.ts'
import type { Address } from '../primitives/ids.ts'

/** All rules in force at a height. */
export interface Rules extends LedgerRules {
  readonly block: BlockRules
}

/** Rules that hold from a height on, until the next step. */
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
  /** Prefix of the network's addresses. */
  readonly addressPrefix: string
  /** Name of the native coin in text and documents. */
  readonly ticker: string
  /** Decimals of the native coin. */
  readonly decimals: number
  readonly genesis: GenesisParams
  readonly steps: readonly RuleStep[]
  /** Addresses of first peers; none exist before a network has operators. */
  readonly seeds: readonly string[]
}

/** Everything that the genesis block is computed from. */
export interface GenesisParams {
  readonly timeMs: number
  readonly baseFee: bigint
  /** At most 32 bytes of text in the genesis header. */
  readonly message: string
  readonly allocations: readonly Allocation[]
}

/** Most refunds that consensus accepts to owe in one block; what the parameters must guarantee. */
export const REFUNDS_PER_BLOCK_MAX = 2_000
/** State records that one refund writes: escrow, caller, totals. */
export const REFUND_WRITES = 3
/** Bytes that every `agent_invoke` takes on the wire at least beside its signature: body and offsets come to 202. */
const INVOKE_BYTES_MIN = 200

/**
 * Parameters that contradict what the code relies on are refused at start: a node must not discover at height 400,000
 * that a block's automatic effects have no bound.
 */
export function assertParams({ steps, genesis, addressPrefix }: NetworkParams): void {
  assert(steps[0]?.fromHeight === 0, 'the first rule step begins at height 0')
  steps.forEach(({ fromHeight, rules }, i) => {
    assert(i === 0 || fromHeight > (steps[i - 1]?.fromHeight as number), 'rule steps ascend')
    assertRules(rules)
    if (i > 0) assertSuccession(steps[i - 1]?.rules as Rules, rules)
  })
  assert(refundsEver(steps) <= REFUNDS_PER_BLOCK_MAX, 'refunds due in one block are bounded over all steps')
  assert(/^[a-z]{2,10}$/.test(addressPrefix), 'the address prefix is 2 to 10 letters')
  const { rules } = steps[0] as RuleStep
  assert(genesis.baseFee >= rules.block.baseFeeMin, 'the genesis base fee is at or above the floor')
  const allocated = genesis.allocations.reduce((sum, { amount }) => sum + amount, 0n)
  assert(allocated <= rules.coin.supplyCap, 'the allocations fit the supply cap')
  const addresses = new Set(genesis.allocations.map(({ address }) => address))
  assert(addresses.size === genesis.allocations.length, 'no account is funded twice')
}

/**
 * What a step may not change. The automatic effects look for what is due by the rules in force now, whatever was promised
 * before: a change must not take anything out of their sight.
 */
function assertSuccession(before: Rules, after: Rules): void {
  // Dropping a term would strand the escrows that named it.
  assert(
    before.tx.invokeTerms.every((term) => after.tx.invokeTerms.includes(term)),
    'a later step keeps every escrow term',
  )
  // Block h matures the reward of h - maturity: a shorter one would skip those in between for ever; a longer one waits.
  assert(after.coin.rewardMaturity >= before.coin.rewardMaturity, 'a later step never shortens the maturity of rewards')
  // The cap is a record of the state since genesis; a step that says otherwise would not be heard.
  assert(after.coin.supplyCap === before.coin.supplyCap, 'a later step keeps the supply cap')
}

function assertRules({ block, tx, coin, market }: Rules): void {
  assert(block.baseFeeMin >= 32n, 'the base fee floor is at least 32')
  assert(block.weightMax % 2 === 0 && block.weightMax < 2 ** 31, 'the weight limit is even and below 2^31')
  assert(block.initialTarget <= block.powLimit && block.powLimit < 1n << 256n, 'targets fit 256 bits')
  assert(coin.supplyCap < 1n << 112n, 'the supply stays below 2^112')
  assert(coin.stakingShareBps <= 10_000n, 'the staking share is a share')
  assert(Number.isSafeInteger(coin.rewardMaturity) && coin.rewardMaturity >= 1, 'rewards mature')
  assert(coin.subsidyDivisor >= 1n && market.deliveredBurnDivisor >= 1n, 'divisors are at least 1')
  assert(tx.invokeTerms.length > 0 && tx.invokeAmountMin >= 1n, 'invokes have terms and a least amount')
  assert(
    tx.invokeTerms.every((term) => Number.isSafeInteger(term) && term >= 1),
    'terms are whole numbers of blocks',
  )
  assert(new Set(tx.invokeTerms).size === tx.invokeTerms.length, 'no term is named twice')
  assert(market.epochBlocks > 0 && market.nativeUsdMicros > 0n, 'the native coin has a price')
  assert(refundsPerBlockMax({ block, tx }) <= REFUNDS_PER_BLOCK_MAX, 'refunds due in one block are bounded')
  // What a refund writes is paid for when the invoke is mined.
  assert(tx.weight.invokeRefund >= REFUND_WRITES * tx.weight.perStateWrite, 'an invoke prepays its refund')
}

/** Most escrows that can fall due in one block: those of one full block of invokes for each term. */
export function refundsPerBlockMax(rules: Pick<Rules, 'block' | 'tx'>): number {
  return invokesPerBlockMax(rules) * rules.tx.invokeTerms.length
}

/** The same with escrows of every step: a term of old may bring those of blocks that were larger then. */
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
