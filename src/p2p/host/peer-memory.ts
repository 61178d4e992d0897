import { NotFoundError, type PeerId, type PeerStore } from '@libp2p/interface'
import { copy } from '../../../consensus/primitives/bytes.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'

/** Peers that are remembered; those that are connected are far fewer, and are looked up again and again. */
export const PEER_NOTES_MAX = 2_048
/** Longest note of one peer: some pages of what an honest one says. What would outgrow it is not noted. */
export const PEER_NOTE_BYTES_MAX = 32_768

/** Protocols that are noted of a peer, those it says itself to speak: ours are some fifteen. */
export const PEER_PROTOCOLS_MAX = 64

/** A name that libp2p keeps something under. */
interface Key {
  toString(): string
}

/**
 * Notes of libp2p about peers, in memory and bounded: it writes one for every connection and for every stream, and strangers
 * who come under a new name each time would fill a disk with them. What a restart needs is in the address book.
 */
export class PeerMemory {
  readonly #notes = new LruMap<string, Uint8Array>(PEER_NOTES_MAX)

  get(key: Key): Uint8Array {
    const note = this.#notes.get(key.toString())
    if (note === undefined) throw new NotFoundError(`nothing is known of ${key.toString()}`)
    return note
  }

  put(key: Key, value: Uint8Array): Key {
    // libp2p gives a view of a slab of 64 KiB, which a note that is kept would keep whole.
    if (value.length <= PEER_NOTE_BYTES_MAX) this.#notes.set(key.toString(), copy(value))
    return key
  }

  delete(key: Key): void {
    this.#notes.delete(key.toString())
  }

  /** libp2p asks for notes of an earlier run when it starts: there are none. */
  async *query(): AsyncGenerator<never> {}
}

/** Shortens what peers say of themselves before it is noted: libp2p sorts it anew for each of their streams. */
export function boundPatches(store: PeerStore, self: PeerId): void {
  const patch = store.patch.bind(store)
  store.patch = (peer, data, options) => {
    if (peer.equals(self) || data.protocols === undefined) return patch(peer, data, options)
    return patch(peer, { ...data, protocols: data.protocols.slice(0, PEER_PROTOCOLS_MAX) }, options)
  }
}
