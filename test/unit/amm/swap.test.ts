import { describe, expect, it } from 'vitest'
import { ammModule } from '../../../amm/ledger.ts'
import type { TokenSymbol } from '../../../consensus/primitives/ids.ts'
import {
  ALICE,
  BOB,
  FAR,
  FUSD,
  HEAVY,
  HEAVY_SUPPLY,
  OWNER,
  PoolLedger,
  PURSE,
  poolRuleBook,
  SALT,
  swapPayload,
  WOOL,
} from '../../support/pools.ts'
import { units, unsigned } from '../../support/unsigned.ts'

const NONE = 'NONE' as TokenSymbol
/** FAR-SALT, SALT-WOOL at two fees, WOOL-FUSD. */
const RULES = poolRuleBook([
  { assetA: FAR, assetB: SALT, feeBps: 30, amountA: 1_000_000n, amountB: 2_000_000n, owner: OWNER },
  { assetA: SALT, assetB: WOOL, feeBps: 100, amountA: 500_000n, amountB: 500_000n, owner: OWNER },
  { assetA: SALT, assetB: WOOL, feeBps: 5, amountA: 300_000n, amountB: 100_000n, owner: OWNER },
  { assetA: WOOL, assetB: FUSD, feeBps: 30, amountA: 700_000n, amountB: 70_000n, owner: OWNER },
])
const AT_100 = { asset: WOOL, feeBps: 100 }

/** The output formula of the specification. */
const out = (rin: bigint, rout: bigint, paid: bigint, feeBps: bigint): bigint =>
  (rout * paid * (10_000n - feeBps)) / (rin * 10_000n + paid * (10_000n - feeBps))

describe('a swap with an exact input', () => {
  it('pays by the formula, and the whole input joins the reserve', () => {
    const ledger = new PoolLedger(RULES)
    const { code, receipt } = ledger.swap(ALICE, [SALT, 10_000n], [FAR])
    const paid = out(2_000_000n, 1_000_000n, 10_000n, 30n)
    expect([code, receipt.amounts]).toEqual(['success', [10_000n, paid]])
    expect(paid).toBe(4_960n)
    expect(ledger.reserves(SALT, FAR)).toEqual([2_010_000n, 1_000_000n - paid])
    expect(ledger.held(ALICE, SALT)).toBe(PURSE - 10_000n)
    expect(ledger.held(ALICE, FAR)).toBe(PURSE + paid - receipt.fee)
    expect(ledger.broken()).toEqual([])
  })

  it('goes through three pools, and the receipt tells every output', () => {
    const ledger = new PoolLedger(RULES)
    const { receipt } = ledger.swap(ALICE, [FAR, 20_000n], [SALT, AT_100, FUSD])
    const first = out(1_000_000n, 2_000_000n, 20_000n, 30n)
    const second = out(500_000n, 500_000n, first, 100n)
    const third = out(700_000n, 70_000n, second, 30n)
    expect(receipt.amounts).toEqual([20_000n, first, second, third])
    expect(ledger.held(ALICE, FUSD)).toBe(PURSE + third)
    expect([ledger.held(ALICE, SALT), ledger.held(ALICE, WOOL)]).toEqual([PURSE, PURSE])
    expect(ledger.reserves(SALT, WOOL, 100)).toEqual([500_000n + first, 500_000n - second])
    expect(ledger.reserves(SALT, WOOL, 5)).toEqual([300_000n, 100_000n])
    expect(ledger.broken()).toEqual([])
  })

  it('may come through a pool again: the second time it meets what the first time left', () => {
    const ledger = new PoolLedger(RULES)
    const { code, receipt } = ledger.swap(ALICE, [FAR, 20_000n], [SALT, FAR, SALT])
    const first = out(1_000_000n, 2_000_000n, 20_000n, 30n)
    const back = out(2_000_000n - first, 1_020_000n, first, 30n)
    const again = out(1_020_000n - back, 2_000_000n, back, 30n)
    expect([code, receipt.amounts]).toEqual(['success', [20_000n, first, back, again]])
    expect(back).toBeLessThan(20_000n)
    expect(again).toBeLessThan(first)
    expect(ledger.broken()).toEqual([])
  })

  it('pays its limit, and fails one unit above it', () => {
    const ledger = new PoolLedger(RULES)
    expect(ledger.swap(ALICE, [SALT, 10_000n], [FAR], 4_961n).code).toBe('pool/limit')
    expect(ledger.swap(ALICE, [SALT, 10_000n], [FAR], 4_960n).code).toBe('success')
  })

  it('checks what goes in, then the balance, then hop by hop the asset, the pool and the output, then the limit', () => {
    const ledger = new PoolLedger(RULES)
    ledger.freeze(WOOL)
    expect(ledger.swap(ALICE, [NONE, 1n], [WOOL]).code).toBe('token/unknown')
    expect(ledger.swap(ALICE, [WOOL, PURSE * 2n], [SALT]).code).toBe('token/frozen')
    expect(ledger.swap(BOB, [HEAVY, 1n], [NONE]).code).toBe('ledger/insufficient-balance')
    expect(ledger.swap(ALICE, [FAR, 1n], [NONE]).code).toBe('token/unknown')
    expect(ledger.swap(ALICE, [FAR, 1_000n], [SALT, AT_100]).code).toBe('token/frozen')
    ledger.freeze(WOOL, false)
    expect(ledger.swap(ALICE, [FAR, 1_000n], [WOOL, NONE]).code).toBe('pool/unknown')
    expect(ledger.swap(ALICE, [FAR, 1_000n], [{ asset: SALT, feeBps: 5 }]).code).toBe('pool/unknown')
    expect(ledger.swap(ALICE, [SALT, 1n], [FAR, NONE], PURSE).code).toBe('pool/too-small')
    expect(ledger.swap(ALICE, [SALT, 1n], [AT_100, NONE]).code).toBe('pool/too-small')
    expect(ledger.swap(ALICE, [SALT, 100n], [AT_100, FUSD], PURSE).code).toBe('pool/limit')
    expect(ledger.reserves(SALT, WOOL, 100)).toEqual([500_000n, 500_000n])
    expect(ledger.held(ALICE, SALT)).toBe(PURSE)
  })
})

describe('a swap with an exact output', () => {
  it('takes by the formula, rounded up, and pays exactly that', () => {
    const ledger = new PoolLedger(RULES)
    const { code, receipt } = ledger.buy(ALICE, SALT, [FAR, 4_960n])
    // ceil(2,000,000 x 4,960 x 10,000 / (995,040 x 9,970)): 9,999 pay no more than 4,959.
    const taken = (2_000_000n * 4_960n * 10_000n) / (995_040n * 9_970n) + 1n
    expect([code, receipt.amounts]).toEqual(['success', [taken, 4_960n]])
    expect(out(2_000_000n, 1_000_000n, taken - 1n, 30n)).toBeLessThan(4_960n)
    expect(ledger.reserves(SALT, FAR)).toEqual([2_000_000n + taken, 995_040n])
    expect(ledger.held(ALICE, FAR)).toBe(PURSE + 4_960n - receipt.fee)
    expect(ledger.broken()).toEqual([])
  })

  it('takes its limit, and fails one unit below it', () => {
    const ledger = new PoolLedger(RULES)
    const { receipt } = new PoolLedger(RULES).buy(ALICE, SALT, [FAR, 4_960n])
    const taken = receipt.amounts[0] as bigint
    expect(ledger.buy(ALICE, SALT, [FAR, 4_960n], taken - 1n).code).toBe('pool/limit')
    expect(ledger.buy(ALICE, SALT, [FAR, 4_960n], taken).code).toBe('success')
  })

  it('checks both assets, the pool, the size, the limit, the balance', () => {
    const ledger = new PoolLedger(RULES)
    ledger.freeze(WOOL)
    expect(ledger.buy(ALICE, NONE, [WOOL, 1n]).code).toBe('token/unknown')
    expect(ledger.buy(ALICE, WOOL, [NONE, 1n]).code).toBe('token/frozen')
    expect(ledger.buy(ALICE, FUSD, [WOOL, 1n]).code).toBe('token/frozen')
    ledger.freeze(WOOL, false)
    expect(ledger.buy(ALICE, FAR, [WOOL, 1n]).code).toBe('pool/unknown')
    expect(ledger.buy(ALICE, WOOL, [FUSD, 70_000n], 0n).code).toBe('pool/too-large')
    expect(ledger.buy(ALICE, WOOL, [FUSD, 69_999n], 1n).code).toBe('pool/limit')
    const all = ledger.held(BOB, WOOL)
    ledger.send(BOB, 'token_transfer', { symbol: WOOL, to: ALICE, amount: units(all), create: false })
    expect(ledger.buy(BOB, WOOL, [FUSD, 1n]).code).toBe('ledger/insufficient-balance')
    expect(ledger.reserves(WOOL, FUSD)).toEqual([700_000n, 70_000n])
    expect(ledger.buy(ALICE, WOOL, [FUSD, 69_999n]).code).toBe('success')
  })

  it('cannot take more than can ever exist', () => {
    const ledger = new PoolLedger(RULES)
    ledger.create(ALICE, [HEAVY, HEAVY_SUPPLY - 1n], [SALT, PURSE])
    expect(ledger.buy(ALICE, HEAVY, [SALT, PURSE / 2n + PURSE / 4n]).code).toBe('pool/too-large')
    expect(ledger.buy(ALICE, HEAVY, [SALT, 1n]).code).toBe('ledger/insufficient-balance')
  })
})

it('is covered as far as native coins leave: the input, or the most that may be taken', () => {
  const { spends } = ammModule.handlers.swap
  const of = (payload: Parameters<typeof unsigned<'swap'>>[1]) =>
    spends(unsigned('swap', payload).body as never, RULES.at(1))
  expect(of(swapPayload([FAR, 7n], [SALT], 3n))).toBe(7n)
  expect(of({ ...swapPayload([FAR, 7n], [SALT], 9n), exactOut: true })).toBe(9n)
  expect(of(swapPayload([SALT, 7n], [FAR], 3n))).toBe(0n)
})
