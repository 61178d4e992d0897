import { SETTINGS } from '../../config/settings.ts'
import type { Allowance } from '../../consensus/primitives/bucket.ts'
import {
  ADDRESSES_MAX,
  HEARD_PER_SOURCE,
  KNOWN_PER_GROUP,
  KNOWN_PER_HOST,
  TOLD_PER_GROUP,
} from '../../src/p2p/host/address-book.ts'
import { INBOUND_PER_HOST, INBOUND_PER_NET, OUTBOUND_PER_GROUP } from '../../src/p2p/host/address-groups.ts'
import { BANS_MAX } from '../../src/p2p/host/bans.ts'
import { HANDSHAKES, PENDING, SILENT_MS, SOCKETS_PER_SECOND } from '../../src/p2p/host/entrance.ts'
import { INBOUND_WORK } from '../../src/p2p/host/inbound-work.ts'
import { LIB_BOUNDS, STREAM_WRITES_MAX, UPGRADE_WRITES_MAX } from '../../src/p2p/host/lib-bounds.ts'
import { PEER_NOTE_BYTES_MAX, PEER_NOTES_MAX, PEER_PROTOCOLS_MAX } from '../../src/p2p/host/lib-node.ts'
import { STREAMS_OPENED } from '../../src/p2p/host/links.ts'
import { PLACE_BYTES_MAX } from '../../src/p2p/host/message-scanner.ts'

type Row = readonly [what: string, value: number | bigint | string, unit: string, where: string]

const percent = (share: number): string => String(Math.round(share * 100))

/** An allowance in words. */
export function perSecond({ burst, perSecond: refill }: Allowance): string {
  return `${burst}, and ${refill} a second`
}

/** Bounds of connections to peers, of known addresses, and of libp2p. */
export const CONNECTION_LIMITS: readonly Row[] = [
  ['outbound connections sought', SETTINGS['p2p.outbound'].default as string, '', 'p2p.outbound'],
  ['inbound connections', SETTINGS['p2p.inbound-max'].default as string, '', 'p2p.inbound-max'],
  ['inbound sockets before the handshake', PENDING.all, '', 'src/p2p/host/entrance.ts'],
  ['of them, from an address (IPv6: a /64)', PENDING.perHost, '', 'src/p2p/host/entrance.ts'],
  ['of them, from a /24 (IPv6: a /48)', PENDING.perNet, '', 'src/p2p/host/entrance.ts'],
  [
    'inbound sockets of an address (IPv6: a /64) in a second, on a network with private addresses',
    `${SOCKETS_PER_SECOND.public}, ${SOCKETS_PER_SECOND.private}`,
    '',
    'src/p2p/host/entrance.ts',
  ],
  ['how long an inbound socket may be silent', SILENT_MS, 'ms', 'src/p2p/host/entrance.ts'],
  ['share of the main thread for inbound handshakes', percent(HANDSHAKES.allShare), '%', 'src/p2p/host/entrance.ts'],
  ['more of it for machines that are known', percent(HANDSHAKES.knownShare), '%', 'src/p2p/host/entrance.ts'],
  ['of these, for one /24 (IPv6: /48)', percent(HANDSHAKES.netShare), '%', 'src/p2p/host/entrance.ts'],
  ['charged for a handshake', HANDSHAKES.ms, 'ms', 'src/p2p/host/entrance.ts'],
  ['wait of a handshake for its turn', HANDSHAKES.waitMs, 'ms', 'src/p2p/host/entrance.ts'],
  [
    'outbound connections into a /16 of IPv4 or a /32 of IPv6',
    OUTBOUND_PER_GROUP,
    '',
    'src/p2p/host/address-groups.ts',
  ],
  ['inbound connections from an address (IPv6: a /64)', INBOUND_PER_HOST, '', 'src/p2p/host/address-groups.ts'],
  ['inbound connections from a /24 (IPv6: a /48)', INBOUND_PER_NET, '', 'src/p2p/host/address-groups.ts'],
  ['addresses that are remembered', ADDRESSES_MAX, '', 'src/p2p/host/address-book.ts'],
  ['of them, hearsay from peers of one /16 (IPv6: a /32)', HEARD_PER_SOURCE, '', 'src/p2p/host/address-book.ts'],
  ['of them, seen nodes on one address (IPv6: /64)', KNOWN_PER_HOST, '', 'src/p2p/host/address-book.ts'],
  ['of them, seen nodes in one /16 (IPv6: /32)', KNOWN_PER_GROUP, '', 'src/p2p/host/address-book.ts'],
  ['addresses of one /16 (IPv6: /32) in one answer', TOLD_PER_GROUP, '', 'src/p2p/host/address-book.ts'],
  ['bans', BANS_MAX, '', 'src/p2p/host/bans.ts'],
  ['peers that libp2p keeps notes about, in memory', PEER_NOTES_MAX, '', 'src/p2p/host/lib-node.ts'],
  ['note of libp2p about a peer', PEER_NOTE_BYTES_MAX, 'bytes', 'src/p2p/host/lib-node.ts'],
  ['protocols in it, as the peer names them', PEER_PROTOCOLS_MAX, '', 'src/p2p/host/lib-node.ts'],
  ['streams opened by a connection', perSecond(STREAMS_OPENED), '', 'src/p2p/host/links.ts'],
  [
    'share of the main thread for streams, frames and useless gossip of all connections, before any request',
    percent(INBOUND_WORK.allShare),
    '%',
    'src/p2p/host/inbound-work.ts',
  ],
  [
    'more of it for each connection: inbound, chosen by us',
    `${INBOUND_WORK.inboundShare * 100}, ${INBOUND_WORK.outboundShare * 100}`,
    '%',
    'src/p2p/host/inbound-work.ts',
  ],
  ['writes to a peer before we know who it is', UPGRADE_WRITES_MAX, '', 'src/p2p/host/lib-bounds.ts'],
  ['answers on a stream before its protocol is agreed', STREAM_WRITES_MAX, '', 'src/p2p/host/lib-bounds.ts'],
  ...[...LIB_BOUNDS].flatMap(([protocol, { bytesMax, answered }]): Row[] => [
    [`bytes read from a stream of ${protocol}`, bytesMax, 'bytes', 'src/p2p/host/lib-bounds.ts'],
    [`streams of ${protocol} answered to a connection`, perSecond(answered), '', 'src/p2p/host/lib-bounds.ts'],
  ]),
  ['id or address in a message of libp2p', PLACE_BYTES_MAX, 'bytes', 'src/p2p/host/message-scanner.ts'],
]
