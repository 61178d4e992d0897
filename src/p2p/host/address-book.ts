import type { Clock } from '../../../consensus/chain/ports.ts'
import { addTo } from '../../../consensus/primitives/counts.ts'
import type { PeerId } from '../network.ts'
import { groupOf, hostOf, type Ip, isDialable, isExempt } from './address-groups.ts'
import { retryDelay } from './backoff.ts'
import { parseNodeAddress } from './node-address.ts'
import type { PeerRecords, RecordWriter } from './peer-records.ts'

/** Most addresses that the book keeps. */
export const ADDRESSES_MAX = 4_096
/** Most addresses in the book that one source told of and that are not known (see `KNOWN_PER_HOST`). */
export const HEARD_PER_SOURCE = 256
/**
 * Most known addresses of one machine, which is an IPv4 address or a /64 of IPv6. An address is known if a node there said that it listens
 * there, or if we reached it.
 */
export const KNOWN_PER_HOST = 4
/** Most known addresses in one group: /16 of IPv4, /32 of IPv6. */
export const KNOWN_PER_GROUP = 64
/** Most addresses of one group in one answer to a peer. */
export const TOLD_PER_GROUP = 2
/** Most addresses of one peer id. A liar who names many addresses for one id must not fill the book with them. */
const PER_PEER_MAX = 4
const FIRST_RETRY_MS = 5_000
const RETRY_MS_MAX = 600_000
/** Longest wait for an address that was reached before, while connections are missing. */
const NEEDY_RETRY_MS_MAX = 30_000
/** Failures in a row after which an address that never worked is forgotten. */
const UNPROVEN_FAILURES_MAX = 3
/** An address that worked before is forgotten if it fails and the last success is longer ago than this. */
const PROVEN_KEPT_MS = 7 * 86_400_000
/** How long an address is passed on after a node was there or said so. For the same time the node's word ranks above hearsay. */
const GOOD_MS = 86_400_000
const KIND = 'address'

/** An address of a node, and what is known of it. */
export interface BookEntry {
  /** Canonical multiaddr with the id of the node. */
  readonly text: string
  readonly peer: PeerId
  readonly ip: Ip
  /** Names of its machine and its group; null where limits by address do not apply. */
  readonly place: { readonly host: string; readonly group: string } | null
  /**
   * Source of the address: `dialled` if no source told of it, `from ` and the group of the peer that told of it, or else `mdns` or `kad`.
   */
  readonly source: string
  readonly heardMs: number
  /** Time of the last successful dial; 0 if none. */
  readonly successMs: number
  /** Time when a peer at this IP address last said that it listens there; 0 if never. */
  readonly seenMs: number
  readonly triedMs: number
  readonly failures: number
}

/** What the book works with. */
export interface AddressBookDependencies {
  readonly clock: Clock
  readonly writer: RecordWriter
  readonly allowPrivate: boolean
  /** A number from 0 to below 1. */
  readonly random: () => number
}

/** Addresses of nodes that we heard of. The bounds keep any one source or network from filling the book. */
export class AddressBook {
  readonly #deps: AddressBookDependencies
  readonly #entries = new Map<string, BookEntry>()
  readonly #perPeer = new Map<PeerId, number>()
  readonly #heard = new Map<string, number>()
  /** Count of known addresses by machine and by group, whose names never collide. */
  readonly #known = new Map<string, number>()
  readonly #reached = new Map<string, number>()

  constructor(dependencies: AddressBookDependencies) {
    this.#deps = dependencies
  }

  get size(): number {
    return this.#entries.size
  }

  get(text: string): BookEntry | undefined {
    return this.#entries.get(text)
  }

  /** Records that cannot be read or for which a bound has no room are removed. */
  async load(records: PeerRecords): Promise<void> {
    const found = await records.load(KIND, 2 * ADDRESSES_MAX)
    const entries = found.flatMap(([key, value]) => {
      const entry = readEntry(key, value, this.#deps.allowPrivate)
      if (entry === undefined) this.#deps.writer.put(key, null)
      return entry ?? []
    })
    const now = this.#deps.clock.now()
    for (const entry of entries.toSorted((a, b) => compare(this.#worthOf(b, now), this.#worthOf(a, now))))
      if (this.#boundsOf(entry).some(({ isFull }) => isFull)) this.#deps.writer.put(`${KIND}/${entry.text}`, null)
      else this.#keep(entry)
  }

  /** Adds an address that a source told of; false if it has no IP address or id, is not dialled here, or no bound has room for it. */
  add(text: string, source: string): boolean {
    const entry = this.#entryOf(text, source)
    return entry !== undefined && (this.#entries.has(entry.text) || this.#admit(entry))
  }

  /**
   * Notes that a peer at this IP address says that it listens here; false if the address is not dialled here, or no bound has room for it.
   */
  seen(text: string): boolean {
    const entry = this.#entryOf(text, undefined)
    return entry !== undefined && this.#admit({ ...entry, seenMs: this.#deps.clock.now() })
  }

  /** Notes that a node of this network answered there. Such an address is kept whatever its source. */
  succeeded(text: string): void {
    const now = this.#deps.clock.now()
    const entry = this.#entryOf(text, 'dialled')
    if (entry !== undefined) this.#admit({ ...entry, successMs: now, triedMs: now, failures: 0 })
  }

  hasReached(ip: Ip): boolean {
    return this.#reached.has(hostOf(ip))
  }

  /** Notes that no node of this network answered there. */
  failed(text: string): void {
    const now = this.#deps.clock.now()
    this.#change(text, ({ failures }) => ({ triedMs: now, failures: failures + 1 }))
    const entry = this.#entries.get(text)
    if (entry === undefined) return
    const gone =
      entry.successMs === 0 ? entry.failures >= UNPROVEN_FAILURES_MAX : now - entry.successMs > PROVEN_KEPT_MS
    if (gone) this.#remove(text)
  }

  forget(peer: PeerId): void {
    for (const entry of [...this.#entries.values()]) if (entry.peer === peer) this.#remove(entry.text)
  }

  /**
   * One address that is due to be tried and fits. Half of the draws are from addresses that worked before, half from all others, so neither
   * known nodes nor a flood of new addresses decide alone. `needy` shortens the waits.
   */
  pick(fits: (entry: BookEntry) => boolean, needy: boolean): BookEntry | undefined {
    const now = this.#deps.clock.now()
    const due = [...this.#entries.values()].filter((entry) => isDue(entry, now, needy) && fits(entry))
    const proven = due.filter(isReached)
    const others = due.filter((entry) => !isReached(entry))
    const [first, second] = this.#deps.random() < 0.5 ? [proven, others] : [others, proven]
    const from = first.length > 0 ? first : second
    return from[Math.floor(this.#deps.random() * from.length)]
  }

  /**
   * Addresses to tell a peer: drawn at random, few of each group, of nodes that were there in the last day and have not failed since.
   * `except` is left out.
   */
  good(limit: number, except?: PeerId): readonly string[] {
    const sinceMs = this.#deps.clock.now() - GOOD_MS
    const good = [...this.#entries.values()].filter(
      ({ peer, successMs, seenMs, failures }) =>
        peer !== except && Math.max(successMs, seenMs) > sinceMs && failures === 0,
    )
    const told = new Map<string, number>()
    const isFew = ({ place }: BookEntry): boolean => place === null || addTo(told, place.group, 1) <= TOLD_PER_GROUP
    return shuffled(good, this.#deps.random)
      .filter(isFew)
      .slice(0, limit)
      .map(({ text }) => text)
  }

  /** Undefined if the book does not take the address. */
  #entryOf(text: string, source: string | undefined): BookEntry | undefined {
    const { clock, allowPrivate } = this.#deps
    const place = placeOf(text, allowPrivate)
    if (place === undefined) return undefined
    const counts = { heardMs: clock.now(), successMs: 0, seenMs: 0, triedMs: 0, failures: 0 }
    return this.#entries.get(place.text) ?? { ...place, source: source ?? sourceOf(place.ip), ...counts }
  }

  /** Sets an entry, if need be in place of worse ones. False, with no change, if none may go. */
  #admit(entry: BookEntry): boolean {
    const victims: BookEntry[] = []
    for (const { isFull, mayGo } of this.#boundsOf(entry)) {
      if (!isFull || victims.some(mayGo)) continue
      const victim = this.#worst((other) => other.text !== entry.text && mayGo(other))
      if (victim === undefined) return false
      victims.push(victim)
    }
    for (const { text } of victims) this.#remove(text)
    this.#set(entry)
    return true
  }

  /** The bounds that an entry counts against for the first time, and which entries may make room for it there. */
  #boundsOf(entry: BookEntry): readonly Bound[] {
    const { peer, place, source } = entry
    const before = this.#entries.get(entry.text)
    const now = this.#deps.clock.now()
    const rank = rankOf(entry, now)
    const isNoBetter = (other: BookEntry): boolean => rankOf(other, now) <= rank
    const bounds: Bound[] = []
    if (before === undefined) {
      const isPeerFull = (this.#perPeer.get(peer) ?? 0) >= PER_PEER_MAX
      bounds.push({ isFull: isPeerFull, mayGo: (other) => other.peer === peer && isNoBetter(other) })
      // Even hearsay may replace any address that we did not reach within the last week.
      const mayGo = (other: BookEntry): boolean => isNoBetter(other) || rankOf(other, now) < RANK_REACHED
      bounds.push({ isFull: this.#entries.size >= ADDRESSES_MAX, mayGo })
      // A source at its bound replaces only its own hearsay, and only what has failed already.
      const isSourceFull = !isKnown(entry) && (this.#heard.get(source) ?? 0) >= HEARD_PER_SOURCE
      const hasFailed = (other: BookEntry): boolean => !isKnown(other) && other.source === source && other.failures > 0
      bounds.push({ isFull: isSourceFull, mayGo: hasFailed })
    }
    if (place !== null && isKnown(entry) && (before === undefined || !isKnown(before))) {
      const { host, group } = place
      const among = (name: 'host' | 'group', isFull: boolean, value: string): Bound => ({
        isFull,
        mayGo: (other) => isKnown(other) && other.place?.[name] === value && isNoBetter(other),
      })
      bounds.push(among('host', (this.#known.get(host) ?? 0) >= KNOWN_PER_HOST, host))
      bounds.push(among('group', (this.#known.get(group) ?? 0) >= KNOWN_PER_GROUP, group))
    }
    return bounds
  }

  #worst(among: (entry: BookEntry) => boolean): BookEntry | undefined {
    const now = this.#deps.clock.now()
    let worst: { readonly entry: BookEntry; readonly worth: Worth } | undefined
    for (const entry of this.#entries.values()) {
      if (!among(entry)) continue
      const worth = this.#worthOf(entry, now)
      if (worst === undefined || compare(worth, worst.worth) < 0) worst = { entry, worth }
    }
    return worst?.entry
  }

  /** What an entry is kept for, most important first: its rank, room on its machine, few failures, how recent it is. */
  #worthOf(entry: BookEntry, now: number): Worth {
    const { place, failures, heardMs, seenMs, successMs } = entry
    const crowd = place === null ? 0 : (this.#known.get(place.host) ?? 0)
    return [rankOf(entry, now), -crowd, -failures, Math.max(heardMs, seenMs, successMs)]
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
    const { peer, place, source } = entry
    addTo(this.#perPeer, peer, by)
    if (!isKnown(entry)) addTo(this.#heard, source, by)
    if (place === null) return
    if (isKnown(entry)) for (const name of [place.host, place.group]) addTo(this.#known, name, by)
    if (isReached(entry)) addTo(this.#reached, place.host, by)
  }
}

const RANK_HEARD = 0
const RANK_SEEN = 1
const RANK_REACHED = 2

type Worth = readonly [rank: number, crowd: number, failures: number, lastMs: number]

interface Bound {
  readonly isFull: boolean
  /** Whether another entry counts against this bound and may make room. */
  readonly mayGo: (other: BookEntry) => boolean
}

/** Name of a peer as a source: all peers of one network share it. */
export function sourceOf(ip: Ip | undefined): string {
  return `from ${ip === undefined ? 'nowhere' : groupOf(ip)}`
}

function isReached({ successMs }: BookEntry): boolean {
  return successMs > 0
}

function isKnown({ successMs, seenMs }: BookEntry): boolean {
  return successMs > 0 || seenMs > 0
}

function rankOf({ successMs, seenMs }: BookEntry, now: number): number {
  if (successMs > 0 && successMs >= now - PROVEN_KEPT_MS) return RANK_REACHED
  return seenMs > 0 && seenMs > now - GOOD_MS ? RANK_SEEN : RANK_HEARD
}

function compare(a: Worth, b: Worth): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number)
  return 0
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
  const place = placeOf(key.slice(KIND.length + 1), allowPrivate)
  if (place === undefined) return undefined
  try {
    const found = JSON.parse(value) as Record<string, unknown>
    if (typeof found.source !== 'string' || COUNTS.some((name) => !Number.isSafeInteger(found[name]))) return undefined
    const { source, heardMs, successMs, seenMs, triedMs, failures } = found as unknown as BookEntry
    return { ...place, source, heardMs, successMs, seenMs, triedMs, failures }
  } catch {
    return undefined
  }
}

/** Undefined if the book does not take the address. */
function placeOf(text: string, allowPrivate: boolean): Pick<BookEntry, 'text' | 'peer' | 'ip' | 'place'> | undefined {
  const address = parseNodeAddress(text)
  if (!address.ok) return undefined
  const { ip, peer, text: canonical } = address.value
  if (ip === null || peer === null || !isDialable(ip, allowPrivate)) return undefined
  const place = isExempt(ip, allowPrivate) ? null : { host: hostOf(ip), group: groupOf(ip) }
  return { text: canonical, peer, ip, place }
}
