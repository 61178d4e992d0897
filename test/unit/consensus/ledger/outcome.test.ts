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
      'tab/unknown': 35,
      'tab/foreign': 36,
      'tab/stale': 37,
      'tab/over-ceiling': 38,
      'tab/over-deposit': 39,
      'tab/sum': 40,
      'tab/count': 41,
      'tab/signature': 42,
      'tab/no-terms': 43,
      'tab/deposit-low': 44,
      'tab/delay-short': 45,
      'tab/closing': 46,
      'token/symbol-taken': 48,
      'token/look-alike': 49,
      'token/unknown': 50,
      'token/wrong-kind': 51,
      'token/not-issuer': 52,
      'token/frozen': 53,
      'token/not-freezable': 54,
      'token/max-supply': 55,
      'stable/under-backed': 64,
      'stable/no-surplus': 65,
      'stable/below-minimum': 66,
      'pool/exists': 80,
      'pool/unknown': 81,
      'pool/limit': 82,
      'pool/too-small': 83,
      'pool/too-large': 84,
      'stake/unknown': 96,
      'stake/locked': 97,
      'stake/nothing-due': 98,
      'bridge/closed': 112,
      'bridge/halted': 113,
      'bridge/epoch': 114,
      'bridge/attestation': 115,
      'bridge/deposit-known': 116,
      'bridge/mint-cap': 117,
      'bridge/float': 118,
      'bridge/withdrawal-unknown': 119,
      'bridge/withdrawal-state': 120,
      'bridge/rotation-pending': 121,
      'bridge/below-minimum': 122,
    })
  })

  it('lead back to their codes', () => {
    for (const [code, number] of Object.entries(OUTCOME_NUMBERS)) expect(outcomeCode(number)).toBe(code)
    expect(outcomeCode(0)).toBeUndefined()
    expect(outcomeCode(4)).toBeUndefined()
  })
})
