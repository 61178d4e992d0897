import type { Clock } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import { Owed } from '../peers/patience.ts'
import type { Peers } from '../peers/peers.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import { PROTOCOLS, type ProtocolName } from '../wire/protocols.ts'

/** Milliseconds of waiting that a MiB makes up for. It is more than the deadline of a page, since a page may be shorter than a MiB. */
export const MIB_WORTH_MS = 40_000
/** A peer that owes more waiting than this is asked no more. Each of its answers may come in time and hold next to nothing. */
export const OWED_MS_MAX = 120_000
/** If all peers together owe more waiting than this, a download gives up. A peer may come back under another name. */
export const OWED_MS_MAX_ALL = 600_000
/** Waiting that a MiB makes up for when peers are ordered. Quick peers come before those that were not asked yet. */
const MIB_QUICK_MS = 4_000
/** Waiting that a MiB makes up for before other snapshots are looked at. A line of about one Mbit/s owes nothing. */
const MIB_SLOW_MS = 8_000
const MIB = 1_048_576
const PEERS_KEPT = 1_024

/** What one peer owes: `owed` decides whether it is asked, `slow` when. */
class Account {
  readonly owed = new Owed(OWED_MS_MAX)
  readonly slow = new Owed(OWED_MS_MAX)
}

/** Waits for peers, weighed against what they gave. */
export class Waits {
  readonly #peers: Peers
  readonly #clock: Clock
  readonly #accounts = new LruMap<PeerId, Account>(PEERS_KEPT)
  readonly #all = new Owed(OWED_MS_MAX)
  readonly #slow = new Owed(OWED_MS_MAX)
  #turn = 0

  constructor({ peers, clock }: { readonly peers: Peers; readonly clock: Clock }) {
    this.#peers = peers
    this.#clock = clock
  }

  get areOver(): boolean {
    return this.#all.ms > OWED_MS_MAX_ALL
  }

  /** Milliseconds that all peers together made us wait beyond what a slow line takes. */
  get slowMs(): number {
    return this.#slow.ms
  }

  areTooLong(id: PeerId): boolean {
    return this.#accountOf(id).owed.ms > OWED_MS_MAX
  }

  async ask<P extends ProtocolName>(id: PeerId, protocol: P, request: RequestOf<P>): Promise<Result<ReplyOf<P>>> {
    const startedMs = this.#clock.now()
    const reply = await this.#peers.exchange.ask(id, protocol, request)
    // If this machine slept, at most the deadline counts as a wait for the peer.
    this.note(id, Math.max(0, Math.min(this.#clock.now() - startedMs, PROTOCOLS[protocol].deadlineMs)), 0)
    return reply
  }

  note(id: PeerId, waitedMs: number, bytes: number): void {
    const { owed, slow } = this.#accountOf(id)
    const mib = bytes / MIB
    for (const account of [owed, this.#all]) account.note(waitedMs, mib * MIB_WORTH_MS)
    slow.note(waitedMs, mib * MIB_QUICK_MS)
    this.#slow.note(waitedMs, mib * MIB_SLOW_MS)
  }

  /** Equally quick peers take turns. */
  quickestOf(peers: readonly PeerId[]): PeerId | undefined {
    const least = Math.min(...peers.map((id) => this.#accountOf(id).slow.ms))
    const quickest = peers.filter((id) => this.#accountOf(id).slow.ms === least)
    return quickest[this.#turn++ % Math.max(1, quickest.length)]
  }

  #accountOf(id: PeerId): Account {
    const known = this.#accounts.get(id)
    if (known !== undefined) return known
    const account = new Account()
    this.#accounts.set(id, account)
    return account
  }
}
