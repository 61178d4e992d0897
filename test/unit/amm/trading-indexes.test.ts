import { describe, expect, it } from 'vitest'
import { type HourlyCandle, hourOf } from '../../../amm/candles.ts'
import { POOLS, type Pool } from '../../../amm/pool.ts'
import { POOLS_BY_ASSET, poolOfEntry } from '../../../amm/pools-by-asset.ts'
import { ChainDatabase } from '../../../consensus/chain/database.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import type { PoolId } from '../../../consensus/primitives/ids.ts'
import { listPools, poolsOf } from '../../../marketplace/queries/pools.ts'
import { hourNow, listCandles, listTrades, poolDay } from '../../../marketplace/queries/trading.ts'
import { rebuildIndexes } from '../../../src/storage/reindex.ts'
import { seeded } from '../../sim/miners.ts'
import { blocksFrom, importAll } from '../../support/branches.ts'
import { TestChain } from '../../support/chain.ts'
import { indexSpace } from '../../support/random-chain.ts'
import { runs } from '../../support/runs.ts'
import { Onlooker, type SeenTrade, TradingChain } from '../../support/trading-chain.ts'

const SEEDS = Array.from({ length: runs(8) }, (_, i) => i + 1)
const Q112 = 1n << 112n

/** A node that followed a trading chain, and then a branch that overtook it. */
async function reorganised(seed: number): Promise<{ node: TestChain; store: MemoryKeyValueStore; plain: TestChain }> {
  const random = seeded(seed)
  const first = new TradingChain(await TestChain.open(), random)
  await first.grow(16)
  const second = await first.branch(Math.floor(random() * 15))
  await second.grow(20 - second.test.height)
  const store = new MemoryKeyValueStore()
  const node = await TestChain.open(undefined, store)
  await importAll(node, [...blocksFrom(first.test, 1), ...blocksFrom(second.test, 1)])
  expect(node.chain.head.id).toBe(second.test.chain.head.id)
  return { node, store, plain: second.test }
}

/** The candles of a pool by their definition, from what `Onlooker` recorded. */
function expectedCandles({ trades, reserves }: Onlooker, poolId: PoolId): readonly HourlyCandle[] {
  const hours = new Map<number, HourlyCandle>()
  for (const { timeMs, reserveX, reserveY } of reserves.filter((one) => one.poolId === poolId)) {
    const hour = hourOf(timeMs)
    const own = trades.filter((trade) => trade.poolId === poolId && hourOf(trade.timeMs) === hour)
    const xy = ({ xIn, amountIn, amountOut }: SeenTrade): [bigint, bigint] =>
      xIn ? [amountIn, amountOut] : [amountOut, amountIn]
    const prices = own.map((trade) => (xy(trade)[1] * Q112) / xy(trade)[0])
    const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)
    const fees = (xIn: boolean): bigint =>
      sum(own.filter((trade) => trade.xIn === xIn).map((one) => (one.amountIn * one.feeBps + 9_999n) / 10_000n))
    hours.set(hour, {
      hour,
      open: prices[0] ?? 0n,
      high: prices.reduce((most, price) => (price > most ? price : most), 0n),
      low: prices.reduce((least, price) => (price < least ? price : least), prices[0] ?? 0n),
      close: prices.at(-1) ?? 0n,
      volumeX: sum(own.map((trade) => xy(trade)[0])),
      volumeY: sum(own.map((trade) => xy(trade)[1])),
      feesX: fees(true),
      feesY: fees(false),
      trades: own.length,
      reserveX,
      reserveY,
    } as HourlyCandle)
  }
  return [...hours.values()]
}

describe.each(SEEDS)('on a chain that was reorganised (seed %i)', (seed) => {
  it('trades and candles are those that the payloads make', async () => {
    const { node } = await reorganised(seed)
    const { chain } = node
    const seen = new Onlooker(node)
    const { pools } = await listPools(chain, { limit: 200 })
    // `Onlooker` computes the reserves on its own. They equal the reserves in the state.
    const funds = pools.map(({ poolId, pool }) => [poolId, { x: pool.reserveX, y: pool.reserveY, shares: pool.shares }])
    expect(Object.fromEntries(funds)).toEqual(Object.fromEntries(seen.funds))
    const trades = await listTrades(chain, { limit: 1_000 })
    const places = trades.map(({ sender, assetIn, assetOut, ...place }) => place)
    expect(places).toEqual(seen.trades.map(({ xIn, feeBps, ...place }) => place).toReversed())
    expect(trades.length).toBeGreaterThan(5)
    for (const { poolId } of pools) {
      const all = { poolId, from: 0, to: hourNow(chain) + 1, limit: 1_000 }
      const candles = await listCandles(chain, all)
      expect(candles).toEqual(expectedCandles(seen, poolId))
      expect(await listTrades(chain, { poolId, limit: 1_000 })).toEqual(trades.filter((one) => one.poolId === poolId))
      expect(await listCandles(chain, { ...all, limit: 2 })).toEqual(candles.slice(-2))
      await expectDay(node, poolId, candles)
    }
  })

  it('all indexes are those of a node that only saw the best chain, and of a rebuild', async () => {
    const { node, store, plain } = await reorganised(seed)
    const twin = new MemoryKeyValueStore()
    await importAll(await TestChain.open(undefined, twin), blocksFrom(plain, 1))
    const found = await indexSpace(store)
    expect(found).toEqual(await indexSpace(twin))
    for (const prefix of ['0d04', '0d05', '0d06'])
      expect([...found.keys()].some((key) => key.startsWith(prefix))).toBe(true)
    const { ruleBook } = node
    const database = await ChainDatabase.open(store, ruleBook, ruleBook.genesis, 'memory', { staleIndexes: true })
    if ('code' in database) throw new Error(database.code)
    await rebuildIndexes({ store, database, ruleBook, batchWrites: 40 })
    expect(await indexSpace(store)).toEqual(found)
  })

  it('every asset has its pools, the one that holds most of it first', async () => {
    const { node } = await reorganised(seed)
    const { chain } = node
    const { pools } = await listPools(chain, { limit: 200 })
    const assets = new Set(pools.flatMap(({ pool }) => [pool.assetX, pool.assetY]))
    for (const asset of assets) {
      const reserve = ({ assetX, reserveX, reserveY }: Pool): bigint => (assetX === asset ? reserveX : reserveY)
      const own = pools.filter(({ pool }) => pool.assetX === asset || pool.assetY === asset)
      const sorted = own.toSorted((a, b) => (reserve(a.pool) > reserve(b.pool) ? -1 : 1)).map(({ poolId }) => poolId)
      expect((await poolsOf(chain, asset, 100)).map(({ poolId }) => poolId)).toEqual(sorted)
      expect((await poolsOf(chain, asset, 1)).map(({ poolId }) => poolId)).toEqual(sorted.slice(0, 1))
    }
    const range = { prefix: new Uint8Array(0), limit: 1_000 }
    const entries = await chain.database.indexPage(POOLS_BY_ASSET, range, poolOfEntry)
    expect(entries.length).toBe(2 * pools.length)
    for (const poolId of entries) expect(chain.database.get(POOLS, poolId)).toBeDefined()
  })
})

/** Checks the sums of the last 24 hours before the head, and the reserves before them. */
async function expectDay({ chain }: TestChain, poolId: PoolId, candles: readonly HourlyCandle[]): Promise<void> {
  const since = hourNow(chain) - 23
  const day = candles.filter(({ hour }) => hour >= since)
  const earlier = candles.findLast(({ hour }) => hour < since)
  expect(await poolDay(chain, poolId)).toEqual({
    volumeX: day.reduce((sum, { volumeX }) => sum + volumeX, 0n),
    volumeY: day.reduce((sum, { volumeY }) => sum + volumeY, 0n),
    feesX: day.reduce((sum, { feesX }) => sum + feesX, 0n),
    feesY: day.reduce((sum, { feesY }) => sum + feesY, 0n),
    trades: day.reduce((sum, one) => sum + one.trades, 0),
    before: earlier === undefined ? null : { reserveX: earlier.reserveX, reserveY: earlier.reserveY },
  })
}

describe('pages of trades', () => {
  it('go on where they ended while blocks come and go', async () => {
    const random = seeded(99)
    const first = new TradingChain(await TestChain.open(), random)
    await first.grow(12)
    const node = await TestChain.open()
    await importAll(node, blocksFrom(first.test, 1))
    const { chain } = node
    const before = await listTrades(chain, { limit: 1_000 })
    const page = await listTrades(chain, { limit: 4 })
    // A reorganisation replaces the last two blocks; trades older than the cursor stay the same.
    const cursor = page.find(({ height }) => height <= 10) ?? before.find(({ height }) => height <= 10)
    const second = await first.branch(10)
    await second.grow(4)
    await importAll(node, blocksFrom(second.test, 1))
    expect(chain.head.header.height).toBe(14)
    const rest = await listTrades(chain, { before: cursor, limit: 1_000 })
    const at = before.findIndex(
      (trade) => trade === cursor || JSON.stringify(place(trade)) === JSON.stringify(place(cursor!)),
    )
    expect(at).toBeGreaterThanOrEqual(0)
    expect(rest).toEqual(before.slice(at + 1))
    expect(rest.length).toBeGreaterThan(0)
  })
})

function place({ height, index, hop }: { height: number; index: number; hop: number }): readonly number[] {
  return [height, index, hop]
}
