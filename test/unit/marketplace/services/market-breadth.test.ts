import { describe, expect, it } from 'vitest'
import { DEVNET_LEDGERS } from '../../../../config/networks/devnet-ledgers.ts'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import type { GenesisLedgers } from '../../../../consensus/ledger/rules.ts'
import type { TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { testParams } from '../../../support/network.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { resultOf } from '../../../support/service-results.ts'

interface Summary {
  readonly price: { readonly usd: number | null; readonly pool: string | null }
  readonly tvlUsd: number | null
  readonly poolsCounted: number
  readonly poolsUnpriced: number
  readonly poolsComplete: boolean
  readonly topPools: readonly { readonly pool: string; readonly tvlUsd: number | null }[]
}

interface Analytics {
  readonly pools: readonly {
    readonly pool: string
    readonly tvlUsd: number | null
    readonly unknown: readonly string[]
  }[]
  readonly unknown: readonly string[]
}

type GenesisPool = readonly [a: string, b: string, feeBps: number, amountA: bigint, amountB: bigint]

const OWNER = wallet(3).address
const COIN = 100_000_000n
const DOLLAR = 1_000_000n
const KNOWN = ['FAR', 'FUSD', 'SALT', 'WOOL', 'XUSD']

/** The devnet with additional genesis pools; missing tokens are created with 4 decimals. */
async function chainWith(pools: readonly GenesisPool[]): Promise<ServiceContext> {
  const symbols = new Set(
    [...pools.map(([a]) => a), ...pools.map(([, b]) => b)].filter((symbol) => !KNOWN.includes(symbol)),
  )
  const plain = { decimals: 4, kind: 'plain', maxSupply: 0n, issuer: OWNER, freezable: false } as const
  const dollars = pools.reduce((sum, [a, b, , x, y]) => sum + (a === 'FUSD' ? x : 0n) + (b === 'FUSD' ? y : 0n), 0n)
  const ledgers: GenesisLedgers = {
    ...DEVNET_LEDGERS,
    tokens: [
      ...DEVNET_LEDGERS.tokens,
      ...[...symbols].map((symbol) => ({ ...plain, symbol: symbol as TokenSymbol, name: `Good ${symbol}` })),
    ],
    pools: [
      ...DEVNET_LEDGERS.pools,
      ...pools.map(([a, b, feeBps, amountA, amountB]) => ({
        ...{ assetA: a as TokenSymbol, assetB: b as TokenSymbol, feeBps, amountA, amountB, owner: OWNER },
      })),
    ],
    stables: DEVNET_LEDGERS.stables.map((stable) => ({ ...stable, reserve: stable.reserve + dollars })),
    bridge: {
      ...DEVNET_LEDGERS.bridge,
      deposited: DEVNET_LEDGERS.bridge.deposited.map((one) => ({ ...one, amount: one.amount + dollars })),
    },
  }
  const params = testParams()
  const genesis = { ...params.genesis, ledgers }
  const { chain } = await TestChain.open(createRuleBook({ ...params, genesis }, PROTOCOL))
  const { context } = await emptyServiceChain()
  return { ...context, chain }
}

describe('the market', () => {
  it('has the price of whichever dollar pool is the deepest', async () => {
    const deeper = await chainWith([['FAR', 'FUSD', 5, 1_000_000n * COIN, 300_000n * DOLLAR]])
    const { price } = await resultOf<Summary>('node-market-summary', '', deeper)
    expect(price).toMatchObject({ usd: 0.3, pool: 'FAR-FUSD-5' })
    const shallower = await chainWith([['FAR', 'FUSD', 5, 1_000n * COIN, 300n * DOLLAR]])
    const other = await resultOf<Summary>('node-market-summary', '', shallower)
    expect(other.price).toMatchObject({ usd: 0.25, pool: 'FAR-FUSD-30' })
  })

  it('counts the deepest pools of every asset and says that there are more', async () => {
    const crowd = Array.from({ length: 40 }, (_, i): GenesisPool => {
      const token = `T${String.fromCharCode(65 + (i % 26))}${i < 26 ? 'A' : 'B'}`
      return ['FAR', token, 30, BigInt(i + 1) * 100_000n, 1_000_000n]
    })
    const summary = await resultOf<Summary>('node-market-summary', '', await chainWith(crowd))
    expect(summary.poolsComplete).toBe(false)
    expect(summary.topPools.slice(0, 3).map(({ pool }) => pool)).toEqual([
      'FAR-FUSD-30',
      'FAR-SALT-30',
      'SALT-WOOL-100',
    ])
    const whole = await resultOf<Summary>('node-market-summary', '', await chainWith([]))
    expect(whole).toMatchObject({ poolsComplete: true, poolsCounted: 3, poolsUnpriced: 0, tvlUsd: 230_000 })
  })

  it('leaves out of its sums what nothing prices, and says so', async () => {
    const far: readonly GenesisPool[] = [
      ['WOOL', 'AAA', 30, 1_000_000n, 1_000_000n],
      ['AAA', 'BBB', 30, 1_000_000n, 1_000_000n],
      ['BBB', 'CCC', 30, 1_000_000n, 1_000_000n],
    ]
    const context = await chainWith(far)
    const summary = await resultOf<Summary>('node-market-summary', '', context)
    expect(summary).toMatchObject({ poolsCounted: 6, poolsUnpriced: 1, poolsComplete: true })
    const { pools } = await resultOf<Analytics>('node-pool-analytics', '', context)
    const known = pools.reduce((sum, { tvlUsd }) => sum + (tvlUsd ?? 0), 0)
    expect(summary.tvlUsd).toBeCloseTo(known, 4)
    const { pools: lone, unknown } = await resultOf<Analytics>('node-pool-analytics', 'BBB-CCC-30', context)
    expect(lone).toMatchObject([{ tvlUsd: null, lpAprPct: null, priceNative: null }])
    expect(unknown).toEqual(expect.arrayContaining(['BBB-CCC-30.tvlUsd', 'BBB-CCC-30.priceUsd.BBB']))
  })
})
