import { isAcceptablePoint } from '../crypto/ed25519-rules.ts'
import { TAB_SCHEME } from '../crypto/tab-signing.ts'
import { fromHex, ZERO_HEX_32 } from '../primitives/bytes.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Hash } from '../primitives/ids.ts'
import { checkAmount } from './check-amount.ts'
import type { TabRules } from './rules.ts'
import type { ClaimEntry, TabOpen, TabTerms } from './tab-payloads.ts'
import type { TxBody } from './transaction.ts'

/** A transaction about a tab. */
export type TabBody = Extract<TxBody, { kind: `tab_${string}` }>

/** Needs only the bytes and the rules. Without rules about tabs their kinds are unknown. */
export function checkTab(body: TabBody, rules: TabRules | undefined): Fault | null {
  if (rules === undefined) return fault('tx/kind', { kind: body.kind })
  switch (body.kind) {
    case 'tab_open':
      return checkOpen(body.payload, rules)
    case 'tab_fund':
      return checkAmount('amount', body.payload.amount, 1n)
    case 'tab_claim':
      return checkClaim(body.payload.entries)
    case 'tab_terms':
      return checkTerms(body.payload, rules)
    default:
      return null
  }
}

function checkOpen({ deposit, term, closeDelay, scheme, voucherKey }: TabOpen, rules: TabRules): Fault | null {
  return (
    checkAmount('deposit', deposit, rules.depositMin) ??
    checkOneOf('term', term, rules.terms) ??
    checkOneOf('closeDelay', closeDelay, rules.closeDelays) ??
    checkOneOf('scheme', scheme, [TAB_SCHEME]) ??
    checkKey('voucherKey', voucherKey)
  )
}

function checkTerms({ receiptKey, minDeposit, minCloseDelay }: TabTerms, { closeDelays }: TabRules): Fault | null {
  return (
    (receiptKey === ZERO_HEX_32 ? null : checkKey('receiptKey', receiptKey)) ??
    checkAmount('minDeposit', minDeposit, 0n) ??
    checkOneOf('minCloseDelay', minCloseDelay, closeDelays)
  )
}

function checkOneOf(field: string, value: number, allowed: readonly number[]): Fault | null {
  return allowed.includes(value) ? null : fault('tx/field', { field, reason: `must be one of ${allowed.join(', ')}` })
}

/** Whether the bytes encode a point of the curve is not checked: under another key no signature verifies. */
function checkKey(field: string, key: Hash): Fault | null {
  if (isAcceptablePoint(fromHex(key))) return null
  return fault('tx/field', { field, reason: 'must be a canonical Ed25519 key that is not of small order' })
}

function checkClaim(entries: readonly ClaimEntry[]): Fault | null {
  if (entries.length === 0) return fault('tx/field', { field: 'entries', reason: 'must not be empty' })
  for (const [i, { services, voucher, claimed }] of entries.entries()) {
    const field = `entries[${i}]`
    const amounts = [claimed, ...voucher.map(({ ceiling }) => ceiling), ...services.map(({ amount }) => amount)]
    const wrong = amounts.map((amount) => checkAmount(field, amount, 0n)).find((each) => each !== null)
    if (wrong !== undefined) return wrong
    if (services.some(({ calls }) => calls === 0)) {
      return fault('tx/field', { field: `${field}.services`, reason: 'a service without calls' })
    }
    if (new Set(services.map(({ serviceId }) => serviceId)).size < services.length) {
      return fault('tx/field', { field: `${field}.services`, reason: 'a service stands twice' })
    }
  }
  return null
}
