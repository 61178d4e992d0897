import type { PeerId } from '../network.ts'
import type { Offence } from '../peers/offences.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import type { ProtocolName } from '../wire/protocols.ts'

/**
 * What became of a reply: it was taken and there is more, or no more; or it leads nowhere just now, which is no peer's fault; or it is
 * false, which is an offence.
 */
export type Taken = 'more' | 'done' | 'stuck' | Offence

/** Something that is fetched reply by reply in a fixed order, from whichever peer. */
export interface Course<P extends ProtocolName> {
  readonly protocol: P
  /** Who alone is asked, as long as it answers; undefined: any peer. */
  readonly sole?: PeerId | undefined
  /** Bytes of what was taken so far: what is of no use is not counted. */
  readonly bytes: number
  /** What comes next. */
  request(): RequestOf<P>
  /** What comes after a reply if that is true, to be asked for meanwhile; undefined where there is no more. */
  following(reply: ReplyOf<P>): RequestOf<P> | undefined
  /** Checks a reply and stores what is in it. Nothing of a false one is stored. */
  take(reply: ReplyOf<P>, from: PeerId): Promise<Taken>
}

/** Bytes of entries. */
export function bytesOf(entries: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]): number {
  return entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
}
