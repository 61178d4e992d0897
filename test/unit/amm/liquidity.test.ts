import { describe, expect, it } from 'vitest'
import { ammModule } from '../../../amm/ledger.ts'
import { POOL_SHARES, POOLS } from '../../../amm/pool.ts'
import type { TxContext } from '../../../consensus/ledger/module.ts'
import type { TokenSymbol } from '../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../consensus/state/overlay.ts'
import type { PayloadOf } from '../../../consensus/tx/kinds.ts'
import {
  ALICE,
  BOB,
  CAROL,
  FAR,
  FUSD,
  HEAVY,
  HEAVY_SUPPLY,
  OWNER,
  PoolLedger,
  PURSE,
  poolOf,
  poolRuleBook,
  SALT,
  WOOL,
} from '../../support/pools.ts'
import { units, unsigned } from '../../support/unsigned.ts'

const NONE = 'NONE' as TokenSymbol
const RULES = poolRuleBook()

/** A ledger in which Alice created a pool of 40,000 SALT and 10,000 WOOL: 20,000 shares. */
function withPool(): PoolLedger {
  const ledger = new PoolLedger(RULES)
  expect(ledger.create(ALICE, [SALT, 40_000n], [WOOL, 10_000n]).code).toBe('success')
  return ledger
}

describe('pool_create', () => {
  it('takes both amounts and gives the shares but the locked ones', () => {
    const ledger = new PoolLedger(RULES)
    const { receipt } = ledger.create(ALICE, [WOOL, 10_000n], [SALT, 40_000n])
    expect(receipt.amounts).toEqual([10_000n, 40_000n, 19_000n])
    expect(ledger.pool(SALT, WOOL)).toMatchObject({
      ...{ version: 1, feeBps: 30, reserveX: 40_000n, reserveY: 10_000n, shares: 20_000n },
      ...{ xPerY: 0n, yPerX: 0n, accumulatedAt: 1, createdAt: 1 },
    })
    expect([ledger.held(ALICE, SALT), ledger.held(ALICE, WOOL)]).toEqual([PURSE - 40_000n, PURSE - 10_000n])
    expect(ledger.shares(ALICE, SALT, WOOL)).toBe(19_000n)
    expect(ledger.broken()).toEqual([])
  })

  it('takes native coins from the account, whichever side they stand on', () => {
    const ledger = new PoolLedger(RULES)
    const { receipt } = ledger.create(ALICE, [SALT, 50_000n], [FAR, 20_000n])
    expect(ledger.balance(ALICE)).toBe(PURSE - 20_000n - receipt.fee)
    expect(ledger.reserves(FAR, SALT)).toEqual([20_000n, 50_000n])
    expect(ledger.broken()).toEqual([])
  })

  it('allows one pool per pair and fee, in either order', () => {
    const ledger = withPool()
    expect(ledger.create(BOB, [WOOL, 9_000n], [SALT, 9_000n]).code).toBe('pool/exists')
    expect(ledger.create(BOB, [WOOL, 9_000n], [SALT, 9_000n], 100).code).toBe('success')
    expect(ledger.create(BOB, [WOOL, 9_000n], [SALT, 9_000n], 5).code).toBe('success')
  })

  it('needs more than the locked shares', () => {
    const ledger = new PoolLedger(RULES)
    expect(ledger.create(ALICE, [SALT, 1_000n], [WOOL, 1_001n]).code).toBe('pool/too-small')
    const { code, receipt } = ledger.create(ALICE, [SALT, 1_001n], [WOOL, 1_001n])
    expect([code, receipt.amounts]).toEqual(['success', [1_001n, 1_001n, 1n]])
  })

  it('takes the largest amounts there are', () => {
    const ledger = new PoolLedger(RULES)
    const { code, receipt } = ledger.create(ALICE, [HEAVY, HEAVY_SUPPLY], [SALT, PURSE])
    expect([code, receipt.amounts[0]]).toEqual(['success', HEAVY_SUPPLY])
    expect(ledger.broken()).toEqual([])
  })

  it('checks assets, then the pool, then the amounts, then the balances', () => {
    const ledger = withPool()
    ledger.freeze(WOOL)
    expect(ledger.create(BOB, [NONE, 1n], [WOOL, 1n]).code).toBe('token/unknown')
    expect(ledger.create(BOB, [WOOL, 1n], [NONE, 1n]).code).toBe('token/frozen')
    expect(ledger.create(BOB, [SALT, 1n], [WOOL, 1n]).code).toBe('token/frozen')
    ledger.freeze(WOOL, false)
    expect(ledger.create(BOB, [SALT, 1n], [WOOL, 1n]).code).toBe('pool/exists')
    expect(ledger.create(BOB, [SALT, 1n], [HEAVY, 1n]).code).toBe('pool/too-small')
    const before = ledger.held(BOB, SALT)
    expect(ledger.create(BOB, [SALT, 5_000n], [HEAVY, 5_000n]).code).toBe('ledger/insufficient-balance')
    expect(ledger.create(BOB, [HEAVY, 5_000n], [SALT, 5_000n]).code).toBe('ledger/insufficient-balance')
    expect(ledger.held(BOB, SALT)).toBe(before)
  })
})

describe('liquidity_add', () => {
  it('takes the amounts of the pool’s ratio, rounded up, for shares rounded down', () => {
    const ledger = withPool()
    const { receipt } = ledger.add(BOB, [WOOL, 5_000n], [SALT, 4_003n])
    // 4,003 SALT are worth 2,001.5 shares; 2,001 shares cost 4,002 SALT and 1,000.5 WOOL.
    expect(receipt.amounts).toEqual([1_001n, 4_002n, 2_001n])
    expect(ledger.pool(SALT, WOOL)).toMatchObject({ reserveX: 44_002n, reserveY: 11_001n, shares: 22_001n })
    expect(ledger.held(BOB, WOOL)).toBe(PURSE - 1_001n)
    expect(ledger.shares(BOB, SALT, WOOL)).toBe(2_001n)
    ledger.add(BOB, [WOOL, 5_000n], [SALT, 4_003n])
    expect(ledger.shares(BOB, SALT, WOOL)).toBe(4_002n)
    expect(ledger.broken()).toEqual([])
  })

  it('checks assets, the pool, the amounts, the limit, the balances', () => {
    const ledger = withPool()
    expect(ledger.add(BOB, [NONE, 1n], [WOOL, 1n]).code).toBe('token/unknown')
    expect(ledger.add(BOB, [WOOL, 1n], [NONE, 1n]).code).toBe('token/unknown')
    expect(ledger.add(BOB, [SALT, 1n], [HEAVY, 1n]).code).toBe('pool/unknown')
    expect(ledger.add(BOB, [SALT, 1n], [WOOL, 1n], 5n).code).toBe('pool/too-small')
    expect(ledger.add(BOB, [SALT, 2n], [WOOL, 1n], 2n).code).toBe('pool/limit')
    expect(ledger.add(BOB, [SALT, 2n], [WOOL, 1n], 1n).code).toBe('success')
    const all = ledger.held(BOB, SALT)
    ledger.send(BOB, 'token_transfer', { symbol: SALT, to: CAROL, amount: units(all), create: false })
    expect(ledger.add(BOB, [SALT, 4_000n], [WOOL, 1_001n], 2_001n).code).toBe('pool/limit')
    expect(ledger.add(BOB, [SALT, 4_000n], [WOOL, 1_001n], 2_000n).code).toBe('ledger/insufficient-balance')
    ledger.freeze(SALT)
    expect(ledger.add(CAROL, [SALT, 4_000n], [WOOL, 1_000n]).code).toBe('token/frozen')
    expect(ledger.add(CAROL, [WOOL, 4_000n], [SALT, 1_000n]).code).toBe('token/frozen')
  })
})

describe('liquidity_remove', () => {
  it('gives both assets, rounded down, and forgets a holder who has left', () => {
    const ledger = withPool()
    const { receipt } = ledger.remove(ALICE, [WOOL, SALT], 3n)
    expect(receipt.amounts).toEqual([1n, 6n])
    expect(ledger.pool(SALT, WOOL)).toMatchObject({ reserveX: 39_994n, reserveY: 9_999n, shares: 19_997n })
    expect(ledger.remove(ALICE, [WOOL, SALT], 18_997n).code).toBe('success')
    expect(ledger.get(POOL_SHARES, { address: ALICE, poolId: poolOf(SALT, WOOL) })).toBeUndefined()
    // The locked shares keep their part of the reserves for ever.
    expect(ledger.pool(SALT, WOOL)).toMatchObject({ shares: 1_000n })
    expect(ledger.reserves(SALT, WOOL).every((reserve) => reserve > 0n)).toBe(true)
    expect(ledger.broken()).toEqual([])
  })

  it('gives what is left of one asset where the other comes to nothing', () => {
    const ledger = new PoolLedger(RULES)
    ledger.create(ALICE, [SALT, 40_000_000n], [WOOL, 1n])
    const { code, receipt } = ledger.remove(ALICE, [SALT, WOOL], 1n)
    expect([code, receipt.amounts]).toEqual(['success', [6_325n, 0n]])
  })

  it('checks assets, the pool, the shares, the amounts, the minima', () => {
    const ledger = withPool()
    expect(ledger.remove(BOB, [NONE, WOOL], 1n).code).toBe('token/unknown')
    expect(ledger.remove(BOB, [WOOL, NONE], 1n).code).toBe('token/unknown')
    expect(ledger.remove(BOB, [SALT, HEAVY], 1n).code).toBe('pool/unknown')
    expect(ledger.remove(BOB, [SALT, WOOL], 1n).code).toBe('ledger/insufficient-balance')
    expect(ledger.remove(ALICE, [SALT, WOOL], 19_001n, [PURSE, PURSE]).code).toBe('ledger/insufficient-balance')
    expect(ledger.remove(ALICE, [SALT, WOOL], 2_000n, [4_001n, 0n]).code).toBe('pool/limit')
    expect(ledger.remove(ALICE, [SALT, WOOL], 2_000n, [0n, 1_001n]).code).toBe('pool/limit')
    expect(ledger.remove(ALICE, [SALT, WOOL], 2_000n, [4_000n, 1_000n]).code).toBe('success')
  })

  it('refuses shares that are worth nothing, which no pool of this ledger has', () => {
    const ledger = withPool()
    const overlay = new Overlay(ledger.state)
    const poolId = poolOf(SALT, WOOL)
    overlay.put(POOLS, poolId, { ...ledger.pool(SALT, WOOL), reserveX: units(19_999), reserveY: units(19_999) })
    const names = { assetA: SALT, assetB: WOOL, feeBps: 30, minA: units(0), minB: units(0) }
    const tx = ledger.tx(ALICE, 'liquidity_remove', { ...names, shares: units(1) })
    const context = { overlay, rules: RULES.at(1), height: 2, reportAmounts: () => {} }
    const refused = ammModule.handlers.liquidity_remove.apply(context as unknown as TxContext, tx as never)
    expect(refused?.code).toBe('pool/too-small')
  })
})

describe('what a mempool must see covered', () => {
  const spends = <K extends 'pool_create' | 'liquidity_add' | 'liquidity_remove'>(kind: K, payload: PayloadOf<K>) =>
    ammModule.handlers[kind].spends(unsigned(kind, payload).body as never, RULES.at(1))
  const offer = { feeBps: 30, amountA: units(5), amountB: units(7) }

  it('is the native side of what is offered', () => {
    expect(spends('pool_create', { ...offer, assetA: FAR, assetB: FUSD })).toBe(5n)
    expect(spends('pool_create', { ...offer, assetA: FUSD, assetB: FAR })).toBe(7n)
    expect(spends('liquidity_add', { ...offer, assetA: FUSD, assetB: FAR, minShares: units(1) })).toBe(7n)
    expect(spends('liquidity_add', { ...offer, assetA: FUSD, assetB: SALT, minShares: units(1) })).toBe(0n)
  })

  it('is nothing for what comes back', () => {
    const payload = { assetA: FAR, assetB: FUSD, feeBps: 30, shares: units(9), minA: units(0), minB: units(0) }
    expect(spends('liquidity_remove', payload)).toBe(0n)
  })
})

it('genesis gives the owner all shares of a pool but the locked ones', () => {
  const ledger = new PoolLedger(RULES)
  const { shares } = ledger.pool(FAR, FUSD)
  expect(ledger.shares(OWNER, FAR, FUSD)).toBe(shares - 1_000n)
  expect(ledger.remove(OWNER, [FUSD, FAR], shares - 1_000n).code).toBe('success')
  expect(ledger.broken()).toEqual([])
})
