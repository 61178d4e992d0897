import { formatAddress } from '../../../consensus/crypto/address.ts'
import { amount, formatAmount } from '../../../consensus/primitives/amount.ts'
import { fromHex, toHex, ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { AgentId, Hash, ServiceId } from '../../../consensus/primitives/ids.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { lockOf, openerOf } from '../../../consensus/tx/redeem-lock.ts'
import { requestCommitment } from '../../../consensus/tx/request-hash.ts'
import { type AccountSigner, addressOfSigner } from '../../../consensus/tx/sign.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import { isUnanswered } from '../http.ts'
import type { NodeClient, StatusView } from '../node-client.ts'
import { feeOf, prepareTransaction } from '../transactions.ts'
import { checkAgreement, checkPayee, checkStands } from './agreement.ts'
import { type Ceilings, DAY_MS } from './ceilings.ts'
import type { CoinPrice } from './dollars.ts'
import { FarthingError, PaymentMismatchError, PaymentRequiredError, SpendLimitError } from './errors.ts'
import { reasonIn } from './journal.ts'
import { paramsOf } from './networks.ts'
import { randomHex } from './quotes.ts'
import { errorOfFault, must } from './refusals.ts'
import type {
  AllowList,
  Intention,
  NetworkFacts,
  Payment,
  PaymentJournal,
  PaymentRecord,
  Quote,
  Signer,
} from './shapes.ts'

/** Dependencies of a payer. */
export interface PayerParts {
  readonly facts: NetworkFacts
  readonly client: NodeClient
  readonly wallet: Signer | null
  readonly ceilings: Ceilings
  readonly allow: AllowList
  readonly journal: PaymentJournal
  readonly price: CoinPrice
  /** A second node, which must be on the same network, and whose coin price counts too. */
  readonly second: NodeClient | null
  readonly isDryRun: boolean
  readonly onPay: ((intention: Intention) => boolean | Promise<boolean>) | null
  /** Whether this client fetched the quote from its node itself. */
  readonly isOwn: (quote: Quote) => boolean
  readonly requote: (quote: Quote) => Promise<Quote>
  readonly checkEnded: () => void
}

/** A payment that was recorded and sent. Unless `arrived` is true, the node may have it or not. */
export interface SentPayment {
  readonly record: PaymentRecord
  readonly arrived: boolean
}

/** A quote older than this is asked for again before it is paid. */
const QUOTE_FRESH_MS = 15_000
const QUOTES_REMEMBERED_MAX = 10_000

/** Pays quotes one after another, so that no two payments take the same nonce or the same room under a ceiling. */
export class Payer {
  readonly #parts: PayerParts
  readonly #paid = new Map<string, Payment>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: PayerParts) {
    this.#parts = parts
  }

  get facts(): NetworkFacts {
    return this.#parts.facts
  }

  /**
   * Pays a quote. Errors: those of the guards, and the signal's reason if it ends before the payment is recorded, all with
   * nothing paid; `payment_refused` if the node refuses it.
   */
  pay(quote: Quote, signal?: AbortSignal): Promise<SentPayment> {
    return this.inTurn(() => this.#pay(quote, signal))
  }

  /** Does work that signs a transaction, when all before it is done: nonce and room under the ceilings are its own. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => {})
    return done
  }

  async #pay(quote: Quote, signal?: AbortSignal): Promise<SentPayment> {
    const { wallet, isDryRun } = this.#parts
    this.#parts.checkEnded()
    signal?.throwIfAborted()
    await this.#checkUnpaid(quote)
    await this.#checkFresh(quote)
    const usdOfUnits = await this.#agree(quote)
    if (wallet === null) throw new PaymentRequiredError('there is no wallet to pay with', { code: 'no_wallet', quote })
    if (isDryRun)
      throw new PaymentRequiredError(`a dry run: ${quote.coins} coins were not paid`, { code: 'dry_run', quote })
    const signed = await this.#sign(quote, wallet)
    const usd = usdOfUnits === null ? 0 : usdOfUnits(quote.amount + signed.feeMax)
    const record = { ...signed, usd }
    // Check again, since the fee is known only now. A transaction that is signed but not sent costs nothing.
    await this.#checkCeilings(quote.amount + signed.feeMax, usdOfUnits === null ? null : usd)
    this.#parts.checkEnded()
    signal?.throwIfAborted()
    await this.#keep(record)
    if (this.#paid.size >= QUOTES_REMEMBERED_MAX) this.#paid.clear()
    this.#paid.set(quote.quoteId, record)
    return this.#submit(record)
  }

  /** Refuses a quote that this payer has paid, or within 24 hours another process with the same journal. */
  async #checkUnpaid({ quoteId }: Quote): Promise<void> {
    const kept = await this.#parts.journal.since(Date.now() - DAY_MS)
    const payment = this.#paid.get(quoteId) ?? kept.find((record) => record.quoteId === quoteId)
    if (payment === undefined) return
    throw new PaymentMismatchError('this quote was paid before', { code: 'quote_already_paid', payment })
  }

  async #checkFresh(quote: Quote): Promise<void> {
    if (Date.now() - quote.askedAtMs > QUOTE_FRESH_MS) checkStands(quote, await this.#parts.requote(quote))
  }

  /** Runs every guard on the quote. Gives a function from units to dollars, or null if no price is known. */
  async #agree(quote: Quote): Promise<((units: bigint) => number) | null> {
    const { facts, allow, client, second, onPay } = this.#parts
    // Fail before paying if the second node is away, since it could not confirm the payment's block either.
    const asked = [statusOn(client, facts), ...(second === null ? [] : [statusOn(second, facts)])] as const
    const [{ height }] = await Promise.all(asked)
    checkAgreement(quote, { facts, allow, height })
    await checkPayee(quote, allow, client)
    const perUnit = await this.#dollarsPerUnit(quote)
    const usd = perUnit === null ? null : perUnit * Number(quote.amount)
    await this.#checkCeilings(quote.amount, usd)
    if (onPay !== null && (await onPay({ quote, usd })) !== true)
      throw new SpendLimitError('not paid: onPay did not say true', { code: 'declined' })
    return perUnit === null ? null : (units) => perUnit * Number(units)
  }

  /**
   * Dollars of a base unit by the dearest known price. A quote from the own node has that node's price already. The seller's word alone
   * does not count, unless the options bound the coins.
   */
  async #dollarsPerUnit(quote: Quote): Promise<number | null> {
    const { price, second, client, facts, isOwn, ceilings } = this.#parts
    const { usd, amount: units } = quote
    const isTold = usd !== null && isOwn(quote)
    const told = await price.dearest([
      ...(isTold ? [] : [client.baseUrl]),
      ...(second === null ? [] : [second.baseUrl]),
    ])
    const named = usd === null || !(isTold || told !== null || ceilings.pinsCoins) ? null : usd / Number(units)
    const prices = [named, told === null ? null : told / 10 ** facts.decimals]
    const known = prices.filter((each) => each !== null)
    return known.length === 0 ? null : Math.max(...known)
  }

  async #checkCeilings(units: bigint, usd: number | null): Promise<void> {
    const { ceilings, journal } = this.#parts
    ceilings.check({ units, usd }, await journal.since(Date.now() - DAY_MS))
  }

  async #sign(quote: Quote, wallet: Signer): Promise<Omit<PaymentRecord, 'usd'>> {
    const { client, facts, ceilings } = this.#parts
    const params = paramsOf(facts)
    const [agentId, serviceId] = [quote.agentId as AgentId, quote.serviceId as ServiceId]
    const secret = fromHex(randomHex(32))
    const { request, term, validUntil } = quote
    const payload = {
      ...{ agentId, serviceId, amount: amount(quote.amount), units: 1, term },
      requestCommitment: request === null ? NO_COMMITMENT : requestCommitment(secret, { agentId, serviceId, request }),
      redeemLock: lockOf(openerOf(secret)),
    }
    const intent = {
      kind: 'agent_invoke' as const,
      payload,
      validUntil,
      feeMax: ceilings.feeMax,
      genesis: facts.genesis,
    }
    const tx = must(await prepareTransaction(client, params, wallet as AccountSigner, intent))
    return {
      ...{ txId: tx.txId, secret: toHex(secret), serviceId, request, quoteId: quote.quoteId, amount: quote.amount },
      ...{ tx: toHex(encodeTransaction(tx)), validUntil, state: 'signed', url: quote.url, nonce: tx.body.nonce },
      sender: formatAddress(facts.addressPrefix, addressOfSigner(wallet as AccountSigner)),
      feeMax: feeOf(params, tx),
      atMs: Date.now(),
    }
  }

  /** Records a payment before it is sent. Errors: `journal_failed`, with nothing paid. */
  async #keep(record: PaymentRecord): Promise<void> {
    try {
      await this.#parts.journal.put(record)
    } catch (cause) {
      throw new FarthingError(`not paid: the journal did not take it: ${reasonIn(cause)}`, {
        code: 'journal_failed',
        cause,
      })
    }
  }

  /** On failure the old record stays. With it the payment can be resumed and still counts. */
  async #note(record: PaymentRecord): Promise<void> {
    try {
      await this.#parts.journal.put(record)
    } catch {}
  }

  async #submit(record: PaymentRecord): Promise<SentPayment> {
    const { client } = this.#parts
    const submitted = await client.submit(transactionOf(record))
    if (submitted.ok) {
      const sent: PaymentRecord = { ...record, state: 'submitted' }
      await this.#note(sent)
      return { record: sent, arrived: true }
    }
    // The transaction may have arrived, and paying again could pay twice. Settling finds out.
    if (isUnanswered(submitted.fault)) return { record, arrived: false }
    await this.#note({ ...record, state: 'refused' })
    const { message } = errorOfFault(submitted.fault)
    const advice = await this.#adviceFor(record)
    throw new FarthingError(`${message}${advice}`, { code: 'payment_refused', payment: record })
  }

  async #adviceFor({ sender, amount, feeMax }: PaymentRecord): Promise<string> {
    const account = await this.#parts.client.account(sender)
    if (!account.ok || account.value.balance >= amount + feeMax) return ''
    const coins = (units: bigint): string => formatAmount(units, this.facts.decimals)
    const held = `${sender} has ${coins(account.value.balance)} ${this.facts.ticker}`
    return `; ${held}, the call takes up to ${coins(amount + feeMax)}: send it coins`
  }
}

const NO_COMMITMENT = ZERO_HEX_32 as Hash

/** The request that a payment commits to, or null. If its transaction is unknown, `request` is taken as committed. */
export function committedText({ tx, request }: Pick<Payment, 'tx' | 'request'>): string | null {
  const decoded = decodedOf(tx)
  const payload = decoded?.ok === true ? decoded.value.body.payload : {}
  return 'requestCommitment' in payload && payload.requestCommitment === NO_COMMITMENT ? null : request
}

/** A journal of the caller's own may leave the transaction out. */
function decodedOf(tx: string | null | undefined): Result<Transaction> | null {
  return tx ? decodeTransaction(fromHex(tx)) : null
}

/** The transaction of a payment. */
export function transactionOf({ tx, txId }: Payment): Transaction {
  const decoded = decodedOf(tx)
  if (decoded?.ok === true && decoded.value.txId === txId) return decoded.value
  throw new FarthingError('the transaction of this payment is not known', { code: 'no_transaction' })
}

/** Status of a node of this network. Errors: `other_network`. */
export async function statusOn(node: NodeClient, { genesis, name }: NetworkFacts): Promise<StatusView> {
  const status = must(await node.status())
  if (status.genesis === genesis) return status
  throw new PaymentMismatchError(
    `the node at ${node.baseUrl} is on ${status.networkName}, this client is set to ${name}`,
    {
      code: 'other_network',
    },
  )
}
