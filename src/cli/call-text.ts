import { fieldsOf } from '../../rpc/client/http.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
import type { ClientQuote } from '../../rpc/client/pay.ts'
import type { ReceiptJson, Verification } from '../../rpc/client/verify.ts'
import { type Fact, factLines, textFact, timeFact } from './facts.ts'
import { cellOf } from './reading.ts'
import { amountText, unitsText } from './values.ts'

const CHECKS: Readonly<Record<keyof Verification, string>> = {
  paymentInBlock: 'the payment is in its block',
  headerWork: 'the block carries its work',
  resultHash: 'the result is the one of the receipt',
  receiptMatches: 'the receipt is the one of this call',
  requestHash: 'the request is the one that was sent',
}

/** A quote for people: what is sold, its price, and how long the quote holds. */
export function quoteLines(
  quote: Omit<ClientQuote, 'raw'>,
  raw: ClientQuote['raw'],
  coin: AssetView,
): readonly string[] {
  const [offer] = Array.isArray(raw.accepts) ? raw.accepts : []
  const { description, payTo, extra } = fieldsOf(offer)
  const { priceUsd } = fieldsOf(extra)
  const dollars = typeof priceUsd === 'number' ? ` (${priceUsd} USD)` : ''
  const unusable = fieldsOf(raw.requestError).reason
  return factLines([
    ['Service', textFact(raw.serviceId) ?? quote.serviceId],
    ['What', textFact(description)],
    ['Price', `${amountText(quote.amount, coin)}${dollars}`],
    ['Honoured', `to height ${quote.validUntil}`],
    ['Paid to', textFact(payTo)],
    ['Available', raw.available === true ? 'yes' : `no: ${cellOf(raw.unavailableReason)}`],
    ['Request', raw.requestValid === true ? 'usable' : `unusable: ${cellOf(unusable)}`],
  ])
}

/** A receipt for people: what was paid, by which transaction, and what each check found. */
export function receiptLines(receipt: ReceiptJson, verified: Verification, coin: AssetView): readonly string[] {
  const checks = Object.entries(CHECKS).map(([name, what], i): Fact => {
    const good = verified[name as keyof Verification]
    return [i === 0 ? 'Checked' : '', good === null ? undefined : `${good ? 'yes' : 'NO'}: ${what}`]
  })
  return factLines([
    ['Paid', `${unitsText(receipt.amountBaseUnits, coin)} for ${cellOf(receipt.serviceId)}`],
    ['Payment', textFact(receipt.txId)],
    ['Block', `${cellOf(receipt.blockHash)} at height ${cellOf(receipt.blockHeight)}`],
    ['Answered', `${timeFact(receipt.completedAt) ?? '-'}, in ${cellOf(receipt.durationMs)} ms`],
    ...checks,
  ])
}
