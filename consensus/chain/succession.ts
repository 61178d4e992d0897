import type { BlockRules } from '../block/rules.ts'
import type { LedgerRules } from '../ledger/module.ts'
import type { BridgeRules, MarketRules } from '../ledger/rules.ts'
import { assert } from '../primitives/assert.ts'
import type { TabRules } from '../tx/rules.ts'

type Rules = LedgerRules & { readonly block: BlockRules }

/**
 * Refuses a rule step that changes what must stay. Automatic effects find what is due by the present rules, even if it
 * was promised under earlier rules. So no step may put an open promise out of their reach.
 */
export function assertSuccession(before: Rules, after: Rules): void {
  // Escrows of a dropped term would never be refunded.
  assert(
    before.tx.invokeTerms.every((term) => after.tx.invokeTerms.includes(term)),
    'a later step keeps every escrow term',
  )
  // Block h pays the reward of block h - maturity. A shorter maturity would skip rewards for ever; a longer one only
  // delays them.
  assert(after.coin.rewardMaturity >= before.coin.rewardMaturity, 'a later step never shortens the maturity of rewards')
  // A stake is a record that stores the index of its tier.
  assert(after.staking.tiers.length >= before.staking.tiers.length, 'a later step keeps every staking tier')
  // Debts to stakers are counted in units that depend on the blocks of a year.
  assert(after.staking.blocksPerYear === before.staking.blocksPerYear, 'a later step keeps the blocks of a year')
  assert(
    before.tx.poolFeesBps.every((fee) => after.tx.poolFeesBps.includes(fee)),
    'a later step keeps every pool fee',
  )
  // Signatures commit to the chain id of the first step.
  assert(after.tx.chainId === before.tx.chainId, 'a later step keeps the chain id')
  assert(after.coin.symbol === before.coin.symbol, 'the native coin keeps its symbol')
  // The cap is a state record since genesis, so a changed parameter would have no effect.
  assert(after.coin.supplyCap === before.coin.supplyCap, 'a later step keeps the supply cap')
  assertSamePrices(before.market, after.market)
  assertSameBridge(before.bridge, after.bridge)
  assertSameTabs(before.tx.tabs, after.tx.tabs)
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
  // A network's record holds the amount minted on a numbered day. Days of another length would change its meaning.
  assert(after.dayBlocks === before.dayBlocks, 'a later step keeps the blocks of a day of the bridge')
}

function assertSameTabs(before: TabRules | undefined, after: TabRules | undefined): void {
  if (before === undefined) return
  // Sellers wait with their claims for the terms and delays that payers may name.
  assert(
    after !== undefined &&
      before.terms.every((term) => after.terms.includes(term)) &&
      before.closeDelays.every((delay) => after.closeDelays.includes(delay)),
    'a later step keeps tabs, with every term and every close delay',
  )
}

/** The rules of proof of work. Spacing and half-life may change: they begin at a new anchor, see `anchorAtStep`. */
function assertSameWork(before: BlockRules, after: BlockRules): void {
  // Work is counted in hashes, so all hashes must cost the same.
  assert(
    after.pow.memoryKiB === before.pow.memoryKiB &&
      after.pow.passes === before.pow.passes &&
      after.pow.lanes === before.pow.lanes,
    'a later step keeps the cost of a hash',
  )
  // A chain at its easiest target would suddenly need more work than its miners can do, and could not adjust.
  assert(after.powLimit >= before.powLimit, 'a later step never makes the easiest target harder')
}
