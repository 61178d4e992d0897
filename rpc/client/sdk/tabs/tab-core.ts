import type { SigningNetwork } from '../../../../consensus/crypto/signing.ts'
import { parseAmount } from '../../../../consensus/primitives/amount.ts'
import { FarthingError, PaymentMismatchError } from '../errors.ts'
import { checkGiven, invalid, KIND } from '../options.ts'
import { must } from '../refusals.ts'
import type { Payment } from '../shapes.ts'
import type { Disbelief, Proof, TabBook } from './tab-book.ts'
import type { TabRecordView } from './tab-chain.ts'
import { TAB_STOPPED } from './tab-errors.ts'
import { type TabKey, tabKeyOf } from './tab-key.ts'
import type { TabPurse } from './tab-purse.ts'
import { seedOf } from './tab-seeds.ts'
import { signingNetworkOf, TabSeller } from './tab-seller.ts'
import type { CallNote, OpeningNote, TabEvidence, TabStanding } from './tab-types.ts'

/** What all parts of one tab share: its notes, its seller, its key, and its record on the chain. */
export class TabCore {
  readonly tabId: string
  readonly agentId: string
  readonly purse: TabPurse
  readonly seller: TabSeller
  readonly book: TabBook
  readonly opening: OpeningNote
  /** Null before a first look at the chain. */
  record: TabRecordView | null = null
  /** The opening or top-up that the seller may not have seen yet. */
  fresh: string | null = null
  #key: Promise<TabKey> | null = null
  /** Of the first record that was seen: it never changes. */
  #receiptKey: string | null = null

  constructor(purse: TabPurse, book: TabBook) {
    const { opening } = book
    if (opening === null) throw new FarthingError('the journal does not know this tab', { code: 'tab_unknown' })
    this.purse = purse
    this.seller = new TabSeller(purse.parts)
    this.book = book
    this.opening = opening
    this.tabId = opening.tabId
    this.agentId = opening.agentId
  }

  /** The deposit on the chain; before its block, the one that was sent. */
  get deposit(): bigint {
    return this.record?.deposit ?? BigInt(this.opening.deposit)
  }

  /** What claims on the chain took. */
  get claimed(): bigint {
    return this.record?.claimed ?? 0n
  }

  /** The key that the chain froze at the opening; never one from an offer. */
  get receiptKey(): string {
    return this.#receiptKey ?? this.opening.receiptKey
  }

  /** The network that keys of the tab sign for. */
  get network(): SigningNetwork {
    return signingNetworkOf(this.purse.parts.facts)
  }

  /** What is left for calls. */
  get available(): bigint {
    const left = this.deposit - this.book.bound
    return left > 0n ? left : 0n
  }

  /** The voucher key. */
  key(): Promise<TabKey> {
    this.#key ??= seedOf(this.purse, this.opening).then(tabKeyOf)
    return this.#key
  }

  /** Takes in what other processes noted. */
  async reload(): Promise<void> {
    this.book.readAll(await this.purse.notes.read(this.tabId))
  }

  /** Reads the record of the chain. */
  async look(): Promise<TabStanding['status']> {
    const record = must(await this.purse.chain.tab(this.tabId))
    if (record !== undefined) {
      this.#checkRecord(record)
      this.record = record
      if (record.status === 'ended') await this.#end()
      else this.book.isOver = false
      return this.book.stopped !== null && record.status !== 'ended' ? 'stopped' : record.status
    }
    const { client, facts } = this.purse.parts
    const { validUntil, payer: sender, nonce } = this.opening
    const sentBy = { sender, nonce: BigInt(nonce) }
    const gone = { txId: this.tabId, validUntil, genesis: facts.genesis, sentBy }
    if ((await client.expiredAt(gone)) === null) return 'opening'
    this.record = null
    return 'void'
  }

  /** Coins that a caller gave as decimal text, in base units. Errors: `invalid_option`. */
  units(name: string, coins: string): bigint {
    checkGiven('tab', name, coins, KIND.text)
    const parsed = parseAmount(coins, this.purse.parts.facts.decimals)
    if (!parsed.ok || parsed.value === 0n) throw invalid(`tab: ${name} must be coins as decimal text`)
    return parsed.value
  }

  /** A call as the payment by which it is resumed. */
  payment({ seq, secret, serviceId, request, amount: most }: CallNote): Payment {
    const names = { txId: this.tabId, secret, serviceId, request, quoteId: `${this.tabId}:${seq}` }
    return { ...names, amount: BigInt(most), tx: null, validUntil: 0 }
  }

  /** Notes that nothing more is signed for this tab, with what shows why. */
  async stop({ reason, proof, code = TAB_STOPPED }: Disbelief & { readonly code?: string }): Promise<void> {
    const evidence = proof && this.#evidence(proof)
    const note = { what: 'stop', tabId: this.tabId, code, reason, evidence, atMs: Date.now() } as const
    this.book.stopped ??= note
    await this.purse.keep(note)
  }

  /** What shows other readers what the seller did. */
  #evidence({ kind, receipts, said = null }: Proof): TabEvidence {
    const { genesis, chainId } = this.purse.parts.facts
    const { voucherKey } = this.opening
    const names = { tabId: this.tabId, agentId: this.agentId, receiptKey: this.receiptKey, voucherKey }
    return { kind, genesis, chainId, ...names, receipts, said }
  }

  /** The record is of this opening. Payout and receipt key are the chain's: no offer can change them. */
  #checkRecord({ voucherKey, agentId, receiptKey }: TabRecordView): void {
    this.#receiptKey ??= receiptKey
    const isOurs = voucherKey === this.opening.voucherKey && agentId === this.agentId
    if (isOurs && receiptKey === this.#receiptKey) return
    throw new PaymentMismatchError('the node shows another tab under this id', { code: 'other_tab' })
  }

  /** If a reorganisation takes the end back, the chain ends the tab again. */
  async #end(): Promise<void> {
    if (this.book.isOver) return
    this.book.isOver = true
    await this.purse.keep({ what: 'end', tabId: this.tabId, atMs: Date.now() })
  }
}
