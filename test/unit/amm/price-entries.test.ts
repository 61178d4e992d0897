import { describe, expect, it } from 'vitest'
import { epochDepth, epochPrice, microsOfNativeDown, microsOfNativeUp, nativeOfMicros } from '../../../amm/oracle.ts'
import { POOLS, PRICE_ENTRIES } from '../../../amm/pool.ts'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { PROTOCOL } from '../../../src/protocol.ts'
import { ALICE, BOB, COIN, DOLLAR, FAR, FUSD, PoolLedger, poolOf, poolRuleBook, SALT } from '../../support/pools.ts'
import { units } from '../../support/unsigned.ts'

const RULES = poolRuleBook()
const { market } = RULES.at(0)
const ONE = 1n << 112n
/** Base units per millionth of a dollar at 4 coins for a dollar, times 2^112. */
const RATIO = (4_000n * COIN * ONE) / (1_000n * DOLLAR)

const entry = (ledger: PoolLedger, epoch: number) => ledger.get(PRICE_ENTRIES, epoch)
const priceOf = (ledger: PoolLedger, epoch: number, micros = DOLLAR) => {
  const price = epochPrice(ledger.state, epoch, market)
  return price === undefined ? undefined : nativeOfMicros(price, micros)
}

describe('the entries of the priced pool', () => {
  it('begin with genesis', () => {
    const ledger = new PoolLedger(RULES)
    const reserves = { reserveNative: 4_000n * COIN, reserveDollar: 1_000n * DOLLAR }
    expect(entry(ledger, 0)).toEqual({ nativePerDollar: 0n, ...reserves })
  })

  it('are written at the first block of an epoch, also for an untouched pool', () => {
    const ledger = new PoolLedger(RULES)
    ledger.advanceTo(20)
    expect(entry(ledger, 1)).toBeUndefined()
    ledger.block()
    expect(entry(ledger, 1)?.nativePerDollar).toBe(20n * RATIO)
    expect(ledger.pool(FAR, FUSD).accumulatedAt).toBe(0)
    ledger.advanceTo(41)
    expect(entry(ledger, 2)?.nativePerDollar).toBe(40n * RATIO)
  })

  it('come before the transactions of their block', () => {
    const ledger = new PoolLedger(RULES)
    ledger.advanceTo(20)
    ledger.swap(ALICE, [FAR, 100n * COIN], [FUSD])
    expect(entry(ledger, 1)).toMatchObject({ nativePerDollar: 20n * RATIO, reserveNative: 4_000n * COIN })
  })

  it('sum the price of every block end', () => {
    const ledger = new PoolLedger(RULES)
    ledger.advanceTo(7)
    ledger.swap(ALICE, [FAR, 100n * COIN], [FUSD])
    const [x, y] = ledger.reserves(FAR, FUSD)
    ledger.advanceTo(21)
    // Blocks 0 to 6 ended at the genesis price, blocks 7 to 19 at the price after the swap.
    expect(entry(ledger, 1)?.nativePerDollar).toBe(7n * RATIO + 13n * ((x * ONE) / y))
    expect(ledger.pool(FAR, FUSD)).toMatchObject({ xPerY: 7n * RATIO, accumulatedAt: 7 })
    expect(ledger.pool(FAR, FUSD).yPerX).toBe(7n * ((1_000n * DOLLAR * ONE) / (4_000n * COIN)))
  })

  it('count what a block did in the middle for nothing', () => {
    const [calm, busy] = [new PoolLedger(RULES), new PoolLedger(RULES)]
    calm.block()
    const add = busy.tx(ALICE, 'liquidity_add', {
      ...{ assetA: FAR, assetB: FUSD, feeBps: 30, amountA: units(400n * COIN), amountB: units(100n * DOLLAR) },
      minShares: units(0),
    })
    const shares = busy.pool(FAR, FUSD).shares / 10n
    const remove = busy.tx(ALICE, 'liquidity_remove', {
      ...{ assetA: FAR, assetB: FUSD, feeBps: 30, shares: units(shares), minA: units(0), minB: units(0) },
    })
    busy.block([add, { ...remove, body: { ...remove.body, nonce: 1n } } as typeof remove])
    for (const ledger of [calm, busy]) ledger.advanceTo(21)
    expect(entry(busy, 1)).toEqual(entry(calm, 1))
    expect(busy.pool(FAR, FUSD).accumulatedAt).toBe(1)
  })

  it('are kept for as many epochs as the parameters say', () => {
    const { params } = RULES
    const [{ rules }] = params.steps as [(typeof params.steps)[number]]
    const short = { ...rules, tx: { ...rules.tx, invokeTerms: [20] }, market: { ...market, priceEpochsKept: 4 } }
    const book = createRuleBook({ ...params, steps: [{ fromHeight: 0, rules: short }] }, PROTOCOL)
    const ledger = new PoolLedger(book)
    ledger.advanceTo(101)
    expect([0, 1, 2, 3, 4, 5].map((epoch) => entry(ledger, epoch) !== undefined)).toEqual([
      ...[false, false, true, true, true, true],
    ])
  })

  it('are none where the pool does not exist', () => {
    const ledger = new PoolLedger(poolRuleBook([]))
    ledger.create(ALICE, [FAR, 4_000n * COIN], [FUSD, 1_000n * DOLLAR], 100)
    ledger.create(ALICE, [FAR, 4_000n * COIN], [SALT, 1_000n * DOLLAR], 30)
    ledger.advanceTo(41)
    expect([0, 1, 2].map((epoch) => entry(ledger, epoch))).toEqual([undefined, undefined, undefined])
  })
})

describe('the price of an epoch', () => {
  it('is that of genesis in epoch 0, and the mean of the epoch before in all others', () => {
    const ledger = new PoolLedger(RULES)
    ledger.advanceTo(7)
    ledger.swap(ALICE, [FAR, 100n * COIN], [FUSD])
    const [x, y] = ledger.reserves(FAR, FUSD)
    ledger.advanceTo(41)
    expect(priceOf(ledger, 0)).toBe(4n * COIN)
    const later = (x * ONE) / y
    const mean = (DOLLAR * (7n * RATIO + 13n * later) + 20n * ONE - 1n) / (20n * ONE)
    expect(priceOf(ledger, 1)).toBe(mean)
    expect(priceOf(ledger, 2)).toBe((DOLLAR * later + ONE - 1n) / ONE)
    expect(priceOf(ledger, 3)).toBeUndefined()
  })

  it('begins with the first whole epoch of a pool', () => {
    const ledger = new PoolLedger(poolRuleBook([]))
    ledger.advanceTo(25)
    ledger.create(BOB, [FUSD, 1_000n * DOLLAR], [FAR, 4_000n * COIN])
    expect(ledger.get(POOLS, poolOf(FAR, FUSD))).toMatchObject({ accumulatedAt: 25, createdAt: 25 })
    ledger.advanceTo(61)
    expect([0, 1, 2, 3].map((epoch) => priceOf(ledger, epoch))).toEqual([undefined, undefined, undefined, 4n * COIN])
    expect([0, 1, 2, 3].map((epoch) => epochDepth(ledger.state, epoch))).toEqual([
      ...[undefined, undefined, undefined, 1_000n * DOLLAR],
    ])
  })

  it('has the depth of the shallower of its two entries', () => {
    const ledger = new PoolLedger(RULES)
    expect(epochDepth(ledger.state, 0)).toBe(1_000n * DOLLAR)
    ledger.add(ALICE, [FAR, 4_000n * COIN], [FUSD, 1_000n * DOLLAR])
    ledger.advanceTo(30)
    ledger.remove(ALICE, [FAR, FUSD], ledger.shares(ALICE, FAR, FUSD) / 2n)
    ledger.advanceTo(61)
    expect([1, 2, 3].map((epoch) => epochDepth(ledger.state, epoch))).toEqual([
      ...[1_000n * DOLLAR, 1_500n * DOLLAR, 1_500n * DOLLAR],
    ])
  })

  it('rounds what is paid up, and what is shown down', () => {
    const price = { numerator: 3n, denominator: 2n }
    expect([0n, 1n, 2n, 3n].map((micros) => nativeOfMicros(price, micros))).toEqual([0n, 2n, 3n, 5n])
    expect([1n, 2n, 3n].map((native) => microsOfNativeDown(price, native))).toEqual([0n, 1n, 2n])
    expect([1n, 2n, 3n].map((native) => microsOfNativeUp(price, native))).toEqual([1n, 2n, 2n])
  })

  it('is none from 2^112 base units on', () => {
    const most = (1n << 112n) - 1n
    expect(nativeOfMicros({ numerator: most, denominator: 1n }, 1n)).toBe(most)
    expect(nativeOfMicros({ numerator: most + 1n, denominator: 1n }, 1n)).toBeUndefined()
    expect(nativeOfMicros({ numerator: 2n * most - 1n, denominator: 2n }, 1n)).toBe(most)
    expect(nativeOfMicros({ numerator: 2n * most + 1n, denominator: 2n }, 1n)).toBeUndefined()
    // The highest price that accumulators allow, for the most expensive service: the product exceeds 256 bits.
    const dearest = { numerator: 20n << 224n, denominator: 20n << 112n }
    expect(nativeOfMicros(dearest, 10n ** 12n)).toBeUndefined()
    expect(nativeOfMicros({ ...dearest, numerator: 20n << 112n }, 10n ** 12n)).toBe(10n ** 12n)
  })
})
