import { beforeAll, describe, expect, it } from 'vitest'
import { poolIdOf } from '../../../../amm/pool.ts'
import { assetOf } from '../../../../consensus/ledger/asset.ts'
import type { Hash, TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import { poolValues } from '../../../../marketplace/queries/pool-values.ts'
import { listPools, poolNamed, poolRow } from '../../../../marketplace/queries/pools.ts'
import { nativeMean, nativePrice, OVER_PAR_DEPTH, PriceBook } from '../../../../marketplace/queries/prices.ts'
import { type Ratio, ratio, times } from '../../../../marketplace/queries/ratio.ts'
import { seeded } from '../../../sim/miners.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { runs } from '../../../support/runs.ts'
import { emptyServiceChain, type ServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { units } from '../../../support/unsigned.ts'

const symbol = (text: string): TokenSymbol => text as TokenSymbol
const asset = (text: string): Hash => assetOf(symbol(text), { symbol: symbol('FAR') })

let busy: ServiceChain

beforeAll(async () => {
  busy = await serviceChain()
})

/** Spot ratio of a pool: base units of the other asset per base unit of `of`. */
function spot({ chain }: TestChain, name: string, of: string): Ratio {
  const row = poolNamed(chain, name)
  if (row === undefined) throw new Error(`no pool ${name}`)
  const { assetX, reserveX, reserveY } = row.pool
  return assetX === asset(of) ? ratio(reserveY, reserveX) : ratio(reserveX, reserveY)
}

describe('the dollar', () => {
  it('is the unit, and the bridged one behind it is at par', async () => {
    const book = PriceBook.of(busy.test.chain)
    const one = { numerator: 1n, denominator: 1n }
    expect(await book.priceOf(asset('FUSD'))).toEqual({
      basis: 'unit',
      microsPerUnit: one,
      route: [],
      depthUsdMicros: null,
    })
    expect(await book.priceOf(asset('XUSD'))).toMatchObject({ basis: 'par', microsPerUnit: one })
    expect(await book.valueOf(asset('FUSD'), 1_234_567n)).toBe(1_234_567n)
  })

  it('behind it has the price of a pool that is deep enough to say otherwise, and no other', async () => {
    for (const [dollars, basis] of [
      [OVER_PAR_DEPTH / 1_000_000n - 1n, 'par'],
      [OVER_PAR_DEPTH / 1_000_000n, 'pool'],
    ] as const) {
      const test = await TestChain.open()
      const pair = { assetA: symbol('XUSD'), assetB: symbol('FUSD'), feeBps: 30 }
      const amounts = { amountA: units(4_000_000_000n), amountB: units(dollars * 1_000_000n) }
      await test.mine([await test.tx(wallet(1), 'pool_create', { ...pair, ...amounts })])
      const price = await PriceBook.of(test.chain).priceOf(asset('XUSD'))
      expect(price).toMatchObject({ basis })
      expect(price?.microsPerUnit).toEqual(basis === 'par' ? ratio(1n, 1n) : ratio(1n, 4n))
    }
  })
})

describe('the native coin', () => {
  it('has the price of the market, and the spot ratio of the pool beside it', async () => {
    const { chain } = busy.test
    const price = nativePrice(chain)
    expect(price.epoch).toBe(Math.floor(busy.test.height / 20))
    expect(price.spot).toEqual(spot(busy.test, 'FAR-FUSD-30', 'FAR'))
    expect(price.market?.basis).toBe('epoch')
    expect(await PriceBook.of(chain).priceOf(asset('FAR'))).toEqual(price.market)
    const { numerator, denominator } = price.market!.microsPerUnit
    // About a quarter of a dollar for 10^8 base units; trades moved it.
    expect(Number(numerator) / Number(denominator)).toBeGreaterThan(0.0022)
    expect(Number(numerator) / Number(denominator)).toBeLessThan(0.0027)
  })

  it('has a mean over the epochs that are over', async () => {
    const { chain } = busy.test
    expect(nativeMean(chain, 1)?.mean).toEqual(nativePrice(chain).market?.microsPerUnit)
    const all = nativeMean(chain, 1_000)
    expect(all?.epochs).toBe(nativePrice(chain).epoch)
    expect(nativeMean((await TestChain.open()).chain, 5)).toBeNull()
  })

  it('has none where there is no pool, and then nothing has', async () => {
    const { test } = await emptyServiceChain(3)
    expect(nativePrice(test.chain)).toMatchObject({ market: undefined, spot: undefined })
    const book = PriceBook.of(test.chain)
    expect(await book.priceOf(asset('FAR'))).toBeNull()
    expect(await book.valueOf(asset('FAR'), 5n)).toBeNull()
  })
})

describe('a token', () => {
  it('has the price of the route through the deepest pools', async () => {
    const { chain } = busy.test
    const book = PriceBook.of(chain)
    const native = nativePrice(chain).market!
    const salt = await book.priceOf(asset('SALT'))
    // The pool with the coin is deeper than the younger one with dollars.
    expect(salt?.microsPerUnit).toEqual(times(spot(busy.test, 'FAR-SALT-30', 'SALT'), native.microsPerUnit))
    expect(salt?.route).toEqual([poolIdOf(asset('FAR'), asset('SALT'), 30), ...native.route])
    const wool = await book.priceOf(asset('WOOL'))
    expect(wool?.microsPerUnit).toEqual(times(spot(busy.test, 'SALT-WOOL-100', 'WOOL'), salt!.microsPerUnit))
    expect(wool!.depthUsdMicros!).toBeLessThanOrEqual(salt!.depthUsdMicros!)
  })

  it('that no pool leads from has none, never 0', async () => {
    const book = PriceBook.of(busy.test.chain)
    expect(await book.priceOf(asset('GLASS'))).toBeNull()
    expect(await book.valueOf(asset('GLASS'), 1_000n)).toBeNull()
    expect(await book.priceOf(asset('XBTC'))).toBeNull()
  })

  it('keeps its price if more of it is put into pools with nothing', async () => {
    const test = await TestChain.open()
    const before = await PriceBook.of(test.chain).priceOf(asset('SALT'))
    const worthless = ['JUNK', 'TRASH', 'WASTE', 'SCRAP', 'DROSS'].map(symbol)
    const maker = wallet(5)
    const made = await Promise.all(
      worthless.map((name) => {
        const token = { symbol: name, name, decimals: 0, maxSupply: units(0), freezable: false }
        return test.tx(maker, 'token_create', token)
      }),
    )
    await test.mine(made)
    const amount = units(10n ** 12n)
    const mints = worthless.map((name) =>
      test.tx(maker, 'token_mint', { symbol: name, to: maker.address, amount, create: false }),
    )
    await test.mine(await Promise.all(mints))
    // More salt in each account than in the pools that price it.
    const gifts = [3, 4, 6, 7, 8].map((number) =>
      test.tx(wallet(number), 'token_transfer', {
        symbol: symbol('SALT'),
        to: maker.address,
        amount: units(100_000_000n),
        create: false,
      }),
    )
    await test.mine(await Promise.all(gifts))
    const crowd = worthless.map((name) =>
      test.tx(maker, 'pool_create', {
        ...{ assetA: symbol('SALT'), assetB: name, feeBps: 30 },
        ...{ amountA: units(120_000_000n), amountB: amount },
      }),
    )
    await test.mine(await Promise.all(crowd))
    const after = await PriceBook.of(test.chain).priceOf(asset('SALT'))
    expect(after).toMatchObject({ basis: 'pool', route: before!.route })
    // Its own pool is unchanged; only the epoch's price may differ, and there were no trades.
    expect(after!.microsPerUnit).toEqual(before!.microsPerUnit)
  })
})

describe('routes', () => {
  const NAMES = ['FAR', 'FUSD', 'SALT', 'WOOL']

  /** A devnet with additional random pools; no asset has more pools than a price examines. */
  async function web(seed: number): Promise<TestChain> {
    const random = seeded(seed)
    const below = (bound: number): number => Math.floor(random() * bound)
    const counts = new Map([
      ['FAR', 2],
      ['FUSD', 1],
      ['SALT', 2],
      ['WOOL', 1],
    ])
    const taken = new Set(['FAR FUSD 30', 'FAR SALT 30', 'SALT WOOL 100'])
    const test = await TestChain.open()
    for (let i = 0; i < 12; i++) {
      const pair = [NAMES[below(4)]!, NAMES[below(4)]!].toSorted()
      const feeBps = [5, 30, 100][below(3)]!
      const name = `${pair.join(' ')} ${feeBps}`
      if (pair[0] === pair[1] || taken.has(name) || pair.some((one) => (counts.get(one) ?? 0) >= 4)) continue
      taken.add(name)
      for (const one of pair) counts.set(one, (counts.get(one) ?? 0) + 1)
      const amounts = { amountA: units(1 + below(9_000_000)), amountB: units(100_000 + below(9_000_000)) }
      const [assetA, assetB] = pair.map(symbol) as [TokenSymbol, TokenSymbol]
      await test.mine([await test.tx(wallet(4), 'pool_create', { assetA, assetB, feeBps, ...amounts })])
    }
    return test
  }

  /** Every route of at most three pools from an asset to one with a price of its own, with its price. */
  async function ways(
    test: TestChain,
    from: Hash,
  ): Promise<readonly { depth: bigint; price: Ratio; length: number }[]> {
    const { pools } = await listPools(test.chain, { limit: 200 })
    const native = nativePrice(test.chain).market!
    const found: { depth: bigint; price: Ratio; length: number }[] = []
    const walk = (
      at: Hash,
      price: Ratio,
      reserves: readonly bigint[],
      been: readonly Hash[],
      prices: readonly Ratio[],
    ): void => {
      const end = at === asset('FUSD') ? ratio(1n, 1n) : at === asset('FAR') ? native.microsPerUnit : undefined
      if (end !== undefined) {
        // Value of each pool's other side, by the prices along the rest of the route.
        const depths = reserves.map((reserve, i) => {
          const rest = prices.slice(i + 1).reduce(times, end)
          return (reserve * rest.numerator) / rest.denominator
        })
        const all = at === asset('FAR') ? [...depths, native.depthUsdMicros!] : depths
        const depth = all.reduce((least, one) => (one < least ? one : least))
        found.push({ depth, price: times(price, end), length: reserves.length })
        return
      }
      if (reserves.length === 3) return
      for (const { pool } of pools) {
        if (pool.assetX !== at && pool.assetY !== at) continue
        const xIn = pool.assetX === at
        const other = xIn ? pool.assetY : pool.assetX
        if (been.includes(other)) continue
        const [own, far] = xIn ? [pool.reserveX, pool.reserveY] : [pool.reserveY, pool.reserveX]
        const step = ratio(far, own)
        walk(other, times(price, step), [...reserves, far], [...been, other], [...prices, step])
      }
    }
    walk(from, ratio(1n, 1n), [], [from], [])
    return found
  }

  it.each(Array.from({ length: runs(12) }, (_, i) => i + 1))(
    'are the deepest of all that there are (seed %i)',
    async (seed) => {
      const test = await web(seed)
      const book = PriceBook.of(test.chain)
      for (const name of ['SALT', 'WOOL']) {
        const all = await ways(test, asset(name))
        const price = (await book.priceOf(asset(name)))!
        const deepest = all.reduce((most, { depth }) => (depth > most ? depth : most), 0n)
        // The two computations round in a different order, at most once per pool.
        expect(Number(deepest - price.depthUsdMicros!)).toBeLessThanOrEqual(3)
        expect(Number(price.depthUsdMicros! - deepest)).toBeLessThanOrEqual(3)
        const near = all.filter(({ depth }) => depth + 3n >= price.depthUsdMicros!)
        expect(near.map(({ price: one }) => one)).toContainEqual(price.microsPerUnit)
      }
    },
  )
})

describe('a pool', () => {
  it('is worth both its sides at the prices of the head', async () => {
    const { chain } = busy.test
    const book = PriceBook.of(chain)
    const row = poolNamed(chain, 'FUSD-FAR-30')!
    const values = await poolValues(chain, row)
    const far = await book.valueOf(asset('FAR'), row.pool.reserveX)
    expect(values.tvlUsdMicros).toBe(far! + row.pool.reserveY)
    // If one side of the trades is dollars, the volume is their amount.
    expect(values.volumeUsdMicros).toBe(values.day.volumeY)
    const fees = (await book.valueOf(asset('FAR'), values.day.feesX))! + values.day.feesY
    expect(values.feesUsdMicros).toBe(fees)
    expect(values.aprPpm).toBe((fees * 365n * 1_000_000n) / values.tvlUsdMicros!)
    expect(fees).toBeGreaterThan(0n)
  })

  it('of which one side has a price is worth twice that side, and of which none has unknown', async () => {
    const test = await TestChain.open()
    const token = { symbol: symbol('MUD'), name: 'Mud', decimals: 0, maxSupply: units(0), freezable: false }
    await test.mine([await test.tx(wallet(5), 'token_create', token)])
    const mint = { symbol: token.symbol, to: wallet(5).address, amount: units(50_000), create: false }
    await test.mine([await test.tx(wallet(5), 'token_mint', mint)])
    const pair = { assetA: token.symbol, assetB: symbol('FUSD'), feeBps: 5 }
    const amounts = { amountA: units(20_000), amountB: units(3_000_000) }
    await test.mine([await test.tx(wallet(5), 'pool_create', { ...pair, ...amounts })])
    const row = poolNamed(test.chain, 'MUD-FUSD-5')!
    // Mud is now priced by this very pool, so both sides are worth the same, apart from rounding.
    const { tvlUsdMicros } = await poolValues(test.chain, row)
    expect(tvlUsdMicros).toBe(6_000_000n)
    const empty = await emptyServiceChain()
    const stranger = { ...row.pool, assetX: asset('XBTC'), assetY: asset('XLTC') }
    const values = await poolValues(empty.test.chain, poolRow(empty.test.chain, row.poolId, stranger))
    expect(values).toMatchObject({ tvlUsdMicros: null, volumeUsdMicros: null, aprPpm: null, feesUsdMicros: 0n })
  })
})
