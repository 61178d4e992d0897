import type { Timers } from '../../../consensus/chain/ports.ts'
import type { PeerId } from '../network.ts'
import type { Exchange } from '../peers/exchange.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { NODE_ADDRESSES_MAX, NOTHING } from '../wire/messages.ts'

/** A peer is asked for addresses so often. */
export const ASK_EVERY_MS = 3_600_000
/** A peer is given addresses so often; whoever asks at every turn would learn the whole book. */
const ANSWER_EVERY_MS = 60_000

/** Answers `addresses`: some where nodes were in the last day, at most 256. */
export function serveAddresses(
  exchange: Exchange,
  { good, now }: { readonly good: (limit: number) => readonly string[]; readonly now: () => number },
): { readonly forget: (peer: PeerId) => void } {
  const answeredMs = new Map<PeerId, number>()
  exchange.answer('addresses', (from) => {
    if (now() - (answeredMs.get(from) ?? Number.NEGATIVE_INFINITY) < ANSWER_EVERY_MS) return { refusal: 'busy' }
    answeredMs.set(from, now())
    return { reply: good(NODE_ADDRESSES_MAX) as string[] }
  })
  return { forget: (peer) => void answeredMs.delete(peer) }
}

/** What asking for addresses needs. */
export interface AddressAskerDependencies {
  readonly peers: Peers
  readonly timers: Timers
  /** Takes what a peer told; false if something in it is no address at all. */
  readonly hear: (peer: Peer, addresses: readonly string[]) => boolean
}

/** Asks each peer that we dialled for addresses, once it shook hands and then hourly. */
export class AddressAsker {
  readonly #deps: AddressAskerDependencies
  readonly #cancels = new Map<PeerId, () => void>()
  #running = false

  constructor(dependencies: AddressAskerDependencies) {
    this.#deps = dependencies
    dependencies.peers.onPeer({
      ready: (peer) => this.#begin(peer),
      gone: (id) => this.#end(id),
    })
  }

  start(): void {
    this.#running = true
    for (const peer of this.#deps.peers.list()) this.#begin(peer)
  }

  stop(): void {
    this.#running = false
    for (const id of [...this.#cancels.keys()]) this.#end(id)
  }

  /** Peers that came to us are not asked: they could choose what we hear by being many. */
  #begin({ info }: Peer): void {
    if (this.#running && info.direction === 'outbound') void this.#ask(info.id)
  }

  #end(id: PeerId): void {
    this.#cancels.get(id)?.()
    this.#cancels.delete(id)
  }

  async #ask(id: PeerId): Promise<void> {
    this.#end(id)
    const { peers, timers, hear } = this.#deps
    this.#cancels.set(
      id,
      timers.after(ASK_EVERY_MS, () => void this.#ask(id)),
    )
    const reply = await peers.exchange.ask(id, 'addresses', NOTHING)
    const peer = peers.get(id)
    if (!this.#running || !reply.ok || peer === undefined) return
    if (!hear(peer, reply.value)) peers.report(id, 'malformed', 'addresses: not the address of a node')
  }
}
