import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeReceipt, type ReceiptOf } from '../../consensus/ledger/receipt.ts'
import { formatAmount, parseAmount } from '../../consensus/primitives/amount.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../consensus/tx/kinds.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { runs } from '../support/runs.ts'
import { type ServiceChain, serviceChain } from '../support/service-chain.ts'
import { resultOf } from '../support/service-results.ts'
import { steadyWallet } from '../support/steady-keys.ts'
import { units } from '../support/unsigned.ts'

interface Text {
  readonly symbol: string
  readonly decimals: number
  readonly amount: string
}

interface Quote {
  readonly route: readonly { readonly pool: string; readonly priceImpactPct: number; readonly out: Text }[]
  readonly amountIn: Text
  readonly amountOut: Text | null
  readonly minOut: Text | null
  readonly payload: { readonly limit: string; readonly hops: PayloadOf<'swap'>['hops'] } | null
}

interface Spread {
  readonly buyRoute: readonly string[]
  readonly sellRoute: readonly string[]
  readonly maxSizeBeforeZero: Text
  readonly bestSize: Text
  readonly gainAtBestSize: Text
}

const DECIMALS = { FAR: 8, FUSD: 6, SALT: 4, WOOL: 4 } as const
const symbols = Object.keys(DECIMALS) as (keyof typeof DECIMALS)[]
const symbol = (text: string): TokenSymbol => text as TokenSymbol

function unitsOf({ amount, decimals }: Text): bigint {
  const parsed = parseAmount(amount, decimals)
  if (!parsed.ok) throw new Error(amount)
  return parsed.value
}

/** Mines transactions in order, and returns the amounts of their receipts. */
async function mined(
  { test }: ServiceChain,
  transactions: readonly Transaction[],
): Promise<readonly (readonly bigint[])[]> {
  await test.mine(transactions)
  const receipts = (test.chain.database.receipts(test.chain.head.id) ?? []).map(decodeReceipt)
  return transactions.map(({ txId }) => {
    const receipt = receipts.find(
      (one): one is ReceiptOf<'transaction'> => one.type === 'transaction' && one.txId === txId,
    )
    if (receipt?.code !== 0) throw new Error(`the swap failed: ${receipt?.code}`)
    return receipt.amounts
  })
}

describe('a quote', () => {
  let chain: ServiceChain
  beforeAll(async () => {
    chain = await serviceChain()
  })

  const orders = fc.record({
    from: fc.constantFrom(...symbols),
    to: fc.constantFrom(...symbols),
    units: fc.bigInt({ min: 1n, max: 2_000_000n }),
    trader: fc.constantFrom(4, 5, 6, 7),
    arrow: fc.constantFrom('->', ' -> ', '\u2192', ' \u2192 '),
  })

  it('is what the swap pays in the next block, to the base unit, hop by hop and with its impact', async () => {
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        fc.pre(order.from !== order.to)
        const text = `${formatAmount(order.units, DECIMALS[order.from])} ${order.from}${order.arrow}${order.to}`
        const quote = await resultOf<Quote>('node-swap-quote', text, chain.context)
        fc.pre(quote.payload !== null)
        const { limit, hops } = quote.payload as NonNullable<Quote['payload']>
        const swap = {
          assetIn: symbol(order.from),
          exactOut: false,
          amount: units(order.units),
          limit: units(BigInt(limit)),
          hops,
        }
        const [amounts = []] = await mined(chain, [await chain.test.tx(steadyWallet(order.trader), 'swap', swap)])
        expect(amounts).toEqual([order.units, ...quote.route.map(({ out }) => unitsOf(out))])
        expect(unitsOf(quote.amountOut as Text)).toBe(amounts.at(-1))
        expect(amounts.at(-1)).toBeGreaterThanOrEqual(unitsOf(quote.minOut as Text))
        const { latestSwaps } = await resultOf<{
          latestSwaps: readonly { pool: string; priceImpactPct: number | null }[]
        }>('node-market-summary', '', chain.context)
        const told = latestSwaps.slice(0, quote.route.length).toReversed()
        expect(told.map(({ pool, priceImpactPct }) => ({ pool, priceImpactPct }))).toEqual(
          quote.route.map(({ pool, priceImpactPct }) => ({ pool, priceImpactPct })),
        )
      }),
      { numRuns: runs(25) },
    )
  })
})

/** Hops over pools with these names, starting from an asset. */
function hopsOver(from: string, route: readonly string[]): PayloadOf<'swap'>['hops'] {
  let at = from
  return route.map((name) => {
    const [x = '', y = '', fee] = name.split('-')
    at = at === x ? y : x
    return { asset: symbol(at), feeBps: Number(fee) }
  })
}

describe('the widest spread', () => {
  async function tried(size: (spread: Spread) => bigint): Promise<readonly [Spread, bigint]> {
    const chain = await serviceChain()
    const { widest } = await resultOf<{ widest: Spread }>('node-arb-scan', '', chain.context)
    const paid = size(widest)
    const swap = (assetIn: string, amount: bigint, route: readonly string[]) =>
      chain.test.tx(steadyWallet(4), 'swap', {
        ...{ assetIn: symbol(assetIn), exactOut: false, amount: units(amount), limit: units(0n) },
        hops: hopsOver(assetIn, route),
      })
    const [bought = []] = await mined(chain, [await swap('FUSD', paid, widest.buyRoute)])
    const [sold = []] = await mined(chain, [await swap('FAR', bought.at(-1) as bigint, widest.sellRoute)])
    return [widest, (sold.at(-1) as bigint) - paid]
  }

  it('gains at its best size what it says, when it is traded', async () => {
    const [{ gainAtBestSize }, gain] = await tried(({ bestSize }) => unitsOf(bestSize))
    expect(gain).toBeGreaterThan(0n)
    expect(gain).toBe(unitsOf(gainAtBestSize))
  })

  it('gives back the largest size, and less than any size beyond', async () => {
    const [, whole] = await tried(({ maxSizeBeforeZero }) => unitsOf(maxSizeBeforeZero))
    expect(whole).toBeGreaterThanOrEqual(0n)
    for (const more of [1n, 2n, 1_000n]) {
      const [, lost] = await tried(({ maxSizeBeforeZero }) => unitsOf(maxSizeBeforeZero) + more)
      expect(lost).toBeLessThan(0n)
    }
  })
})
