import { describe, expect, it } from 'vitest'
import { poolDetail } from '../../../../amm/liquidity.ts'
import { tokenAsset } from '../../../../consensus/ledger/asset.ts'
import { type OpenNetwork, whyBelowMinimum, wrappedText } from '../../../../consensus/ledger/bridge-records.ts'
import { beyondMaximum } from '../../../../consensus/ledger/token-checks.ts'
import { TOKENS, type Token } from '../../../../consensus/ledger/token-records.ts'
import { type Fault, fault, faultMessage } from '../../../../consensus/primitives/fault.ts'
import { FAULT_TABLE } from '../../../../consensus/primitives/fault-table.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import { symbol, XUSD } from '../../../support/tokens.ts'
import { units } from '../../../support/unsigned.ts'

/** The record of the bridged dollar. {@link DOLLARS} is a state that has no other record. */
const dollar = { decimals: 6 } as Token
const DOLLARS = {
  get: (table: object, id: unknown) => (table === TOKENS && id === tokenAsset(XUSD) ? dollar : undefined),
} as unknown as MemoryState
const NETWORK = { rules: { name: 'Base', asset: XUSD, minimum: 5_000_000n } } as unknown as OpenNetwork

describe('what people are told of a refusal', () => {
  it('counts in coins and tokens, and fees in percent', () => {
    for (const { says } of Object.values(FAULT_TABLE)) expect(says).not.toMatch(/base units|basis points|\bbps\b/i)
  })

  it('says how much of a token may still be minted, beside the units that programs count', () => {
    const refused = beyondMaximum({ symbol: symbol('TEA'), decimals: 2 }, units(1_250n))
    expect(faultMessage(refused)).toBe('only 12.5 TEA may still be minted')
    expect(refused.detail).toMatchObject({ symbol: 'TEA', headroom: '1250' })
  })

  it('says what the bridge takes at least, in its token', () => {
    const refused = whyBelowMinimum(DOLLARS, NETWORK, units(4_999_999n)) as Fault
    expect(faultMessage(refused)).toBe('the least amount on Base is 5 XUSD')
    expect(refused.detail).toMatchObject({ network: 'Base', minimum: '5000000' })
    expect(whyBelowMinimum(DOLLARS, NETWORK, units(5_000_000n))).toBeNull()
  })

  it('never fails for a token that is not there: a text must not stop a node', () => {
    expect(wrappedText(new MemoryState(), NETWORK.rules, 7n)).toBe('7')
  })

  it('says the fee of a pool as a percentage', () => {
    const detail = poolDetail({ assetA: symbol('FAR'), assetB: symbol('SALT'), feeBps: 5 })
    expect(faultMessage(fault('pool/unknown', detail))).toBe('there is no pool of FAR and SALT at 0.05 %')
  })
})
