import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type {
  ConnectionListener,
  Network,
  NetworkLog,
  PeerId,
  PeerInfo,
  RequestHandler,
} from '../../src/p2p/network.ts'
import { Peers } from '../../src/p2p/peers/peers.ts'
import type { Status } from '../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../src/p2p/wire/protocols.ts'

/** Changes the bytes of a node's reply. Undefined: no reply. */
export type Tamper = (protocol: ProtocolName, reply: Uint8Array, request: Uint8Array) => Uint8Array | undefined

/** A network in this process without delays. Nodes know each other by name. */
export class Wire implements Network {
  readonly self: PeerId
  readonly #handlers = new Map<ProtocolName, RequestHandler>()
  readonly #others = new Map<PeerId, { readonly wire: Wire; readonly direction: PeerInfo['direction'] }>()
  readonly #listeners: ConnectionListener[] = []
  /** How this node lies. */
  tamper: Tamper = (_, reply) => reply
  /** Requests that it got, in order. */
  readonly asked: ProtocolName[] = []
  /** Peers that it disconnected, and why. */
  readonly ended = new Map<PeerId, string>()

  constructor(name: string) {
    this.self = name as PeerId
  }

  /** Connects two nodes. This one dials. */
  join(other: Wire): void {
    // The dialled node is told first, because the dialler sends at once.
    other.#join(this, 'inbound')
    this.#join(other, 'outbound')
  }

  peers(): readonly PeerInfo[] {
    return [...this.#others].map(([id, { direction }]) => ({ id, direction, address: '/memory' }))
  }

  onConnection(listener: ConnectionListener): void {
    this.#listeners.push(listener)
  }

  async request(peer: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Result<Uint8Array>> {
    const other = this.#others.get(peer)?.wire
    const handler = other === undefined ? undefined : other.#handlers.get(protocol)
    if (other === undefined || handler === undefined) return fail(fault('p2p/unreachable', { reason: 'not connected' }))
    other.asked.push(protocol)
    const reply = other.tamper(protocol, await handler(this.self, body), body)
    return reply === undefined ? fail(fault('p2p/timeout', { protocol, ms: 0 })) : ok(reply)
  }

  serve(protocol: ProtocolName, handler: RequestHandler): void {
    this.#handlers.set(protocol, handler)
  }

  publish(): void {}

  subscribe(): void {}

  disconnect(peer: PeerId, reason: string): void {
    this.ended.set(peer, reason)
    const other = this.#others.get(peer)?.wire
    this.#leave(peer)
    if (other !== undefined) other.#leave(this.self)
  }

  #join(other: Wire, direction: PeerInfo['direction']): void {
    this.#others.set(other.self, { wire: other, direction })
    for (const listener of this.#listeners) listener.connected({ id: other.self, direction, address: '/memory' })
  }

  #leave(peer: PeerId): void {
    if (!this.#others.delete(peer)) return
    for (const listener of this.#listeners) listener.disconnected(peer)
  }
}

/** Timers up to five seconds run at once, in the order of the calls. Longer ones never run. */
export const IMPATIENT: Timers = {
  after: (ms, callback) => {
    if (ms > 5_000) return () => {}
    const timer = setTimeout(callback, 0)
    return () => clearTimeout(timer)
  },
}

/** Time that passes only when a timer runs, and then at once by the timer's length. */
export class SwiftTime implements Clock, Timers {
  nowMs = 0

  now(): number {
    return this.nowMs
  }

  after(ms: number, callback: () => void): () => void {
    return IMPATIENT.after(ms, () => {
      this.nowMs += ms
      callback()
    })
  }
}

/** A log that discards its lines. */
export const SILENT: NetworkLog = { debug: () => {}, info: () => {}, warn: () => {} }

/** Peers over a network. `status` replaces fields of their own status. */
export function peersOver(
  network: Network,
  ruleBook: RuleBook,
  status: () => Partial<Status>,
  now: () => number,
): Peers {
  const genesis = ruleBook.genesis.block.id
  const ownStatus = (): Status => ({
    ...{ version: 1, genesis, rules: ruleBook.fingerprintAt(0), agent: network.self, head: genesis, height: 0 },
    ...{ totalWork: 1n, mode: 0, bodiesFrom: 0, witnessesFrom: 0, snapshots: [], ...status() },
  })
  return new Peers({ network, ruleBook, clock: { now }, timers: IMPATIENT, log: SILENT, ownStatus })
}
