import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { Connection, ConnectionWatcher, Dialer } from '../../src/p2p/host/dialer.ts'
import { parseNodeAddress } from '../../src/p2p/host/node-address.ts'
import type { PeerRecords } from '../../src/p2p/host/peer-records.ts'
import type { NetworkLog, PeerId } from '../../src/p2p/network.ts'
import { NodeTime, VirtualTime } from './sim/virtual-clock.ts'

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The id of a made-up peer. Ids of greater numbers are greater. */
export function peerId(number: number): PeerId {
  let rest = number
  let text = ''
  while (text.length < 44) {
    text = `${DIGITS[rest % DIGITS.length]}${text}`
    rest = Math.floor(rest / DIGITS.length)
  }
  return `12D3KooW${text}` as PeerId
}

/** Multiaddr of a made-up peer at an IPv4 address. */
export function addressOf(number: number, ip: string, port = 8421): string {
  return `/ip4/${ip}/tcp/${port}/p2p/${peerId(number)}`
}

/** A log that discards its lines. */
export const SILENT: NetworkLog = { debug: () => {}, info: () => {}, warn: () => {} }

/** Peer records in memory. A new object over the same map is a restart. */
export class MemoryRecords implements PeerRecords {
  readonly entries: Map<string, string>
  /** If set, every write fails with this error. */
  broken: Error | null = null

  constructor(entries = new Map<string, string>()) {
    this.entries = entries
  }

  async load(kind: string, limit: number): Promise<readonly (readonly [string, string])[]> {
    return [...this.entries].filter(([key]) => key.startsWith(`${kind}/`)).slice(0, limit)
  }

  async write(changes: ReadonlyMap<string, string | null>): Promise<void> {
    if (this.broken !== null) throw this.broken
    for (const [key, value] of changes) {
      if (value === null) this.entries.delete(key)
      else this.entries.set(key, value)
    }
  }
}

export function virtualTime(startMs = 1_700_000_000_000): { readonly time: VirtualTime; readonly node: NodeTime } {
  const time = new VirtualTime(startMs)
  return { time, node: new NodeTime(time, { offsetMs: 0, driftPpm: 0 }, startMs) }
}

const DIAL_MS = 5

/** The connections of one node. Other nodes exist only as ids at addresses. */
export class FakeDialer implements Dialer {
  readonly self: PeerId
  /** The peer that answers at each `ip:port`. */
  readonly online = new Map<string, PeerId>()
  /** Every dial: when and where. */
  readonly dials: { readonly atMs: number; readonly address: string }[] = []
  readonly hungUp: { readonly id: string; readonly peer: PeerId; readonly reason: string }[] = []
  readonly #time: VirtualTime
  readonly #connections = new Map<string, Connection>()
  readonly #watchers: ConnectionWatcher[] = []
  #count = 0

  constructor(time: VirtualTime, self = peerId(0)) {
    this.#time = time
    this.self = self
  }

  connections(): readonly Connection[] {
    return [...this.#connections.values()]
  }

  /** Peers that are connected, each once. */
  get peers(): readonly PeerId[] {
    return [...new Set(this.connections().map(({ peer }) => peer))]
  }

  watch(watcher: ConnectionWatcher): void {
    this.#watchers.push(watcher)
  }

  dial(address: string): Promise<Result<PeerId>> {
    this.dials.push({ atMs: this.#time.nowMs, address })
    return new Promise((resolve) => {
      this.#time.after(DIAL_MS, () => resolve(this.#answer(address)))
    })
  }

  /** Opens a connection that the peer manager did not dial. */
  open(peer: PeerId, address: string, direction: Connection['direction'] = 'inbound'): Connection {
    this.#count += 1
    const connection = { id: `c${this.#count}`, peer, address, direction, openedAtMs: this.#time.nowMs }
    this.#connections.set(connection.id, connection)
    for (const watcher of this.#watchers) watcher.opened(connection)
    return connection
  }

  hangUp(id: string, reason: string): void {
    const connection = this.#connections.get(id)
    if (connection === undefined) return
    this.hungUp.push({ id, peer: connection.peer, reason })
    this.close(connection)
  }

  /** Ends a connection from the other side. */
  close(connection: Connection): void {
    if (!this.#connections.delete(connection.id)) return
    for (const watcher of this.#watchers) watcher.closed(connection)
  }

  #answer(text: string): Result<PeerId> {
    const address = parseNodeAddress(text)
    if (!address.ok) return address
    const [, , host, , port] = text.split('/')
    const peer = this.online.get(`${host}:${port}`)
    if (peer === undefined) return fail(fault('p2p/unreachable', { reason: 'no peer is there' }))
    if (address.value.peer !== null && address.value.peer !== peer)
      return fail(fault('p2p/unreachable', { reason: 'another peer is there' }))
    this.open(peer, text, 'outbound')
    return ok(peer)
  }
}
