import type { PeerId } from '../network.ts'
import { groupOf } from './address-groups.ts'
import type { Connection } from './dialer.ts'
import { ipOf } from './node-address.ts'

/** What a peer did for us lately. */
export interface Merits {
  /** Time when this peer last brought a block, or a transaction, before all other peers; 0 if never. */
  readonly blockMs: number
  readonly transactionMs: number
  /** Null before the first answer. */
  readonly latencyMs: number | null
}

/** For each kind of merit one in this many connections is protected, at least one. */
const PER_VIRTUE = 12

/**
 * Inbound connections that stay when a new one wants in. A few each: those that last brought blocks, that last brought transactions, that
 * answer fastest, that are most alone in their network. Then the oldest half of the rest. To displace all honest peers, an attacker would
 * have to be better than they are at each of these.
 */
export function protectedOf(
  inbound: readonly Connection[],
  meritsOf: (peer: PeerId) => Merits,
): ReadonlySet<Connection> {
  const places = Math.ceil(inbound.length / PER_VIRTUE)
  const crowds = crowdsOf(inbound)
  const chosen = new Set<Connection>()
  const protect = (
    candidates: readonly Connection[],
    rank: (connection: Connection) => number,
    count: number,
  ): void => {
    const best = candidates.filter((each) => !chosen.has(each)).toSorted((a, b) => rank(a) - rank(b) || byAge(a, b))
    for (const connection of best.slice(0, count)) chosen.add(connection)
  }
  const having = (has: (merits: Merits) => boolean): readonly Connection[] =>
    inbound.filter(({ peer }) => has(meritsOf(peer)))
  protect(
    having(({ blockMs }) => blockMs > 0),
    ({ peer }) => -meritsOf(peer).blockMs,
    places,
  )
  protect(
    having(({ transactionMs }) => transactionMs > 0),
    ({ peer }) => -meritsOf(peer).transactionMs,
    places,
  )
  protect(
    having(({ latencyMs }) => latencyMs !== null),
    ({ peer }) => meritsOf(peer).latencyMs ?? 0,
    places,
  )
  protect(inbound, (connection) => crowds.get(crowdOf(connection)) ?? 0, places)
  protect(inbound, () => 0, Math.floor((inbound.length - chosen.size) / 2))
  return chosen
}

/** The inbound connection that makes room for a new one: the newest of the most crowded network; undefined if all stay. */
export function victimOf(inbound: readonly Connection[], meritsOf: (peer: PeerId) => Merits): Connection | undefined {
  const stays = protectedOf(inbound, meritsOf)
  const crowds = crowdsOf(inbound)
  const size = (connection: Connection): number => crowds.get(crowdOf(connection)) ?? 0
  return inbound.filter((each) => !stays.has(each)).toSorted((a, b) => size(b) - size(a) || byAge(b, a))[0]
}

function byAge(a: Connection, b: Connection): number {
  return a.openedAtMs - b.openedAtMs || (a.id < b.id ? -1 : 1)
}

function crowdsOf(connections: readonly Connection[]): ReadonlyMap<string, number> {
  const crowds = new Map<string, number>()
  for (const connection of connections) crowds.set(crowdOf(connection), (crowds.get(crowdOf(connection)) ?? 0) + 1)
  return crowds
}

function crowdOf({ address }: Connection): string {
  const ip = ipOf(address)
  return ip === undefined ? 'unknown' : groupOf(ip)
}
