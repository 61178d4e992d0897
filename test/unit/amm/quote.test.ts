import { describe, expect, it } from 'vitest'
import { POOLS } from '../../../amm/pool.ts'
import { poolsBetween } from '../../../amm/pool-search.ts'
import { QUOTE_POOLS_MAX, type QuoteBasis, quoteExactIn, quoteExactOut, type SwapOrder } from '../../../amm/quote.ts'
import { assetOf } from '../../../consensus/ledger/asset.ts'
import type { Hash, PoolId, TokenSymbol } from '../../../consensus/primitives/ids.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { MemoryState, type StateView } from '../../../consensus/state/view.ts'
import {
  ALICE,
  FAR,
  FUSD,
  type GenesisPool,
  HEAVY,
  OWNER,
  PoolLedger,
  poolOf,
  poolRuleBook,
  SALT,
  WOOL,
} from '../../support/pools.ts'
import { filled, units } from '../../support/unsigned.ts'

const GENESIS: readonly GenesisPool[] = [
  { assetA: FAR, assetB: SALT, feeBps: 30, amountA: 1_000_000n, amountB: 2_000_000n, owner: OWNER },
  { assetA: SALT, assetB: WOOL, feeBps: 100, amountA: 500_000n, amountB: 500_000n, owner: OWNER },
  { assetA: SALT, assetB: WOOL, feeBps: 5, amountA: 300_000n, amountB: 100_000n, owner: OWNER },
  { assetA: WOOL, assetB: FUSD, feeBps: 30, amountA: 700_000n, amountB: 70_000n, owner: OWNER },
]
const RULES = poolRuleBook(GENESIS)
const COINS = { symbol: FAR }
const NONE = 'NONE' as TokenSymbol
const IDS = GENESIS.map(({ assetA, assetB, feeBps }) => poolOf(assetA, assetB, feeBps))

const basis = (view: StateView, pools: Iterable<PoolId> = IDS): QuoteBasis => ({ view, coin: COINS, pools })

function order(assetIn: TokenSymbol, assetOut: TokenSymbol, amount: bigint, slippageBps = 50n): SwapOrder {
  return { assetIn, assetOut, amount: units(amount), slippageBps }
}

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.fault))
  return result.value
}

const codeOf = (result: Result<unknown>): string => (result.ok ? 'ok' : result.fault.code)

describe('a quote for an exact input', () => {
  it('tells the way, what it pays, the fees and the limit', () => {
    const ledger = new PoolLedger(RULES)
    const quote = must(quoteExactIn(basis(ledger.state, [poolOf(FAR, SALT)]), order(FAR, SALT, 10_000n, 100n)))
    // 2,000,000 x 99,700,000 / (10,000,000,000 + 99,700,000), which is 1.29 % below 20,000.
    expect(quote).toMatchObject({ amountIn: 10_000n, amountOut: 19_743n, priceImpactPpm: 12_850n })
    expect(quote.limit).toBe(19_546n)
    expect(quote.hops).toMatchObject([{ poolId: poolOf(FAR, SALT), amountIn: 10_000n, amountOut: 19_743n, fee: 30n }])
    expect(quote.payload).toEqual({
      ...{ assetIn: FAR, exactOut: false, amount: 10_000n, limit: 19_546n, hops: [{ asset: SALT, feeBps: 30 }] },
    })
  })

  it('is what the swap pays, to the unit', () => {
    const ledger = new PoolLedger(RULES)
    const quote = must(quoteExactIn(basis(ledger.state), order(FAR, FUSD, 20_000n, 0n)))
    expect(quote.payload.hops).toEqual([
      { asset: SALT, feeBps: 30 },
      { asset: WOOL, feeBps: 100 },
      { asset: FUSD, feeBps: 30 },
    ])
    const { code, receipt } = ledger.send(ALICE, 'swap', quote.payload)
    expect([code, receipt.amounts]).toEqual(['success', [20_000n, ...quote.hops.map(({ amountOut }) => amountOut)]])
    expect(quote.limit).toBe(quote.amountOut)
  })

  it('adds up the impact of its pools, at most 3 ppm too high', () => {
    const ledger = new PoolLedger(RULES)
    const { amountOut, priceImpactPpm } = must(quoteExactIn(basis(ledger.state), order(FAR, FUSD, 20_000n)))
    // At the prices before the swap, 20,000 FAR are 40,000 SALT, 40,000 WOOL, 4,000 FUSD.
    const exact = ((4_000n - amountOut) * 1_000_000n) / 4_000n
    expect(priceImpactPpm).toBeGreaterThanOrEqual(exact)
    expect(priceImpactPpm).toBeLessThanOrEqual(exact + 4n)
  })

  it('rounds the least output up: no unit more is given away than was granted', () => {
    const ledger = new PoolLedger(RULES)
    const limits = [0n, 1n, 9_999n, 10_000n].map(
      (slippageBps) =>
        must(quoteExactIn(basis(ledger.state, [poolOf(FAR, SALT)]), order(FAR, SALT, 10_000n, slippageBps))).limit,
    )
    expect(limits).toEqual([19_743n, 19_742n, 2n, 0n])
  })

  it('goes over another pool where that pays more', () => {
    const ledger = new PoolLedger(RULES)
    const feesOf = (amount: bigint) =>
      must(quoteExactIn(basis(ledger.state), order(WOOL, SALT, amount))).payload.hops.map(({ feeBps }) => feeBps)
    expect(feesOf(1_000n)).toEqual([5])
    expect(feesOf(1_000_000n)).toEqual([100])
  })

  it('comes past what it wants and back where two pools of a pair differ that much', () => {
    const ledger = new PoolLedger(RULES)
    const { payload, amountOut } = must(quoteExactIn(basis(ledger.state), order(FAR, SALT, 10_000n)))
    expect(payload.hops.map(({ asset, feeBps }) => `${asset} ${feeBps}`)).toEqual(['SALT 30', 'WOOL 100', 'SALT 5'])
    expect(ledger.send(ALICE, 'swap', payload).receipt.amounts.at(-1)).toBe(amountOut)
  })

  it('keeps away from frozen tokens, at the ends and on the way', () => {
    const ledger = new PoolLedger(RULES)
    ledger.freeze(WOOL)
    expect(codeOf(quoteExactIn(basis(ledger.state), order(WOOL, SALT, 1n)))).toBe('token/frozen')
    expect(codeOf(quoteExactIn(basis(ledger.state), order(SALT, WOOL, 1n)))).toBe('token/frozen')
    expect(codeOf(quoteExactIn(basis(ledger.state), order(FAR, FUSD, 10_000n)))).toBe('pool/no-route')
    expect(codeOf(quoteExactIn(basis(ledger.state), order(FAR, SALT, 10_000n)))).toBe('ok')
  })

  it('says why there is none', () => {
    const view = new PoolLedger(RULES).state
    expect(codeOf(quoteExactIn(basis(view), order(NONE, SALT, 1n)))).toBe('token/unknown')
    expect(codeOf(quoteExactIn(basis(view), order(SALT, NONE, 1n)))).toBe('token/unknown')
    expect(codeOf(quoteExactIn(basis(view), order(SALT, SALT, 1n)))).toBe('tx/field')
    expect(codeOf(quoteExactIn(basis(view), order(SALT, HEAVY, 1n)))).toBe('pool/no-route')
    expect(codeOf(quoteExactIn(basis(view), order(SALT, FAR, 1n)))).toBe('pool/too-small')
    expect(codeOf(quoteExactIn(basis(view, []), order(SALT, FAR, 1n)))).toBe('pool/no-route')
    expect(codeOf(quoteExactIn(basis(new MemoryState()), order(FAR, SALT, 1n)))).toBe('token/unknown')
  })

  it('takes at most three pools', () => {
    const ledger = new PoolLedger(RULES)
    ledger.create(ALICE, [FUSD, 50_000n], [HEAVY, 50_000n])
    const pools = [...IDS, poolOf(FUSD, HEAVY)]
    expect(codeOf(quoteExactIn(basis(ledger.state, pools), order(SALT, HEAVY, 10_000n)))).toBe('ok')
    expect(codeOf(quoteExactIn(basis(ledger.state, pools), order(FAR, HEAVY, 10_000n)))).toBe('pool/no-route')
  })

  it('takes input of any size', () => {
    const view = new PoolLedger(RULES).state
    const most = (1n << 112n) - 1n
    expect(must(quoteExactIn(basis(view), order(FAR, SALT, most))).amountOut).toBeLessThan(2_000_000n)
  })

  it('passes over ids of no pool and ids that come twice, and looks at so many and no more', () => {
    const view = new PoolLedger(RULES).state
    const strangers = Array.from({ length: QUOTE_POOLS_MAX - 1 }, (_, i) => i.toString(16).padStart(64, '0') as PoolId)
    const one = poolOf(FAR, SALT)
    expect(codeOf(quoteExactIn(basis(view, [...strangers, one]), order(FAR, SALT, 10n)))).toBe('ok')
    expect(codeOf(quoteExactIn(basis(view, [one, one, ...strangers]), order(FAR, SALT, 10n)))).toBe('ok')
    const more = [...strangers, filled<PoolId>(0xee), one]
    expect(codeOf(quoteExactIn(basis(view, more), order(FAR, SALT, 10n)))).toBe('pool/no-route')
  })

  it('is not asked for slippage that is no share', () => {
    const view = new PoolLedger(RULES).state
    expect(() => quoteExactIn(basis(view), order(FAR, SALT, 10n, 10_001n))).toThrow('slippage is a share')
    expect(() => quoteExactIn(basis(view), order(FAR, SALT, 10n, -1n))).toThrow('slippage is a share')
  })
})

describe('a quote for an exact output', () => {
  it('takes the pool that wants least, and is what the swap takes', () => {
    const ledger = new PoolLedger(RULES)
    const quote = must(quoteExactOut(basis(ledger.state), order(WOOL, SALT, 2_000n, 10n)))
    expect(quote).toMatchObject({ amountOut: 2_000n, payload: { exactOut: true, hops: [{ asset: SALT, feeBps: 5 }] } })
    expect(quote.limit).toBe((quote.amountIn * 10_010n) / 10_000n)
    const { code, receipt } = ledger.send(ALICE, 'swap', quote.payload)
    expect([code, receipt.amounts]).toEqual(['success', [quote.amountIn, 2_000n]])
    const large = must(quoteExactOut(basis(ledger.state), order(WOOL, SALT, 400_000n)))
    expect(large.payload.hops).toEqual([{ asset: SALT, feeBps: 100 }])
  })

  it('says why there is none', () => {
    const view = new PoolLedger(RULES).state
    expect(codeOf(quoteExactOut(basis(view), order(NONE, SALT, 1n)))).toBe('token/unknown')
    expect(codeOf(quoteExactOut(basis(view), order(FAR, WOOL, 1n)))).toBe('pool/no-route')
    expect(codeOf(quoteExactOut(basis(view), order(FAR, SALT, 2_000_000n)))).toBe('pool/too-large')
  })

  it('keeps its limit below 2^112', () => {
    const ledger = new PoolLedger(RULES)
    ledger.create(ALICE, [HEAVY, 1n << 111n], [SALT, 2_000n])
    const pools = [poolOf(HEAVY, SALT)]
    const quote = must(quoteExactOut(basis(ledger.state, pools), order(HEAVY, SALT, 1_200n, 10_000n)))
    expect(quote.limit).toBe((1n << 112n) - 1n)
  })
})

describe('the pools between two assets', () => {
  /** All pools of the ledger, as the index lists them. */
  function database(ledger: PoolLedger) {
    return {
      get: ledger.state.get.bind(ledger.state),
      indexPage: async (_: unknown, { prefix, limit }: { prefix: Uint8Array; limit: number }) => {
        const asset = Buffer.from(prefix).toString('hex') as Hash
        const all = [...ledger.state.records()].filter(({ table }) => table.name === POOLS.name)
        const ids = all.map(({ key }) => key.slice(2) as PoolId)
        return ids
          .filter((id) => [ledger.get(POOLS, id)?.assetX, ledger.get(POOLS, id)?.assetY].includes(asset))
          .slice(0, limit)
      },
    } as unknown as Parameters<typeof poolsBetween>[0]
  }
  const ends = (assetIn: TokenSymbol, assetOut: TokenSymbol) => ({
    ...{ assetIn: assetOf(assetIn, COINS), assetOut: assetOf(assetOut, COINS) },
  })
  const { tx } = RULES.at(0)

  it('are all that a route of three can lead through, each once', async () => {
    const ledger = new PoolLedger(RULES)
    ledger.create(ALICE, [HEAVY, 50_000n], [FUSD, 50_000n])
    const found = await poolsBetween(database(ledger), ends(FAR, FUSD), tx)
    expect([...found].sort()).toEqual([...IDS, poolOf(HEAVY, FUSD)].sort())
    const near = await poolsBetween(database(ledger), ends(FAR, SALT), tx)
    expect([...near].sort()).toEqual([poolOf(FAR, SALT), poolOf(SALT, WOOL, 100), poolOf(SALT, WOOL, 5)].sort())
    expect(near[0]).toBe(poolOf(FAR, SALT))
  })

  it('are none for an asset without pools', async () => {
    const ledger = new PoolLedger(RULES)
    expect(await poolsBetween(database(ledger), ends(HEAVY, HEAVY), tx)).toEqual([])
  })
})
