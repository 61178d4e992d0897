/**
 * Limits of one network, as a multiple of the limits of one address. Without them, a customer who holds every address
 * of an IPv6 network would have no limit.
 */
export const NETWORK_CLIENTS = 8

/**
 * The client that holds an item of limited number: its address and its network. One client may use many addresses of
 * its network.
 */
export interface Holder {
  readonly network: string
  readonly address: string
}

/**
 * The items of which one must give way to a newcomer when all places are taken. They belong to the network with the
 * most items, if it has at least two more than the newcomer's network. Else they belong to the address with the most
 * items in the newcomer's network, if it has at least two more than the newcomer's address. Else there are none. So one
 * client that takes all places cannot keep other clients out.
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
