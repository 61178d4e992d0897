import { describe, expect, it } from 'vitest'
import { NETWORKS } from '../../../../config/networks/table.ts'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import { ACCOUNTS, openedAccount } from '../../../../consensus/ledger/account.ts'
import { tokenAsset } from '../../../../consensus/ledger/asset.ts'
import type { GenesisLedgers } from '../../../../consensus/ledger/rules.ts'
import { stableFacts } from '../../../../consensus/ledger/stable-facts.ts'
import { SUPPLY } from '../../../../consensus/ledger/supply.ts'
import { NO_ISSUER, SYMBOLS, skeletonOf, TOKENS } from '../../../../consensus/ledger/token-records.ts'
import { NATIVE_ASSET } from '../../../../consensus/state/table.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { FUNDS } from '../../../support/ledger.ts'
import { BOB, SALT, STRANGER, symbol, TOKEN_LEDGERS, TokenLedger, WOOL, XUSD } from '../../../support/tokens.ts'
import { units } from '../../../support/unsigned.ts'

const FAR = symbol('FAR')

/** The usual ledgers with one more token; `change` replaces fields of Salt. */
function withToken(change: Partial<GenesisLedgers['tokens'][number]>): GenesisLedgers {
  const salt = TOKEN_LEDGERS.tokens.find((token) => token.symbol === SALT)
  return { ...TOKEN_LEDGERS, tokens: [...TOKEN_LEDGERS.tokens, { ...salt!, ...change }] }
}

/** The usual ledgers with one more opening balance. */
function withBalance(balance: GenesisLedgers['balances'][number]): GenesisLedgers {
  return { ...TOKEN_LEDGERS, balances: [...TOKEN_LEDGERS.balances, balance] }
}

describe('tokens in genesis', () => {
  it('are as the network names them, each with its books and skeleton', () => {
    const ledger = new TokenLedger()
    expect(ledger.token(XUSD)).toEqual({
      ...{ version: 1, name: 'Bridged dollar', decimals: 6, kind: 2, issuer: NO_ISSUER },
      ...{ freezable: false, frozen: false, hidden: false, createdAt: 0 },
    })
    expect(ledger.books(WOOL)).toEqual({ minted: 1_000n, burned: 0n, cap: 10_000n })
    for (const { symbol: named } of TOKEN_LEDGERS.tokens) {
      expect(ledger.get(SYMBOLS, skeletonOf(named))).toEqual({ asset: tokenAsset(named) })
    }
  })

  it('leave the native coin its skeleton, and no token record', () => {
    const ledger = new TokenLedger()
    expect(ledger.get(SYMBOLS, skeletonOf(FAR))).toEqual({ asset: NATIVE_ASSET })
    expect(ledger.get(TOKENS, NATIVE_ASSET)).toBeUndefined()
  })

  it.each([
    ['of a symbol that stands twice', { symbol: SALT }, 'SALT: the symbol SALT is taken'],
    ['of a look-alike', { symbol: symbol('WO0L') }, 'WO0L looks like WOOL'],
    ['of the native symbol', { symbol: FAR }, 'FAR is taken'],
    ['with a blank name', { symbol: symbol('RENT'), name: ' ' }, 'RENT: name'],
    ['with 19 decimals', { symbol: symbol('RENT'), decimals: 19 }, 'RENT: decimals'],
    ['of more than may be', { symbol: symbol('RENT'), maxSupply: 1n << 112n }, 'RENT: maxSupply'],
  ])('%s are refused', (_, change, message) => {
    expect(() => new TokenLedger(withToken(change))).toThrow(message)
  })
})

describe('opening balances', () => {
  it('are minted into accounts that are opened for them', () => {
    const ledger = new TokenLedger(withBalance({ symbol: SALT, address: STRANGER, amount: 7n }))
    expect(ledger.get(ACCOUNTS, STRANGER)).toEqual(openedAccount(units(0)))
    expect(ledger.held(STRANGER, SALT)).toBe(7n)
    expect(ledger.books(SALT).minted).toBe(1_007n)
    expect(ledger.broken()).toEqual([])
  })

  it('may be of the native coin, on top of the allocations', () => {
    const ledger = new TokenLedger(withBalance({ symbol: FAR, address: BOB, amount: 7n }))
    expect(ledger.balance(BOB)).toBe(FUNDS + 7n)
    expect(ledger.get(SUPPLY, NATIVE_ASSET)?.minted).toBe(4n * FUNDS + 7n)
  })

  it('never pass a maximum supply, and are of tokens that exist', () => {
    const over = withBalance({ symbol: WOOL, address: BOB, amount: 9_001n })
    expect(() => new TokenLedger(over)).toThrow('minting beyond the cap')
    const unknown = withBalance({ symbol: symbol('RENT'), address: BOB, amount: 1n })
    expect(() => new TokenLedger(unknown)).toThrow('the supply record of')
  })
})

describe.each(Object.values(NETWORKS))('the tokens of $name', (params) => {
  const state = new MemoryState()
  state.apply(createRuleBook(params, PROTOCOL).genesis.changes)

  it('are reserved, and its stable tokens fully backed', () => {
    for (const { symbol: named, kind } of params.genesis.ledgers.tokens) {
      expect(state.get(SYMBOLS, skeletonOf(named))).toEqual({ asset: tokenAsset(named) })
      const facts = stableFacts(state, named)
      expect(facts === undefined).toBe(kind !== 'stable')
      if (facts !== undefined) expect(facts.reserve >= facts.supply).toBe(true)
    }
  })
})
