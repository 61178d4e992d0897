import { baseFeeAfter } from '../../../../consensus/block/base-fee.ts'
import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { Clock } from '../../../../consensus/chain/ports.ts'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import { type Amount, amount, formatAmount, ZERO } from '../../../../consensus/primitives/amount.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../../consensus/primitives/fault-table.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import type { TabRules } from '../../../../consensus/tx/rules.ts'
import { CLAIM_ENTRIES_MAX, type ClaimEntry } from '../../../../consensus/tx/tab-payloads.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { AGENTS, mayActFor } from '../../../ledger/agents.ts'
import { TABS, type Tab } from '../../../ledger/tab-records.ts'
import { ClaimsAway } from '../../claim-store.ts'
import { FEE_ROOM, FINAL_DEPTH } from '../../settings.ts'
import type { Shop, TransactionSink } from '../../shop.ts'
import type { Sender } from '../native/sender.ts'
import { EntryBuilder } from './claim-entries.ts'
import { claimFee } from './claim-fee.ts'
import { type ClaimCandidate, type ClaimMoment, type ClaimOrder, claimsDue, feeBudget } from './claim-policy.ts'
import { keepOnly, MinedClaims } from './mined-claims.ts'
import { TabEnds } from './tab-ends.ts'
import { isTab, type TabClaimRow, type TabRow, type TabStore } from './tab-store.ts'

/** What the claimer works with. */
export interface ClaimerDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly store: TabStore
  readonly sender: Sender
  readonly sink: Pick<TransactionSink, 'get' | 'ofAccount'>
  readonly clock: Clock
  /** Called with the reason why a tab cannot be claimed, or a claim cannot be sent now. It is tried again. */
  readonly onFault: (fault: Fault) => void
  /** The most that may be unclaimed on one tab before it takes no more calls, in base units; null if it has no bound. */
  readonly riskLimit?: () => Amount | null
  /** Whether other replicas may have taken over what is owed here; then nothing is sent. Absent: never. */
  readonly isHeld?: () => boolean
}

/** Claims of one settler that may wait at once: one is mined while the next is made. */
const WAITING_MAX = 2
/** Receipts that are read from the store at once. */
const PAGE = 1_000
/** Refusals after which the same bytes may still be accepted. All others end a claim, and the tabs are claimed anew. */
const PASSING: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'mempool/busy',
  'mempool/full',
  'mempool/unverified',
  'mempool/known',
  'mempool/mined',
])

/**
 * Claims what is charged on tabs. The tabs on chain and the receipts in the store say what is owed, so a claim that is lost is made
 * anew: a claim names totals, and one that comes late is stale and moves nothing. Each claim is in the store before it is sent, and is
 * sent again as it is after a restart or a reorganisation, until it is final. Of replicas that share a store one claims at a time: the
 * store shows what is to be claimed to no other.
 */
export class Claimer {
  readonly #deps: ClaimerDependencies
  readonly #mined: MinedClaims
  readonly #ends: TabEnds
  /** When the first receipt that is in no claim was given, by tab; valid for the receipts on chain that it names. */
  readonly #oldest = new Map<TxId, { readonly receipts: number; readonly atMs: number }>()
  #work: Promise<void> = Promise.resolve()
  #isQueued = false
  #stopped = false

  constructor(dependencies: ClaimerDependencies) {
    this.#deps = dependencies
    const { chain, store, sender, clock, onFault } = dependencies
    this.#mined = new MinedClaims(chain, store, onFault)
    this.#ends = new TabEnds({ chain, store, clock })
    sender.value('tab_claim', { worth: (tx) => this.#worthOf(tx), keep: (tx) => this.#keep(tx) })
    chain.onHeadChange((change) => {
      this.#mined.follow(change)
      this.#ends.follow(change)
      this.check()
    })
  }

  /** Looks for what is to be done. The rail calls it when a payer asks for its refund; heads do the rest. */
  check(): void {
    if (this.#stopped || this.#isQueued) return
    this.#isQueued = true
    this.#work = this.#work
      .then(() => {
        this.#isQueued = false
        return this.#claim()
      })
      .catch((error: unknown) => {
        if (!(error instanceof ClaimsAway)) throw error
        this.#deps.onFault(error.fault)
      })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  async #claim(): Promise<void> {
    const { chain, store, sender, shop, onFault } = this.#deps
    if (this.#stopped || chain.moving || this.#deps.isHeld?.()) return
    // Where replicas share a store, the one that looks for claims keeps the others from it.
    if (!shop.maySettle) return shop.agent === undefined ? undefined : onFault(fault('tab/foreign'))
    const lack = store.shared === undefined ? null : this.#lack()
    if (lack !== null) return onFault(lack)
    const waiting = await this.#waiting()
    const rows = (await store.unclaimed()).filter(isTab)
    keepOnly(this.#oldest, new Set(rows.map(({ tabId }) => tabId)))
    await this.#mined.note(rows)
    await this.#ends.note(rows)
    const taken = new Set(waiting.flatMap(({ entries }) => entries.map(({ tabId }) => tabId)))
    const due = await this.#due(rows.filter(({ tabId }) => !taken.has(tabId)))
    const own = waiting.filter(({ transaction }) => senderOf(transaction) === sender.address).length
    await this.#send(due, new Map(rows.map((row) => [row.tabId, row])), WAITING_MAX - own)
    for (const raised of await sender.hurry(() => 0n)) if (!raised.ok) onFault(raised.fault)
  }

  /** Why the settler cannot pay for a claim of one tab; null if it can. */
  #lack(): Fault | null {
    const { chain, sender } = this.#deps
    const { database, head, ruleBook } = chain
    const { tx, block } = ruleBook.at(head.header.height + 1)
    const { decimals, ticker } = ruleBook.params
    const balance = database.get(ACCOUNTS, sender.address)?.balance ?? ZERO
    const needed = tx.tabs === undefined ? 0n : claimFee(1, baseFeeAfter(head.header, block) * FEE_ROOM, tx, tx.tabs)
    if (balance >= needed) return null
    const text = (units: bigint): string => `${formatAmount(amount(units), decimals)} ${ticker}`
    const texts = { neededText: text(needed), balanceText: text(balance) }
    return fault('mempool/balance-exceeded', { needed: `${needed}`, balance: `${balance}`, ...texts })
  }

  /** Claims that are not mined. Those that left the mempool are sent again; those that never will be mined are dropped. */
  async #waiting(): Promise<readonly TabClaimRow[]> {
    const { chain, store, sender, sink } = this.#deps
    const waiting: TabClaimRow[] = []
    const claims = await store.claims()
    this.#mined.keep(claims)
    for (const row of claims) {
      const minedAt = chain.database.location(row.txId)?.height
      if (minedAt !== undefined) {
        this.#mined.judge(row, minedAt)
        if (chain.head.header.height - minedAt >= FINAL_DEPTH) {
          await this.#ends.closedBy(row)
          await store.dropClaim(row.txId)
        }
        continue
      }
      const tx = claimIn(row)
      if (sink.get(row.txId) === undefined) {
        const sent = this.#isOver(tx) ? null : await sender.sendAgain(tx)
        if (sent === null || !(sent.ok || PASSING.has(sent.fault.code))) {
          await store.dropClaim(row.txId)
          continue
        }
      }
      waiting.push(row)
    }
    return waiting
  }

  /** Whether no block can take the transaction: it has expired, or its nonce is used. */
  #isOver({ body }: Transaction): boolean {
    const { database, head } = this.#deps.chain
    const next = database.get(ACCOUNTS, body.sender)?.nonce ?? 0n
    return body.nonce < next || (body.validUntil !== 0 && body.validUntil <= head.header.height)
  }

  async #due(rows: readonly TabRow[]): Promise<readonly ClaimOrder[]> {
    const moment = this.#moment()
    if (moment === null) return []
    const candidates: ClaimCandidate[] = []
    for (const row of rows) {
      const candidate = await this.#candidate(row)
      if (candidate !== null) candidates.push(candidate)
    }
    return claimsDue(candidates, moment)
  }

  /** Null on a network without tabs. */
  #moment(): ClaimMoment | null {
    const { chain, clock, riskLimit } = this.#deps
    const { header } = chain.head
    const { tx, block } = chain.ruleBook.at(header.height + 1)
    const { tabs } = tx
    if (tabs === undefined) return null
    const rate = baseFeeAfter(header, block) + 1n
    const fee = (count: number): bigint => claimFee(count, rate, tx, tabs)
    return { height: header.height, nowMs: clock.now(), fee, riskLimit: riskLimit?.() ?? null }
  }

  /** The operator may have sold under another agent id when the tab was opened. */
  #mayClaim({ agentId }: Tab): boolean {
    const { chain, sender } = this.#deps
    const agent = chain.database.get(AGENTS, agentId)
    return agent !== undefined && mayActFor(agent, sender.address)
  }

  /** What a claim of the tab alone cost in the block of its opening, by the rules of now. */
  #openedFee({ openedAt }: Tab): bigint {
    const { database, head, ruleBook } = this.#deps.chain
    const { tx, block } = ruleBook.at(head.header.height + 1)
    const id = database.idAt(openedAt)
    const { baseFee = block.baseFeeMin } = (id === undefined ? undefined : database.entry(id))?.header ?? {}
    return claimFee(1, baseFee + 1n, tx, tx.tabs as TabRules)
  }

  /** Null if the chain has no such tab that this settler may claim, or one that is spoken for. */
  async #candidate(row: TabRow): Promise<ClaimCandidate | null> {
    const { tabId, charged, receipts, refundAskedAtMs, lastReceipt } = row
    const tab = this.#tab(tabId)
    if (tab === undefined || !this.#mayClaim(tab)) return null
    if (this.#mined.failedLately(tabId)) return null
    const covered = charged < tab.deposit ? charged : tab.deposit
    const fresh = Math.max(0, receipts - tab.receipts)
    const newestAtMs = lastReceipt?.receipt.timeMs ?? 0
    return {
      ...{ tabId, tab, receipts: fresh },
      unclaimed: covered > tab.claimed ? covered - tab.claimed : 0n,
      oldestAtMs: fresh === 0 ? newestAtMs : await this.#oldestAt(tabId, tab.receipts, newestAtMs),
      refundAsked: refundAskedAtMs !== null,
      openedFee: refundAskedAtMs === null ? 0n : this.#openedFee(tab),
      isBusy: this.#isBusy(row),
    }
  }

  /**
   * Without other replicas, what is reserved is known to this process alone. It may also know receipts that were not on disk when the row
   * was read: a claim that ended the tab now would lose them.
   */
  #isBusy(row: TabRow): boolean {
    const { store } = this.#deps
    const known = store.shared === undefined ? store.peek(row.tabId) : row
    return known !== undefined && (known.reserved > 0n || known.receipts !== row.receipts)
  }

  async #oldestAt(tabId: TxId, receipts: number, newestAtMs: number): Promise<number> {
    const known = this.#oldest.get(tabId)
    if (known?.receipts === receipts) return known.atMs
    const [first] = await this.#deps.store.receiptsFrom(tabId, receipts + 1, 1)
    const atMs = first?.receipt.timeMs ?? newestAtMs
    this.#oldest.set(tabId, { receipts, atMs })
    return atMs
  }

  async #send(due: readonly ClaimOrder[], rows: ReadonlyMap<TxId, TabRow>, most: number): Promise<void> {
    let size = CLAIM_ENTRIES_MAX
    let rest = due
    for (let sent = 0; sent < most && rest.length > 0 && !this.#stopped; ) {
      const { entries, orders } = await this.#gather(rest, rows, size)
      if (entries.length === 0) {
        rest = rest.slice(orders)
        continue
      }
      const refusal = await this.#sendClaim(entries)
      if (refusal === null) {
        rest = rest.slice(orders)
        sent += 1
      } else if (refusal.code === 'mempool/balance-exceeded' && entries.length > 1) size = entries.length >> 1
      else return this.#deps.onFault(refusal)
    }
  }

  async #sendClaim(entries: readonly ClaimEntry[]): Promise<Fault | null> {
    const { sender, store } = this.#deps
    let kept: TxId | null = null
    const sent = await sender.sendKept('tab_claim', { entries }, async (tx) => {
      await this.#keep(tx)
      kept = tx.txId
    })
    if (sent.ok) return null
    if (kept !== null && !PASSING.has(sent.fault.code)) await store.dropClaim(kept)
    return sent.fault
  }

  /** Entries of the first tabs, at most `size`, and how many orders they serve. */
  async #gather(due: readonly ClaimOrder[], rows: ReadonlyMap<TxId, TabRow>, size: number) {
    const entries: ClaimEntry[] = []
    let orders = 0
    for (const order of due) {
      if (entries.length >= size) break
      const row = rows.get(order.tabId)
      const tab = this.#tab(order.tabId)
      if (row !== undefined && tab !== undefined) {
        const added = await this.#entriesOf(row, tab, order.close)
        // A tab whose entries do not all fit is claimed in part, and again later.
        if (entries.length > 0 && entries.length + added.length > size) break
        entries.push(...added.slice(0, size))
      }
      orders += 1
    }
    return { entries, orders }
  }

  async #entriesOf(row: TabRow, { deposit, claimed, receipts }: Tab, close: boolean): Promise<readonly ClaimEntry[]> {
    const { store, onFault } = this.#deps
    const builder = new EntryBuilder({ tabId: row.tabId, deposit, claimed, receipts, voucher: row.voucher })
    while (builder.next <= row.receipts && builder.size <= CLAIM_ENTRIES_MAX) {
      const page = await store.receiptsFrom(row.tabId, builder.next, Math.min(PAGE, row.receipts - builder.next + 1))
      const isWhole = page.length > 0 && page.every(({ receipt }) => builder.add(receipt))
      if (isWhole) continue
      onFault(fault('market/tab-receipts', { tabId: row.tabId, n: builder.next }))
      break
    }
    const isAll = builder.next > row.receipts
    return builder.entries(close && isAll)
  }

  async #keep(tx: Transaction): Promise<void> {
    if (tx.body.kind !== 'tab_claim') return
    const { store, clock } = this.#deps
    const entries = tx.body.payload.entries.map(({ tabId, claimed, receipts, root, close }) => {
      return { tabId, claimed, receipts, root, close }
    })
    const transaction = toHex(encodeTransaction(tx))
    await store.putClaim({ txId: tx.txId, entries, transaction, madeAtMs: clock.now() })
  }

  /** What the operator may pay for the claim: a part of what it still brings. */
  #worthOf({ body }: Transaction): bigint {
    if (body.kind !== 'tab_claim') return 0n
    const { height } = this.#deps.chain.head.header
    const reached = new Map<TxId, bigint>()
    let sum = 0n
    for (const { tabId, claimed } of body.payload.entries) {
      const tab = this.#tab(tabId)
      const from = reached.get(tabId) ?? tab?.claimed ?? claimed
      if (tab === undefined || claimed <= from) continue
      sum += feeBudget(tab, claimed - from, height)
      reached.set(tabId, claimed)
    }
    return sum
  }

  #tab(tabId: TxId): Tab | undefined {
    return this.#deps.chain.database.get(TABS, tabId)
  }
}

function claimIn({ transaction }: TabClaimRow): Transaction {
  const decoded = decodeTransaction(fromHex(transaction))
  if (!decoded.ok) throw new RangeError(`a stored claim is damaged: ${decoded.fault.code}`)
  return decoded.value
}

function senderOf(transaction: string): string {
  return claimIn({ transaction } as TabClaimRow).body.sender
}
