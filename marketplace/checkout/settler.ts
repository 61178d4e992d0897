import type { Chain } from '../../consensus/chain/chain.ts'
import type { Timers } from '../../consensus/chain/ports.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Hash, TxId } from '../../consensus/primitives/ids.ts'
import {
  OUTCOME_DELIVERED,
  OUTCOME_FAILED,
  RECEIPT_ENTRIES_MAX,
  type ReceiptEntry,
} from '../../consensus/tx/payloads.ts'
import { ESCROWS } from '../ledger/escrow.ts'
import { type FinishedClaim, isFinished } from './claim.ts'
import type { ClaimStore } from './claim-store.ts'
import type { TransactionSink } from './operator.ts'
import type { Sender } from './sender.ts'
import { FINAL_DEPTH } from './settings.ts'

/** What the settler works with. */
export interface SettlerDependencies {
  readonly chain: Chain
  readonly store: ClaimStore
  readonly sink: Pick<TransactionSink, 'get'>
  readonly sender: Sender
  readonly timers: Timers
  /** Hears of receipts that could not be sent; they are tried again. */
  readonly onFault: (fault: Fault) => void
}

/** How long finished calls are gathered before a receipt is sent. */
const GATHER_MS = 500
/** Largest duration that fits a receipt entry. */
const DURATION_MS_MAX = 0xffffffff

/**
 * Posts receipts for finished calls: batched, sent again until they are deep enough, taken up after a restart. What is
 * owed follows from the claims and the open escrows alone, so nothing is lost with the process.
 */
export class Settler {
  readonly #deps: SettlerDependencies
  readonly #owed = new Map<TxId, FinishedClaim>()
  /** Height at which an escrow was first seen closed on the current branch. */
  readonly #closedAt = new Map<TxId, number>()
  #cancelTimer: (() => void) | null = null
  #work: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(dependencies: SettlerDependencies) {
    this.#deps = dependencies
    dependencies.chain.onHeadChange(() => this.#schedule(0))
  }

  /** Finished calls whose receipt is not final yet. */
  get owedCount(): number {
    return this.#owed.size
  }

  /** Takes up a finished call. */
  owe(claim: FinishedClaim): void {
    if (claim.settlement === 'final') return
    this.#owed.set(claim.txId, claim)
    this.#schedule(GATHER_MS)
  }

  /** Stops sending and waits for work under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer?.()
    await this.#work
  }

  #schedule(ms: number): void {
    if (this.#stopped || this.#owed.size === 0) return
    if (ms > 0) {
      this.#cancelTimer ??= this.#deps.timers.after(ms, () => {
        this.#cancelTimer = null
        this.#schedule(0)
      })
      return
    }
    this.#work = this.#work.then(() => this.#settle())
  }

  async #settle(): Promise<void> {
    if (this.#stopped || this.#deps.chain.moving) return
    await this.#finalise()
    const waiting = this.#inFlight()
    const due = [...this.#owed.values()].filter(({ txId }) => !waiting.has(txId) && this.#isOpen(txId))
    for (let start = 0; start < due.length; start += RECEIPT_ENTRIES_MAX) {
      const entries = due.slice(start, start + RECEIPT_ENTRIES_MAX).map(entryOf)
      const sent = await this.#deps.sender.send('agent_receipt', { entries })
      if (!sent.ok) return this.#deps.onFault(sent.fault)
    }
  }

  /** Payments that a receipt waiting in the mempool names already. */
  #inFlight(): ReadonlySet<TxId> {
    const named = this.#deps.sender.waiting.flatMap(({ body }) =>
      body.kind === 'agent_receipt' ? body.payload.entries.map(({ txId }) => txId) : [],
    )
    return new Set(named)
  }

  #isOpen(txId: TxId): boolean {
    return this.#deps.chain.database.get(ESCROWS, txId) !== undefined
  }

  /** An escrow that stayed closed, or a payment that stayed gone, for long enough needs nothing more. */
  async #finalise(): Promise<void> {
    const { height } = this.#deps.chain.head.header
    for (const claim of [...this.#owed.values()]) {
      const { txId } = claim
      if (this.#isOpen(txId) || this.#deps.sink.get(txId) !== undefined) {
        this.#closedAt.delete(txId)
        continue
      }
      const closedAt = Math.min(this.#closedAt.get(txId) ?? height, height)
      this.#closedAt.set(txId, closedAt)
      if (height - closedAt < FINAL_DEPTH) continue
      await this.#close(txId)
      this.#owed.delete(txId)
      this.#closedAt.delete(txId)
    }
  }

  /** The stored claim may know less than the one held here: its result may have been pruned. */
  async #close(txId: TxId): Promise<void> {
    const claim = await this.#deps.store.get(txId)
    if (claim !== undefined && isFinished(claim))
      await this.#deps.store.advance(claim.state, { ...claim, settlement: 'final' })
  }
}

function entryOf(claim: FinishedClaim): ReceiptEntry {
  const delivered = claim.state === 'delivered'
  return {
    txId: claim.txId,
    outcome: delivered ? OUTCOME_DELIVERED : OUTCOME_FAILED,
    resultHash: delivered ? claim.resultHash : (ZERO_HEX_32 as Hash),
    opener: claim.opener ?? (ZERO_HEX_32 as Hash),
    durationMs: Math.min(claim.durationMs, DURATION_MS_MAX),
  }
}
