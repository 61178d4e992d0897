import type { BlockRules } from '../block/rules.ts'
import type { LedgerRules } from '../ledger/module.ts'
import type { BridgeRules, MarketRules } from '../ledger/rules.ts'
import { assert } from '../primitives/assert.ts'

type Rules = LedgerRules & { readonly block: BlockRules }

/**
 * Refuses a step that changes what it may not. The automatic effects look for what is due by the rules in force now, whatever was promised
 * before: a change must not take anything out of their sight.
 */
export function assertSuccession(before: Rules, after: Rules): void {
  // Dropping a term would strand the escrows that named it.
  assert(
    before.tx.invokeTerms.every((term) => after.tx.invokeTerms.includes(term)),
    'a later step keeps every escrow term',
  )
  // Block h matures the reward of h - maturity: a shorter one would skip those in between for ever; a longer one waits.
  assert(after.coin.rewardMaturity >= before.coin.rewardMaturity, 'a later step never shortens the maturity of rewards')
  // Positions, networks and pools are records that name their place in these lists.
  assert(after.staking.tiers.length >= before.staking.tiers.length, 'a later step keeps every staking tier')
  // What is owed to stakers is counted in units of this.
  assert(after.staking.blocksPerYear === before.staking.blocksPerYear, 'a later step keeps the blocks of a year')
  assert(
    before.tx.poolFeesBps.every((fee) => after.tx.poolFeesBps.includes(fee)),
    'a later step keeps every pool fee',
  )
  // What is signed names the chain id of the first step.
  assert(after.tx.chainId === before.tx.chainId, 'a later step keeps the chain id')
  assert(after.coin.symbol === before.coin.symbol, 'the native coin keeps its symbol')
  // The cap is a record of the state since genesis; a step that says otherwise would not be heard.
  assert(after.coin.supplyCap === before.coin.supplyCap, 'a later step keeps the supply cap')
  assertSamePrices(before.market, after.market)
  assertSameBridge(before.bridge, after.bridge)
  assertSameWork(before.block, after.block)
}

function assertSamePrices(before: MarketRules, after: MarketRules): void {
  assert(
    after.epochBlocks === before.epochBlocks &&
      after.priceEpochsKept === before.priceEpochsKept &&
      after.pricedPool.dollar === before.pricedPool.dollar &&
      after.pricedPool.feeBps === before.pricedPool.feeBps,
    'price entries are those of one pool by epoch number, which a later step keeps',
  )
}

function assertSameBridge(before: BridgeRules, after: BridgeRules): void {
  assert(
    before.networks.every(({ key, asset, format }, i) => {
      const kept = after.networks[i]
      return kept?.key === key && kept.asset === asset && kept.format === format
    }),
    'a later step keeps every bridge network, its token and the format of its addresses',
  )
  // A network's record says how much was minted on a day by its number: in days of another length that is another day.
  assert(after.dayBlocks === before.dayBlocks, 'a later step keeps the blocks of a day of the bridge')
}

/** What is left to change of the difficulty, the spacing and the half-life, begins at a new anchor: see `anchorAtStep`. */
function assertSameWork(before: BlockRules, after: BlockRules): void {
  // The work of a branch is a sum of hashes: all of them must cost the same.
  assert(
    after.pow.memoryKiB === before.pow.memoryKiB &&
      after.pow.passes === before.pow.passes &&
      after.pow.lanes === before.pow.lanes,
    'a later step keeps the cost of a hash',
  )
  // A chain at its easiest target would be asked for more at once than its miners can do, and could not adjust.
  assert(after.powLimit >= before.powLimit, 'a later step never makes the easiest target harder')
}
