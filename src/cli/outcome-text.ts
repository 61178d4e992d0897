import { OUTCOME_NUMBERS, type OutcomeCode } from '../../consensus/ledger/outcome.ts'
import type { TxKind } from '../../consensus/tx/kinds.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'

/** What each outcome tells the sender of the transaction. A receipt carries only the number, not the details. */
const OUTCOME_TEXTS: Readonly<Record<OutcomeCode, string>> = {
  'ledger/invariant': 'it would break a law of the ledger; please report this',
  'ledger/no-account': 'the receiver has no account',
  'ledger/insufficient-balance': 'the wallet holds too little',
  'ledger/agent-exists': 'the agent id is taken',
  'ledger/agent-unknown': 'there is no such agent',
  'ledger/not-owner': 'only the owner of the agent may do this',
  'ledger/payout-no-account': 'the payout address has no account',
  'ledger/service-unknown': 'the agent has no such service',
  'ledger/service-retired': 'the service is retired',
  'receipt/closed': 'there is no open escrow under this transaction',
  'receipt/foreign': 'the wallet is neither owner nor settler of the agent',
  'receipt/bad-opener': 'the opener does not open the lock',
  'tab/unknown': 'there is no such open tab',
  'tab/foreign': 'the wallet may not do this to the tab',
  'tab/stale': 'the claim brings nothing new',
  'tab/over-ceiling': 'the claim is above the ceiling of its voucher',
  'tab/over-deposit': 'the claim is above the deposit',
  'tab/sum': 'the amounts of the services do not add up to the claim',
  'tab/count': 'the calls do not add up to the receipts',
  'tab/signature': 'the voucher is not signed by the key of the tab',
  'tab/no-terms': 'the agent takes no tabs',
  'tab/deposit-low': 'the deposit is below the least of the agent',
  'tab/delay-short': 'the close delay is below the least of the agent',
  'tab/closing': 'the tab is closing already',
  'token/symbol-taken': 'the symbol is taken',
  'token/look-alike': 'the symbol looks like one that is taken',
  'token/unknown': 'there is no such token',
  'token/wrong-kind': 'this kind of token does not allow it',
  'token/not-issuer': 'only the issuer of the token may do this',
  'token/frozen': 'the token is frozen',
  'token/not-freezable': 'the token was made without the power to freeze it',
  'token/max-supply': 'it would exceed what may ever be minted',
  'stable/under-backed': 'the supply would exceed the reserve',
  'stable/no-surplus': 'the reserve does not exceed the supply by this amount',
  'stable/below-minimum': 'it would pay less than the minimum',
  'pool/exists': 'there is such a pool already',
  'pool/unknown': 'there is no such pool',
  'pool/limit': 'the price has moved beyond the limit; see --slippage',
  'pool/too-small': 'the amounts are too small for the pool',
  'pool/too-large': 'the pool cannot pay or hold so much',
  'stake/unknown': 'the wallet has no such stake',
  'stake/locked': 'the stake is still locked',
  'stake/nothing-due': 'the stake has earned nothing that is not claimed',
  'bridge/closed': 'the bridge to this network is not open',
  'bridge/halted': 'the bridge to this network is halted',
  'bridge/epoch': 'the attestation is one of another committee',
  'bridge/attestation': 'the attestation does not hold',
  'bridge/deposit-known': 'this deposit was minted before',
  'bridge/mint-cap': 'the daily cap of the network is reached',
  'bridge/float': 'the vault of the network holds too little',
  'bridge/withdrawal-unknown': 'there is no such withdrawal',
  'bridge/withdrawal-state': 'the withdrawal is past that',
  'bridge/rotation-pending': 'a rotation is under way',
  'bridge/below-minimum': 'the amount is below the least of the network',
}

/** An outcome with its sentence: `token/frozen: the token is frozen`. */
export function outcomeText(code: OutcomeCode): string {
  return `${code}: ${OUTCOME_TEXTS[code]}`
}

/**
 * The outcome behind an API code; undefined if there is none. If several outcomes share the code, the one of the ledger
 * that the kind belongs to is preferred.
 */
export function outcomeOfApi(api: string, kind: TxKind): OutcomeCode | undefined {
  const codes = (Object.keys(OUTCOME_NUMBERS) as OutcomeCode[]).filter((code) => httpFault(code).api === api)
  return codes.find((code) => kind.startsWith(`${code.split('/')[0]}_`)) ?? codes[0]
}
