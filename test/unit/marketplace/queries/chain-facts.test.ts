import { beforeAll, describe, expect, it } from 'vitest'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import { assetOf } from '../../../../consensus/ledger/asset.ts'
import { TOKEN_BALANCES } from '../../../../consensus/ledger/token-balances.ts'
import type { Hash, TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import { holdingsOf } from '../../../../marketplace/queries/accounts.ts'
import { agentNamed, listAgents } from '../../../../marketplace/queries/agents.ts'
import { assetNamed } from '../../../../marketplace/queries/assets.ts'
import { listPools, poolNamed } from '../../../../marketplace/queries/pools.ts'
import { PriceBook } from '../../../../marketplace/queries/prices.ts'
import { quoteSwap } from '../../../../marketplace/queries/quotes.ts'
import { stakesOf } from '../../../../marketplace/queries/staking.ts'
import { supplyPlaces } from '../../../../marketplace/queries/supply.ts'
import { assetRow, listAssets } from '../../../../marketplace/queries/tokens.ts'
import { emptyServiceChain, type ServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { NEWCOMER, ORACLE, SHOP } from '../../../support/service-chain-script.ts'
import { steadyWallet } from '../../../support/steady-keys.ts'
import { filled, units } from '../../../support/unsigned.ts'

const symbol = (text: string): TokenSymbol => text as TokenSymbol
const asset = (text: string): Hash => assetOf(symbol(text), { symbol: symbol('FAR') })

let busy: ServiceChain

beforeAll(async () => {
  busy = await serviceChain()
})

describe('assets', () => {
  it('are listed by symbol, the native coin first, hidden ones only where asked', async () => {
    const { chain } = busy.test
    const all = await listAssets(chain, { limit: 200, hidden: true })
    const names = all.assets.map((row) => row.symbol as string)
    expect(names).toEqual(['FAR', 'FUSD', 'GLASS', 'MOSS', 'SALT', 'WOOL', 'XBTC', 'XLTC', 'XUSD'])
    expect(all.next).toBeNull()
    for (const limit of [1, 2, 3, 4, 9]) {
      const seen: string[] = []
      let after: TokenSymbol | undefined
      for (let more = true; more; ) {
        const page = await listAssets(chain, { after, limit })
        seen.push(...page.assets.map((row) => row.symbol))
        after = page.next ?? undefined
        more = page.next !== null
      }
      expect(seen).toEqual(names.filter((name) => name !== 'MOSS'))
    }
  })

  it('are told in full', () => {
    const { chain } = busy.test
    expect(assetRow(chain, 'FAR')).toMatchObject({ kind: 'native', decimals: 8, issuer: null, maxSupply: 10n ** 16n })
    expect(assetRow(chain, 'MOSS')).toMatchObject({
      frozen: true,
      hidden: true,
      issuer: steadyWallet(7).address,
      supply: 77n,
    })
    expect(assetRow(chain, 'GLASS')).toMatchObject({
      ...{ kind: 'plain', decimals: 2, minted: 590_000n, burned: 15_000n, supply: 575_000n },
      ...{ maxSupply: 1_000_000n, headroom: 410_000n, holders: 3, backing: null },
    })
    expect(assetRow(chain, 'FUSD')?.backing?.backingBps).toBeGreaterThanOrEqual(10_000n)
    expect(assetRow(chain, 'XBTC')).toMatchObject({ kind: 'bridged', issuer: null, supply: 0n, holders: 0 })
    for (const text of ['NONE', 'far', '', 'FA R', '__proto__']) expect(assetNamed(chain, text)).toBeUndefined()
  })

  it('are all somewhere: the places of each sum up to its supply', async () => {
    for (const { test } of [busy, await emptyServiceChain(5)]) {
      const { assets } = await listAssets(test.chain, { limit: 200, hidden: true })
      for (const row of assets) {
        const places = await supplyPlaces(test.chain, row.asset)
        expect(places, row.symbol).toMatchObject({ reconciles: true, supply: row.supply })
      }
    }
    const far = await supplyPlaces(busy.test.chain, asset('FAR'))
    const { supply: _, reconciles: __, inReserves, ...where } = far
    for (const [place, value] of Object.entries(where)) expect(value, place).toBeGreaterThan(0n)
    expect(inReserves).toBe(0n)
  })
})

describe('pools', () => {
  it('are found by id and by name in either order', async () => {
    const { chain } = busy.test
    const { pools } = await listPools(chain, { limit: 200 })
    expect(pools.map(({ name }) => name).toSorted()).toEqual([
      'FAR-FUSD-30',
      'FAR-SALT-30',
      'FUSD-SALT-100',
      'SALT-WOOL-100',
    ])
    for (const { poolId, name, x, y, pool } of pools) {
      expect(poolNamed(chain, poolId)?.name).toBe(name)
      expect(poolNamed(chain, name)?.poolId).toBe(poolId)
      expect(poolNamed(chain, `${y.symbol}-${x.symbol}-${pool.feeBps}`)?.poolId).toBe(poolId)
      expect(poolNamed(chain, `${x.symbol}-${y.symbol}-5`)).toBeUndefined()
    }
    for (const text of ['FAR-FAR-30', 'FAR-FUSD', 'FAR-FUSD-030', 'FAR-NONE-30', 'ab', 'ab'.repeat(32)])
      expect(poolNamed(chain, text)).toBeUndefined()
    const ids = pools.map(({ poolId }) => poolId)
    const first = await listPools(chain, { limit: 3 })
    expect(first.next).toBe(ids[2])
    expect(await listPools(chain, { limit: 3, after: first.next! })).toMatchObject({
      pools: [{ poolId: ids[3] }],
      next: null,
    })
  })
})

describe('a quote', () => {
  it('is what the swap then comes to', async () => {
    const { test } = await serviceChain()
    const { chain } = test
    const named = (text: string) => assetNamed(chain, text)!
    const orders = [
      ['FAR', 'WOOL', false, 7_000_000_000n],
      ['WOOL', 'FUSD', false, 50_000n],
      ['FUSD', 'FAR', true, 900_000_000n],
    ] as const
    for (const [from, to, exactOut, amount] of orders) {
      const request = { from: named(from), to: named(to), exactOut, amount: units(amount), slippageBps: 0n }
      const quote = await quoteSwap(chain, request)
      if (!quote.ok) throw new Error(quote.fault.code)
      const { payload, amountIn, amountOut } = quote.value
      const before = await holdingsOf(chain, steadyWallet(3).address)
      await test.mine([await test.tx(steadyWallet(3), 'swap', payload)])
      const after = await holdingsOf(chain, steadyWallet(3).address)
      const gained = (text: string): bigint => heldOf(after, text) - heldOf(before, text)
      if (to !== 'FAR') expect(gained(to)).toBe(amountOut)
      if (from !== 'FAR') expect(gained(from)).toBe(-amountIn)
      expect(exactOut ? amountOut : amountIn).toBe(amount)
    }
  })
})

type Holdings = Awaited<ReturnType<typeof holdingsOf>>

function heldOf({ tokens, native }: Holdings, text: string): bigint {
  return text === 'FAR' ? native.amount : (tokens.find((one) => one.asset.symbol === text)?.amount ?? 0n)
}

describe('an address', () => {
  it('holds what the records say, with what it is worth', async () => {
    const { chain } = busy.test
    const book = PriceBook.of(chain)
    for (let number = 1; number <= 10; number++) {
      const { address } = steadyWallet(number)
      const holdings = await holdingsOf(chain, address)
      expect(holdings.native.amount).toBe(chain.database.get(ACCOUNTS, address)?.balance)
      let total = 0n
      for (const { asset: facts, amount, valueUsdMicros } of [holdings.native, ...holdings.tokens]) {
        if (facts.kind !== 'native')
          expect(amount).toBe(chain.database.get(TOKEN_BALANCES, { address, asset: facts.asset })?.amount)
        expect(valueUsdMicros).toBe(await book.valueOf(facts.asset, amount))
        if (valueUsdMicros === null) expect(holdings.unpriced).toContain(facts.symbol)
        total += valueUsdMicros ?? 0n
      }
      for (const { row, shares, x, y, valueUsdMicros } of holdings.positions) {
        const { pool } = row
        expect(x.amount).toBe((shares * pool.reserveX) / pool.shares)
        expect(y.amount).toBe((shares * pool.reserveY) / pool.shares)
        expect(valueUsdMicros).toBe(x.valueUsdMicros! + y.valueUsdMicros!)
        total += valueUsdMicros!
      }
      // All units of an asset that is priced by pools count together at most the depth of its price, wherever they are held.
      const sides = holdings.positions.flatMap(({ x, y }) => [x, y])
      for (const symbol of ['SALT', 'WOOL']) {
        const held = [...holdings.tokens, ...sides].filter((one) => one.asset.symbol === symbol)
        const worth = held.reduce((sum, one) => sum + one.valueUsdMicros!, 0n)
        const depth = (await book.priceOf(asset(symbol)))!.depthUsdMicros!
        if (worth > depth) total -= worth - depth
      }
      const locked = holdings.tabs.reduce((sum, tab) => sum + tab.locked, 0n)
      expect(holdings.inTabs.amount).toBe(locked)
      total += holdings.staked.valueUsdMicros! + holdings.pendingRewards.valueUsdMicros!
      total += holdings.inTabs.valueUsdMicros!
      expect(holdings.totalUsdMicros).toBe(total)
      expect(holdings.truncated).toEqual({ tokens: false, positions: false, stakes: false, tabs: false })
    }
    const seven = await holdingsOf(chain, steadyWallet(7).address)
    expect(seven.tabs).toMatchObject([{ tabId: busy.named.tabOpen, tab: { agentId: SHOP }, end: null }])
    // 42 coins deposited, two calls claimed.
    expect(seven.inTabs.amount).toBe(42n * 100_000_000n - 4_800_000n)
    const six = await holdingsOf(chain, steadyWallet(6).address)
    expect(six.unpriced).toEqual(['GLASS'])
    expect(six.positions.map(({ row }) => row.name)).toEqual(['FUSD-SALT-100'])
  })

  it('that was never opened holds nothing', async () => {
    const unopened = await holdingsOf(busy.test.chain, filled(0x77))
    expect(unopened).toMatchObject({
      exists: false,
      tokens: [],
      positions: [],
      stakes: [],
      totalUsdMicros: 0n,
      unpriced: [],
    })
    expect(await holdingsOf(busy.test.chain, NEWCOMER)).toMatchObject({ exists: true, nonce: 0n })
  })

  it('has stakes whose pending reward is what a claim then pays', async () => {
    const { test } = await serviceChain()
    const four = steadyWallet(4)
    const stakes = await stakesOf(test.chain, four.address, { limit: 10 })
    const staked = stakes.filter(({ stake }) => stake.amount > 0n)
    expect(staked.length).toBe(1)
    const { stakeId, pending, stake, unlocked } = staked[0]!
    expect(unlocked).toBe(test.height + 1 >= stake.unlocksAt)
    expect(pending).toBeGreaterThan(0n)
    const before = test.balance(four.address)
    const claim = await test.tx(four, 'claim', { stakeId })
    await test.mine([claim])
    const fee = before + pending - test.balance(four.address)
    expect(fee).toBeGreaterThan(0n)
    expect(fee).toBeLessThan(1_000_000n)
    const [rest] = (await stakesOf(test.chain, four.address, { limit: 10 })).filter((one) => one.stakeId === stakeId)
    expect(rest?.stake.claimed).toBe(stake.claimed + pending)
  })
})

describe('agents', () => {
  it('are listed with their services and how their calls ended', async () => {
    const { chain } = busy.test
    const { agents, next } = await listAgents(chain, { limit: 10 })
    expect(agents.map(({ agentId }) => agentId)).toEqual([ORACLE, SHOP])
    expect(next).toBeNull()
    expect((await listAgents(chain, { limit: 1 })).next).toBe(ORACLE)
    expect((await listAgents(chain, { limit: 1, after: ORACLE })).agents).toMatchObject([{ agentId: SHOP }])
    const shop = await agentNamed(chain, SHOP)
    expect(shop).toMatchObject({ agent: { name: 'Shop', owner: steadyWallet(2).address }, truncated: false })
    expect(shop?.capabilities).toEqual(['pricing', 'utility', 'explorer'])
    expect(shop?.services.map(({ serviceId, service }) => [serviceId, service.retired])).toEqual([
      ['node-old', true],
      ['node-price-feed', false],
      ['node-tx-lookup', false],
    ])
    // One call delivered, one reported as failed, one expired; the last one is still open.
    expect(shop?.record).toEqual({
      ...{ delivered: 1, failed: 1, expired: 1, successPpm: 333_333n, successAtLeastPpm: 61_491n },
      ...{ payers: 1, effectivePayersPpm: 1_000_000n, topPayerPpm: 1_000_000n, p50Ms: 32, p95Ms: 32 },
      burned: expect.any(BigInt),
      byTab: { provenCalls: 5, failed: 1, payers: 2, volume: 12_000_000n, burned: 120_000n },
    })
    expect(shop?.record.burned).toBeGreaterThan(24_000n)
    expect(shop?.statistics).toMatchObject({ calls: 6, volume: 14_400_002n, payers: 2 })
    expect(shop?.services[2]?.record).toMatchObject({ delivered: 0, successPpm: null, topPayerPpm: null, p95Ms: null })
    expect((await agentNamed(chain, ORACLE))?.record).toMatchObject({ delivered: 1, successPpm: 1_000_000n })
    for (const text of ['none', '', 'SHOP', '../x']) expect(await agentNamed(chain, text)).toBeUndefined()
  })
})
