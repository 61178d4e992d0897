/** A network of many addresses may do as much as so many of them: of IPv6 a client may have all addresses of one. */
export const NETWORK_CLIENTS = 8

/** Who holds a place: an address, and the network that it is in. A client with one address of a network may have many. */
export interface Holder {
  readonly network: string
  readonly address: string
}

/**
 * The items of which one makes room for a newcomer, where all places are taken: those of the network that has most of them, else of the
 * address of his own network that has. Empty where each has at most one more than he: then nothing is unfair. So however many places one
 * takes, who comes next gets as many.
 */
export function heldTooMany<T extends { readonly holder: Holder }>(
  items: Iterable<T>,
  { network, address }: Holder,
): readonly T[] {
  const all = [...items]
  const ofNetworks = largest(all, network, ({ holder }) => holder.network)
  if (ofNetworks.length > 0) return ofNetworks
  const own = all.filter(({ holder }) => holder.network === network)
  return largest(own, address, ({ holder }) => holder.address)
}

function largest<T>(items: readonly T[], newcomer: string, nameOf: (item: T) => string): readonly T[] {
  const groups = Map.groupBy(items, nameOf)
  const own = groups.get(newcomer)?.length ?? 0
  const most = [...groups.values()].reduce((a, b) => (b.length > a.length ? b : a), [])
  return most.length > own + 1 ? most : []
}
