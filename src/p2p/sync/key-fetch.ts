import type { Timers } from '../../../consensus/chain/ports.ts'
import type { AddressKeys } from '../../../consensus/chain/writes.ts'
import { addressOfKeys, decodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { within } from '../relay/within.ts'

const PEERS_ASKED_MAX = 4
/** How long one peer may keep us from asking the next one. A later answer is still taken. */
const PATIENCE_MS = 2_000

/** What fetching keys works with. */
export interface KeySources {
  readonly peers: Peers
  readonly timers: Timers
}

/**
 * Asks peers for the keys of addresses: `first` before the others, since a peer that has a block has its signers' keys, then chosen peers.
 * Every key is checked against its address.
 */
export async function fetchKeys(
  { peers, timers }: KeySources,
  addresses: readonly Address[],
  first: PeerId | null,
): Promise<readonly AddressKeys[]> {
  const found = new Map<Address, AddressKeys>()
  const missing = (): readonly Address[] => addresses.filter((address) => !found.has(address))
  const complete = Promise.withResolvers<void>()
  const ask = async (id: PeerId, wanted: readonly Address[]): Promise<void> => {
    const reply = await peers.exchange.ask(id, 'keys', wanted)
    if (!reply.ok) return
    for (const keys of checked(peers, id, wanted, reply.value)) found.set(keys.address, keys)
    if (missing().length === 0) complete.resolve()
  }
  const underway: Promise<void>[] = []
  for (const id of inOrder(peers, first).slice(0, PEERS_ASKED_MAX)) {
    const wanted = missing()
    if (wanted.length === 0) break
    if (!peers.isReady(id)) continue
    const asked = ask(id, wanted)
    underway.push(asked)
    await within(timers, PATIENCE_MS, Promise.race([asked, complete.promise]))
  }
  await Promise.race([Promise.all(underway), complete.promise])
  return [...found.values()]
}

function inOrder(peers: Peers, first: PeerId | null): readonly PeerId[] {
  const rank = ({ info }: Peer): number => (info.id === first ? 0 : info.direction === 'outbound' ? 1 : 2)
  return [...peers.list()].sort((a, b) => rank(a) - rank(b)).map(({ info }) => info.id)
}

/** The true keys of an answer. A false one is reported. */
function checked(
  ...[peers, id, wanted, reply]: [Peers, PeerId, readonly Address[], readonly Uint8Array[]]
): readonly AddressKeys[] {
  if (reply.length > wanted.length) peers.report(id, 'unasked', 'keys of addresses that this node did not ask for')
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
