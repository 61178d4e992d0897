import { describe, expect, it } from 'vitest'
import { ACCOUNTS, openedAccount } from '../../../../consensus/ledger/account.ts'
import { tokenAsset } from '../../../../consensus/ledger/asset.ts'
import type { GenesisLedgers } from '../../../../consensus/ledger/rules.ts'
import { redemptionOf, STABLE_RESERVES } from '../../../../consensus/ledger/stable.ts'
import { stableFacts } from '../../../../consensus/ledger/stable-facts.ts'
import { SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import {
  BOB,
  CAROL,
  dollarLedgers,
  FUSD,
  ISSUER,
  SALT,
  STRANGER,
  symbol,
  TOKEN_LEDGERS,
  TokenLedger,
  XUSD,
} from '../../../support/tokens.ts'
import { units } from '../../../support/unsigned.ts'

const part = (change: Partial<PayloadOf<'stable_deposit'>> = {}) => ({ symbol: FUSD, amount: units(10), ...change })
const minted = (change: Partial<PayloadOf<'stable_mint'>> = {}) => ({
  ...{ symbol: FUSD, to: BOB, amount: units(10), create: false },
  ...change,
})
const redeemed = (change: Partial<PayloadOf<'stable_redeem'>> = {}) => ({
  ...{ symbol: FUSD, amount: units(10), minPaid: units(0) },
  ...change,
})

/** 1,500 FUSD as in the usual ledgers, on a reserve of 900: 60 %. */
function underBacked(): TokenLedger {
  return new TokenLedger({ ...TOKEN_LEDGERS, ...reserveOf(900n) })
}

/** Ledgers with this reserve, and with matching books of the bridge. */
function reserveOf(reserve: bigint): Pick<GenesisLedgers, 'stables' | 'bridge'> {
  const { stables, bridge } = dollarLedgers(TOKEN_LEDGERS.balances, reserve)
  return { stables, bridge }
}

function freeze(ledger: TokenLedger): void {
  expect(ledger.send(ISSUER, 'token_flags', { symbol: FUSD, frozen: true, hidden: false }).code).toBe('success')
}

/** Symbols with which every kind fails, in the order of the specification. */
const NO_STABLE = [
  ['an unknown token', symbol('RENT'), 'token/unknown'],
  ['the native coin', symbol('FAR'), 'token/unknown'],
  ['a plain token', SALT, 'token/wrong-kind'],
  ['a bridged token', XUSD, 'token/wrong-kind'],
] as const

describe('stable_deposit', () => {
  it('moves bridged dollars of any account into the reserve, also while frozen', () => {
    const ledger = new TokenLedger()
    freeze(ledger)
    const { code, receipt } = ledger.send(BOB, 'stable_deposit', part())
    expect([code, receipt.amounts]).toEqual(['success', []])
    expect([ledger.held(BOB, XUSD), ledger.reserve(FUSD), ledger.supply(FUSD)]).toEqual([990n, 1_510n, 1_500n])
    expect(ledger.supply(XUSD)).toBe(2_500n)
    expect(ledger.broken()).toEqual([])
  })

  it('of more than is held fails', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'stable_deposit', part({ amount: units(1_001) })).code).toBe('ledger/insufficient-balance')
    expect(ledger.reserve(FUSD)).toBe(1_500n)
  })

  it.each(NO_STABLE)('for %s fails', (_, named, code) => {
    expect(new TokenLedger().send(CAROL, 'stable_deposit', part({ symbol: named })).code).toBe(code)
  })
})

describe('stable_mint', () => {
  it('mints up to the reserve and no further', () => {
    const ledger = new TokenLedger()
    ledger.send(BOB, 'stable_deposit', part({ amount: units(100) }))
    expect(ledger.send(ISSUER, 'stable_mint', minted({ amount: units(101) })).code).toBe('stable/under-backed')
    expect(ledger.send(ISSUER, 'stable_mint', minted({ amount: units(100) })).code).toBe('success')
    expect(ledger.send(ISSUER, 'stable_mint', minted({ amount: units(1) })).code).toBe('stable/under-backed')
    expect([ledger.held(BOB, FUSD), ledger.supply(FUSD)]).toEqual([1_100n, 1_600n])
  })

  it('opens the receiver’s account with the create bit alone', () => {
    const ledger = new TokenLedger()
    ledger.send(BOB, 'stable_deposit', part())
    expect(ledger.send(ISSUER, 'stable_mint', minted({ to: STRANGER })).code).toBe('ledger/no-account')
    expect(ledger.send(ISSUER, 'stable_mint', minted({ to: STRANGER, create: true })).code).toBe('success')
    expect(ledger.get(ACCOUNTS, STRANGER)).toEqual(openedAccount(units(0)))
    expect(ledger.held(STRANGER, FUSD)).toBe(10n)
  })

  it('checks issuer, freezing, backing, maximum supply and receiver in this order', () => {
    const tokens = TOKEN_LEDGERS.tokens.map((token) => {
      return token.symbol === FUSD ? { ...token, maxSupply: 1_505n } : token
    })
    const ledger = new TokenLedger({ ...TOKEN_LEDGERS, tokens })
    const wrong = minted({ amount: units(11), to: STRANGER })
    freeze(ledger)
    expect(ledger.send(BOB, 'stable_mint', wrong).code).toBe('token/not-issuer')
    expect(ledger.send(ISSUER, 'stable_mint', wrong).code).toBe('token/frozen')
    ledger.send(ISSUER, 'token_flags', { symbol: FUSD, frozen: false, hidden: false })
    ledger.send(BOB, 'stable_deposit', part())
    expect(ledger.send(ISSUER, 'stable_mint', wrong).code).toBe('stable/under-backed')
    expect(ledger.send(ISSUER, 'stable_mint', { ...wrong, amount: units(10) }).code).toBe('token/max-supply')
    expect(ledger.send(ISSUER, 'stable_mint', { ...wrong, amount: units(5) }).code).toBe('ledger/no-account')
    expect(ledger.send(ISSUER, 'stable_mint', minted({ amount: units(5) })).code).toBe('success')
  })

  it.each(NO_STABLE)('of %s fails', (_, named, code) => {
    expect(new TokenLedger().send(ISSUER, 'stable_mint', minted({ symbol: named })).code).toBe(code)
  })
})

describe('stable_redeem', () => {
  it('pays one for one while the reserve covers the supply, also while frozen', () => {
    const ledger = new TokenLedger()
    freeze(ledger)
    const { code, receipt } = ledger.send(CAROL, 'stable_redeem', redeemed({ minPaid: units(10) }))
    expect([code, receipt.amounts]).toEqual(['success', [10n]])
    expect([ledger.held(CAROL, FUSD), ledger.held(CAROL, XUSD)]).toEqual([490n, 10n])
    expect([ledger.reserve(FUSD), ledger.books(FUSD).burned]).toEqual([1_490n, 10n])
    expect(ledger.broken()).toEqual([])
  })

  it('pays no more than one for one where the reserve exceeds the supply', () => {
    const ledger = new TokenLedger()
    ledger.send(BOB, 'stable_deposit', part({ amount: units(1_000) }))
    expect(ledger.send(CAROL, 'stable_redeem', redeemed({ amount: units(500) })).receipt.amounts).toEqual([500n])
    expect(ledger.reserve(FUSD)).toBe(2_000n)
  })

  it('pays the part of the reserve where it covers less, rounded down', () => {
    const ledger = underBacked()
    const { receipt } = ledger.send(CAROL, 'stable_redeem', redeemed({ amount: units(99) }))
    expect(receipt.amounts).toEqual([59n])
    expect([ledger.reserve(FUSD), ledger.supply(FUSD)]).toEqual([841n, 1_401n])
  })

  it('pays everything to the holder of everything', () => {
    const ledger = underBacked()
    ledger.send(CAROL, 'token_transfer', { symbol: FUSD, to: BOB, amount: units(500), create: false })
    expect(ledger.send(BOB, 'stable_redeem', redeemed({ amount: units(1_500) })).receipt.amounts).toEqual([900n])
    expect([ledger.reserve(FUSD), ledger.supply(FUSD)]).toEqual([0n, 0n])
  })

  it('fails where it would pay nothing, or less than was asked for', () => {
    const ledger = underBacked()
    expect(ledger.send(CAROL, 'stable_redeem', redeemed({ amount: units(1) })).code).toBe('stable/below-minimum')
    const short = redeemed({ amount: units(10), minPaid: units(7) })
    expect(ledger.send(CAROL, 'stable_redeem', short).code).toBe('stable/below-minimum')
    expect(ledger.held(CAROL, FUSD)).toBe(500n)
    expect(ledger.send(CAROL, 'stable_redeem', { ...short, minPaid: units(6) }).receipt.amounts).toEqual([6n])
  })

  it('of more than is held fails before anything is worked out', () => {
    const over = redeemed({ amount: units(501), minPaid: units(SUPPLY_BOUND - 1n) })
    expect(new TokenLedger().send(CAROL, 'stable_redeem', over).code).toBe('ledger/insufficient-balance')
  })

  it.each(NO_STABLE)('of %s fails', (_, named, code) => {
    expect(new TokenLedger().send(BOB, 'stable_redeem', redeemed({ symbol: named })).code).toBe(code)
  })
})

describe('what redeeming pays', () => {
  it.each([
    [10n, 10n, 10n, 10n],
    [10n, 11n, 10n, 10n],
    [10n, 9n, 10n, 9n],
    [1n, 9n, 10n, 0n],
    [5n, 0n, 10n, 0n],
    [SUPPLY_BOUND - 1n, SUPPLY_BOUND - 2n, SUPPLY_BOUND - 1n, SUPPLY_BOUND - 2n],
  ])('for %d of %d reserve under %d supply is %d', (amount, reserve, supply, paid) => {
    expect(redemptionOf(units(amount), units(reserve), units(supply))).toBe(paid)
  })
})

describe('stable_withdraw', () => {
  it('pays the issuer the surplus and no more, also while frozen', () => {
    const ledger = new TokenLedger()
    ledger.send(BOB, 'stable_deposit', part({ amount: units(100) }))
    freeze(ledger)
    expect(ledger.send(ISSUER, 'stable_withdraw', part({ amount: units(101) })).code).toBe('stable/no-surplus')
    expect(ledger.send(ISSUER, 'stable_withdraw', part({ amount: units(100) })).code).toBe('success')
    expect([ledger.held(ISSUER, XUSD), ledger.reserve(FUSD)]).toEqual([100n, 1_500n])
    expect(ledger.send(ISSUER, 'stable_withdraw', part({ amount: units(1) })).code).toBe('stable/no-surplus')
  })

  it('finds a surplus in what others burned', () => {
    const ledger = new TokenLedger()
    ledger.send(BOB, 'token_burn', { symbol: FUSD, amount: units(30) })
    expect(ledger.send(ISSUER, 'stable_withdraw', part({ amount: units(30) })).code).toBe('success')
    expect(ledger.broken()).toEqual([])
  })

  it('finds none in a reserve below the supply', () => {
    expect(underBacked().send(ISSUER, 'stable_withdraw', part({ amount: units(1) })).code).toBe('stable/no-surplus')
  })

  it('is for the issuer alone, whatever the surplus is', () => {
    expect(new TokenLedger().send(BOB, 'stable_withdraw', part()).code).toBe('token/not-issuer')
  })

  it.each(NO_STABLE)('of %s fails', (_, named, code) => {
    expect(new TokenLedger().send(ISSUER, 'stable_withdraw', part({ symbol: named })).code).toBe(code)
  })
})

describe('a mempool', () => {
  it.each(['stable_deposit', 'stable_mint', 'stable_redeem', 'stable_withdraw'] as const)(
    'need not see native coins for %s beside the fee',
    (kind) => {
      const { rules } = new TokenLedger().ruleBook.params.steps[0]!
      expect(PROTOCOL.handlers[kind].spends({} as never, rules)).toBe(0n)
    },
  )
})

describe('the facts of a stable token', () => {
  const facts = (ledger: TokenLedger) => stableFacts(ledger.state, FUSD)

  it('say how it stands', () => {
    const ledger = new TokenLedger()
    const base = { symbol: FUSD, reserveAsset: tokenAsset(XUSD), supply: 1_500n }
    expect(facts(ledger)).toEqual({ ...base, reserve: 1_500n, backingBps: 10_000n, redeemable: 1_500n, surplus: 0n })
    ledger.send(BOB, 'stable_deposit', part({ amount: units(100) }))
    expect(facts(ledger)).toEqual({ ...base, reserve: 1_600n, backingBps: 10_666n, redeemable: 1_500n, surplus: 100n })
    const short = { ...base, reserve: 900n, backingBps: 6_000n, redeemable: 900n, surplus: 0n }
    expect(facts(underBacked())).toEqual(short)
  })

  it('name no ratio to nothing', () => {
    const empty = new TokenLedger(dollarLedgers([], 70n))
    expect(facts(empty)).toMatchObject({ reserve: 70n, supply: 0n, backingBps: null, redeemable: 0n, surplus: 70n })
  })

  it.each([SALT, XUSD, symbol('RENT'), symbol('FAR')])('are none for %s', (named) => {
    expect(stableFacts(new TokenLedger().state, named)).toBeUndefined()
  })
})

describe('reserves in genesis', () => {
  const [stable] = TOKEN_LEDGERS.stables
  const withTokens = (change: (token: GenesisLedgers['tokens'][number]) => object): GenesisLedgers => ({
    ...TOKEN_LEDGERS,
    tokens: TOKEN_LEDGERS.tokens.map((token) => ({ ...token, ...change(token) })),
  })

  it('are minted as bridged supply', () => {
    const ledger = new TokenLedger()
    expect(ledger.books(XUSD)).toEqual({ minted: 2_500n, burned: 0n, cap: 0n })
    expect(ledger.get(STABLE_RESERVES, tokenAsset(FUSD))).toEqual({ reserveAsset: tokenAsset(XUSD), reserve: 1_500n })
    expect(ledger.broken()).toEqual([])
  })

  it.each([
    ['a reserve of nothing', { ...TOKEN_LEDGERS, stables: [{ ...stable!, symbol: symbol('RENT') }] }, 'is a stable'],
    ['a reserve of a plain token', { ...TOKEN_LEDGERS, stables: [{ ...stable!, symbol: SALT }] }, 'is a stable token'],
    ['plain money', { ...TOKEN_LEDGERS, stables: [{ ...stable!, reserveSymbol: SALT }] }, 'is a bridged token'],
    ['unknown money', { ...TOKEN_LEDGERS, stables: [{ ...stable!, reserveSymbol: symbol('RENT') }] }, 'is a bridged'],
    [
      'money that freezes',
      withTokens((token) => (token.symbol === XUSD ? { freezable: true } : {})),
      'cannot be frozen',
    ],
    ['two reserves', { ...TOKEN_LEDGERS, stables: [stable!, stable!] }, 'FUSD has one reserve'],
    ['a stable token without reserve', { ...TOKEN_LEDGERS, stables: [] }, 'reserve record of .* is missing'],
  ])('with %s are refused', (_, ledgers, message) => {
    expect(() => new TokenLedger(ledgers as GenesisLedgers)).toThrow(new RegExp(message))
  })
})
