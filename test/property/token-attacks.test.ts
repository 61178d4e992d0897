import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEVNET } from '../../config/networks/devnet.ts'
import { NO_ISSUER, skeletonOf } from '../../consensus/ledger/token-records.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { runs } from '../support/runs.ts'
import {
  BOB,
  CAROL,
  DAVE,
  dollarLedgers,
  FUSD,
  ISSUER,
  SALT,
  STRANGER,
  symbol,
  TOKEN_LEDGERS,
  TokenLedger,
  WOOL,
  XUSD,
} from '../support/tokens.ts'
import { units } from '../support/unsigned.ts'

const MOST = (1n << 112n) - 1n

/** Letters and digits that look alike, written independently of the ledger's table. */
const PAIRS = ['O0', 'I1', 'Z2', 'S5', 'B8']
const twin = (char: string) => PAIRS.find((pair) => pair.includes(char)) ?? char

/** All texts that look like this one, which is among them. */
function disguises(text: string): readonly string[] {
  return [...text].reduce<string[]>((made, char) => made.flatMap((head) => [...twin(char)].map((c) => head + c)), [''])
}

/** Texts that look like this one and begin with a letter, as symbols do. */
const symbolsLike = (text: string) => disguises(text).filter((disguise) => /^[A-Z]/.test(disguise))

const launch = (named: string) => ({
  symbol: symbol(named),
  name: 'New',
  decimals: 2,
  maxSupply: units(0),
  freezable: true,
})

describe('passing a token off as another', () => {
  const reserved = ['FAR', ...DEVNET.genesis.ledgers.tokens.map((token) => String(token.symbol))]

  it.each(reserved)('fails for every disguise of %s, which no account can take on any network', (named) => {
    const ledger = new TokenLedger({ ...TOKEN_LEDGERS, tokens: DEVNET.genesis.ledgers.tokens, ...nothingHeld() })
    for (const disguise of symbolsLike(named)) {
      const { code } = ledger.send(BOB, 'token_create', launch(disguise))
      expect([disguise, code]).toEqual([disguise, disguise === named ? 'token/symbol-taken' : 'token/look-alike'])
    }
  })

  it('fails for every disguise of an existing token', () => {
    const all = symbolsLike('ABOIZS5')
    expect(all.length).toBe(64)
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_create', launch('AB0IZ5S')).code).toBe('success')
    const codes = all.map((disguise) => ledger.send(CAROL, 'token_create', launch(disguise)).code)
    expect(codes.filter((code) => code === 'token/symbol-taken').length).toBe(1)
    expect(codes.filter((code) => code === 'token/look-alike').length).toBe(63)
  })

  it('is what two symbols of three characters collide for, and nothing else', () => {
    const letters = 'AOIZSB'
    const texts = [...letters].flatMap((a) =>
      [...`${letters}012589`].flatMap((b) => [...'O0I1X'].map((c) => a + b + c)),
    )
    for (const one of texts) {
      const like = new Set(symbolsLike(one))
      const colliding = texts.filter((other) => skeletonOf(symbol(other)) === skeletonOf(symbol(one)))
      expect(new Set(colliding)).toEqual(new Set(texts.filter((other) => like.has(other))))
    }
  })

  it('is not helped by a digit that resembles nothing, nor hinders one who means no harm', () => {
    const ledger = new TokenLedger()
    for (const named of ['XUSD3', 'XUS', 'SALTS', 'WOOLS', 'SAL7', 'FAR4']) {
      expect(ledger.send(BOB, 'token_create', launch(named)).code).toBe('success')
    }
  })
})

/** Ledgers without holdings and reserve. */
function nothingHeld() {
  const { stables, bridge } = dollarLedgers([], 0n)
  return { balances: [], stables, bridge }
}

/** Holders of FUSD, with a reserve of `percent` of the supply. */
function runOn(held: readonly bigint[], percent: bigint) {
  const holders = held.map((amount, i) => ({ address: [BOB, CAROL, DAVE, ISSUER][i] as Address, amount }))
  const supply = held.reduce((sum, amount) => sum + amount, 0n)
  const reserve = (supply * percent) / 100n
  const ledger = new TokenLedger(
    dollarLedgers(
      holders.map((holder) => ({ ...holder, symbol: FUSD })),
      reserve,
    ),
  )
  return { ledger, holders, supply, reserve }
}

function redeem(ledger: TokenLedger, from: Address, amount: bigint): bigint {
  const payload = { symbol: FUSD, amount: units(amount), minPaid: units(0) }
  const { code, receipt } = ledger.send(from, 'stable_redeem', payload)
  expect(['success', 'stable/below-minimum']).toContain(code)
  return receipt.amounts[0] ?? 0n
}

describe('a run on a stable token with 60 % backing', () => {
  const sizes = fc.oneof(fc.bigInt(2n, 2_000n), fc.bigInt(1n << 60n, 1n << 108n))
  const crowds = fc.array(sizes, { minLength: 2, maxLength: 4 })
  const orders = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 })

  it('pays every account the same part in any order, and the last what is left', () => {
    fc.assert(
      fc.property(crowds, orders, (held, order) => {
        const { ledger, holders, supply, reserve } = runOn(held, 60n)
        const queue = order.flatMap((i) => holders[i] ?? [])
        const paid = queue.map(({ address, amount }) => ({ amount, paid: redeem(ledger, address, amount) }))
        for (const row of paid) {
          const share = (row.amount * reserve) / supply
          expect(row.paid >= share && row.paid <= share + BigInt(queue.length)).toBe(true)
        }
        expect(paid.reduce((sum, row) => sum + row.paid, 0n)).toBe(reserve)
        expect([ledger.reserve(FUSD), ledger.supply(FUSD)]).toEqual([0n, 0n])
        expect(ledger.broken()).toEqual([])
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('never gives more for pieces than for the whole', () => {
    const cuts = fc.array(fc.bigInt(1n, 400n), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(cuts, fc.bigInt(0n, 3_000n), (pieces, rest) => {
        const amount = pieces.reduce((sum, piece) => sum + piece, 0n)
        const whole = runOn([amount, rest + 2n], 60n)
        const cut = runOn([amount, rest + 2n], 60n)
        const atOnce = redeem(whole.ledger, BOB, amount)
        const inPieces = pieces.reduce((sum, piece) => sum + redeem(cut.ledger, BOB, piece), 0n)
        expect(inPieces <= atOnce).toBe(true)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('cannot be outrun by the issuer: nothing is minted or withdrawn before the reserve is whole again', () => {
    const { ledger } = runOn([1_000n, 500n], 60n)
    const part = { symbol: FUSD, amount: units(1) }
    const issue = { ...part, to: ISSUER, create: false }
    expect(ledger.send(ISSUER, 'stable_mint', issue).code).toBe('stable/under-backed')
    expect(ledger.send(ISSUER, 'stable_withdraw', part).code).toBe('stable/no-surplus')
    ledger.send(CAROL, 'token_burn', { symbol: FUSD, amount: units(499) })
    expect(ledger.send(ISSUER, 'stable_withdraw', part).code).toBe('stable/no-surplus')
    ledger.send(BOB, 'token_burn', { symbol: FUSD, amount: units(200) })
    expect(ledger.send(ISSUER, 'stable_withdraw', { ...part, amount: units(99) }).code).toBe('success')
    expect([ledger.reserve(FUSD), ledger.supply(FUSD)]).toEqual([801n, 801n])
  })

  it('goes on while the issuer has frozen the token', () => {
    const { ledger } = runOn([1_000n, 500n], 60n)
    const frozen = new TokenLedger(dollarLedgers([{ symbol: FUSD, address: BOB, amount: 10n }], 6n))
    frozen.send(ISSUER, 'token_flags', { symbol: FUSD, frozen: true, hidden: true })
    ledger.send(ISSUER, 'token_flags', { symbol: FUSD, frozen: true, hidden: true })
    expect([redeem(ledger, BOB, 1_000n), redeem(ledger, CAROL, 500n), redeem(frozen, BOB, 10n)]).toEqual([
      ...[600n, 300n, 6n],
    ])
  })
})

describe('amounts of nearly 2^112', () => {
  it('move, burn and count, and leave nothing to mint', () => {
    const ledger = new TokenLedger({ ...TOKEN_LEDGERS, ...nothingHeld() })
    const all = { symbol: SALT, to: BOB, amount: units(MOST), create: false }
    expect(ledger.send(ISSUER, 'token_mint', all).code).toBe('success')
    expect(ledger.send(ISSUER, 'token_mint', { ...all, amount: units(1) }).code).toBe('token/max-supply')
    expect(ledger.send(ISSUER, 'token_mint', all).code).toBe('token/max-supply')
    expect(ledger.send(BOB, 'token_transfer', { ...all, to: CAROL }).code).toBe('success')
    expect(ledger.send(CAROL, 'token_burn', { symbol: SALT, amount: units(MOST) }).code).toBe('success')
    expect(ledger.books(SALT)).toEqual({ minted: MOST, burned: MOST, cap: 0n })
    expect(ledger.send(ISSUER, 'token_mint', { ...all, amount: units(1) }).code).toBe('token/max-supply')
    expect(ledger.broken()).toEqual([])
  })

  it('may be a maximum supply', () => {
    const ledger = new TokenLedger()
    expect(ledger.send(BOB, 'token_create', { ...launch('RENT'), maxSupply: units(MOST) }).code).toBe('success')
    const all = { symbol: symbol('RENT'), to: BOB, amount: units(MOST), create: false }
    expect(ledger.send(BOB, 'token_mint', all).code).toBe('success')
    expect(ledger.send(BOB, 'token_mint', { ...all, amount: units(1) }).code).toBe('token/max-supply')
  })

  it.each([0n, 1n, MOST / 2n])('back a stable token short of %d of them', (short) => {
    const balances = [
      { symbol: FUSD, address: BOB, amount: MOST - 7n },
      { symbol: FUSD, address: CAROL, amount: 7n },
      { symbol: XUSD, address: DAVE, amount: short },
    ]
    const ledger = new TokenLedger(dollarLedgers(balances, MOST - short))
    const mint = { symbol: FUSD, to: BOB, amount: units(MOST), create: false }
    expect(ledger.send(ISSUER, 'stable_mint', mint).code).toBe('stable/under-backed')
    expect(ledger.send(ISSUER, 'stable_withdraw', { symbol: FUSD, amount: units(MOST) }).code).toBe('stable/no-surplus')
    if (short > 0n) {
      expect(ledger.send(DAVE, 'stable_deposit', { symbol: FUSD, amount: units(short) }).code).toBe('success')
    }
    expect(ledger.send(ISSUER, 'stable_mint', { ...mint, amount: units(1) }).code).toBe('stable/under-backed')
    expect([redeem(ledger, BOB, MOST - 7n), redeem(ledger, CAROL, 7n)]).toEqual([MOST - 7n, 7n])
    expect(ledger.held(BOB, XUSD)).toBe(MOST - 7n)
    expect(ledger.broken()).toEqual([])
  })

  it('redeem for nearly as much', () => {
    const ledger = new TokenLedger(dollarLedgers([{ symbol: FUSD, address: BOB, amount: MOST }], MOST - 1n))
    expect(redeem(ledger, BOB, MOST - 1n)).toBe(MOST - 2n)
    expect(redeem(ledger, BOB, 1n)).toBe(1n)
  })
})

describe('an issuer who has renounced', () => {
  it('can do nothing that an issuer can, and nor can any other account', () => {
    for (const named of [SALT, FUSD]) {
      const ledger = new TokenLedger()
      expect(ledger.send(ISSUER, 'token_issuer', { symbol: named, issuer: NO_ISSUER }).code).toBe('success')
      const [kind, issue] = [
        named === SALT ? 'token_mint' : 'stable_mint',
        { symbol: named, to: BOB, create: false },
      ] as const
      for (const sender of [ISSUER, BOB]) {
        const codes = [
          ledger.send(sender, kind, { ...issue, amount: units(1) }).code,
          ledger.send(sender, 'token_flags', { symbol: named, frozen: true, hidden: false }).code,
          ledger.send(sender, 'token_issuer', { symbol: named, issuer: sender }).code,
        ]
        expect(new Set(codes)).toEqual(new Set(['token/not-issuer']))
      }
      expect(ledger.send(ISSUER, 'stable_withdraw', { symbol: FUSD, amount: units(1) }).code).toBe(
        named === SALT ? 'stable/no-surplus' : 'token/not-issuer',
      )
    }
  })

  it('cannot have frozen it: the account that freezes stays able to thaw', () => {
    const ledger = new TokenLedger()
    const flags = (frozen: boolean) => ({ symbol: SALT, frozen, hidden: false })
    const hand = (issuer: Address) => ({ symbol: SALT, issuer })
    const send = { symbol: SALT, to: CAROL, amount: units(1), create: false }
    ledger.send(ISSUER, 'token_flags', flags(true))
    expect(ledger.send(ISSUER, 'token_issuer', hand(NO_ISSUER)).code).toBe('token/frozen')
    expect(ledger.send(ISSUER, 'token_issuer', hand(STRANGER)).code).toBe('ledger/no-account')
    expect(ledger.send(ISSUER, 'token_issuer', hand(DAVE)).code).toBe('success')
    expect(ledger.send(DAVE, 'token_issuer', hand(NO_ISSUER)).code).toBe('token/frozen')
    expect(ledger.send(BOB, 'token_transfer', send).code).toBe('token/frozen')
    ledger.send(DAVE, 'token_flags', flags(false))
    expect(ledger.send(DAVE, 'token_issuer', hand(NO_ISSUER)).code).toBe('success')
    expect(ledger.send(DAVE, 'token_flags', flags(true)).code).toBe('token/not-issuer')
    expect(ledger.send(BOB, 'token_transfer', send).code).toBe('success')
  })
})

describe('an issuer who gave the power to freeze away at creation', () => {
  it.each([WOOL])('never gets it: %s', (named: TokenSymbol) => {
    const ledger = new TokenLedger()
    const frozen = { symbol: named, frozen: true, hidden: false }
    expect(ledger.send(ISSUER, 'token_flags', frozen).code).toBe('token/not-freezable')
    ledger.send(ISSUER, 'token_issuer', { symbol: named, issuer: DAVE })
    expect(ledger.send(DAVE, 'token_flags', frozen).code).toBe('token/not-freezable')
    expect(ledger.token(named)?.frozen).toBe(false)
  })
})
