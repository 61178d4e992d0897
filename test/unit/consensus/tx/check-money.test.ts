import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import { checkTransaction } from '../../../../consensus/tx/check.ts'
import { TOKEN_DECIMALS_MAX } from '../../../../consensus/tx/check-payload.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { MONEY_KINDS, MONEY_SAMPLE, type MoneyKind, moneyTx } from '../../../support/money-samples.ts'
import { symbol } from '../../../support/tokens.ts'
import { units } from '../../../support/unsigned.ts'

const RULES = LAUNCH_RULES.tx
const [FAR, FUSD, SALT] = [symbol('FAR'), symbol('FUSD'), symbol('SALT')]

function check<K extends MoneyKind>(kind: K, change: Partial<PayloadOf<K>> = {}) {
  return checkTransaction(moneyTx(kind, change), RULES)
}

const field = (name: string, reason: string) => ({ code: 'tx/field', detail: { field: name, reason } })

describe('a sound payload', () => {
  it.each(MONEY_KINDS)('passes: %s', (kind) => {
    expect(check(kind)).toBeNull()
  })
})

describe('an amount', () => {
  /** Every field of every kind that holds an amount, with its least value. */
  const FIELDS: readonly (readonly [MoneyKind, string, bigint])[] = [
    ['token_create', 'maxSupply', 0n],
    ['token_mint', 'amount', 1n],
    ['token_burn', 'amount', 1n],
    ['token_transfer', 'amount', 1n],
    ['stable_deposit', 'amount', 1n],
    ['stable_mint', 'amount', 1n],
    ['stable_redeem', 'amount', 1n],
    ['stable_redeem', 'minPaid', 0n],
    ['stable_withdraw', 'amount', 1n],
    ['pool_create', 'amountA', 1n],
    ['pool_create', 'amountB', 1n],
    ['liquidity_add', 'amountA', 1n],
    ['liquidity_add', 'amountB', 1n],
    ['liquidity_add', 'minShares', 0n],
    ['liquidity_remove', 'shares', 1n],
    ['liquidity_remove', 'minA', 0n],
    ['liquidity_remove', 'minB', 0n],
    ['swap', 'amount', 1n],
    ['swap', 'limit', 0n],
    ['stake', 'amount', 100_000_000n],
    ['bridge_deposit', 'amount', 1n],
    ['bridge_withdraw', 'amount', 1n],
  ]

  it('is named by this list wherever a kind has one', () => {
    const all = MONEY_KINDS.flatMap((kind) => {
      const payload = MONEY_SAMPLE[kind] as Readonly<Record<string, unknown>>
      return Object.keys(payload).flatMap((name) => (typeof payload[name] === 'bigint' ? [`${kind} ${name}`] : []))
    })
    expect(new Set(FIELDS.map(([kind, name]) => `${kind} ${name}`))).toEqual(new Set(all))
  })

  it.each(FIELDS)('of %s, %s, may be %d to below 2^112', (kind, name, least) => {
    const at = (value: bigint) => check(kind, { [name]: units(value) } as never)
    const refused = (value: bigint) => ({
      ...{ code: 'tx/amount', detail: { field: name, value: `${value}`, least: `${least}` } },
    })
    expect([at(least), at(SUPPLY_BOUND - 1n)]).toEqual([null, null])
    expect(at(SUPPLY_BOUND)).toEqual(refused(SUPPLY_BOUND))
    if (least > 0n) expect(at(least - 1n)).toEqual(refused(least - 1n))
  })
})

describe('a symbol', () => {
  /** Every field of every kind that holds a symbol. */
  const FIELDS = MONEY_KINDS.flatMap((kind) => {
    const names = Object.keys(MONEY_SAMPLE[kind]).filter((name) => /^(symbol|asset)/.test(name))
    return names.map((name) => [kind, name] as const)
  })

  it.each(FIELDS)('of %s, %s, has its grammar', (kind, name) => {
    for (const text of ['', 'A', 'a1', '1A', 'A-B', 'AB ', 'ÄB', 'ABCDEFGHIJK']) {
      expect(() => moneyTx(kind, { [name]: symbol(text) } as never)).toThrow(RangeError)
    }
    for (const text of ['A1', 'ABCDEFGHIJ', 'Z9']) {
      expect(check(kind, { [name]: symbol(text) } as never)).toBeNull()
    }
  })

  it('of a hop has it too', () => {
    expect(() => moneyTx('swap', { hops: [{ asset: symbol('salt'), feeBps: 30 }] })).toThrow(RangeError)
  })
})

describe('a token', () => {
  const blank = field('name', 'must not be empty or begin or end with a blank')

  it.each(['', ' ', ' Rent', 'Rent '])('may not be named "%s"', (name) => {
    expect(check('token_create', { name })).toEqual(blank)
  })

  it.each(['R', 'Rent of Öl', 'é'.repeat(32)])('may be named "%s"', (name) => {
    expect(check('token_create', { name })).toBeNull()
  })

  it.each(['n'.repeat(65), 'é'.repeat(33), 'Re\u200Bnt'])('can hardly be written with the name "%s"', (name) => {
    expect(() => moneyTx('token_create', { name })).toThrow(RangeError)
  })

  it('has up to 18 decimals', () => {
    expect(TOKEN_DECIMALS_MAX).toBe(18)
    expect(check('token_create', { decimals: 0 })).toBeNull()
    expect(check('token_create', { decimals: 18 })).toBeNull()
    expect(check('token_create', { decimals: 19 })).toEqual(field('decimals', '19 is unknown'))
    expect(check('token_create', { decimals: 255 })).toEqual(field('decimals', '255 is unknown'))
  })
})

describe.each(['pool_create', 'liquidity_add', 'liquidity_remove'] as const)('the pool of %s', (kind) => {
  it('is of two assets in either order', () => {
    expect(check(kind, { assetA: FUSD, assetB: FAR })).toBeNull()
    expect(check(kind, { assetA: FAR, assetB: FAR })).toEqual(field('assetB', 'must be another asset than assetA'))
  })

  it.each([5, 30, 100])('may take %i basis points', (feeBps) => {
    expect(check(kind, { feeBps })).toBeNull()
  })

  it.each([0, 1, 29, 31, 65_535])('may not take %i basis points', (feeBps) => {
    expect(check(kind, { feeBps })).toEqual(field('feeBps', 'must be one of 5, 30, 100'))
  })
})

describe('the way of a swap', () => {
  const hop = (asset = FUSD, feeBps = 30) => ({ asset, feeBps })
  const another = 'must be another asset than goes in'

  it('goes through one to three pools', () => {
    expect(check('swap', { hops: [] })).toEqual(field('hops', 'must not be empty'))
    expect(check('swap', { hops: [hop(), hop(SALT)] })).toBeNull()
    expect(check('swap', { hops: [hop(), hop(SALT), hop(FAR)] })).toBeNull()
    expect(() => moneyTx('swap', { hops: [hop(), hop(SALT), hop(), hop(SALT)] })).toThrow(RangeError)
  })

  it('goes through one with an exact output', () => {
    expect(check('swap', { exactOut: true })).toBeNull()
    const two = check('swap', { exactOut: true, hops: [hop(), hop(SALT)] })
    expect(two).toEqual(field('hops', 'an exact output goes through one pool'))
  })

  it('changes the asset in every pool, and may come back to one', () => {
    expect(check('swap', { hops: [hop(FAR)] })).toEqual(field('hops[0].asset', another))
    expect(check('swap', { hops: [hop(), hop(FUSD, 5)] })).toEqual(field('hops[1].asset', another))
    expect(check('swap', { hops: [hop(), hop(SALT), hop(SALT)] })).toEqual(field('hops[2].asset', another))
    expect(check('swap', { hops: [hop(), hop(FAR, 5), hop()] })).toBeNull()
  })

  it('names fees that pools take', () => {
    const refused = (at: number) => field(`hops[${at}].feeBps`, 'must be one of 5, 30, 100')
    expect(check('swap', { hops: [hop(FUSD, 6)] })).toEqual(refused(0))
    expect(check('swap', { hops: [hop(), hop(SALT, 0)] })).toEqual(refused(1))
    expect(check('swap', { hops: [hop(FUSD, 5), hop(SALT, 100)] })).toBeNull()
  })
})

describe('a stake', () => {
  it('is in a tier that the rules have', () => {
    expect(check('stake', { tier: 3 })).toBeNull()
    expect(check('stake', { tier: 4 })).toEqual(field('tier', '4 is unknown'))
    expect(checkTransaction(moneyTx('stake', { tier: 4 }), { ...RULES, stakeTiers: 5 })).toBeNull()
  })
})
