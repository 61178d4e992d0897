import { formatAddress } from '../../../../consensus/crypto/address.ts'
import { formatAmount } from '../../../../consensus/primitives/amount.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { type AccountSigner, addressOfSigner } from '../../../../consensus/tx/sign.ts'
import { encodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { isUnanswered, type Transport } from '../../http.ts'
import { type SentBy, VALID_BLOCKS } from '../../node-client.ts'
import { feeOf, type Intent, prepareTransaction } from '../../transactions.ts'
import { DAY_MS } from '../ceilings.ts'
import { FarthingError, PaymentRequiredError, SpendLimitError } from '../errors.ts'
import { reasonIn } from '../journal.ts'
import { paramsOf } from '../networks.ts'
import { type PayerParts, statusOn, transactionOf } from '../payer.ts'
import { randomHex } from '../quotes.ts'
import { errorOfFault, must } from '../refusals.ts'
import { awaitMined } from '../settling.ts'
import type { Payment, PaymentRecord, Quote, Signer } from '../shapes.ts'
import type { Patience } from '../waiting.ts'
import { TabChain } from './tab-chain.ts'
import type { TabJournal, TabNote, TabPrices } from './tab-types.ts'

/** Begin of the address of a deposit in the journal of payments; the agent follows. */
export const TAB_URL = 'tab:'

/** Dependencies of tabs. */
export interface TabParts extends PayerParts {
  readonly transport: Transport
  /** Runs work between payments. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** Bounds of a wait that begins now. `signal` is the caller's, in addition to the client's. */
  readonly patience: (signal?: AbortSignal) => Patience
}

/** A transaction about a tab. */
export interface Move<K extends 'tab_open' | 'tab_fund' | 'tab_close'> {
  readonly kind: K
  readonly payload: PayloadOf<K>
  readonly completed?: Intent<K>['completed']
  /** What it locks, in base units. */
  readonly amount: bigint
  /** What the tab then holds in all that is not charged, at the time when it is asked. */
  readonly locked: () => bigint
  readonly agentId: string
  readonly payTo: string
  /** What is noted before it is sent. */
  readonly note: (tx: Transaction, validUntil: number) => TabNote
  /** Called when that is done, before the next transaction can be made. */
  readonly noted?: () => Promise<void>
}

/** No price is higher: a node can say that a coin is worth almost nothing. */
const UNITS_BOUND = 2 ** 112

type Sums = Pick<Move<'tab_open'>, 'amount' | 'locked' | 'agentId' | 'payTo'>

/** Sends transactions about tabs within the ceilings, and keeps the notes. */
export class TabPurse {
  readonly parts: TabParts
  readonly chain: TabChain

  constructor(parts: TabParts) {
    this.parts = parts
    this.chain = new TabChain(parts)
  }

  /** Errors: `journal_failed` if the journal keeps no notes of tabs. */
  get notes(): TabJournal {
    const { tabs } = this.parts.journal
    if (tabs !== undefined) return tabs
    throw new FarthingError('this journal keeps no notes of tabs', { code: 'journal_failed' })
  }

  /** Adds a note. Errors: `journal_failed`. */
  async keep(note: TabNote): Promise<void> {
    try {
      await this.notes.append(note)
    } catch (cause) {
      if (cause instanceof FarthingError) throw cause
      const message = `the journal did not take a note of the tab: ${reasonIn(cause)}`
      throw new FarthingError(message, { code: 'journal_failed', cause })
    }
  }

  coins(units: bigint): string {
    const { decimals, ticker } = this.parts.facts
    return `${formatAmount(units, decimals)} ${ticker}`
  }

  /** Address of the wallet. Errors: `no_wallet`. */
  get address(): string {
    return formatAddress(this.parts.facts.addressPrefix, addressOfSigner(this.wallet as AccountSigner))
  }

  get wallet(): Signer {
    const { wallet } = this.parts
    if (wallet !== null) return wallet
    throw new PaymentRequiredError('there is no wallet to pay with', { code: 'no_wallet' })
  }

  /** Height of the node's head. A node of another network is refused; so is a second one that is away. */
  async height(): Promise<number> {
    const { client, second, facts } = this.parts
    const asked = [statusOn(client, facts), ...(second === null ? [] : [statusOn(second, facts)])] as const
    const [{ height }] = await Promise.all(asked)
    return height
  }

  /** Dollars of a base unit by the dearest price that a node knows. Null if none does. */
  async dollarsPerUnit(): Promise<number | null> {
    const { price, client, second, facts } = this.parts
    const told = await price.dearest([client.baseUrl, ...(second === null ? [] : [second.baseUrl])])
    return told === null ? null : told / 10 ** facts.decimals
  }

  /** What a service costs by the chain, in base units; 0 if the chain does not have it. Null if it is not known. */
  async priceOf(agentId: string, serviceId: string): Promise<bigint | null> {
    const { prices, isWhole } = must(await this.chain.agent(agentId))
    const units = await this.unitsOf(prices)
    const price = units?.[serviceId]
    if (price !== undefined) return BigInt(price)
    return units !== null && isWhole ? 0n : null
  }

  /** Prices of the registry in base units. Null if no node says what a coin is worth. */
  async unitsOf(prices: ReadonlyMap<string, bigint>): Promise<TabPrices | null> {
    const perUnit = await this.dollarsPerUnit()
    if (perUnit === null) return null
    return Object.fromEntries([...prices].map(([id, micros]) => [id, unitsAt(perUnit, micros)]))
  }

  /** Signs, notes and sends a transaction, in this order. `arrived` is false if no answer came. */
  send<K extends 'tab_open' | 'tab_fund' | 'tab_close'>(
    move: Move<K>,
  ): Promise<{ readonly tx: Transaction; readonly payment: Payment; readonly arrived: boolean }> {
    return this.parts.inTurn(async () => {
      const { wallet, parts } = this
      parts.checkEnded()
      const height = await this.height()
      const perUnit = await this.dollarsPerUnit()
      await this.#check(move, 0n, perUnit)
      await this.#consent(move, perUnit)
      if (parts.isDryRun)
        throw new PaymentRequiredError(`a dry run: ${this.coins(move.amount)} were not locked`, { code: 'dry_run' })
      const validUntil = height + VALID_BLOCKS
      const { kind, payload, completed } = move
      const intent = { kind, payload, validUntil, feeMax: parts.ceilings.feeMax, genesis: parts.facts.genesis }
      const params = paramsOf(parts.facts)
      const whole = completed === undefined ? intent : { ...intent, completed }
      const tx = must(await prepareTransaction(parts.client, params, wallet as AccountSigner, whole as Intent<K>))
      const fee = feeOf(params, tx)
      await this.#check(move, fee, perUnit)
      parts.checkEnded()
      const usd = perUnit === null ? 0 : perUnit * Number(move.amount + fee)
      const record = this.#record(tx, { amount: move.amount, feeMax: fee, usd, validUntil, agentId: move.agentId })
      await this.#count(record)
      await this.keep(move.note(tx, validUntil))
      await move.noted?.()
      return { tx, payment: record, arrived: await this.#submit(tx, record) }
    })
  }

  /** Who sent a transaction of this client, and with which nonce. */
  sentBy(sent: Pick<Payment, 'txId' | 'tx'>): SentBy | undefined {
    if (!sent.tx) return undefined
    const { sender, nonce } = transactionOf(sent as Payment).body
    return { sender: formatAddress(this.parts.facts.addressPrefix, sender), nonce }
  }

  /** Waits for the block of a transaction. Errors: `payment_failed`, `payment_void`, and when time is up `interrupted`. */
  async mined(payment: Payment): Promise<void> {
    const { client, transport, facts, patience } = this.parts
    const place = { client, transport, genesis: facts.genesis }
    await awaitMined(place, { ...payment, ...this.sentBy(payment) }, { ...patience(), confirmations: 1 })
  }

  async #check({ amount, locked }: Sums, fee: bigint, perUnit: number | null): Promise<void> {
    // A close locks nothing. Getting money back must not fail on a limit.
    if (amount === 0n) return
    const costOf = (units: bigint) => ({ units, usd: perUnit === null ? null : perUnit * Number(units) })
    const spent = await this.parts.journal.since(Date.now() - DAY_MS)
    this.parts.ceilings.checkTab(costOf(amount + fee), costOf(locked()), spent)
  }

  async #consent({ amount, agentId, payTo }: Sums, perUnit: number | null): Promise<void> {
    const { onPay, facts } = this.parts
    if (onPay === null || amount === 0n) return
    const usd = perUnit === null ? null : perUnit * Number(amount)
    const quote: Quote = {
      ...{ quoteId: randomHex(16), serviceId: '', request: null, agentId, payTo, amount, usd, nativeUsd: null },
      ...{ coins: formatAmount(amount, facts.decimals), term: 0, validUntil: 0, confirmations: 1 },
      ...{ genesis: facts.genesis, available: true, unavailableReason: null, requestError: null, requestDetails: null },
      ...{ isCommitted: false, url: this.parts.client.baseUrl, askedAtMs: Date.now(), offer: { deposit: true } },
    }
    if ((await onPay({ quote, usd })) !== true)
      throw new SpendLimitError('not paid: onPay did not say true', { code: 'declined' })
  }

  /** The record of a deposit among the payments: so it counts for the day. */
  #record(
    tx: Transaction,
    facts: Pick<PaymentRecord, 'amount' | 'feeMax' | 'usd' | 'validUntil'> & { readonly agentId: string },
  ): PaymentRecord {
    const { agentId, ...sums } = facts
    return {
      ...{ txId: tx.txId, secret: '', serviceId: '', request: '', quoteId: tx.txId, tx: toHex(encodeTransaction(tx)) },
      ...{ ...sums, state: 'settled', url: `${TAB_URL}${agentId}`, sender: this.address, nonce: tx.body.nonce },
      atMs: Date.now(),
    }
  }

  async #count(record: PaymentRecord): Promise<void> {
    try {
      await this.parts.journal.put(record)
    } catch (cause) {
      const message = `not paid: the journal did not take it: ${reasonIn(cause)}`
      throw new FarthingError(message, { code: 'journal_failed', cause })
    }
  }

  async #submit(tx: Transaction, payment: PaymentRecord): Promise<boolean> {
    const submitted = await this.parts.client.submit(tx)
    if (submitted.ok) return true
    if (isUnanswered(submitted.fault)) return false
    throw new FarthingError(errorOfFault(submitted.fault).message, { code: 'payment_refused', payment })
  }
}

/** Base units that so many millionths of a dollar are worth, rounded up. */
function unitsAt(dollarsPerUnit: number, micros: bigint): string {
  return BigInt(Math.ceil(Math.min(Number(micros) / 1e6 / dollarsPerUnit, UNITS_BOUND))).toString()
}
