import { describe, expect, it } from 'vitest'
import { OUTCOME_NUMBERS, OUTCOME_OK, outcomeCode } from '../../../../consensus/ledger/outcome.ts'

describe('outcome numbers', () => {
  it('are those of the specification', () => {
    expect(OUTCOME_OK).toBe(0)
    expect(OUTCOME_NUMBERS).toEqual({
      'ledger/invariant': 1,
      'ledger/no-account': 2,
      'ledger/insufficient-balance': 3,
      'ledger/agent-exists': 16,
      'ledger/agent-unknown': 17,
      'ledger/not-owner': 18,
      'ledger/payout-no-account': 19,
      'ledger/service-unknown': 20,
      'ledger/service-retired': 21,
      'receipt/closed': 32,
      'receipt/foreign': 33,
      'receipt/bad-opener': 34,
    })
  })

  it('lead back to their codes', () => {
    for (const [code, number] of Object.entries(OUTCOME_NUMBERS)) expect(outcomeCode(number)).toBe(code)
    expect(outcomeCode(0)).toBeUndefined()
    expect(outcomeCode(4)).toBeUndefined()
  })
})
