import { beforeAll, describe, expect, it } from 'vitest'
import { formatAddress } from '../../../../consensus/crypto/address.ts'
import { assetOf } from '../../../../consensus/ledger/asset.ts'
import type { Hash, TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { holdingsOf } from '../../../../marketplace/queries/accounts.ts'
import { readMarket } from '../../../../marketplace/queries/market-pools.ts'
import { poolValues } from '../../../../marketplace/queries/pool-values.ts'
import { poolNamed } from '../../../../marketplace/queries/pools.ts'
import { nativePrice, PriceBook } from '../../../../marketplace/queries/prices.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { serviceContext } from '../../../support/service-chain.ts'
import { resultOf } from '../../../support/service-results.ts'
import { units } from '../../../support/unsigned.ts'

const symbol = (text: string): TokenSymbol => text as TokenSymbol
const asset = (text: string): Hash => assetOf(symbol(text), { symbol: symbol('FAR') })

const MAKER = wallet(5)
const COIN = 100_000_000n
/** Native coins in each of the two pools that pair the coin with a worthless token. */
const PAID_IN = 1n
const SUPPLY = 1_000_000_000n

let test: TestChain
let context: ServiceContext

async function makeToken(name: string): Promise<void> {
  const token = { symbol: symbol(name), name, decimals: 0, maxSupply: units(0), freezable: false }
  await test.mine([await test.tx(MAKER, 'token_create', token)])
  const mint = { symbol: token.symbol, to: MAKER.address, amount: units(SUPPLY), create: false }
  await test.mine([await test.tx(MAKER, 'token_mint', mint)])
}

async function makePool(a: string, amountA: bigint, b: string, amountB: bigint): Promise<void> {
  const payload: PayloadOf<'pool_create'> = {
    ...{ assetA: symbol(a), assetB: symbol(b), feeBps: 100 },
    ...{ amountA: units(amountA), amountB: units(amountB) },
  }
  await test.mine([await test.tx(MAKER, 'pool_create', payload)])
}

/** Value of native coins in millionths of a dollar, by the market's own price. */
function dollarsOf(coins: bigint): bigint {
  const { numerator, denominator } = nativePrice(test.chain).market!.microsPerUnit
  return (coins * COIN * numerator) / denominator
}

beforeAll(async () => {
  test = await TestChain.open()
  for (const name of ['SCAM', 'TEA']) await makeToken(name)
  await makePool('FAR', PAID_IN * COIN, 'SCAM', 10n)
  await makePool('FAR', PAID_IN * COIN, 'TEA', 10_000n)
  await makePool('SCAM', 900_000_000n, 'TEA', 400n)
  await makePool('SALT', 50_000n, 'FUSD', 1_000_000n)
  context = serviceContext(test)
})

describe('a token of which any account can mint a fortune, beside a coin in a pool', () => {
  it('is worth what that pool could pay for all of it', async () => {
    const book = PriceBook.of(test.chain)
    const coin = dollarsOf(PAID_IN)
    expect((await book.priceOf(asset('SCAM')))?.depthUsdMicros).toBe(coin)
    expect(await book.valueOf(asset('SCAM'), 99_999_990n)).toBe(coin)
    // An amount below the pool's depth is worth its share of it.
    expect(await book.valueOf(asset('SCAM'), 5n)).toBe(coin / 2n)
  })

  it('adds to what its maker holds no more than that, with its pools and all', async () => {
    const { tokens, totalUsdMicros, native, positions } = await holdingsOf(test.chain, MAKER.address)
    const scam = tokens.find(({ asset: { symbol: name } }) => name === 'SCAM')
    expect(scam).toMatchObject({ amount: 99_999_990n, valueUsdMicros: dollarsOf(PAID_IN) })
    expect(positions).toHaveLength(4)
    const genuine = tokens.filter(({ asset: { symbol: name } }) => !['SCAM', 'TEA'].includes(name))
    const before = [native, ...genuine].reduce((sum, { valueUsdMicros }) => sum + valueUsdMicros!, 0n)
    // Both tokens count once, up to the depth of their pools, plus the coins in these pools, minus the locked shares.
    const salt = positions.find(({ row }) => row.name === 'FUSD-SALT-100')!.valueUsdMicros!
    expect(totalUsdMicros - before - salt).toBeLessThanOrEqual(4n * dollarsOf(PAID_IN))
    expect(totalUsdMicros - before - salt).toBeGreaterThan(3n * dollarsOf(PAID_IN))
  })

  it('is marked in a portfolio', async () => {
    const address = formatAddress(test.chain.ruleBook.params.addressPrefix, MAKER.address)
    const { tokens, balance } = await resultOf<{ tokens: { symbol: string }[]; balance: object }>(
      'node-wallet-portfolio',
      address,
      context,
    )
    const depthUsd = Number(dollarsOf(PAID_IN)) / 1e6
    expect(tokens.find((one) => one.symbol === 'SCAM')).toMatchObject({
      valueUsd: depthUsd,
      depthUsd,
      confidence: 'low',
    })
    expect(balance).toMatchObject({ depthUsd: 100_000, confidence: 'normal' })
  })

  it('adds to the market what was paid in, and nothing of what was minted', async () => {
    const { tvlUsdMicros } = await readMarket(test.chain)
    const without = await readMarket((await TestChain.open()).chain)
    const added = tvlUsdMicros! - without.tvlUsdMicros!
    // Twice one dollar, twice two pools with a coin on each side, and twice 400 of the 10000 tea.
    expect(added).toBeLessThanOrEqual(2_000_000n + 4n * dollarsOf(PAID_IN) + (2n * dollarsOf(PAID_IN) * 400n) / 10_000n)
    const other = poolNamed(test.chain, 'FUSD-SALT-100')!
    const salt = (await PriceBook.of(test.chain).priceOf(asset('SALT')))!.microsPerUnit
    // Salt is worth more by the deeper pool than in this one; here it counts at most as much as the dollars.
    expect(await poolValues(test.chain, other)).toMatchObject({ tvlUsdMicros: 2_000_000n })
    expect(salt.numerator * 50_000n).toBeGreaterThan(salt.denominator * 1_000_000n)
    const { tvlUsdMicros: thin } = await poolValues(test.chain, poolNamed(test.chain, 'SCAM-TEA-100')!)
    expect(thin).toBe(2n * ((dollarsOf(PAID_IN) * 400n) / 10_000n))
  })

  it('is no whale, however much of it moves', async () => {
    const { transfers } = await resultOf<{ transfers: { symbol: string }[] }>('node-whale-watch', '5', context)
    expect(transfers.filter((one) => one.symbol === 'SCAM')).toEqual([])
  })

  it('is traded for no more than its pools could pay each time', async () => {
    const trade = { assetIn: symbol('SCAM'), exactOut: false, amount: units(90_000_000n), limit: units(0) }
    const hops = [{ asset: symbol('TEA'), feeBps: 100 }]
    await test.mine([await test.tx(MAKER, 'swap', { ...trade, hops })])
    const values = await poolValues(test.chain, poolNamed(test.chain, 'SCAM-TEA-100')!)
    expect(values.day.trades).toBe(1)
    expect(values.volumeUsdMicros!).toBeLessThanOrEqual(dollarsOf(PAID_IN))
    expect(values.feesUsdMicros!).toBeLessThanOrEqual(dollarsOf(PAID_IN) / 100n)
  })
})

interface Audit {
  readonly score: number
  readonly riskFlags: readonly { readonly code: string; readonly points: number; readonly evidence: string }[]
}

describe('an audit of it', () => {
  it('takes more points off the thinner the pools are', async () => {
    const points = async (token: string): Promise<number | undefined> => {
      const { riskFlags } = await resultOf<Audit>('node-token-audit', token, context)
      return riskFlags.find(({ evidence }) => evidence.startsWith('the deepest pool'))?.points
    }
    const [scam, wool] = [await points('SCAM'), await points('WOOL')]
    expect(wool).toBe(10)
    expect(scam).toBe(30)
  })

  it('names the share of the largest holder as exactly as its figure, and one holder as one', async () => {
    const { riskFlags } = await resultOf<Audit>('node-token-audit', 'TEA', context)
    const texts = riskFlags.map(({ evidence }) => evidence)
    expect(texts).toContain('the largest holder has 99.9989 % of the supply')
    expect(texts).toContain('1 address holds it; fewer than 10')
  })
})
