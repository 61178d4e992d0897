import type { Clock } from '../../../consensus/chain/ports.ts'
import type { PeerId } from '../network.ts'
import { groupOf, type Ip, isDialable } from './address-groups.ts'
import { retryDelay } from './backoff.ts'
import { parseNodeAddress } from './node-address.ts'
import type { PeerRecords, RecordWriter } from './peer-records.ts'

/** Addresses that are kept. */
export const ADDRESSES_MAX = 4_096
/** Addresses that one source may have told of and that nobody has reached since. */
export const UNPROVEN_PER_SOURCE = 256
/** Addresses of one peer: whoever names many places for another's id shall not push out the true one. */
const PER_PEER_MAX = 4
const FIRST_RETRY_MS = 5_000
const RETRY_MS_MAX = 600_000
/** Longest wait for an address that was reached before, while connections are missing. */
const NEEDY_RETRY_MS_MAX = 30_000
/** Failures in a row after which an address that never worked is forgotten. */
const UNPROVEN_FAILURES_MAX = 3
/** Time without success after which one that worked is forgotten, when it fails. */
const PROVEN_KEPT_MS = 7 * 86_400_000
/** An address is passed on for so long after somebody was there. */
const GOOD_MS = 86_400_000
const KIND = 'address'

/** An address of a node with what is known of it. */
export interface BookEntry {
  /** Canonical multiaddr with the id of the node. */
  readonly text: string
  readonly peer: PeerId
  readonly ip: Ip
  /** Who told of it: `config`, `mdns`, `kad`, or `from ` and the group of the peer that did. */
  readonly source: string
  readonly heardMs: number
  /** When it was dialled with success last; 0 is never. */
  readonly successMs: number
  /** When a peer that was at this IP address last said that it listens there; 0 is never. */
  readonly seenMs: number
  readonly triedMs: number
  /** Failures since the last success. */
  readonly failures: number
}

/** What the book is made of. */
export interface AddressBookDependencies {
  readonly clock: Clock
  readonly writer: RecordWriter
  readonly allowPrivate: boolean
  /** A number from 0 to below 1. */
  readonly random: () => number
}

/** Addresses of nodes that we heard of: bounded, and so that nobody can fill it with his own alone. */
export class AddressBook {
  readonly #deps: AddressBookDependencies
  readonly #entries = new Map<string, BookEntry>()
  readonly #perPeer = new Map<PeerId, number>()
  /** Addresses that nobody reached, by who told of them. */
  readonly #unproven = new Map<string, number>()

  constructor(dependencies: AddressBookDependencies) {
    this.#deps = dependencies
  }

  get size(): number {
    return this.#entries.size
  }

  get(text: string): BookEntry | undefined {
    return this.#entries.get(text)
  }

  /** Takes what an earlier run wrote; records that do not read are removed. */
  async load(records: PeerRecords): Promise<void> {
    for (const [key, value] of await records.load(KIND, 2 * ADDRESSES_MAX)) {
      const entry = this.#entries.size < ADDRESSES_MAX ? readEntry(key, value, this.#deps.allowPrivate) : undefined
      if (entry === undefined) this.#deps.writer.put(key, null)
      else this.#keep(entry)
    }
  }

  /**
   * Adds an address that somebody told of; false, and nothing changes, where it is no IP address with a node's id, not one that
   * this network dials, or where the source has told of too many that nobody reached.
   */
  add(text: string, source: string): boolean {
    const address = parseNodeAddress(text)
    if (!address.ok) return false
    const { ip, peer, text: canonical } = address.value
    if (ip === null || peer === null || !isDialable(ip, this.#deps.allowPrivate)) return false
    if (this.#entries.has(canonical)) return true
    if (!this.#makeRoom(peer, source)) return false
    const heardMs = this.#deps.clock.now()
    this.#set({ text: canonical, peer, ip, source, heardMs, successMs: 0, seenMs: 0, triedMs: 0, failures: 0 })
    return true
  }

  /** Notes that a peer at this IP address says itself that it listens here. */
  seen(text: string): void {
    this.#change(text, () => ({ seenMs: this.#deps.clock.now() }))
  }

  /** Notes that a node of this network answered there. */
  succeeded(text: string): void {
    const now = this.#deps.clock.now()
    this.#change(text, () => ({ successMs: now, triedMs: now, failures: 0 }))
  }

  /** Notes that nobody, or nobody of this network, answered there; forgets it if that was so for long. */
  failed(text: string): void {
    const now = this.#deps.clock.now()
    this.#change(text, ({ failures }) => ({ triedMs: now, failures: failures + 1 }))
    const entry = this.#entries.get(text)
    if (entry === undefined) return
    const gone =
      entry.successMs === 0 ? entry.failures >= UNPROVEN_FAILURES_MAX : now - entry.successMs > PROVEN_KEPT_MS
    if (gone) this.#remove(text)
  }

  /** Forgets all addresses of a peer. */
  forget(peer: PeerId): void {
    for (const entry of [...this.#entries.values()]) if (entry.peer === peer) this.#remove(entry.text)
  }

  /**
   * One address that is due to be tried and fits: as often one that worked before as one that nobody tried, so that neither
   * old friends nor a flood of new names decide alone. `needy` shortens the waits.
   */
  pick(fits: (entry: BookEntry) => boolean, needy: boolean): BookEntry | undefined {
    const now = this.#deps.clock.now()
    const due = [...this.#entries.values()].filter((entry) => isDue(entry, now, needy) && fits(entry))
    const proven = due.filter(isProven)
    const others = due.filter((entry) => !isProven(entry))
    const [first, second] = this.#deps.random() < 0.5 ? [proven, others] : [others, proven]
    const from = first.length > 0 ? first : second
    return from[Math.floor(this.#deps.random() * from.length)]
  }

  /** Some addresses where somebody, but one node, was in the last day, drawn by lot: what others are told. */
  good(limit: number, except?: PeerId): readonly string[] {
    const sinceMs = this.#deps.clock.now() - GOOD_MS
    const good = [...this.#entries.values()].filter(
      ({ peer, successMs, seenMs, failures }) =>
        peer !== except && Math.max(successMs, seenMs) > sinceMs && failures === 0,
    )
    return shuffled(good, this.#deps.random)
      .slice(0, limit)
      .map(({ text }) => text)
  }

  /** Makes room for one address more, at the cost of the same peer, the same source, or the worst of all. */
  #makeRoom(peer: PeerId, source: string): boolean {
    if ((this.#perPeer.get(peer) ?? 0) >= PER_PEER_MAX) return this.#replace((entry) => entry.peer === peer)
    // A source at its bound only ever displaces its own word, and only what failed already.
    if ((this.#unproven.get(source) ?? 0) >= UNPROVEN_PER_SOURCE)
      return this.#replace((entry) => entry.source === source && entry.failures > 0)
    return this.#entries.size < ADDRESSES_MAX || this.#replace(() => true)
  }

  /** Removes the worst of some addresses that never worked; false if there is none. */
  #replace(among: (entry: BookEntry) => boolean): boolean {
    let worst: BookEntry | undefined
    for (const entry of this.#entries.values())
      if (!isProven(entry) && among(entry) && (worst === undefined || badness(entry) > badness(worst))) worst = entry
    if (worst === undefined) return false
    this.#remove(worst.text)
    return true
  }

  #change(text: string, change: (entry: BookEntry) => Partial<BookEntry>): void {
    const entry = this.#entries.get(text)
    if (entry !== undefined) this.#set({ ...entry, ...change(entry) })
  }

  #set(entry: BookEntry): void {
    this.#keep(entry)
    const { source, heardMs, successMs, seenMs, triedMs, failures } = entry
    this.#deps.writer.put(
      `${KIND}/${entry.text}`,
      JSON.stringify({ source, heardMs, successMs, seenMs, triedMs, failures }),
    )
  }

  #keep(entry: BookEntry): void {
    this.#count(this.#entries.get(entry.text), -1)
    this.#entries.set(entry.text, entry)
    this.#count(entry, 1)
  }

  #remove(text: string): void {
    this.#count(this.#entries.get(text), -1)
    this.#entries.delete(text)
    this.#deps.writer.put(`${KIND}/${text}`, null)
  }

  #count(entry: BookEntry | undefined, by: 1 | -1): void {
    if (entry === undefined) return
    tally(this.#perPeer, entry.peer, by)
    if (!isProven(entry)) tally(this.#unproven, entry.source, by)
  }
}

function tally<K>(counts: Map<K, number>, key: K, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

/** How a source is named that is a peer at an IP address: all of one network are one. */
export function sourceOf(ip: Ip | undefined): string {
  return `from ${ip === undefined ? 'nowhere' : groupOf(ip)}`
}

function isProven({ successMs, seenMs }: BookEntry): boolean {
  return successMs > 0 || seenMs > 0
}

/** Of two addresses that never worked, the one with more failures goes first, then the older. */
function badness({ failures, heardMs }: BookEntry): number {
  return failures * 1e15 - heardMs
}

function isDue({ triedMs, failures, successMs }: BookEntry, now: number, needy: boolean): boolean {
  const most = needy && successMs > 0 ? NEEDY_RETRY_MS_MAX : RETRY_MS_MAX
  return now >= triedMs + retryDelay(FIRST_RETRY_MS, failures, most)
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}

const COUNTS = ['heardMs', 'successMs', 'seenMs', 'triedMs', 'failures'] as const

function readEntry(key: string, value: string, allowPrivate: boolean): BookEntry | undefined {
  const address = parseNodeAddress(key.slice(KIND.length + 1))
  if (!address.ok) return undefined
  const { ip, peer, text } = address.value
  if (ip === null || peer === null || !isDialable(ip, allowPrivate)) return undefined
  try {
    const found = JSON.parse(value) as Record<string, unknown>
    if (typeof found.source !== 'string' || COUNTS.some((name) => !Number.isSafeInteger(found[name]))) return undefined
    const { source, heardMs, successMs, seenMs, triedMs, failures } = found as unknown as BookEntry
    return { text, peer, ip, source, heardMs, successMs, seenMs, triedMs, failures }
  } catch {
    return undefined
  }
}
