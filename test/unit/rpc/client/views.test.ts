import { describe, expect, it } from 'vitest'
import {
  AGENT_ANSWER,
  HOLDINGS_ANSWER,
  POOL_ANSWER,
  QUOTE_ANSWER,
  SIMULATION_ANSWER,
  STABLES_ANSWER,
  TOKEN_ANSWER,
  UNITS,
} from '../../../../rpc/client/ledger-client.ts'
import { amountOf } from '../../../../rpc/contract/amounts.ts'
import { decode, type Schema } from '../../../../rpc/contract/schema.ts'

const far = { symbol: 'FAR', decimals: 8, units: '100', text: '0.000001' }
const salt = { symbol: 'SALT', decimals: 4, units: '7', text: '0.0007' }
const id = 'ab'.repeat(32)
const pool = { id, name: 'FAR-SALT-30', feeBps: 30, x: far, y: salt, shares: '1000' }
const stake = {
  ...{ stakeId: id, tier: 0, staked: far, pending: far, unlocksAt: 5, unlocked: false },
}
const address = `far1${'q'.repeat(30)}`
const service = { serviceId: 'abcd', name: 'A', description: '', requestFormat: '', capability: 'search' }
const agent = {
  ...{ agentId: 'abc', name: 'A', endpoint: '', owner: address, payout: address },
  ...{ capabilities: ['search'], settlers: [address], services: [service] },
}
const holdings = {
  native: far,
  tokens: [salt],
  positions: [],
  stakes: [stake],
  truncated: { tokens: false, positions: false, stakes: true },
}
const simulation = { wouldMine: true, success: true, code: null, fee: '1', amounts: ['2'], changes: [] }

/** Wrong values for a field. */
const GARBAGE: readonly unknown[] = [
  undefined,
  null,
  {},
  [],
  'x',
  '-1',
  '1e9',
  '01',
  -1,
  1.5,
  Number.NaN,
  true,
  '\u0000',
]

/** A name, a schema, a valid answer, the path of the object whose fields are spoilt, and the fields to spoil. */
const READERS: readonly (readonly [string, Schema, object, string | null, readonly string[]])[] = [
  [
    'a token',
    TOKEN_ANSWER,
    { token: { ...far, frozen: false, hidden: false } },
    'token',
    ['symbol', 'decimals', 'frozen'],
  ],
  ['a pool', POOL_ANSWER, { pool }, 'pool', ['id', 'feeBps', 'x', 'y', 'shares']],
  ['a quote', QUOTE_ANSWER, quoteOf(), null, ['amountIn', 'amountOut', 'route']],
  ['holdings', HOLDINGS_ANSWER, holdings, null, ['native']],
  ['an agent', AGENT_ANSWER, { agent }, 'agent', ['capabilities']],
  ['a simulation', SIMULATION_ANSWER, simulation, null, ['wouldMine', 'success', 'fee']],
]

function quoteOf() {
  return { amountIn: far, amountOut: salt, route: [{ pool: 'FAR-SALT-30', feeBps: 30, out: salt }] }
}

describe('what a node answers', () => {
  it.each(READERS)('is taken where it is %s, and nothing else in its place', (_, schema, answer, inside, fields) => {
    expect(decode(schema, answer)).toBeDefined()
    const target = (inside === null ? answer : (answer as Record<string, object>)[inside]) as object
    for (const field of fields) {
      const original = (target as Record<string, unknown>)[field]
      for (const value of GARBAGE) {
        // A boolean in place of a boolean is valid, and so is an empty list.
        if (typeof value === typeof original && typeof value === 'boolean') continue
        if (Array.isArray(original) && Array.isArray(value) && field !== 'route') continue
        const spoilt = { ...target, [field]: value }
        const whole = inside === null ? spoilt : { ...answer, [inside]: spoilt }
        expect({ field, value, read: decode(schema, whole) }).toEqual({ field, value, read: undefined })
      }
    }
  })

  it('counts in base units below 2^112', () => {
    expect(amountOf('0')).toBe(0n)
    expect(amountOf((2n ** 112n - 1n).toString())).toBe(2n ** 112n - 1n)
    for (const value of [(2n ** 112n).toString(), '', '00', '+1', ' 1', '1_0', '0x1', 1, 1n, '9'.repeat(400)])
      expect(amountOf(value)).toBeUndefined()
    expect(decode(UNITS, { ...far, decimals: 19 })).toBeUndefined()
    expect(decode(UNITS, { ...far, symbol: 'far' })).toBeUndefined()
  })

  it('is no pool without anything in it: what it is worth is divided by that', () => {
    for (const empty of [{ x: { ...far, units: '0' } }, { y: { ...salt, units: '0' } }, { shares: '0' }, { y: far }])
      expect(decode(POOL_ANSWER, { pool: { ...pool, ...empty } })).toBeUndefined()
  })

  it('is a list only if every item is what it should be', () => {
    const stable = { symbol: 'FUSD', supply: far, reserve: salt }
    expect(decode(STABLES_ANSWER, { stables: [stable, stable] })).toHaveLength(2)
    expect(decode(STABLES_ANSWER, { stables: [stable, { ...stable, reserve: null }] })).toBeUndefined()
    expect(decode(STABLES_ANSWER, {})).toBeUndefined()
    expect(decode(HOLDINGS_ANSWER, { ...holdings, stakes: [stake, { ...stake, stakeId: 'x' }] })).toBeUndefined()
  })
})
