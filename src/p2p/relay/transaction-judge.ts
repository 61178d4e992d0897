import type { ChainReader } from '../../../consensus/chain/reader.ts'
import { type Fault, fault, faultRow } from '../../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../../consensus/primitives/fault-table.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import { LruMap, LruSet } from '../../../consensus/primitives/lru.ts'
import { decodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import type { Mempool } from '../../../mempool/mempool.ts'
import type { Measure, PeerId, Verdict } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import type { ExtraPool } from './extra-pool.ts'
import type { TransactionFacts } from './relay-facts.ts'

/** What the judge works with. */
export interface TransactionJudgeDependencies {
  readonly peers: Peers
  readonly chain: ChainReader
  readonly mempool: Mempool
  readonly extra: ExtraPool
  readonly facts: TransactionFacts
  /** A transaction could not be checked for lack of time or room. The sender's pool should be looked through later. */
  readonly onPostponed: (from: PeerId) => void
}

/** Milliseconds of one core: for a hybrid signature, and for everything before it. */
export const SIGNATURE_MS = 0.25
const CHECKS_MS = 0.05
/** Most transactions in admission at the same time: of all peers, and of one. */
const ADMISSIONS_MAX = 512
const ADMISSIONS_MAX_EACH = 128
const FALSE_REMEMBERED = 16_384
const REFUSED_REMEMBERED = 65_536
/** Most blocks for which a transaction that the state refused is not asked for again. */
const REFUSED_BLOCKS_MAX = 64
/** Nodes whose heads are this many blocks apart may follow different rules, and both be right. */
const RULES_MARGIN_BLOCKS = 20

/** Refusals that depend on the state or the moment. The sender is not to blame. */
const OF_THE_STATE: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'tx/sender-unknown',
  'tx/nonce-too-low',
  'tx/nonce-too-high',
  'tx/expired',
  'tx/fee-rate-below-base',
  'tx/fee-unpayable',
  'tx/keys-missing',
  'mempool/tab-waits',
  'mempool/claim-spent',
])
/** Refusals for fees and room. Another node may accept the same transaction. */
const OF_THE_FEE: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'mempool/fee-too-low',
  'mempool/full',
  'mempool/account-unpaid',
  'mempool/replacement-fee-too-low',
])
/** Refusals that the rules of every height share. */
const UNDER_ALL_RULES: ReadonlySet<FaultCode> = new Set<FaultCode>(['tx/bad-signature', 'tx/keys-not-of-sender'])

/**
 * Judges transactions of peers. None is checked twice at the same time, false ones are not checked again, and no peer crowds out others.
 */
export class TransactionJudge {
  readonly #deps: TransactionJudgeDependencies
  readonly #false = new LruSet<WtxId>(FALSE_REMEMBERED)
  /** Transactions that the state refused: how often, and the height from which they are asked for again. */
  readonly #ofTheState = new LruMap<WtxId, { readonly times: number; readonly untilHeight: number }>(REFUSED_REMEMBERED)
  readonly #underway = new Map<WtxId, Promise<Fault | null>>()
  readonly #admissionsOf = new Map<PeerId, number>()
  /** The last admission under way of each peer and account. */
  readonly #lastOf = new Map<string, Promise<unknown>>()

  constructor(dependencies: TransactionJudgeDependencies) {
    this.#deps = dependencies
  }

  /** Whether asking for a transaction would gain nothing. */
  isSettled(wtxId: WtxId): boolean {
    const { mempool, extra } = this.#deps
    if (mempool.byWitness(wtxId) !== undefined || this.#underway.has(wtxId)) return true
    const { height } = this.#deps.chain.head.header
    const isRefused = height < (this.#ofTheState.get(wtxId)?.untilHeight ?? 0)
    return isRefused || this.#false.has(wtxId) || extra.hasLeft(wtxId)
  }

  /** If the transaction cannot be decoded, the peer is reported. */
  read(from: PeerId, bytes: Uint8Array): Transaction | undefined {
    const tx = decodeTransaction(bytes)
    if (tx.ok) return tx.value
    this.#blame(from, tx.fault.code)
    return undefined
  }

  /** Admits a peer's transaction if it is good, and says what gossip should do with it. */
  async judge(from: PeerId, tx: Transaction, measure: Measure): Promise<Verdict> {
    const { mempool, facts } = this.#deps
    if (this.#false.has(tx.wtxId)) return this.#blame(from, 'again')
    if (mempool.byWitness(tx.wtxId) !== undefined) {
      facts.ignored++
      return 'ignore'
    }
    const refusal = await (this.#underway.get(tx.wtxId) ?? this.#admit(from, tx, measure))
    if (refusal === null) {
      facts.accepted++
      // The transaction waits for a missing nonce, and is passed on when that has come.
      if (!mempool.isReady(tx)) return 'ignore'
      this.#deps.peers.noteUseful(from, 'transaction')
      return 'accept'
    }
    if (refusal !== 'postponed' && this.#isFalse(refusal)) return this.#condemn(from, tx, refusal)
    if (refusal !== 'postponed' && OF_THE_STATE.has(refusal.code)) this.#refused(tx.wtxId)
    if (refusal !== 'postponed' && OF_THE_FEE.has(refusal.code)) this.#deps.extra.refused(tx)
    facts.ignored++
    return 'ignore'
  }

  /** Why the mempool refuses a transaction, or null; `postponed` if it cannot be judged now. */
  async #admit(from: PeerId, tx: Transaction, measure: Measure): Promise<Fault | null | 'postponed'> {
    const signaturesMs = tx.witness.signatures.length * SIGNATURE_MS
    const { peers } = this.#deps
    const own = this.#admissionsOf.get(from) ?? 0
    if (own >= ADMISSIONS_MAX_EACH || this.#underway.size >= ADMISSIONS_MAX) return this.#postpone(from)
    if (!peers.chargeVerification(from, signaturesMs + CHECKS_MS)) return this.#postpone(from)
    this.#admissionsOf.set(from, own + 1)
    const admission = this.#inTurn(from, tx, measure)
    this.#underway.set(tx.wtxId, admission)
    try {
      const refusal = await admission
      if (refusal?.code !== 'tx/bad-signature') peers.creditVerification(from, signaturesMs)
      if (refusal === null) peers.creditVerification(from, CHECKS_MS)
      if (refusal?.code === 'mempool/busy' || refusal?.code === 'mempool/unverified') return this.#postpone(from)
      return refusal
    } finally {
      this.#underway.delete(tx.wtxId)
      this.#leave(from)
    }
  }

  /**
   * Admits one peer's transactions of one account in order. Otherwise one could be judged before the transaction with the nonce below it is
   * in the mempool, and be refused.
   */
  #inTurn(from: PeerId, tx: Transaction, measure: Measure): Promise<Fault | null> {
    const queue = `${from} ${tx.body.sender}`
    const before = this.#lastOf.get(queue)
    const admission = (before ?? Promise.resolve())
      .then(() => measure(() => this.#deps.mempool.submit(tx)))
      .then(
        (submitted) => (submitted.ok ? null : submitted.fault),
        () => fault('mempool/busy'),
      )
    this.#lastOf.set(queue, admission)
    return admission.finally(() => {
      if (this.#lastOf.get(queue) === admission) this.#lastOf.delete(queue)
    })
  }

  #leave(from: PeerId): void {
    const left = (this.#admissionsOf.get(from) ?? 1) - 1
    if (left === 0) this.#admissionsOf.delete(from)
    else this.#admissionsOf.set(from, left)
  }

  /**
   * Notes that the state refused a transaction. The next block may make it good, or the peer is ahead of us. So it is asked for again at
   * once, then after 1, 2, 4 blocks and so on.
   */
  #refused(wtxId: WtxId): void {
    const times = (this.#ofTheState.get(wtxId)?.times ?? 0) + 1
    const blocks = times === 1 ? 0 : Math.min(2 ** (times - 2), REFUSED_BLOCKS_MAX)
    this.#ofTheState.set(wtxId, { times, untilHeight: this.#deps.chain.head.header.height + blocks })
  }

  #postpone(from: PeerId): 'postponed' {
    this.#deps.facts.postponed++
    this.#deps.onPostponed(from)
    return 'postponed'
  }

  /** Whether only a dishonest or faulty node can have passed the transaction on, whatever that node's state. */
  #isFalse({ code }: Fault): boolean {
    if (faultRow(code).blame !== 'sender' || code.startsWith('mempool/') || OF_THE_STATE.has(code)) return false
    return UNDER_ALL_RULES.has(code) || this.#rulesAreSettled()
  }

  #rulesAreSettled(): boolean {
    const { ruleBook, head } = this.#deps.chain
    const { height } = head.header
    const before = ruleBook.at(Math.max(0, height - RULES_MARGIN_BLOCKS))
    return before === ruleBook.at(height + RULES_MARGIN_BLOCKS)
  }

  #condemn(from: PeerId, tx: Transaction, { code }: Fault): Verdict {
    this.#false.add(tx.wtxId)
    return this.#blame(from, code)
  }

  #blame(from: PeerId, about: string): Verdict {
    this.#deps.facts.rejected++
    this.#deps.peers.report(from, 'bad-transaction', about)
    return 'reject'
  }
}
