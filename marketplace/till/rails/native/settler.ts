import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { Timers } from '../../../../consensus/chain/ports.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { BlockId, Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import {
  OUTCOME_DELIVERED,
  OUTCOME_FAILED,
  RECEIPT_ENTRIES_MAX,
  type ReceiptEntry,
} from '../../../../consensus/tx/payloads.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import { closedBy, closureOf } from '../../../ledger/closures.ts'
import { ESCROWS } from '../../../ledger/escrow.ts'
import { ClaimsAway } from '../../claim-store.ts'
import { FINAL_DEPTH } from '../../settings.ts'
import type { Shop } from '../../shop.ts'
import { type FinishedClaim, isFinished, type NativeClaimStore } from './claim.ts'
import type { Sender } from './sender.ts'

/** What the settler works with. */
export interface SettlerDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly store: NativeClaimStore
  readonly sender: Sender
  readonly timers: Timers
  /** Called with the reason why receipts cannot be sent or claims cannot be read now. Both are tried again. */
  readonly onFault: (fault: Fault) => void
  /** Whether other replicas may have taken over what is owed here; then nothing is sent. Absent: never. */
  readonly isHeld?: () => boolean
}

/** How long finished calls are gathered before a receipt is sent. */
const GATHER_MS = 500
/** Largest duration that fits a receipt entry. */
export const DURATION_MS_MAX = 0xffffffff
/** A payment that a reorganisation took is given up after the longest term and the deepest reorganisation together. */
const GONE_BLOCKS = 12_000

/** A finished call whose receipt is owed. */
interface Owed {
  readonly entry: ReceiptEntry
  readonly amount: bigint
  readonly minedAt: number
}

/**
 * Posts receipts for finished calls, in batches, and again until they are deep enough. The claims and the open escrows say what is
 * owed, so a restart loses nothing.
 */
export class Settler {
  readonly #deps: SettlerDependencies
  readonly #owed = new Map<TxId, Owed>()
  /** Blocks that left the best chain and were not searched yet. */
  readonly #left = new Set<BlockId>()
  #cancelTimer: (() => void) | null = null
  #work: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(dependencies: SettlerDependencies) {
    this.#deps = dependencies
    dependencies.chain.onHeadChange(({ disconnected }) => {
      if (disconnected.length > 0) void this.takeUp(disconnected.map(({ id }) => id))
      this.#schedule(0)
    })
  }

  get owedCount(): number {
    return this.#owed.size
  }

  owe(claim: FinishedClaim): void {
    if (claim.settlement === 'final') return
    const { txId, minedAt, amount } = claim
    this.#owed.set(txId, { entry: entryOf(claim), amount: BigInt(amount), minedAt })
    this.#schedule(GATHER_MS)
  }

  /**
   * Once blocks have left the best chain, owes their receipts again, also the final ones: a miner with enough work can replace blocks
   * deeper than {@link FINAL_DEPTH}.
   */
  takeUp(left: readonly BlockId[]): Promise<void> {
    for (const id of left) this.#left.add(id)
    return this.#queue(() => this.#lookThrough())
  }

  /** Forgets what is owed: other replicas have taken it over. */
  forget(): void {
    this.#owed.clear()
  }

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
    void this.#queue(() => this.#settle())
  }

  /** Does one piece of work after the other. If the store is away, the rest is done at the next head. */
  #queue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      if (!(error instanceof ClaimsAway)) throw error
      this.#deps.onFault(error.fault)
    })
    return this.#work
  }

  async #lookThrough(): Promise<void> {
    for (const id of this.#left) {
      for (const txId of closedBy(this.#deps.chain.database, id)) await this.#reopen(txId)
      this.#left.delete(id)
    }
  }

  async #settle(): Promise<void> {
    const { chain, sender, shop, onFault } = this.#deps
    if (this.#stopped || chain.moving || this.#deps.isHeld?.()) return
    await this.#lookThrough()
    await this.#finalise()
    const due = this.#due()
    if (due.length > 0 && !shop.maySettle) return onFault(fault('receipt/foreign'))
    await this.#send(due)
    for (const raised of await sender.hurry((tx) => this.#worthOf(tx))) if (!raised.ok) onFault(raised.fault)
  }

  /** Entries of open escrows that are in no minable receipt, the earliest deadline first. */
  #due(): readonly Owed[] {
    const named = new Set(this.#deps.sender.minable.flatMap(entriesOf).map(({ txId }) => txId))
    const deadlineOf = ({ entry }: Owed): number => this.#escrow(entry.txId)?.deadline ?? 0
    return [...this.#owed.values()]
      .filter(({ entry }) => !named.has(entry.txId) && this.#escrow(entry.txId) !== undefined)
      .sort((a, b) => deadlineOf(a) - deadlineOf(b))
  }

  /** Smaller batches are sent if the account cannot pay for a large one. */
  async #send(due: readonly Owed[]): Promise<void> {
    let size = RECEIPT_ENTRIES_MAX
    for (let start = 0; start < due.length; ) {
      const entries = due.slice(start, start + size).map(({ entry }) => entry)
      const sent = await this.#deps.sender.send('agent_receipt', { entries })
      if (sent.ok) start += entries.length
      else if (sent.fault.code === 'mempool/balance-exceeded' && entries.length > 1) size = entries.length >> 1
      else return this.#deps.onFault(sent.fault)
    }
  }

  /** What the operator loses if the receipt is not mined in time. A refund is worth 0: it happens at the deadline by itself. */
  #worthOf(tx: Transaction): bigint {
    return entriesOf(tx).reduce((sum, { txId, outcome }) => {
      const earns = outcome === OUTCOME_DELIVERED && this.#escrow(txId) !== undefined
      return earns ? sum + (this.#owed.get(txId)?.amount ?? 0n) : sum
    }, 0n)
  }

  #escrow(txId: TxId) {
    return this.#deps.chain.database.get(ESCROWS, txId)
  }

  async #reopen(txId: TxId): Promise<void> {
    const { store } = this.#deps
    if (this.#stopped || this.#owed.has(txId)) return
    const claim = await store.get(txId)
    if (claim === undefined || !isFinished(claim) || claim.settlement === 'owed' || this.#isFinal(txId)) return
    const owed = { ...claim, settlement: 'owed' } as const
    if (await store.advance(claim.state, owed)) this.owe(owed)
  }

  #isFinal(txId: TxId): boolean {
    const { database, head } = this.#deps.chain
    const closure = closureOf(database, txId)
    return closure !== undefined && head.header.height - closure.height >= FINAL_DEPTH
  }

  async #finalise(): Promise<void> {
    const { database, head } = this.#deps.chain
    for (const [txId, { minedAt }] of [...this.#owed]) {
      if (this.#escrow(txId) !== undefined) continue
      const gone = head.header.height - minedAt >= GONE_BLOCKS && closureOf(database, txId) === undefined
      if (!gone && !this.#isFinal(txId)) continue
      await this.#close(txId)
      this.#owed.delete(txId)
    }
  }

  async #close(txId: TxId): Promise<void> {
    const claim = await this.#deps.store.get(txId)
    if (claim !== undefined && isFinished(claim))
      await this.#deps.store.advance(claim.state, { ...claim, settlement: 'final' })
  }
}

function entriesOf({ body }: Transaction): readonly ReceiptEntry[] {
  return body.kind === 'agent_receipt' ? body.payload.entries : []
}

function entryOf(claim: FinishedClaim): ReceiptEntry {
  const delivered = claim.state === 'delivered'
  return {
    txId: claim.txId,
    outcome: delivered ? OUTCOME_DELIVERED : OUTCOME_FAILED,
    resultHash: delivered ? claim.resultHash : (ZERO_HEX_32 as Hash),
    opener: claim.opener ?? (ZERO_HEX_32 as Hash),
    durationMs: Math.min(Math.max(claim.durationMs, 0), DURATION_MS_MAX),
  }
}
