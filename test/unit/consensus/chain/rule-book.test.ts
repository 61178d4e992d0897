import { describe, expect, it } from 'vitest'
import { EMPTY_LEDGERS } from '../../../../config/networks/ledgers.ts'
import { LAUNCH_RULES, TAB_RULES } from '../../../../config/networks/rules.ts'
import { NETWORKS } from '../../../../config/networks/table.ts'
import type { NetworkParams } from '../../../../consensus/chain/params.ts'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import type { StateKey } from '../../../../consensus/state/table.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { testParams } from '../../../support/network.ts'

const { steps } = testParams()
const LATER = { ...testParams().steps[0]!.rules, market: { ...LAUNCH_RULES.market, deliveredBurnDivisor: 50n } }

function fingerprint(change: Partial<NetworkParams> = {}, protocol = PROTOCOL): string {
  return createRuleBook({ ...testParams(), ...change }, protocol).fingerprint
}

describe('rules by height', () => {
  const book = createRuleBook({ ...testParams(), steps: [...steps, { fromHeight: 10, rules: LATER }] }, PROTOCOL)

  it.each([
    [0, 100n],
    [9, 100n],
    [10, 50n],
    [2 ** 32, 50n],
  ])('at %i are those of the last step that has begun', (height, divisor) => {
    expect(book.at(height).market.deliveredBurnDivisor).toBe(divisor)
  })
})

describe('the fingerprint of rules', () => {
  it('is the same for equal rules, however they are written down', () => {
    const [step] = steps
    const { tx, block, coin, market, token, staking, bridge } = step!.rules
    const reordered = [{ rules: { bridge, staking, token, market, coin, block, tx }, fromHeight: 0 }]
    expect(fingerprint({ steps: reordered })).toBe(fingerprint())
  })

  it('differs with any rule, step, genesis, ledger or order of ledgers', () => {
    const { rules } = steps[0]!
    const genesis = testParams().genesis
    const [first, second, ...others] = PROTOCOL.modules
    const prints = [
      fingerprint(),
      fingerprint({ steps: [...steps, { fromHeight: 10, rules: LATER }] }),
      fingerprint({ steps: [{ fromHeight: 0, rules: { ...rules, market: LATER.market } }] }),
      fingerprint({ steps: [{ fromHeight: 0, rules: { ...rules, token: { createBurn: 1n } } }] }),
      fingerprint({ steps: [{ fromHeight: 0, rules: { ...rules, block: { ...rules.block, anchorResetGapMs: 1 } } }] }),
      fingerprint({ genesis: { ...genesis, timeMs: genesis.timeMs + 1 } }),
      fingerprint({ genesis: { ...genesis, allocations: genesis.allocations.slice(1) } }),
      fingerprint({ genesis: { ...genesis, ledgers: EMPTY_LEDGERS } }),
      fingerprint({}, { ...PROTOCOL, modules: [second!, first!, ...others] }),
      fingerprint({}, { ...PROTOCOL, modules: PROTOCOL.modules.slice(1) }),
      ...Object.values(NETWORKS).map((params) => createRuleBook(params, PROTOCOL).fingerprint),
    ]
    expect(new Set(prints).size).toBe(prints.length)
  })
})

describe('a chain written before the rules had tabs', () => {
  const { tabs: _, ...tx } = steps[0]!.rules.tx
  const without = { fromHeight: 0, rules: { ...steps[0]!.rules, tx } }
  const withTabs = { fromHeight: 0, rules: { ...without.rules, tx: { ...tx, tabs: TAB_RULES } } }
  const print = (...of: NetworkParams['steps']): Hash =>
    createRuleBook({ ...testParams(), steps: of }, PROTOCOL).fingerprint

  it('goes on under rules that have them from the first block, and under no other change', () => {
    const book = createRuleBook({ ...testParams(), steps: [withTabs] }, PROTOCOL)
    expect(book.fingerprint).not.toBe(print(without))
    expect(book.continues(print(withTabs), 5)).toBe(true)
    expect(book.continues(print(without), 5)).toBe(true)
    expect(book.continues(print({ fromHeight: 0, rules: { ...LATER, tx } }), 5)).toBe(false)
  })

  it('goes on up to a step that brings them, and not past it: other things follow from a step', () => {
    const book = createRuleBook(
      { ...testParams(), steps: [without, { fromHeight: 10, rules: withTabs.rules }] },
      PROTOCOL,
    )
    expect(book.fingerprintAt(9)).toBe(print(without))
    expect(book.continues(print(without), 9)).toBe(true)
    expect(book.continues(print(without), 10)).toBe(false)
  })

  it('does not take back what it allowed: rules without tabs do not go on', () => {
    const book = createRuleBook({ ...testParams(), steps: [without] }, PROTOCOL)
    expect(book.continues(print(withTabs), 5)).toBe(false)
  })
})

describe('tables', () => {
  it('are found by the prefix of a key', () => {
    const book = createRuleBook(testParams(), PROTOCOL)
    expect(book.tableOf('01ff' as StateKey).name).toBe('accounts')
    expect(book.tableOf('66' as StateKey).name).toBe('escrow-totals')
    expect(() => book.tableOf('aa00' as StateKey)).toThrow('no table has the prefix')
  })

  it('never share a prefix', () => {
    const twice = { ...PROTOCOL, modules: [...PROTOCOL.modules, PROTOCOL.modules[0]!] }
    expect(() => createRuleBook(testParams(), twice)).toThrow('two tables have the prefix 0x04')
  })
})
