import type { Receipt, ReceiptOf } from '../../consensus/ledger/receipt.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Address, Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TAB_TOTALS, TABS } from '../../marketplace/ledger/tab-records.ts'
import { FIRST_SERVICE, OTHER, PAYER, SECOND, SETTLER, SHORT_TABS, TabLedger } from './tab-ledger.ts'
import { type ModelTab, TabModel } from './tab-model.ts'
import { filled, units } from './unsigned.ts'
import { Dice } from './walk.ts'

const PAYERS = [PAYER, OTHER, SECOND] as const
const NONE = filled<TxId>(0x77)

/** A transaction of the next block, and what the model expects of it. */
interface Expected {
  readonly tx: Transaction
  readonly code: number
  readonly entries: readonly number[]
}

/** Where a walk has been. */
export interface TabWalkCounts {
  readonly codes: ReadonlyMap<number, number>
  readonly ended: number
  readonly operations: number
}

/** Random blocks of openings, fundings, closes and claims, good and bad, beside a model. It throws where they differ. */
export class TabWalk {
  readonly ledger = new TabLedger()
  readonly model = new TabModel()
  readonly #dice: Dice
  readonly #codes = new Map<number, number>()
  #operations = 0
  #ended = 0
  #nonces = new Map<Address, bigint>()

  constructor(seed: number) {
    this.#dice = new Dice(seed)
  }

  get counts(): TabWalkCounts {
    return { codes: this.#codes, ended: this.#ended, operations: this.#operations }
  }

  /** Executes one block of up to `most` operations, and compares. */
  block(most: number): void {
    const { ledger, model } = this
    const height = ledger.height
    this.#nonces = new Map()
    const due = model.begin(height)
    const expected = Array.from({ length: this.#dice.below(most + 1) }, () => this.#operation(height))
    const { receipts } = ledger.block(expected.map(({ tx }) => tx))
    const returned = receipts.filter((one): one is ReceiptOf<'tab_return'> => one.type === 'tab_return')
    this.#same('tabs that end', returned.map(({ tabId }) => tabId).join(), due.join())
    for (const { tabId, amount } of returned) this.#same('what is left', amount, model.ended.get(tabId)?.returned)
    const mined = receipts.filter((one): one is ReceiptOf<'transaction'> => one.type === 'transaction')
    for (const [i, one] of expected.entries()) this.#sameOutcome(mined[i] as ReceiptOf<'transaction'>, one)
    this.#operations += expected.length
    this.#compareTabs(receipts)
  }

  #sameOutcome({ code, entries }: ReceiptOf<'transaction'>, expected: Expected): void {
    this.#same(expected.tx.body.kind, `${code} [${entries.join()}]`, `${expected.code} [${expected.entries.join()}]`)
    for (const one of entries.length === 0 ? [code] : entries) this.#codes.set(one, (this.#codes.get(one) ?? 0) + 1)
  }

  #compareTabs(receipts: readonly Receipt[]): void {
    const { ledger, model } = this
    for (const [id, tab] of model.open) {
      const found = ledger.get(TABS, id as TxId)
      this.#same('claimed', found?.claimed, tab.claimed)
      this.#same('deposit', found?.deposit, tab.deposit)
      if (tab.claimed > tab.signed) throw new Error(`the seller got more of ${id} than was signed`)
    }
    const totals = ledger.get(TAB_TOTALS, undefined)
    const locked = [...model.open.values()].reduce((sum, { deposit, claimed }) => sum + deposit - claimed, 0n)
    this.#same('tabs', totals?.open ?? 0, model.open.size)
    this.#same('locked', totals?.locked ?? 0n, locked)
    for (const [id, { times, paid, burned, returned, deposit }] of model.ended) {
      this.#same('ends of a tab', times, 1)
      this.#same('coins of a tab', paid + burned + returned, deposit)
      if (ledger.get(TABS, id as TxId) !== undefined) throw new Error(`${id} has not ended`)
    }
    this.#ended += model.ended.size
    // An ended tab never comes back; what was compared once need not be kept.
    model.ended.clear()
    if (receipts.at(-1)?.type !== 'close') throw new Error('no close')
  }

  #same(what: string, found: unknown, wanted: unknown): void {
    if (found !== wanted) throw new Error(`${what} at ${this.ledger.height - 1}: found ${found}, expected ${wanted}`)
  }

  #send(sender: Address, kind: 'tab_open' | 'tab_fund' | 'tab_close' | 'tab_claim', payload: object): Transaction {
    const first = this.ledger.tx(sender, kind, payload as never)
    const nonce = this.#nonces.get(sender) ?? first.body.nonce
    this.#nonces.set(sender, nonce + 1n)
    return nonce === first.body.nonce ? first : this.ledger.tx(sender, kind, payload as never, { nonce })
  }

  #any(): readonly [TxId, ModelTab | undefined] {
    const tabs = [...this.model.open]
    return tabs.length === 0 || this.#dice.chance(0.02) ? [NONE, undefined] : (this.#dice.one(tabs) as [TxId, ModelTab])
  }

  #operation(height: number): Expected {
    const full = this.model.open.size >= 24
    const make = this.#dice.weighted([
      [full ? 1 : 5, () => this.#open(height)],
      [2, () => this.#fund()],
      [2, () => this.#close(height)],
      [12, () => this.#claim()],
    ])
    return make()
  }

  #open(height: number): Expected {
    const payer = this.#dice.one(PAYERS)
    const [term, closeDelay] = [this.#dice.one([8, 8, 30, 1_200]), this.#dice.one(SHORT_TABS.closeDelays)]
    const deposit = BigInt(1_000_000 + this.#dice.below(3_000_000))
    const tx = this.#send(payer, 'tab_open', this.ledger.opening({ deposit: units(deposit), term, closeDelay }))
    const expiresAt = height + term
    const spans = { expiresAt, due: expiresAt, closeDelay, closing: false }
    this.model.open.set(tx.txId, { deposit, claimed: 0n, receipts: 0, signed: 0n, payer, ...spans })
    return { tx, code: 0, entries: [] }
  }

  /** The code that a payer's transaction about a tab has for another sender or in another state. */
  #payerCode(tab: ModelTab | undefined, sender: Address): number {
    if (tab === undefined) return 35
    if (tab.payer !== sender) return 36
    return tab.closing ? 46 : 0
  }

  #sender(tab: ModelTab | undefined): Address {
    return tab === undefined || this.#dice.chance(0.05) ? this.#dice.one(PAYERS) : (tab.payer as Address)
  }

  #fund(): Expected {
    const [tabId, tab] = this.#any()
    const sender = this.#sender(tab)
    const amount = BigInt(1 + this.#dice.below(1_000_000))
    const code = this.#payerCode(tab, sender)
    if (tab !== undefined && code === 0) tab.deposit += amount
    return { tx: this.#send(sender, 'tab_fund', { tabId, amount: units(amount) }), code, entries: [] }
  }

  #close(height: number): Expected {
    const [tabId, tab] = this.#any()
    const sender = this.#sender(tab)
    const code = this.#payerCode(tab, sender)
    if (code === 0) this.model.close(tabId, height)
    return { tx: this.#send(sender, 'tab_close', { tabId }), code, entries: [] }
  }

  #claim(): Expected {
    const entries: ClaimEntry[] = []
    const codes: number[] = []
    for (let count = 1 + this.#dice.below(3); count > 0; count--) {
      const [entry, code] = this.#entry()
      entries.push(entry)
      codes.push(code)
    }
    return { tx: this.#send(SETTLER, 'tab_claim', { entries }), code: 0, entries: codes }
  }

  #entry(): readonly [ClaimEntry, number] {
    const [id, tab] = this.#any()
    const { claimed: had, receipts: known, deposit } = tab ?? { claimed: 0n, receipts: 0, deposit: 0n }
    const rest = deposit - had
    const difference = this.#dice.one([0n, 1n, 99_999n, 100_000n, 250_000n, rest, rest + 1n, rest / 2n, -1n])
    const claimed = had + difference < 0n ? 0n : had + difference
    const calls = this.#dice.one([0, 1, 1, 2, 5])
    const ceiling = this.#dice.chance(0.1) && claimed > 0n ? claimed - 1n : claimed + BigInt(this.#dice.below(3))
    const close = this.#dice.chance(0.06)
    const code = this.model.claim({ id, claimed, calls, ceiling, close })
    if (tab !== undefined && ceiling > tab.signed) tab.signed = ceiling
    const amount = units(claimed > had ? claimed - had : 0n)
    const fields = {
      ...{ claimed: units(claimed), close, receipts: known + calls, voucher: { ceiling: units(ceiling) } },
      ...(calls === 0 ? { failed: 0, services: [], root: ZERO_HEX_32 as Hash } : { services: service(calls, amount) }),
    }
    return [this.ledger.entry(id, fields, { claimed: units(had), receipts: known }), code]
  }
}

const service = (calls: number, amount: ReturnType<typeof units>) => [{ serviceId: FIRST_SERVICE, calls, amount }]
