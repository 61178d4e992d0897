import { type MatchedBlock, matchBody } from '../../../consensus/block/check.ts'
import type { SealedHeader } from '../../../consensus/block/header.ts'
import type { Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import { decodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import type { PeerId } from '../network.ts'
import { askPatiently, isBusy } from '../peers/patience.ts'
import type { Peers } from '../peers/peers.ts'
import type { ReplyOf } from '../wire/messages.ts'
import type { Slots } from './compact-block.ts'

/** What fetching works with. */
export interface FetchDependencies {
  readonly peers: Peers
  readonly timers: Timers
}

const BUSY_TIMES = 2
const REMEMBERED = 1_024
/** After this time an honest peer of any release has the block that it told of, even if a liar deceived it. */
const REMIND_MS = 60_000

/** What the givers work with. */
export interface GiversDependencies extends FetchDependencies {
  /** Whether a block is stored here and, as far as is known, good. */
  readonly isGood: (id: BlockId) => boolean
}

/** Peers as givers of the blocks that they tell of: in which order they are asked, and which are to blame because they gave none. */
export class Givers {
  readonly #deps: GiversDependencies
  readonly #inVain = new LruMap<PeerId, number>(REMEMBERED)
  readonly #reminders = new Map<PeerId, () => void>()

  constructor(dependencies: GiversDependencies) {
    this.#deps = dependencies
  }

  /** How often a peer was asked in vain since it last gave something. */
  inVain(peer: PeerId): number {
    return this.#inVain.get(peer) ?? 0
  }

  gave(peer: PeerId): void {
    this.#inVain.delete(peer)
  }

  /** Notes that a peer took too long. Its line may be slow, or ours, so it is not blamed. */
  gaveLate(peer: PeerId): void {
    this.#inVain.set(peer, this.inVain(peer) + 1)
  }

  /**
   * Notes that a peer did not give a block that it told of. If the block turns out good, the peer is asked for it once more. Of each peer
   * only one block at a time is kept for that.
   */
  gaveNothing(peer: PeerId, header: SealedHeader): void {
    this.gaveLate(peer)
    if (this.#reminders.has(peer)) return
    const { timers, peers, isGood } = this.#deps
    const cancel = timers.after(REMIND_MS, () => {
      this.#reminders.delete(peer)
      if (isGood(header.id) && peers.isReady(peer)) void remind(this.#deps, peer, header)
    })
    this.#reminders.set(peer, cancel)
  }

  stop(): void {
    for (const cancel of this.#reminders.values()) cancel()
    this.#reminders.clear()
  }
}

/**
 * Asks a peer for missing transactions; undefined if it did not help. The peer is not to blame for transactions that do not fit: the maker
 * of the message may have named indexes that the block does not have.
 */
export async function fetchMissing(
  { peers, timers }: FetchDependencies,
  ...[from, header, slots]: [PeerId, SealedHeader, Slots]
): Promise<Slots | undefined> {
  const indexes = slots.flatMap((tx, index) => (tx === undefined ? [index] : []))
  const patience = { peers, timers, times: BUSY_TIMES }
  const reply = await askPatiently(patience, from, 'blockTransactions', { block: header.id, indexes })
  if (!reply.ok) return undefined
  if (reply.value.length !== indexes.length) {
    peers.report(from, 'unasked', `${reply.value.length} transactions in place of ${indexes.length}`)
    return undefined
  }
  const came = decoded(peers, from, reply.value)
  if (came === undefined) return undefined
  const filled = [...slots]
  for (const [i, index] of indexes.entries()) filled[index] = came[i]
  return filled
}

/** Asks a peer for the whole body; undefined if it did not help. A body that does not match the header is its fault. */
export async function fetchBody(
  { peers, timers }: FetchDependencies,
  ...[from, header]: [PeerId, SealedHeader]
): Promise<MatchedBlock | undefined> {
  const patience = { peers, timers, times: BUSY_TIMES }
  const reply = await askPatiently(patience, from, 'bodies', [header.id])
  return reply.ok ? bodyIn(peers, from, header, reply.value) : undefined
}

/** Asks a peer once more for a body that it must have by now. */
async function remind({ peers }: FetchDependencies, from: PeerId, header: SealedHeader): Promise<void> {
  const reply = await peers.exchange.ask(from, 'bodies', [header.id])
  if (reply.ok) bodyIn(peers, from, header, reply.value)
  else if (reply.fault.code === 'p2p/refused' && !isBusy(reply.fault))
    peers.report(from, 'useless', `the body of ${header.id}, which it told of`)
}

/** The one body of a reply. Anything else is reported. */
function bodyIn(
  ...[peers, from, header, reply]: [Peers, PeerId, SealedHeader, ReplyOf<'bodies'>]
): MatchedBlock | undefined {
  const [first] = reply
  if (first === undefined || reply.length > 1) {
    peers.report(from, 'unasked', `${reply.length} bodies in place of one`)
    return undefined
  }
  const transactions = decoded(peers, from, first)
  if (transactions === undefined) return undefined
  const block = matchBody(header, transactions)
  if (block.ok) return block.value
  peers.report(from, 'bad-body', header.id)
  return undefined
}

function decoded(
  ...[peers, from, transactions]: [Peers, PeerId, ReplyOf<'transactions'>]
): readonly Transaction[] | undefined {
  const read: Transaction[] = []
  for (const bytes of transactions) {
    const tx = decodeTransaction(bytes)
    if (!tx.ok) {
      peers.report(from, 'malformed', `a transaction of a block: ${tx.fault.code}`)
      return undefined
    }
    read.push(tx.value)
  }
  return read
}
