import type { Clock } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import { formatIp, hostOf, type Ip, parseIp, rangeOf } from './address-groups.ts'
import { isPeerId } from './node-address.ts'
import type { PeerRecords, RecordWriter } from './peer-records.ts'

/** Most bans that are kept. If there are more, the one that ends soonest is dropped. */
export const BANS_MAX = 4_096
const KIND = 'ban'
const REASON_MAX = 120

/** A ban of a peer or an address. */
export interface Ban {
  /** Id of a peer, or an IP address. An IPv6 address stands for its whole /64. */
  readonly target: string
  readonly reason: string
  readonly sinceMs: number
  readonly untilMs: number
}

/** Bans by peer id and by IP address. They are kept in the data folder, `peers/records`, under `ban/<id or address>`. */
export class Bans {
  readonly #clock: Clock
  readonly #writer: RecordWriter
  /** By peer id, or by the name of the machine (`hostOf`). */
  readonly #bans = new Map<string, Ban>()

  constructor(clock: Clock, writer: RecordWriter) {
    this.#clock = clock
    this.#writer = writer
  }

  /** Bans that have ended or cannot be read are removed. */
  async load(records: PeerRecords): Promise<void> {
    for (const [key, value] of await records.load(KIND, BANS_MAX)) {
      const name = key.slice(KIND.length + 1)
      const ban = readBan(value)
      if (ban === undefined || nameOf(ban.target) !== name || ban.untilMs <= this.#clock.now())
        this.#writer.put(key, null)
      else this.#bans.set(name, ban)
    }
  }

  /** Bans an id or an IP address for a while. An earlier ban that lasts longer stays. Fault: `p2p/address` for any other text. */
  ban(text: string, forMs: number, reason: string): Result<Ban> {
    const name = nameOf(text)
    if (name === undefined)
      return fail(
        fault('p2p/address', { text: text.slice(0, 100), reason: 'it is neither a peer id nor an IP address' }),
      )
    const sinceMs = this.#clock.now()
    const known = this.#find(name)
    if (known !== undefined && known.untilMs >= sinceMs + forMs) return ok(known)
    const ip = parseIp(text)
    const target = ip === undefined ? text : formatIp(ip)
    const ban = { target, reason: reason.slice(0, REASON_MAX), sinceMs, untilMs: sinceMs + forMs }
    this.#bans.delete(name)
    if (this.#bans.size >= BANS_MAX) this.#dropOne()
    this.#bans.set(name, ban)
    this.#writer.put(`${KIND}/${name}`, JSON.stringify(ban))
    return ok(ban)
  }

  /** Bans a peer that misbehaved, and its public IP addresses. Other peers may share a private one. */
  banPeer(peer: PeerId, ips: readonly Ip[], forMs: number, reason: string): void {
    this.ban(peer, forMs, reason)
    for (const ip of ips) if (rangeOf(ip) === 'public') this.ban(formatIp(ip), forMs, reason)
  }

  /** Fault: `p2p/not-banned`. */
  lift(text: string): Result<Ban> {
    const name = nameOf(text)
    const ban = name === undefined ? undefined : this.#find(name)
    if (name === undefined || ban === undefined) return fail(fault('p2p/not-banned', { peer: text.slice(0, 100) }))
    this.#remove(name)
    return ok(ban)
  }

  isBannedPeer(peer: PeerId): boolean {
    return this.#find(peer) !== undefined
  }

  isBannedIp(ip: Ip): boolean {
    return this.#find(hostOf(ip)) !== undefined
  }

  list(): readonly Ban[] {
    for (const name of [...this.#bans.keys()]) this.#find(name)
    return [...this.#bans.values()].toSorted((a, b) => b.sinceMs - a.sinceMs)
  }

  #find(name: string): Ban | undefined {
    const ban = this.#bans.get(name)
    if (ban === undefined || ban.untilMs > this.#clock.now()) return ban
    this.#remove(name)
    return undefined
  }

  #dropOne(): void {
    const [first] = [...this.#bans].reduce((a, b) => (a[1].untilMs <= b[1].untilMs ? a : b))
    this.#remove(first)
  }

  #remove(name: string): void {
    this.#bans.delete(name)
    this.#writer.put(`${KIND}/${name}`, null)
  }
}

function nameOf(text: string): string | undefined {
  if (isPeerId(text)) return text
  const ip = parseIp(text)
  return ip === undefined ? undefined : hostOf(ip)
}

function readBan(value: string): Ban | undefined {
  try {
    const { target, reason, sinceMs, untilMs } = JSON.parse(value) as Record<string, unknown>
    if (typeof target !== 'string' || typeof reason !== 'string') return undefined
    if (!Number.isSafeInteger(sinceMs) || !Number.isSafeInteger(untilMs)) return undefined
    return { target, reason, sinceMs: sinceMs as number, untilMs: untilMs as number }
  } catch {
    return undefined
  }
}
