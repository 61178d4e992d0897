import type { AddressKeys } from '../../../consensus/chain/writes.ts'
import { addressOfKeys, decodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'

/** Peers that are asked for the same keys before giving up. */
const PEERS_ASKED_MAX = 4

/**
 * Asks peers for the keys behind addresses, `first` before the others: whoever has a block has the keys of those who signed
 * it. Every answer is checked against its address. The answer has what was found.
 */
export async function fetchKeys(
  peers: Peers,
  addresses: readonly Address[],
  first: PeerId | null,
): Promise<readonly AddressKeys[]> {
  const found = new Map<Address, AddressKeys>()
  const others = peers.list().map(({ info }) => info.id)
  const order = first === null ? others : [first, ...others.filter((id) => id !== first)]
  for (const id of order.slice(0, PEERS_ASKED_MAX)) {
    const wanted = addresses.filter((address) => !found.has(address))
    if (wanted.length === 0) break
    if (!peers.isReady(id)) continue
    const reply = await peers.exchange.ask(id, 'keys', wanted)
    if (!reply.ok) continue
    for (const keys of checked(peers, id, wanted, reply.value)) found.set(keys.address, keys)
  }
  return [...found.values()]
}

/** The part of an answer that is true; one that is not condemns whoever gave it. */
function checked(
  ...[peers, id, wanted, reply]: [Peers, PeerId, readonly Address[], readonly Uint8Array[]]
): readonly AddressKeys[] {
  if (reply.length > wanted.length) peers.report(id, 'unasked', 'keys of addresses that nobody named')
  const answered = wanted.flatMap((address, i) => {
    const encoded = reply[i]
    return encoded === undefined || encoded.length === 0 ? [] : [{ address, encoded }]
  })
  const good = answered.filter(
    ({ address, encoded }) => addressOfKeys(encoded) === address && decodeAccountKeys(encoded).ok,
  )
  if (good.length < answered.length) peers.report(id, 'bad-keys', 'keys that are not those of the address')
  return good
}
