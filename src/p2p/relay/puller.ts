import type { Timers } from '../../../consensus/chain/ports.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { Measure, PeerId } from '../network.ts'
import { askPatiently } from '../peers/patience.ts'
import type { Peers } from '../peers/peers.ts'
import type { Turn } from '../peers/serving.ts'
import { PAGE_BYTES } from '../wire/protocols.ts'
import { pause, within } from './within.ts'

/** What the puller works with. */
export interface PullerDependencies {
  readonly peers: Peers
  readonly timers: Timers
  /** Whether a transaction is here, or is not wanted. */
  readonly isSettled: (wtxId: WtxId) => boolean
  /** Whether a transaction was here, or in a block, not long ago. */
  readonly wasSeen: (wtxId: WtxId) => boolean
  /** Undefined, and the peer is reported, if the transaction cannot be decoded. */
  readonly read: (from: PeerId, bytes: Uint8Array) => Transaction | undefined
  /** Takes a transaction that came; true if it was of use. It never rejects. */
  readonly take: (from: PeerId, tx: Transaction, measure: Measure) => Promise<boolean>
}

interface Teller {
  /** Ids that it told of and that are still wanted. */
  readonly told: Set<WtxId>
  /** Those of `told` that no peer is being asked for. */
  readonly open: Set<WtxId>
  isAsked: boolean
  /** Requests in a row that it did not answer. */
  failures: number
}

interface Taken {
  readonly left: ReadonlySet<WtxId>
  readonly cameBytes: number
  readonly useless: number
}

/** Ids asked for in one request. Their transactions mostly fit one reply. */
const BATCH = 128
/** Ids that wait. A peer may have `always` of them in any case and `ofPeer` at most; between these, all peers share `ofAll`. */
export const WANTED = { always: 1_024, ofPeer: 4_096, ofAll: 16_384 } as const
/** How long one peer may keep us from asking the next one. */
const PATIENCE_MS = 2_000
/** How often it is checked whether the budget of a peer has paid for its useless transactions. */
const PAY_MS = 1_000
const BUSY_TIMES = 3

/**
 * Asks peers for transactions that they told of, one peer at a time for each id. Each peer has its own quota of ids, so ids that other
 * peers made up take none of it.
 */
export class Puller {
  readonly #deps: PullerDependencies
  readonly #wanted = new Map<WtxId, PeerId[]>()
  readonly #tellers = new Map<PeerId, Teller>()
  readonly #underway = new Set<WtxId>()
  #waiting = 0
  #stopped = false

  constructor(dependencies: PullerDependencies) {
    this.#deps = dependencies
  }

  /** Notes ids that a peer has and asks for those that we lack; false if the peer's quota has no room for some of them. */
  want(from: PeerId, ids: readonly WtxId[]): boolean {
    if (this.#stopped) return true
    let all = true
    for (const id of ids) all = this.#note(from, id) && all
    void this.#pump(from)
    return all
  }

  gone(peer: PeerId): void {
    this.#dropAll(peer)
    this.#tellers.delete(peer)
  }

  stop(): void {
    this.#stopped = true
    this.#wanted.clear()
    this.#tellers.clear()
  }

  #note(from: PeerId, id: WtxId): boolean {
    const teller = this.#tellers.get(from) ?? { told: new Set(), open: new Set(), isAsked: false, failures: 0 }
    this.#tellers.set(from, teller)
    if (teller.told.has(id) || this.#deps.isSettled(id)) return true
    const { size } = teller.told
    if (size >= WANTED.ofPeer || (size >= WANTED.always && this.#waiting >= WANTED.ofAll)) return false
    teller.told.add(id)
    this.#waiting += 1
    if (!this.#underway.has(id)) teller.open.add(id)
    const tellers = this.#wanted.get(id)
    if (tellers === undefined) this.#wanted.set(id, [from])
    else tellers.push(from)
    return true
  }

  async #pump(peer: PeerId): Promise<void> {
    const teller = this.#tellers.get(peer)
    if (teller === undefined || teller.isAsked) return
    teller.isAsked = true
    try {
      for (let batch = this.#batchFor(peer, teller); batch.length > 0; batch = this.#batchFor(peer, teller))
        await this.#ask(peer, teller, batch)
    } finally {
      teller.isAsked = false
    }
  }

  #batchFor(peer: PeerId, teller: Teller): readonly WtxId[] {
    if (this.#stopped || this.#tellers.get(peer) !== teller) return []
    if (!this.#deps.peers.isReady(peer)) {
      this.gone(peer)
      return []
    }
    const batch: WtxId[] = []
    for (const id of teller.open) {
      if (this.#deps.isSettled(id)) this.#settle(id)
      else batch.push(id)
      if (batch.length === BATCH) break
    }
    for (const id of batch) {
      this.#underway.add(id)
      for (const other of this.#wanted.get(id) ?? []) this.#tellers.get(other)?.open.delete(id)
    }
    return batch
  }

  async #ask(peer: PeerId, teller: Teller, batch: readonly WtxId[]): Promise<void> {
    const { peers, timers } = this.#deps
    const asked = askPatiently({ peers, timers, times: BUSY_TIMES }, peer, 'transactions', batch)
    const reply = await within(timers, PATIENCE_MS, asked)
    if (this.#stopped) return
    if (reply === undefined || !reply.ok) {
      // Others that told of the same are asked.
      teller.failures += 1
      if (this.#tellers.get(peer) === teller) this.#dropAll(peer)
      this.#release(batch)
      return
    }
    teller.failures = 0
    const bytes = reply.value.reduce((sum, { length }) => sum + length, 0)
    const reading = peers.workFor(peer, 'toldTransactions', bytes, (turn) =>
      this.#takeAll(peer, new Set(batch), reply.value, turn),
    )
    // The peer's share of the main thread may be used up. Others may give the same meanwhile.
    if ((await within(timers, PATIENCE_MS, reading)) === undefined) this.#release(batch)
    const taken = await reading
    if (taken === null || this.#stopped) return
    const { left, cameBytes } = taken
    // A reply of half a page or more may have ended where the next transaction did not fit.
    const isCut = cameBytes >= PAGE_BYTES / 2
    if (!isCut) for (const id of left) this.#drop(peer, id)
    this.#release(left)
    if (!isCut) this.#charge(peer, left, batch.length)
    await this.#payFor(peer, taken.useless)
  }

  /** Waits until a peer has paid for its useless transactions. Its pool may differ from ours, so they are no offence. */
  async #payFor(peer: PeerId, useless: number): Promise<void> {
    const { peers, timers } = this.#deps
    const isOwed = (): boolean => peers.budgetOf(peer)?.take('uselessTransactions', useless) === false
    while (!this.#stopped && isOwed()) await pause(timers, PAY_MS)
  }

  /** An honest peer may have lost some transactions since it told of them. A liar lacks many. */
  #charge(peer: PeerId, missing: ReadonlySet<WtxId>, askedCount: number): void {
    const { peers, isSettled, wasSeen } = this.#deps
    const count = [...missing].filter((id) => !isSettled(id) && !wasSeen(id)).length
    if (count === 0) return
    const isAllowed = peers.budgetOf(peer)?.take('missingIds', count) !== false
    if (count === askedCount || !isAllowed) peers.report(peer, 'useless', 'transactions that it told of')
  }

  async #takeAll(...[peer, asked, reply, turn]: [PeerId, Set<WtxId>, readonly Uint8Array[], Turn]): Promise<Taken> {
    let cameBytes = 0
    const takes: Promise<boolean>[] = []
    const measure: Measure = (work) => turn.measure(work)
    for (const bytes of reply) {
      if (turn.due()) await turn.pause()
      const tx = this.#deps.read(peer, bytes)
      if (tx === undefined) continue
      if (!asked.delete(tx.wtxId)) {
        this.#deps.peers.report(peer, 'unasked', tx.wtxId)
        continue
      }
      cameBytes += bytes.length
      this.#settle(tx.wtxId)
      takes.push(this.#deps.take(peer, tx, measure))
    }
    // The next batch is asked for when this one is worked through.
    const taken = await turn.aside(Promise.all(takes))
    return { left: asked, cameBytes, useless: taken.filter((isOfUse) => !isOfUse).length }
  }

  /** Stops asking any peer for an id. */
  #settle(id: WtxId): void {
    for (const peer of [...(this.#wanted.get(id) ?? [])]) this.#drop(peer, id)
    this.#underway.delete(id)
  }

  /** Stops asking one peer for an id. */
  #drop(peer: PeerId, id: WtxId): void {
    const teller = this.#tellers.get(peer)
    if (teller?.told.delete(id) !== true) return
    teller.open.delete(id)
    this.#waiting -= 1
    const tellers = this.#wanted.get(id) as PeerId[]
    if (tellers.length === 1) this.#wanted.delete(id)
    else tellers.splice(tellers.indexOf(peer), 1)
  }

  #dropAll(peer: PeerId): void {
    for (const id of [...(this.#tellers.get(peer)?.told ?? [])]) this.#drop(peer, id)
  }

  #release(ids: Iterable<WtxId>): void {
    const others = new Map<PeerId, Teller>()
    for (const id of ids) {
      this.#underway.delete(id)
      for (const peer of this.#wanted.get(id) ?? []) {
        const teller = this.#tellers.get(peer) as Teller
        teller.open.add(id)
        others.set(peer, teller)
      }
    }
    const isOurs = (peer: PeerId): boolean => this.#deps.peers.get(peer)?.info.direction === 'outbound'
    const inOrder = [...others].sort(
      ([one, { failures }], [other, { failures: ofOther }]) =>
        failures - ofOther || Number(isOurs(other)) - Number(isOurs(one)),
    )
    for (const [peer] of inOrder) void this.#pump(peer)
  }
}
