import { ceilOf, sum } from './arithmetic.ts'
import { floatOf } from './bridge-kinds.ts'
import { Ledger, NATIVE } from './ledger.ts'
import type { ReferenceRules } from './params.ts'
import { LOCKED_SHARES, type Pool } from './pool-kinds.ts'
import { earned, rewardUnits, type Tier } from './staking-kinds.ts'
import { dueOf } from './tab-kinds.ts'
import type { Tab } from './tab-schemas.ts'
import type { Records } from './table.ts'

function demandEqual(what: string, one: bigint, other: bigint): void {
  if (one !== other) throw new Error(`${what}: ${one} is not ${other}`)
}

/** The total of an asset over all records that hold it: ledgers.md, section 1. */
function placesOf(ledger: Ledger, asset: string): bigint {
  const pools = ledger.pools.all().map(([, pool]) => pool)
  const places = [
    ...pools.filter(({ assetX }) => assetX === asset).map(({ reserveX }) => reserveX),
    ...pools.filter(({ assetY }) => assetY === asset).map(({ reserveY }) => reserveY),
    ...ledger.stableReserves.all().map(([, one]) => (one.reserveAsset === asset ? one.reserve : 0n)),
    ...ledger.balances.all().map(([id, { amount }]) => (id.endsWith(asset) ? amount : 0n)),
  ]
  if (asset !== NATIVE) return sum(places)
  return sum([
    ...places,
    ...ledger.accounts.all().map(([, { balance }]) => balance),
    ...ledger.rewards.all().map(([, { amount }]) => amount),
    ledger.stakingPool.get('')?.accrued ?? 0n,
    ledger.staking.get('')?.reserved ?? 0n,
    ...ledger.stakes.all().map(([, { amount }]) => amount),
    ...ledger.escrows.all().map(([, { amount }]) => amount),
    ...ledger.tabs.all().map(([, { deposit, claimed }]) => deposit - claimed),
  ])
}

function auditPools(ledger: Ledger): void {
  const shares = ledger.poolShares.all()
  for (const [id, pool] of ledger.pools.all()) {
    const held = sum(shares.map(([key, one]) => (key.endsWith(id) ? one.shares : 0n)))
    demandEqual(`shares of pool ${id}`, held + LOCKED_SHARES, pool.shares)
  }
}

/** Checks staking: the sum of each tier, the reward units owed, and the least reserve that covers them. */
function auditStakes(ledger: Ledger, rules: ReferenceRules): void {
  const stakes = ledger.stakes.all().map(([, stake]) => stake)
  const { tiers, reserved, owed } = ledger.staking.get('') ?? { tiers: [], reserved: 0n, owed: 0n }
  for (const [number, { staked }] of tiers.entries()) {
    const amounts = stakes.map(({ tier, amount }) => (tier === number ? amount : 0n))
    demandEqual(`staked in tier ${number}`, staked, sum(amounts))
  }
  const unit = rewardUnits(rules)
  const unclaimed = stakes.map((stake) =>
    stake.amount === 0n ? stake.owed * unit : earned(stake, tiers[stake.tier] as Tier) - stake.claimed * unit,
  )
  demandEqual('reward units owed', owed, sum(unclaimed))
  demandEqual('rewards reserved', reserved, ceilOf(owed, unit))
}

function auditBridge(ledger: Ledger): void {
  const networks = ledger.networks.all().map(([, network]) => network)
  for (const asset of new Set(networks.map((network) => network.asset))) {
    const { minted, burned } = ledger.supply.of(asset)
    const floats = networks.filter((network) => network.asset === asset).map(floatOf)
    if (floats.some((float) => float < 0n)) throw new Error(`float of ${asset} below zero`)
    demandEqual(`custody of ${asset}`, sum(floats), minted - burned)
  }
}

function auditEscrows(ledger: Ledger): void {
  const escrows = ledger.escrows.all().map(([, { amount }]) => amount)
  const totals = ledger.escrowTotals.get('') ?? { amount: 0n, count: 0 }
  demandEqual('escrow totals', totals.amount, sum(escrows))
  demandEqual('escrow count', BigInt(totals.count), BigInt(escrows.length))
}

/**
 * Throws unless the records keep the invariants of ledgers.md. It computes every sum over all records. {@link auditShares} checks the value
 * of a pool's shares.
 */
export function audit(records: Records, rules: ReferenceRules): void {
  const ledger = new Ledger(records)
  for (const [asset, { minted, burned }] of ledger.supply.all())
    demandEqual(`supply of ${asset}`, placesOf(ledger, asset), minted - burned)
  auditEscrows(ledger)
  auditPools(ledger)
  auditStakes(ledger, rules)
  auditBridge(ledger)
}

/** Fields of a tab that no transaction changes. */
const frozenOf = ({ deposit, claimed, receipts, chain, closesAt, ...frozen }: Tab): string =>
  JSON.stringify(frozen, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))

/** Throws unless the tabs after a block at this height follow from those before it: totals, sums, what is frozen, nothing overdue. */
export function auditTabs(before: Records, after: Records, height: number): void {
  const [old, ledger] = [new Ledger(before), new Ledger(after)]
  const tabs = ledger.tabs.all()
  const totals = ledger.tabTotals.get('') ?? { open: 0, locked: 0n, claimed: 0n, burned: 0n }
  demandEqual('open tabs', BigInt(totals.open), BigInt(tabs.length))
  demandEqual('locked in tabs', totals.locked, sum(tabs.map(([, { deposit, claimed }]) => deposit - claimed)))
  for (const [tabId, tab] of tabs) {
    const was = old.tabs.get(tabId)
    const same = was === undefined || frozenOf(was) === frozenOf(tab)
    const rises =
      was === undefined || (tab.deposit >= was.deposit && tab.claimed >= was.claimed && tab.receipts >= was.receipts)
    const closes = was === undefined || was.closesAt === 0 || was.closesAt === tab.closesAt
    if (!same || !rises || !closes) throw new Error(`tab ${tabId} changed against its rules`)
    if (tab.claimed > tab.deposit || dueOf(tab) <= height) throw new Error(`tab ${tabId} is overdrawn or overdue`)
  }
}

/** Product of the reserves over the square of the shares, as a fraction. */
const worthOf = ({ reserveX, reserveY, shares }: Pool): readonly [bigint, bigint] => [reserveX * reserveY, shares ** 2n]

/** Throws if a share of a pool is worth less after a block than before it. */
export function auditShares(before: Records, after: Records): void {
  const pools = new Ledger(after).pools
  for (const [id, old] of new Ledger(before).pools.all()) {
    const [was, wasOver] = worthOf(old)
    const [is, isOver] = worthOf(pools.of(id))
    if (is * wasOver < was * isOver) throw new Error(`a share of pool ${id} lost value`)
  }
}
