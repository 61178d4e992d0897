import { describe, expect, it } from 'vitest'
import { epochDepth, epochPrice, epochStrays, nativeOfMicros } from '../../../amm/oracle.ts'
import { accumulatedAt, POOLS } from '../../../amm/pool.ts'
import { encode } from '../../../consensus/primitives/codec.ts'
import type { Address, TokenSymbol } from '../../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../../consensus/tx/kinds.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import {
  ALICE,
  BOB,
  CAROL,
  COIN,
  DOLLAR,
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
  swapPayload,
  WOOL,
} from '../../support/pools.ts'
import { units } from '../../support/unsigned.ts'

const RULES = poolRuleBook()
const GOODS = poolRuleBook([
  { assetA: SALT, assetB: WOOL, feeBps: 30, amountA: 10_000_000n, amountB: 20_000_000n, owner: OWNER },
  { assetA: WOOL, assetB: FUSD, feeBps: 30, amountA: 10_000_000n, amountB: 20_000_000n, owner: OWNER },
])
const { market } = RULES.at(0)
const ATTACKER = ALICE
const VICTIM = BOB

interface Wish<K extends TxKind = TxKind> {
  readonly sender: Address
  readonly kind: K
  readonly payload: PayloadOf<K>
}

function wish<K extends TxKind>(sender: Address, kind: K, payload: PayloadOf<K>): Wish {
  return { sender, kind, payload } as unknown as Wish
}

/** Mines one block with all of these in order; nonces count up per sender. Returns the codes of their receipts. */
function together(ledger: PoolLedger, wishes: readonly Wish[]): readonly number[] {
  const used = new Map<Address, bigint>()
  const transactions = wishes.map(({ sender, kind, payload }): Transaction => {
    const first = ledger.tx(sender, kind, payload)
    const nonce = used.get(sender) ?? first.body.nonce
    used.set(sender, nonce + 1n)
    return ledger.tx(sender, kind, payload, { nonce })
  })
  const { receipts } = ledger.block(transactions)
  return receipts.flatMap((one) => (one.type === 'transaction' ? [one.code] : []))
}

const out = (rin: bigint, rout: bigint, paid: bigint): bigint =>
  (rout * paid * 9_970n) / (rin * 10_000n + paid * 9_970n)

/** Base units that a dollar costs in an epoch. */
const priceOf = (ledger: PoolLedger, epoch: number, micros = DOLLAR): bigint =>
  nativeOfMicros(epochPrice(ledger.state, epoch, market)!, micros) as bigint

describe('a sandwich', () => {
  const [RX, RY] = [10_000_000n, 20_000_000n]

  /** Alice buys before Bob and sells after him in the same block. Returns her gain in SALT, and Bob's output. */
  function sandwich(pushed: bigint, paid: bigint, limit: bigint): { readonly gain: bigint; readonly got: bigint } {
    const ledger = new PoolLedger(GOODS)
    const bought = out(RX, RY, pushed)
    together(ledger, [
      wish(ATTACKER, 'swap', swapPayload([SALT, pushed], [WOOL])),
      wish(VICTIM, 'swap', swapPayload([SALT, paid], [WOOL], limit)),
      wish(ATTACKER, 'swap', swapPayload([WOOL, bought], [SALT])),
    ])
    expect(ledger.held(ATTACKER, WOOL)).toBe(PURSE)
    return { gain: ledger.held(ATTACKER, SALT) - PURSE, got: ledger.held(VICTIM, WOOL) - PURSE }
  }

  it('never gives the victim less than the limit, and gains no more than the slippage granted', () => {
    let gained = 0
    for (const slippage of [0n, 10n, 100n, 1_000n]) {
      for (const paid of [50_000n, 500_000n, 5_000_000n]) {
        const limit = (out(RX, RY, paid) * (10_000n - slippage) + 9_999n) / 10_000n
        for (const pushed of [1_000n, 20_000n, 100_000n, 300_000n, 1_000_000n, 10_000_000n]) {
          const { gain, got } = sandwich(pushed, paid, limit)
          expect(got === 0n || got >= limit).toBe(true)
          // The pool ends with the victim's input minus the gain, and without at least the limit, and its product never
          // falls. So the gain is at most what the victim paid above the fee-free price of the limit.
          if (got > 0n) expect(gain * (RY - limit)).toBeLessThanOrEqual(paid * (RY - limit) - RX * limit)
          else expect(gain).toBeLessThan(0n)
          if (gain > 0n) gained++
        }
      }
    }
    // Some attacks did gain, so the bound was tested.
    expect(gained).toBeGreaterThan(5)
  })

  it('gains nothing from a victim who grants no slippage', () => {
    for (const pushed of [1_000n, 100_000n, 3_000_000n]) {
      const { gain, got } = sandwich(pushed, 500_000n, out(RX, RY, 500_000n))
      expect([gain < 0n, got]).toEqual([true, 0n])
    }
  })
})

describe('an attacker who wants to move a quote', () => {
  /** Two equal ledgers whose next block is the last of epoch 1. */
  function twins(): readonly [PoolLedger, PoolLedger] {
    const both = [new PoolLedger(RULES), new PoolLedger(RULES)] as const
    for (const ledger of both) ledger.advanceTo(39)
    return both
  }

  /** Swaps an amount in, and all that it bought back, in one block. */
  function roundTrip(ledger: PoolLedger, [from, paid]: readonly [TokenSymbol, bigint]): void {
    const to = from === FAR ? FUSD : FAR
    const [rin, rout] = ledger.reserves(from, to)
    const codes = together(ledger, [
      wish(ATTACKER, 'swap', swapPayload([from, paid], [to])),
      wish(ATTACKER, 'swap', swapPayload([to, out(rin, rout, paid)], [from])),
    ])
    expect(codes).toEqual([0, 0])
  }

  it('cannot move the quotes of the epoch at all: they were settled before it began', () => {
    const [calm, moved] = twins()
    moved.swap(ATTACKER, [FAR, 40_000n * COIN], [FUSD])
    calm.block()
    expect(priceOf(moved, 1)).toBe(priceOf(calm, 1))
    expect(epochDepth(moved.state, 1)).toBe(epochDepth(calm.state, 1))
  })

  for (const paid of [[FAR, 40_000n * COIN] as const, [FUSD, 10_000n * DOLLAR] as const]) {
    it(`cannot move them within the last block with ten times the pool in ${paid[0]}: only the fees stay, for a twentieth`, () => {
      const [calm, moved] = twins()
      const [x, y] = moved.reserves(FAR, FUSD)
      roundTrip(moved, paid)
      const [x2, y2] = moved.reserves(FAR, FUSD)
      for (const ledger of [calm, moved]) ledger.advanceTo(41)
      const [before, after] = [priceOf(calm, 2), priceOf(moved, 2)]
      // The fees changed the ratio, at one block end of twenty.
      const exact = (19n * DOLLAR * x) / (20n * y) + (DOLLAR * x2) / (20n * y2)
      expect(after - exact >= -3n && after - exact <= 3n).toBe(true)
      const change = after > before ? after - before : before - after
      expect(change * 10_000n).toBeLessThan(before * 3n)
      // The attack cost more than half a per cent of one reserve of the pool, and moved the price by less than three basis points.
      const lost = PURSE - (paid[0] === FAR ? moved.held(ATTACKER, FAR) : moved.held(ATTACKER, FUSD))
      expect(lost * 200n).toBeGreaterThan(paid[0] === FAR ? x : y)
    })
  }

  it('cannot move them with a flash of liquidity in one block', () => {
    const [calm, moved] = twins()
    const shares = moved.pool(FAR, FUSD).shares * 10n
    const names = { assetA: FAR, assetB: FUSD, feeBps: 30 }
    const codes = together(moved, [
      wish(ATTACKER, 'liquidity_add', {
        ...{ ...names, amountA: units(40_000n * COIN), amountB: units(10_000n * DOLLAR), minShares: units(shares) },
      }),
      wish(ATTACKER, 'liquidity_remove', { ...names, shares: units(shares), minA: units(0), minB: units(0) }),
    ])
    expect(codes).toEqual([0, 0])
    for (const ledger of [calm, moved]) ledger.advanceTo(41)
    expect(priceOf(moved, 2)).toBe(priceOf(calm, 2))
    expect(epochDepth(moved.state, 2)).toBe(epochDepth(calm.state, 2))
  })

  it('cannot make a shallow pool look deep by standing in it when an epoch begins', () => {
    const [calm, moved] = twins()
    moved.add(ATTACKER, [FAR, 40_000n * COIN], [FUSD, 10_000n * DOLLAR])
    moved.block()
    moved.remove(ATTACKER, [FAR, FUSD], moved.shares(ATTACKER, FAR, FUSD))
    for (const ledger of [calm, moved]) ledger.advanceTo(61)
    expect(moved.get(POOLS, poolOf(FAR, FUSD))?.accumulatedAt).toBe(41)
    for (const epoch of [2, 3]) {
      expect(priceOf(moved, epoch)).toBe(priceOf(calm, epoch))
      expect(epochDepth(moved.state, epoch)).toBe(1_000n * DOLLAR)
    }
  })

  it('leaves a price that strays if it lends a pool its depth at both entries and leaves between them', () => {
    for (const dearer of [true, false]) {
      const ledger = new PoolLedger(RULES)
      const lend = () => ledger.add(ATTACKER, [FAR, 500_000n * COIN], [FUSD, 100_000n * DOLLAR])
      const leave = () => ledger.remove(ATTACKER, [FAR, FUSD], ledger.shares(ATTACKER, FAR, FUSD))
      const push = (from: TokenSymbol, to: TokenSymbol) =>
        ledger.swap(ATTACKER, [from, 9n * ledger.reserves(from, to)[0]], [to])
      ledger.advanceTo(39)
      expect([lend().code, leave().code]).toEqual(['success', 'success'])
      // With only a thousand dollars of other providers left, a swap makes a coin look a hundred times as expensive, or as cheap.
      expect((dearer ? push(FUSD, FAR) : push(FAR, FUSD)).code).toBe('success')
      ledger.advanceTo(58)
      expect((dearer ? push(FAR, FUSD) : push(FUSD, FAR)).code).toBe('success')
      expect(lend().code).toBe('success')
      ledger.block()
      const calm = 4n * COIN
      expect(epochDepth(ledger.state, 3)).toBeGreaterThan(90_000n * DOLLAR)
      expect(priceOf(ledger, 3) * (dearer ? 6n : 1n)).toBeLessThan(dearer ? calm : 100n * calm)
      expect(priceOf(ledger, 3)).toBeGreaterThan(dearer ? calm / 10n : 80n * calm)
      ledger.advanceTo(81)
      expect([2, 3, 4].map((epoch) => epochStrays(ledger.state, epoch, market))).toEqual([false, true, false])
      // Total cost of the attack: fees of swaps through a thousand dollars.
      expect(leave().code).toBe('success')
      const lost = PURSE - ledger.held(ATTACKER, FUSD) + (PURSE - ledger.held(ATTACKER, FAR)) / 400n
      expect(lost).toBeLessThan(100n * DOLLAR)
    }
  })

  it('makes no price that strays by lasting trades, however large', () => {
    for (const [from, to] of [
      [FAR, FUSD],
      [FUSD, FAR],
    ] as const)
      for (const height of [40, 41, 50, 59]) {
        const ledger = new PoolLedger(RULES)
        ledger.advanceTo(height)
        expect(ledger.swap(ATTACKER, [from, 9n * ledger.reserves(from, to)[0]], [to]).code).toBe('success')
        ledger.advanceTo(81)
        expect([0, 1, 2, 3, 4].map((epoch) => epochStrays(ledger.state, epoch, market))).not.toContain(true)
      }
  })

  it('lowers the price by no more than k twentieths if it holds it down over k block ends', () => {
    for (const blocks of [1n, 2n, 5n, 10n, 19n]) {
      const ledger = new PoolLedger(RULES)
      ledger.advanceTo(40 - Number(blocks))
      // A hundred times the pool's dollars: a coin looks ten thousand times as expensive.
      ledger.swap(ATTACKER, [FUSD, 100_000n * DOLLAR], [FAR])
      ledger.advanceTo(41)
      const calm = 4n * COIN
      expect(priceOf(ledger, 2)).toBeGreaterThanOrEqual((calm * (20n - blocks)) / 20n)
      expect(priceOf(ledger, 2)).toBeLessThan((calm * (20n - blocks)) / 20n + calm / 1_000n)
    }
  })
})

it('ten thousand swaps of dust take nothing out of a pool', () => {
  const ledger = new PoolLedger(GOODS)
  const product = () => ledger.reserves(SALT, WOOL).reduce((a, b) => a * b, 1n)
  let last = product()
  for (let block = 0; block < 50; block++) {
    const wishes = Array.from({ length: 200 }, (_, i) => {
      const dust = BigInt(1 + ((block * 200 + i) % 13))
      return wish(
        ATTACKER,
        'swap',
        i % 2 ? swapPayload([WOOL, dust], [SALT, WOOL]) : swapPayload([SALT, dust], [WOOL, SALT]),
      )
    })
    together(ledger, wishes)
    expect(product()).toBeGreaterThanOrEqual(last)
    last = product()
  }
  expect(ledger.held(ATTACKER, SALT)).toBeLessThan(PURSE)
  expect(ledger.held(ATTACKER, WOOL)).toBeLessThan(PURSE)
  expect(ledger.broken()).toEqual([])
})

it('a route through the same pool twice pays less than it takes', () => {
  for (const paid of [10n, 1_000n, 1_000_000n, 100_000_000n]) {
    const ledger = new PoolLedger(GOODS)
    const { receipt } = ledger.swap(ATTACKER, [SALT, paid], [WOOL, SALT, WOOL])
    const [, once, back, again] = receipt.amounts as readonly bigint[]
    expect(back).toBeLessThan(paid)
    expect(again).toBeLessThan(once as bigint)
    expect(ledger.swap(ATTACKER, [SALT, paid], [WOOL, SALT], paid).code).toBe('pool/limit')
  }
})

describe('a frozen token', () => {
  it('traps no liquidity provider: liquidity can leave, while nothing can be swapped or added', () => {
    const ledger = new PoolLedger(GOODS)
    ledger.freeze(WOOL)
    expect(ledger.swap(BOB, [SALT, 1_000n], [WOOL]).code).toBe('token/frozen')
    expect(ledger.swap(BOB, [WOOL, 1_000n], [SALT]).code).toBe('token/frozen')
    expect(ledger.swap(BOB, [SALT, 1_000n], [WOOL, FUSD]).code).toBe('token/frozen')
    expect(ledger.buy(BOB, SALT, [WOOL, 1_000n]).code).toBe('token/frozen')
    expect(ledger.add(OWNER, [SALT, 1_000n], [WOOL, 2_000n]).code).toBe('token/frozen')
    const shares = ledger.shares(OWNER, SALT, WOOL)
    const { code, receipt } = ledger.remove(OWNER, [SALT, WOOL], shares)
    expect([code, ledger.held(OWNER, WOOL)]).toEqual(['success', PURSE + (receipt.amounts[1] as bigint)])
    expect(ledger.held(OWNER, SALT)).toBe(PURSE + (receipt.amounts[0] as bigint))
    expect(ledger.broken()).toEqual([])
  })
})

describe('the first depositor', () => {
  it('cannot make the next one’s shares round to nothing', () => {
    const ledger = new PoolLedger(GOODS)
    ledger.create(ATTACKER, [SALT, 1_001n], [FUSD, 1_001n])
    // A single share of the attacker, made as valuable as swaps can make it.
    for (let i = 0; i < 20; i++) {
      ledger.swap(ATTACKER, [SALT, 10_000_000n], [FUSD])
      ledger.swap(ATTACKER, [FUSD, 10_000_000n], [SALT])
    }
    const [salt, dollars] = ledger.reserves(SALT, FUSD)
    const { code, receipt } = ledger.add(VICTIM, [SALT, salt * 5n], [FUSD, dollars * 5n])
    const [a, b, shares] = receipt.amounts as unknown as readonly [bigint, bigint, bigint]
    expect([code, shares]).toEqual(['success', 5_005n])
    const back = ledger.remove(VICTIM, [SALT, FUSD], shares).receipt.amounts as unknown as readonly [bigint, bigint]
    expect(back[0] >= a - 1n && back[1] >= b - 1n).toBe(true)
    ledger.remove(ATTACKER, [SALT, FUSD], 1n)
    expect(ledger.held(ATTACKER, SALT)).toBeLessThan(PURSE)
    expect(ledger.held(ATTACKER, FUSD)).toBeLessThan(PURSE)
  })

  it('cannot be given to a pool: what is sent to its id is no reserve', () => {
    const ledger = new PoolLedger(GOODS)
    const to = poolOf(SALT, WOOL) as string as Address
    const before = ledger.reserves(SALT, WOOL)
    const sent = ledger.send(ATTACKER, 'token_transfer', { symbol: SALT, to, amount: units(1_000_000), create: true })
    expect([sent.code, ledger.reserves(SALT, WOOL)]).toEqual(['success', before])
    expect(ledger.held(to, SALT)).toBe(1_000_000n)
  })
})

describe('amounts at 2^112', () => {
  it('fill a pool to the last unit there is', () => {
    const ledger = new PoolLedger(GOODS)
    expect(ledger.create(ALICE, [HEAVY, HEAVY_SUPPLY - 10n], [SALT, PURSE]).code).toBe('success')
    expect(ledger.swap(ALICE, [HEAVY, 10n], [SALT]).code).toBe('pool/too-small')
    expect(ledger.swap(CAROL, [SALT, 1_000_000n], [HEAVY]).code).toBe('success')
    expect(ledger.swap(CAROL, [HEAVY, ledger.held(CAROL, HEAVY)], [SALT]).code).toBe('success')
    expect(ledger.swap(ALICE, [HEAVY, 11n], [SALT]).code).toBe('ledger/insufficient-balance')
    expect(ledger.add(ALICE, [HEAVY, HEAVY_SUPPLY], [SALT, HEAVY_SUPPLY]).code).toBe('ledger/insufficient-balance')
    expect(ledger.remove(ALICE, [HEAVY, SALT], HEAVY_SUPPLY).code).toBe('ledger/insufficient-balance')
    expect(ledger.broken()).toEqual([])
  })

  it('move shares that are worth next to nothing', () => {
    const ledger = new PoolLedger(GOODS)
    expect(ledger.create(ALICE, [HEAVY, HEAVY_SUPPLY - 1_000n], [SALT, 1n]).code).toBe('success')
    expect(ledger.add(ALICE, [HEAVY, 1_000n], [SALT, HEAVY_SUPPLY]).code).toBe('pool/too-small')
    expect(ledger.swap(CAROL, [SALT, PURSE], [HEAVY]).code).toBe('success')
    expect(ledger.remove(ALICE, [HEAVY, SALT], ledger.shares(ALICE, HEAVY, SALT)).code).toBe('success')
    expect(ledger.broken()).toEqual([])
  })

  it('fit the accumulators for as long as there are heights', () => {
    const pool = new PoolLedger(GOODS).pool(SALT, WOOL)
    const extreme = { ...pool, reserveX: units(HEAVY_SUPPLY), reserveY: units(1), shares: units(1n << 56n) }
    const sums = accumulatedAt(extreme, 2 ** 32 - 1)
    expect(sums.xPerY).toBe((HEAVY_SUPPLY << 112n) * (2n ** 32n - 1n))
    const { length } = encode(POOLS.codec, { ...extreme, ...sums, accumulatedAt: 2 ** 32 - 1 })
    expect(length).toBe(encode(POOLS.codec, pool).length)
  })
})
