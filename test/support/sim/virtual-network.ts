import { createHash } from 'node:crypto'
import type { TopicName } from '../../../src/p2p/network.ts'
import type { Dice } from './dice.ts'
import { Endpoint, type Link, type Medium, type Weather } from './endpoint.ts'
import type { EventLog } from './event-log.ts'
import type { VirtualTime } from './virtual-clock.ts'

/** The end of a connection by a node. */
export interface Parting {
  readonly atMs: number
  readonly by: string
  readonly from: string
  readonly reason: string
  readonly banned: boolean
}

/** How many mesh links a node wants, and how many it accepts at most. */
const MESH_WANTED = 6
const MESH_MAX = 12
/** How often a node checks whether it has enough connections. */
const DIAL_EVERY_MS = 3_000
/** How long two nodes wait before they connect again. */
const REDIAL_MS = 15_000
const BAN_MS = 86_400_000
/** Most time until a node notices that a connection is dead. */
const DEAD_LINK_MS = 12_000
const INBOUND_MAX = 24

const pair = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`)

/** Nodes and the links between them. Dice decide losses and delays. */
export class VirtualNetwork implements Medium {
  readonly time: VirtualTime
  readonly log: EventLog
  readonly partings: Parting[] = []
  weather: Weather
  readonly #dice: Dice
  readonly #endpoints = new Map<string, Endpoint>()
  readonly #links = new Map<string, Link>()
  readonly #latencies = new Map<string, number>()
  /** For each pair of nodes: until when they do not connect. */
  readonly #apartUntilMs = new Map<string, number>()
  readonly #gossipIds = new WeakMap<Uint8Array, string>()
  #groupOf: ((name: string) => number) | undefined

  constructor(parts: { time: VirtualTime; dice: Dice; log: EventLog; weather: Weather }) {
    this.time = parts.time
    this.log = parts.log
    this.weather = parts.weather
    this.#dice = parts.dice
  }

  /** Adds a node, which begins to connect. It must not be there already. */
  join(name: string, outboundWanted: number): Endpoint {
    const endpoint = new Endpoint(name, this, outboundWanted)
    this.#endpoints.set(name, endpoint)
    this.time.after(this.#dice.between(0, 200), () => this.#keepConnected(endpoint))
    return endpoint
  }

  /** Removes a node at once. Its peers notice a moment later. */
  leave(endpoint: Endpoint): void {
    endpoint.close()
    this.#endpoints.delete(endpoint.self)
    for (const link of this.#linksOf(endpoint)) this.#cut(link)
  }

  /** Splits the network: nodes of different groups cannot reach each other. `undefined` heals it. */
  split(groupOf: ((name: string) => number) | undefined): void {
    this.#groupOf = groupOf
    this.log.note(`${this.#at} ${groupOf === undefined ? 'heal' : 'split'}`)
    if (groupOf === undefined) return
    for (const link of this.#links.values()) {
      if (this.#together(link.dialer.self, link.listener.self)) continue
      this.time.after(this.#dice.between(0.5, 1) * DEAD_LINK_MS, () => {
        if (!this.#together(link.dialer.self, link.listener.self)) this.#cut(link)
      })
    }
  }

  /** Ends a connection on behalf of a node. */
  part(by: Endpoint, from: string, reason: string, banned: boolean): void {
    const link = this.linkOf(by, from)
    if (link === undefined && !banned) return
    this.partings.push({ atMs: this.time.nowMs, by: by.self, from, reason, banned })
    this.log.note(`${this.#at} part ${by.self} ${from} ${reason} ${banned}`)
    this.#apartUntilMs.set(pair(by.self, from), this.time.nowMs + (banned ? BAN_MS : REDIAL_MS))
    if (link !== undefined) this.#cut(link)
  }

  linkOf(endpoint: Endpoint, peer: string): Link | undefined {
    return this.#links.get(pair(endpoint.self, peer))
  }

  /** Milliseconds until a message sent now arrives. Undefined if it never does. */
  transit(link: Link, from: Endpoint, bytes: number, loss: number): number | undefined {
    const { nowMs } = this.time
    const startMs = Math.max(nowMs, link.busyUntilMs.get(from.self) ?? 0)
    const sentMs = startMs + bytes / this.weather.bytesPerMs
    link.busyUntilMs.set(from.self, sentMs)
    const lost = this.#dice.chance(loss)
    const jitterMs = this.#dice.next() * this.weather.jitterMs
    const to = link.dialer === from ? link.listener : link.dialer
    if (lost || !this.#together(from.self, to.self)) return undefined
    return sentMs - nowMs + link.latencyMs + jitterMs
  }

  /** Links along which a node passes gossip. */
  meshOf(endpoint: Endpoint): readonly Link[] {
    return this.#linksOf(endpoint).filter(({ mesh }) => mesh)
  }

  /** Id of a gossiped message. Equal bytes are mostly the same object here, which is hashed only once. */
  gossipId(topic: TopicName, body: Uint8Array): string {
    const known = this.#gossipIds.get(body)
    if (known !== undefined) return known
    const id = `${topic} ${createHash('sha256').update(body).digest('hex').slice(0, 24)}`
    this.#gossipIds.set(body, id)
    return id
  }

  get #at(): string {
    return this.time.nowMs.toFixed(3)
  }

  #together(a: string, b: string): boolean {
    return this.#groupOf === undefined || this.#groupOf(a) === this.#groupOf(b)
  }

  #linksOf(endpoint: Endpoint): readonly Link[] {
    return [...this.#links.values()].filter(({ dialer, listener }) => dialer === endpoint || listener === endpoint)
  }

  #keepConnected(endpoint: Endpoint): void {
    if (endpoint.closed) return
    const links = this.#linksOf(endpoint)
    const outbound = links.filter(({ dialer }) => dialer === endpoint).length
    for (const name of this.#dice.shuffled(this.#strangersTo(endpoint)).slice(0, endpoint.outboundWanted - outbound)) {
      this.#dial(endpoint, name)
    }
    this.#tendMesh(endpoint)
    this.time.after(DIAL_EVERY_MS * this.#dice.between(0.8, 1.2), () => this.#keepConnected(endpoint))
  }

  #strangersTo({ self }: Endpoint): readonly string[] {
    return [...this.#endpoints.keys()].filter((name) => {
      const apart = this.#apartUntilMs.get(pair(self, name)) ?? 0
      return name !== self && !this.#links.has(pair(self, name)) && apart <= this.time.nowMs
    })
  }

  #dial(dialer: Endpoint, name: string): void {
    const latencyMs = this.#latencyOf(dialer.self, name)
    this.time.after(2 * latencyMs, () => {
      const listener = this.#endpoints.get(name)
      const free = listener !== undefined && !dialer.closed && !this.#links.has(pair(dialer.self, name))
      if (!free || !this.#together(dialer.self, name)) return
      if ((this.#apartUntilMs.get(pair(dialer.self, name)) ?? 0) > this.time.nowMs) return
      if (this.#linksOf(listener).filter((link) => link.listener === listener).length >= INBOUND_MAX) return
      this.#connect(dialer, listener, latencyMs)
    })
  }

  #connect(dialer: Endpoint, listener: Endpoint, latencyMs: number): void {
    const link: Link = { dialer, listener, latencyMs, mesh: false, open: true, busyUntilMs: new Map() }
    this.#links.set(pair(dialer.self, listener.self), link)
    this.log.note(`${this.#at} connect ${dialer.self} ${listener.self}`)
    this.#tendMesh(dialer)
    this.#tendMesh(listener)
    // The listener is told before the dialer, so that it is ready for the dialer's requests.
    listener.joined(dialer.self, 'inbound')
    dialer.joined(listener.self, 'outbound')
  }

  #cut(link: Link): void {
    if (!link.open) return
    link.open = false
    const { dialer, listener } = link
    this.#links.delete(pair(dialer.self, listener.self))
    this.log.note(`${this.#at} cut ${dialer.self} ${listener.self}`)
    const name = pair(dialer.self, listener.self)
    const apart = this.#apartUntilMs.get(name) ?? 0
    this.#apartUntilMs.set(name, Math.max(apart, this.time.nowMs + this.#dice.between(0.1, 1) * REDIAL_MS))
    for (const [one, other] of [
      [dialer, listener],
      [listener, dialer],
    ] as const)
      this.time.after(0, () => one.left(link, other.self))
  }

  /** Adds links to the node's mesh until it has enough. */
  #tendMesh(endpoint: Endpoint): void {
    const links = this.#linksOf(endpoint)
    let meshed = links.filter(({ mesh }) => mesh).length
    for (const link of links) {
      if (meshed >= MESH_WANTED) return
      const other = link.dialer === endpoint ? link.listener : link.dialer
      if (link.mesh || this.meshOf(other).length >= MESH_MAX) continue
      link.mesh = true
      meshed++
    }
  }

  #latencyOf(a: string, b: string): number {
    const name = pair(a, b)
    const known = this.#latencies.get(name)
    if (known !== undefined) return known
    // The square makes short latencies more likely than long ones.
    const [least, most] = this.weather.latencyMs
    const latencyMs = least + (most - least) * this.#dice.next() ** 2
    this.#latencies.set(name, latencyMs)
    return latencyMs
  }
}
