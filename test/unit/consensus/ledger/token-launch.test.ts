import { describe, expect, it } from 'vitest'
import { checkLaunch, launchFault, type TokenLaunch } from '../../../../consensus/ledger/token-launch.ts'
import { SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import { TokenLedger } from '../../../support/tokens.ts'

const { state, ruleBook } = new TokenLedger()

function launch(change: Partial<TokenLaunch> = {}) {
  const sound = { symbol: 'RENT', name: 'Rent', decimals: 2, maxSupply: 500n }
  return checkLaunch(state, ruleBook.at(1), { ...sound, ...change })
}

const failing = (change: Partial<TokenLaunch>) => launch(change).flatMap(({ rule, pass }) => (pass ? [] : [rule]))

describe('the check of a launch', () => {
  it('names every rule, and says of each that it passes', () => {
    const findings = launch()
    expect(findings.map(({ rule }) => rule)).toEqual([
      ...['symbol-form', 'name', 'decimals', 'max-supply', 'symbol-free', 'no-look-alike'],
    ])
    expect(findings.every(({ pass, fault, detail }) => pass && fault === null && detail !== '')).toBe(true)
    expect(launchFault(findings)).toBeNull()
  })

  it.each(['R', 'rent', '1RENT', 'RE NT', 'RENTRENTREN', '', 'RENT\n', 'RÉNT', '💰'.repeat(20)])(
    'judges no symbol "%s"',
    (symbol) => {
      expect(failing({ symbol })).toEqual(['symbol-form', 'symbol-free', 'no-look-alike'])
    },
  )

  it.each(['', ' Rent', 'Rent ', 'x'.repeat(65), 'é'.repeat(33), 'Re\u200Bnt', '\uD800'])(
    'refuses the name "%s"',
    (name) => {
      expect(failing({ name })).toEqual(['name'])
    },
  )

  it.each(['R', 'x'.repeat(64), 'é'.repeat(32), 'Rent of Öl'])('takes the name "%s"', (name) => {
    expect(failing({ name })).toEqual([])
  })

  it.each([-1, 19, 1.5, Number.NaN, 256])('refuses %d decimals', (decimals) => {
    expect(failing({ decimals })).toEqual(['decimals'])
  })

  it.each([0, 18])('takes %d decimals', (decimals) => {
    expect(failing({ decimals })).toEqual([])
  })

  it.each([-1n, SUPPLY_BOUND, 1n << 200n])('refuses a maximum supply of %d', (maxSupply) => {
    expect(failing({ maxSupply })).toEqual(['max-supply'])
  })

  it.each([0n, 1n, SUPPLY_BOUND - 1n])('takes a maximum supply of %d', (maxSupply) => {
    expect(failing({ maxSupply })).toEqual([])
  })

  it('tells a symbol that is taken from one that looks like another', () => {
    const named = (symbol: string) => launch({ symbol }).filter(({ pass }) => !pass)
    expect(named('SALT')).toEqual([
      {
        ...{ rule: 'symbol-free', pass: false, detail: 'the symbol SALT is taken' },
        fault: { code: 'token/symbol-taken', detail: { symbol: 'SALT' } },
      },
    ])
    expect(named('FU5D')).toEqual([
      {
        ...{ rule: 'no-look-alike', pass: false, detail: 'the symbol FU5D looks like FUSD' },
        fault: { code: 'token/look-alike', detail: { symbol: 'FU5D', other: 'FUSD' } },
      },
    ])
  })

  it('lists all that is wrong, and fails with the first of it', () => {
    const findings = launch({ symbol: 'WO0L', name: '', decimals: 19, maxSupply: SUPPLY_BOUND })
    const wrong = findings.filter(({ pass }) => !pass)
    expect(wrong.map(({ rule }) => rule)).toEqual(['name', 'decimals', 'max-supply', 'no-look-alike'])
    expect(launchFault(findings)).toEqual(wrong[0]!.fault)
  })
})
