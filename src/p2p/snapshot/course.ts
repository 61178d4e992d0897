import type { PeerId } from '../network.ts'
import type { Offence } from '../peers/offences.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import type { ProtocolName } from '../wire/protocols.ts'

/** What became of a reply. `stuck`: it leads nowhere at the moment, which is no peer's fault. An offence: it is false. */
export type Taken = 'more' | 'done' | 'stuck' | Offence

/** Something that is fetched reply by reply in a fixed order, from any peer. */
export interface Course<P extends ProtocolName> {
  readonly protocol: P
  /** The only peer to ask while it answers; undefined for any peer. */
  readonly sole?: PeerId | undefined
  /** Useful bytes that were taken so far. */
  readonly bytes: number
  request(): RequestOf<P>
  /** The request after this reply, if the reply is true. It is asked ahead. Undefined if there is no more. */
  following(reply: ReplyOf<P>): RequestOf<P> | undefined
  /** Stores the content of a reply only if every part of it is true. */
  take(reply: ReplyOf<P>, from: PeerId): Promise<Taken>
}

/** Bytes of all keys and values. */
export function bytesOf(entries: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]): number {
  return entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
}
