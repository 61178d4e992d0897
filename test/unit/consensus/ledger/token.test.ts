import { describe, expect, it } from 'vitest'
import { ACCOUNTS, openedAccount } from '../../../../consensus/ledger/account.ts'
import { tokenAsset } from '../../../../consensus/ledger/asset.ts'
import { nativeSupply, SUPPLY } from '../../../../consensus/ledger/supply.ts'
import { TOKEN_BALANCES } from '../../../../consensus/ledger/token-balances.ts'
import { NO_ISSUER, SYMBOLS, type SymbolSkeleton } from '../../../../consensus/ledger/token-records.ts'
import { SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import { NATIVE_ASSET } from '../../../../consensus/state/table.ts'
import type { PayloadOf, TxKind } from '../../../../consensus/tx/kinds.ts'
import { declaredWrites } from '../../../../consensus/tx/weight.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { FUNDS, type SentOutcome } from '../../../support/ledger.ts'
import {
  BOB,
  CAROL,
  FUSD,
  ISSUER,
  SALT,
  STRANGER,
  symbol,
  TOKEN_LEDGERS,
  TokenLedger,
  WOOL,
  XUSD,
} from '../../../support/tokens.ts'
import { units } from '../../../support/unsigned.ts'

const BURN = 1_000_000_000n
const RENT = symbol('RENT')

function creation(change: Partial<PayloadOf<'token_create'>> = {}): PayloadOf<'token_create'> {
  return { symbol: RENT, name: 'Rent', decimals: 2, maxSupply: units(500), freezable: true, ...change }
}

const issueOf = (change: Partial<PayloadOf<'token_mint'>> = {}): PayloadOf<'token_mint'> => ({
  ...{ symbol: SALT, to: BOB, amount: units(10), create: false },
  ...change,
})
const burnOf = (change: Partial<PayloadOf<'token_burn'>> = {}) => ({ symbol: SALT, amount: units(10), ...change })
const flagsOf = (change: Partial<PayloadOf<'token_flags'>> = {}) => ({
  ...{ symbol: SALT, frozen: true, hidden: false },
  ...change,
})

/** A ledger where the issuer has frozen this token. */
function frozen(named = SALT): TokenLedger {
  const ledger = new TokenLedger()
  expect(ledger.send(ISSUER, 'token_flags', flagsOf({ symbol: named })).code).toBe('success')
  return ledger
}

/** How many records the transaction wrote, without those that every block writes. The supply that a token_create burns from counts. */
function written({ block, tx }: SentOutcome): number {
  const own = block.changes.filter(({ table, key }) => {
    return !['rewards', 'staking-pool'].includes(table.name) && key !== SUPPLY.key(NATIVE_ASSET)
  })
  return own.length + (tx.body.kind === 'token_create' ? 1 : 0)
}

describe('token_create', () => {
  it('opens a token of the sender, burns the fee for its name and records its skeleton', () => {
    const ledger = new TokenLedger()
    const burnedBefore = nativeSupply(ledger.state).burned
    const { code, receipt } = ledger.send(CAROL, 'token_create', creation())
    expect(code).toBe('success')
    expect(receipt.amounts).toEqual([])
    expect(ledger.token(RENT)).toEqual({
      ...{ version: 1, name: 'Rent', decimals: 2, kind: 0, issuer: CAROL },
      ...{ freezable: true, frozen: false, hidden: false, createdAt: 1 },
    })
    expect(ledger.books(RENT)).toEqual({ minted: 0n, burned: 0n, cap: 500n })
    expect(ledger.get(SYMBOLS, 'RENT' as SymbolSkeleton)).toEqual({ asset: tokenAsset(RENT) })
    expect(ledger.balance(CAROL)).toBe(FUNDS - BURN - receipt.fee)
    expect(nativeSupply(ledger.state).burned - burnedBefore).toBe(BURN + receipt.burned)
    expect(ledger.broken()).toEqual([])
  })

  it('declares what a mempool must see covered', () => {
    const { rules } = new TokenLedger().ruleBook.params.steps[0]!
    const { body } = new TokenLedger().tx(CAROL, 'token_create', creation())
    expect(PROTOCOL.handlers.token_create.spends(body as never, rules)).toBe(BURN)
  })

  it.each([
    ['a token', WOOL],
    ['a stable token', FUSD],
    ['a bridged token', XUSD],
    ['the native coin', symbol('FAR')],
  ])('of the symbol of %s fails', (_, taken) => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_create', creation({ symbol: taken })).code).toBe('token/symbol-taken')
    expect(ledger.held(BOB, taken)).toBe(taken === symbol('FAR') ? ledger.balance(BOB) : 1_000n)
  })

  it('of a symbol that looks like another fails, before it asks for funds', () => {
    const ledger = new TokenLedger()
    ledger.send(BOB, 'transfer', { to: CAROL, amount: units(FUNDS - BURN), create: false })
    expect(ledger.send(BOB, 'token_create', creation({ symbol: symbol('WO0L') })).code).toBe('token/look-alike')
    expect(ledger.send(BOB, 'token_create', creation({ symbol: WOOL })).code).toBe('token/symbol-taken')
    expect(ledger.send(BOB, 'token_create', creation()).code).toBe('ledger/insufficient-balance')
    expect(ledger.token(RENT)).toBeUndefined()
    expect(ledger.get(SYMBOLS, 'RENT' as SymbolSkeleton)).toBeUndefined()
  })
})

describe('token_mint', () => {
  it('mints to any account that exists', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(ISSUER, 'token_mint', issueOf({ to: CAROL })).code).toBe('success')
    expect(ledger.held(CAROL, SALT)).toBe(10n)
    expect(ledger.books(SALT)).toEqual({ minted: 1_010n, burned: 0n, cap: 0n })
  })

  it('opens the receiver’s account with the create bit alone', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(ISSUER, 'token_mint', issueOf({ to: STRANGER })).code).toBe('ledger/no-account')
    expect(ledger.books(SALT).minted).toBe(1_000n)
    expect(ledger.send(ISSUER, 'token_mint', issueOf({ to: STRANGER, create: true })).code).toBe('success')
    expect(ledger.get(ACCOUNTS, STRANGER)).toEqual(openedAccount(units(0)))
    expect(ledger.held(STRANGER, SALT)).toBe(10n)
  })

  it.each([
    ['an unknown token', BOB, { symbol: RENT }, 'token/unknown'],
    ['the native coin', BOB, { symbol: symbol('FAR') }, 'token/unknown'],
    ['a bridged token', BOB, { symbol: XUSD }, 'token/wrong-kind'],
    ['a stable token, by its issuer', ISSUER, { symbol: FUSD }, 'token/wrong-kind'],
    ['another’s token', BOB, { symbol: WOOL, amount: units(9_001) }, 'token/not-issuer'],
    ['more than the rest', ISSUER, { symbol: WOOL, amount: units(9_001), to: STRANGER }, 'token/max-supply'],
  ] as const)('of %s fails', (_, sender, change, code) => {
    const ledger = new TokenLedger()
    expect(ledger.send(sender, 'token_mint', issueOf(change)).code).toBe(code)
    expect(ledger.held(BOB, WOOL)).toBe(1_000n)
  })

  it('of a frozen token fails, whatever else is wrong later', () => {
    const change = { amount: units(SUPPLY_BOUND - 1n), to: STRANGER }
    expect(frozen().send(BOB, 'token_mint', issueOf(change)).code).toBe('token/not-issuer')
    expect(frozen().send(ISSUER, 'token_mint', issueOf(change)).code).toBe('token/frozen')
    expect(new TokenLedger().send(ISSUER, 'token_mint', issueOf(change)).code).toBe('token/max-supply')
  })

  it('stops at the maximum supply, which burning does not raise', () => {
    const ledger = new TokenLedger()
    const rest = issueOf({ symbol: WOOL, amount: units(9_000) })
    expect(ledger.send(ISSUER, 'token_mint', rest).code).toBe('success')
    expect(ledger.send(BOB, 'token_burn', burnOf({ symbol: WOOL, amount: units(10_000) })).code).toBe('success')
    expect(ledger.supply(WOOL)).toBe(0n)
    const more = issueOf({ symbol: WOOL, amount: units(1) })
    expect(ledger.send(ISSUER, 'token_mint', more).code).toBe('token/max-supply')
  })

  it('without a maximum stops at 2^112 - 1 in all', () => {
    const ledger = new TokenLedger()
    const most = SUPPLY_BOUND - 1_001n
    expect(ledger.send(ISSUER, 'token_mint', issueOf({ amount: units(most + 1n) })).code).toBe('token/max-supply')
    expect(ledger.send(ISSUER, 'token_mint', issueOf({ amount: units(most) })).code).toBe('success')
    expect(ledger.send(ISSUER, 'token_mint', issueOf({ amount: units(1) })).code).toBe('token/max-supply')
    expect(ledger.held(BOB, SALT)).toBe(SUPPLY_BOUND - 1n)
  })
})

describe('token_burn', () => {
  it.each([SALT, FUSD])('destroys what the sender holds: %s', (named) => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_burn', burnOf({ symbol: named })).code).toBe('success')
    expect(ledger.held(BOB, named)).toBe(990n)
    expect(ledger.books(named).burned).toBe(10n)
  })

  it('of everything leaves no record', () => {
    const ledger = new TokenLedger()
    ledger.send(BOB, 'token_burn', burnOf({ amount: units(1_000) }))
    expect(ledger.get(TOKEN_BALANCES, { address: BOB, asset: tokenAsset(SALT) })).toBeUndefined()
  })

  it('of a frozen token succeeds', () => {
    const ledger = frozen()
    expect(ledger.send(BOB, 'token_burn', burnOf()).code).toBe('success')
    expect(ledger.supply(SALT)).toBe(990n)
  })

  it.each([
    ['an unknown token', { symbol: RENT }, 'token/unknown'],
    ['the native coin', { symbol: symbol('FAR') }, 'token/unknown'],
    ['a bridged token, of which too little is held', { symbol: XUSD, amount: units(1_001) }, 'token/wrong-kind'],
    ['more than is held', { amount: units(1_001) }, 'ledger/insufficient-balance'],
  ] as const)('of %s fails', (_, change, code) => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_burn', burnOf(change)).code).toBe(code)
    expect(ledger.supply(SALT)).toBe(1_000n)
  })
})

describe('token_transfer', () => {
  it.each([SALT, FUSD, XUSD, WOOL])('moves tokens of any kind: %s', (named) => {
    const ledger = new TokenLedger()
    const before = ledger.held(CAROL, named)
    const { code, receipt } = ledger.send(BOB, 'token_transfer', issueOf({ symbol: named, to: CAROL }))
    expect(code).toBe('success')
    expect([ledger.held(BOB, named), ledger.held(CAROL, named)]).toEqual([990n, before + 10n])
    expect(ledger.balance(BOB)).toBe(FUNDS - receipt.fee)
  })

  it('to oneself changes nothing, and needs the tokens all the same', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_transfer', issueOf({ amount: units(1_000) })).code).toBe('success')
    expect(ledger.held(BOB, SALT)).toBe(1_000n)
    const { code } = ledger.send(BOB, 'token_transfer', issueOf({ amount: units(1_001) }))
    expect(code).toBe('ledger/insufficient-balance')
  })

  it('opens the receiver’s account with the create bit alone', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_transfer', issueOf({ to: STRANGER })).code).toBe('ledger/no-account')
    expect(ledger.held(BOB, SALT)).toBe(1_000n)
    expect(ledger.send(BOB, 'token_transfer', issueOf({ to: STRANGER, create: true })).code).toBe('success')
    expect(ledger.held(STRANGER, SALT)).toBe(10n)
  })

  it.each([
    ['an unknown token', { symbol: RENT }, 'token/unknown'],
    ['the native coin', { symbol: symbol('FAR') }, 'token/unknown'],
    ['more than is held, to no account', { amount: units(1_001), to: STRANGER }, 'ledger/insufficient-balance'],
  ] as const)('of %s fails', (_, change, code) => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_transfer', issueOf({ to: CAROL, ...change })).code).toBe(code)
    expect(ledger.held(CAROL, SALT)).toBe(0n)
  })

  it.each([SALT, FUSD])('of a frozen token fails first of all, until it thaws: %s', (named) => {
    const ledger = frozen(named)
    const held = ledger.held(CAROL, named)
    const sent = issueOf({ symbol: named, to: CAROL })
    expect(ledger.send(BOB, 'token_transfer', { ...sent, amount: units(1_001) }).code).toBe('token/frozen')
    expect(ledger.send(BOB, 'token_transfer', sent).code).toBe('token/frozen')
    expect(ledger.held(CAROL, named)).toBe(held)
    ledger.send(ISSUER, 'token_flags', flagsOf({ symbol: named, frozen: false }))
    expect(ledger.send(BOB, 'token_transfer', sent).code).toBe('success')
  })
})

describe('token_flags', () => {
  it('sets both flags and nothing else', () => {
    const ledger = new TokenLedger()
    const before = ledger.token(SALT)
    expect(ledger.send(ISSUER, 'token_flags', flagsOf({ hidden: true })).code).toBe('success')
    expect(ledger.token(SALT)).toEqual({ ...before, frozen: true, hidden: true })
    expect(ledger.send(ISSUER, 'token_flags', flagsOf({ frozen: false })).code).toBe('success')
    expect(ledger.token(SALT)).toEqual(before)
  })

  it('hides a token that cannot be frozen', () => {
    const ledger = new TokenLedger()
    const hidden = flagsOf({ symbol: WOOL, frozen: false, hidden: true })
    expect(ledger.send(ISSUER, 'token_flags', hidden).code).toBe('success')
    expect(ledger.token(WOOL)).toMatchObject({ frozen: false, hidden: true })
  })

  it.each([
    ['an unknown token', ISSUER, { symbol: RENT }, 'token/unknown'],
    ['another’s token', BOB, { symbol: WOOL }, 'token/not-issuer'],
    ['a token without issuer', ISSUER, { symbol: XUSD }, 'token/not-issuer'],
    ['a token that cannot be frozen', ISSUER, { symbol: WOOL }, 'token/not-freezable'],
  ] as const)('of %s fails', (_, sender, change, code) => {
    const ledger = new TokenLedger()
    expect(ledger.send(sender, 'token_flags', flagsOf(change)).code).toBe(code)
    expect(ledger.token(WOOL)?.frozen).toBe(false)
  })
})

describe('token_issuer', () => {
  it('hands the token over at once', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(ISSUER, 'token_issuer', { symbol: SALT, issuer: BOB }).code).toBe('success')
    expect(ledger.send(ISSUER, 'token_mint', issueOf()).code).toBe('token/not-issuer')
    expect(ledger.send(BOB, 'token_mint', issueOf()).code).toBe('success')
  })

  it('renounces it for ever with a zero issuer', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(ISSUER, 'token_issuer', { symbol: SALT, issuer: NO_ISSUER }).code).toBe('success')
    expect(ledger.token(SALT)?.issuer).toBe(NO_ISSUER)
    expect(ledger.send(ISSUER, 'token_issuer', { symbol: SALT, issuer: ISSUER }).code).toBe('token/not-issuer')
  })

  it('hands a frozen token over, but does not renounce it', () => {
    const ledger = frozen()
    expect(ledger.send(ISSUER, 'token_issuer', { symbol: SALT, issuer: NO_ISSUER }).code).toBe('token/frozen')
    expect(ledger.send(ISSUER, 'token_issuer', { symbol: SALT, issuer: STRANGER }).code).toBe('ledger/no-account')
    expect(ledger.send(ISSUER, 'token_issuer', { symbol: SALT, issuer: BOB }).code).toBe('success')
    expect(ledger.token(SALT)).toMatchObject({ issuer: BOB, frozen: true })
  })

  it.each([
    ['an unknown token', ISSUER, RENT, 'token/unknown'],
    ['another’s token', BOB, SALT, 'token/not-issuer'],
    ['a token without issuer', ISSUER, XUSD, 'token/not-issuer'],
    ['one’s own to an account that does not exist', ISSUER, SALT, 'ledger/no-account'],
  ] as const)('of %s fails', (_, sender, named, code) => {
    const ledger = new TokenLedger()
    expect(ledger.send(sender, 'token_issuer', { symbol: named, issuer: STRANGER }).code).toBe(code)
    expect(ledger.token(SALT)?.issuer).toBe(ISSUER)
  })
})

describe('a token transaction', () => {
  it.each([
    ['token_create', ISSUER, creation(), 5],
    ['token_mint', ISSUER, issueOf({ to: STRANGER, create: true }), 4],
    ['token_transfer', BOB, issueOf({ to: STRANGER, create: true }), 4],
    ['token_burn', BOB, burnOf(), 3],
    ['token_flags', ISSUER, flagsOf(), 2],
    ['token_issuer', ISSUER, { symbol: SALT, issuer: BOB }, 2],
    ['stable_deposit', BOB, { symbol: FUSD, amount: units(10) }, 3],
    ['stable_redeem', CAROL, { symbol: FUSD, amount: units(10), minPaid: units(0) }, 5],
  ] as const)('writes as many records as %s declares at the most', (kind, sender, payload, most) => {
    const sent = new TokenLedger(TOKEN_LEDGERS).send(sender, kind as TxKind, payload as never)
    expect(sent.code).toBe('success')
    expect(written(sent)).toBe(most)
    expect(declaredWrites(sent.tx.body)).toBe(most)
  })

  it.each(['token_mint', 'token_burn', 'token_transfer', 'token_flags', 'token_issuer'] as const)(
    'of kind %s spends no native coins beside the fee',
    (kind) => {
      const { rules } = new TokenLedger().ruleBook.params.steps[0]!
      expect(PROTOCOL.handlers[kind].spends({} as never, rules)).toBe(0n)
    },
  )
})
