import { amount } from '../../consensus/primitives/amount.ts'
import { toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { AgentId, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { lockOf, openerOf } from '../../consensus/tx/redeem-lock.ts'
import { requestCommitment } from '../../consensus/tx/request-hash.ts'
import type { AccountSigner } from '../../consensus/tx/sign.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { fieldsOf, type NodeAnswer, refusal, textOf } from './http.ts'
import type { NodeClient } from './node-client.ts'
import { nativeOffer, termsIn, UNITS } from './sdk/quotes.ts'
import { type ClientParams, FEE_MAX_DEFAULT, prepareTransaction, rulesOf } from './transactions.ts'

/** A native offer that this client understands. `raw` is the whole 402 body. */
export interface ClientQuote {
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  readonly amount: bigint
  readonly term: number
  readonly validUntil: number
  readonly confirmations: number
  readonly available: boolean
  readonly unavailableReason: string | null
  readonly requestError: string | null
  /** The native option of the 402 body. */
  readonly offer: NodeAnswer['body']
  readonly raw: NodeAnswer['body']
}

/** Keep both until the answer is there: without them the call cannot be resumed. */
export interface PreparedPayment {
  readonly tx: Transaction
  readonly secret: Uint8Array
}

/** Asks for the price of a call. */
export async function quoteCall(client: NodeClient, serviceId: string, request: string): Promise<Result<ClientQuote>> {
  const answer = await client.call(serviceId, { request })
  if (!answer.ok) return answer
  return answer.value.status === 402 ? readQuote(answer.value.body, serviceId) : fail(refusal(answer.value))
}

/** Blocks that a client grants after the confirmations, for the work and the receipt: ten minutes. */
const TERM_SPARE_BLOCKS = 200
/** A price is honoured for its own epoch and the next. */
const HONOURED_EPOCHS = 2

/** Why a quote must not be paid, or null. The seller is not trusted, and its terms would be signed. */
export function reasonNotToPay(
  quote: ClientQuote,
  { steps, ...coin }: Pick<ClientParams, 'steps' | 'ticker' | 'decimals'>,
  height: number,
): string | null {
  const strange = strangeAsset(quote.offer, coin)
  if (strange !== null) return strange
  const rules = rulesOf({ steps })
  const { term, confirmations, validUntil } = quote
  if (!rules.tx.invokeTerms.includes(term))
    return `the quote wants a term of ${term} blocks, which the chain does not have`
  const longest = rules.tx.invokeTerms.find((each) => each >= confirmations + TERM_SPARE_BLOCKS)
  if (longest === undefined || term > longest) return `the quote would lock the payment for ${term} blocks`
  if (validUntil <= height || validUntil > height + HONOURED_EPOCHS * rules.market.epochBlocks)
    return `the quote is honoured to height ${validUntil}, the node is at ${height}`
  if (!quote.available) return `${quote.serviceId} is unavailable: ${quote.unavailableReason}`
  return quote.requestError === null ? null : `the request is unusable: ${quote.requestError}`
}

/**
 * Why an offer is not in the network's coin, or null. Other decimals would change how the amount is read. Missing members are
 * fine, since the chain moves only its coin for a call.
 */
export function strangeAsset(
  { asset, extra }: Readonly<Record<string, unknown>>,
  { ticker, decimals }: Pick<ClientParams, 'ticker' | 'decimals'>,
): string | null {
  const told = fieldsOf(extra)
  if (asset !== undefined && asset !== ticker) return `the offer names another asset than ${ticker}`
  if (told.assetId !== undefined && told.assetId !== ZERO_HEX_32) return `the offer names another asset than ${ticker}`
  if (told.decimals === undefined || told.decimals === decimals) return null
  return `the offer counts ${ticker} with other decimals than ${decimals}`
}

/** Signs the payment of a quote. */
export async function preparePayment(
  client: NodeClient,
  params: ClientParams,
  signer: AccountSigner,
  {
    quote,
    request,
    secret,
    feeMax = FEE_MAX_DEFAULT,
    genesis,
  }: {
    readonly quote: ClientQuote
    readonly request: string
    readonly secret: Uint8Array
    readonly feeMax?: bigint
    readonly genesis?: string
  },
): Promise<Result<PreparedPayment>> {
  const { agentId, serviceId, term, validUntil } = quote
  const payload = {
    agentId,
    serviceId,
    amount: amount(quote.amount),
    units: 1,
    term,
    requestCommitment: requestCommitment(secret, { agentId, serviceId, request }),
    redeemLock: lockOf(openerOf(secret)),
  }
  const tx = await prepareTransaction(client, params, signer, {
    ...{ kind: 'agent_invoke' as const, payload, validUntil, feeMax },
    ...(genesis === undefined ? {} : { genesis }),
  })
  return tx.ok ? ok({ tx: tx.value, secret }) : tx
}

/** Repeats a paid call until the answer is final (a result, a refund, or a lasting refusal) or the time is over. */
export async function settleCall(
  client: NodeClient,
  call: { readonly serviceId: string; readonly request: string; readonly txId: TxId; readonly secret: Uint8Array },
  wait: { readonly untilMs: number; readonly now: () => number; readonly pause: (ms: number) => Promise<void> },
): Promise<Result<NodeAnswer>> {
  const body = { request: call.request, payment: { txId: call.txId, secret: toHex(call.secret) } }
  for (;;) {
    const answer = await client.call(call.serviceId, body)
    const passing = !answer.ok || isPassing(answer.value)
    if (!passing || wait.now() >= wait.untilMs) return answer
    await wait.pause(RETRY_MS)
  }
}

const RETRY_MS = 1_000

/** Whether another try may help: the payment is not known or not deep enough yet, or the node is busy. */
function isPassing({ status, body }: NodeAnswer): boolean {
  if (status === 402) return body.code === 'payment_unconfirmed' || body.code === 'payment_not_found'
  return (status === 503 && body.refund === undefined) || status === 429
}

function readQuote(body: NodeAnswer['body'], asked: string): Result<ClientQuote> {
  const offer = nativeOffer(body)
  const terms = termsIn(fieldsOf(offer?.extra))
  const amountText = textOf(offer?.maxAmountRequired, '')
  // The native option can be closed while another option is open, so its own flag counts too.
  const closedBecause = reasonClosed(body) ?? reasonClosed(fieldsOf(offer?.extra))
  // A closed service may have no offer. Then its reason is the message.
  const lacks =
    closedBecause === null
      ? 'the quote has no native offer that this client understands'
      : `${asked} is unavailable: ${closedBecause}`
  if (terms?.serviceId !== asked || !UNITS.test(amountText)) return fail(fault('cli/refused', { message: lacks }))
  const requestError = body.requestValid === false ? textOf(fieldsOf(body.requestError).reason, 'unknown') : null
  return ok({
    ...terms,
    amount: BigInt(amountText),
    available: body.available === true && closedBecause === null,
    unavailableReason: body.available === true ? closedBecause : textOf(body.unavailableReason, 'no reason given'),
    requestError,
    offer: fieldsOf(offer),
    raw: body,
  })
}

function reasonClosed({ available, unavailableReason }: Readonly<Record<string, unknown>>): string | null {
  return available === false ? textOf(unavailableReason, 'no reason given') : null
}
