import { describe, expect, it } from 'vitest'
import { tokenAsset } from '../../../../consensus/ledger/asset.ts'
import {
  kindOfToken,
  knownAsset,
  skeletonOf,
  TOKENS,
  tokenOf,
  usableAsset,
} from '../../../../consensus/ledger/token-records.ts'
import { encode } from '../../../../consensus/primitives/codec.ts'
import { NATIVE_ASSET } from '../../../../consensus/state/table.ts'
import { FUSD, ISSUER, SALT, symbol, TokenLedger, WOOL, XUSD } from '../../../support/tokens.ts'

const [FAR, RENT] = [symbol('FAR'), symbol('RENT')]
const unknown = (named: string) => ({ code: 'token/unknown', detail: { symbol: named } })

describe('a skeleton', () => {
  it.each([
    ['SALT', 'SALT'],
    ['S0152880', 'SOISZBBO'],
    ['A34679', 'A34679'],
    ['BTC20', 'BTCZO'],
  ])('of %s is %s', (named, skeleton) => {
    expect(skeletonOf(symbol(named))).toBe(skeleton)
  })
})

describe('a token by its symbol', () => {
  const { state } = new TokenLedger()

  it('is found with its asset and kind', () => {
    const kinds = [SALT, FUSD, XUSD].map((named) => {
      const found = tokenOf(state, named)
      if ('code' in found) throw new Error(found.code)
      expect([found.symbol, found.asset]).toEqual([named, tokenAsset(named)])
      return kindOfToken(found.token)
    })
    expect(kinds).toEqual(['plain', 'stable', 'bridged'])
  })

  it.each([FAR, RENT])('is none: %s', (named) => {
    expect(tokenOf(state, named)).toEqual(unknown(named))
  })
})

describe('an asset that a payload names', () => {
  const ledger = new TokenLedger()
  const { coin } = ledger.ruleBook.at(1)
  ledger.send(ISSUER, 'token_flags', { symbol: SALT, frozen: true, hidden: true })

  it('is known where it exists, usable where it is not frozen', () => {
    for (const named of [WOOL, FUSD, XUSD]) {
      expect(knownAsset(ledger.state, named, coin)).toEqual({ asset: tokenAsset(named) })
      expect(usableAsset(ledger.state, named, coin)).toEqual({ asset: tokenAsset(named) })
    }
    expect(knownAsset(ledger.state, SALT, coin)).toEqual({ asset: tokenAsset(SALT) })
    expect(usableAsset(ledger.state, SALT, coin)).toEqual({ code: 'token/frozen', detail: { symbol: SALT } })
  })

  it('may be the native coin', () => {
    expect(knownAsset(ledger.state, FAR, coin)).toEqual({ asset: NATIVE_ASSET })
    expect(usableAsset(ledger.state, FAR, coin)).toEqual({ asset: NATIVE_ASSET })
  })

  it('is neither where it does not exist', () => {
    expect(knownAsset(ledger.state, RENT, coin)).toEqual(unknown('RENT'))
    expect(usableAsset(ledger.state, RENT, coin)).toEqual(unknown('RENT'))
  })
})

describe('the record of a token', () => {
  it('has the bytes of the specification', () => {
    const token = new TokenLedger().token(WOOL)!
    const fixed = [1, ...[46, 0, 0, 0], 4, 0, ...Array.from({ length: 32 }, () => 1), 0, 0, 0, ...[0, 0, 0, 0]]
    expect(fixed.length).toBe(46)
    expect([...encode(TOKENS.codec, token)]).toEqual([...fixed, ...new TextEncoder().encode('Wool')])
  })
})
