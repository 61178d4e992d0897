import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import { formatIp, type Ip, parseIp } from './address-groups.ts'

/** Where a node listens, in the one format that this network uses: `/<host>/tcp/<port>`, with or without the node's id. */
export interface NodeAddress {
  /** Null for a DNS name, which the transport resolves. */
  readonly ip: Ip | null
  readonly port: number
  /** Null if it is not known which node is there. */
  readonly peer: PeerId | null
  /** Canonical text, so that one place has one spelling. */
  readonly text: string
}

const TEXT_MAX = 256
/** Ids of Ed25519 keys in base58. Nodes have no others. */
const PEER_ID = /^12D3KooW[1-9A-HJ-NP-Za-km-z]{44}$/
const DNS_NAME = /^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

/** Fault: `p2p/address`. */
export function parseNodeAddress(text: string): Result<NodeAddress> {
  const refuse = (reason: string): Result<never> => fail(fault('p2p/address', { text: text.slice(0, 100), reason }))
  if (text.length > TEXT_MAX) return refuse('it is too long')
  const [empty, kind, host, tcp, port, p2p, id, ...rest] = text.split('/')
  if (empty !== '' || tcp !== 'tcp' || rest.length > 0) return refuse('it is not /<kind>/<host>/tcp/<port>/p2p/<id>')
  if (!/^[1-9][0-9]{0,4}$/.test(port ?? '') || Number(port) > 65_535)
    return refuse('its port is not a number from 1 to 65535')
  if (p2p !== undefined && (p2p !== 'p2p' || !isPeerId(id ?? ''))) return refuse('its peer id is not that of a node')
  const place = readHost(kind ?? '', host ?? '')
  if (place === undefined) return refuse('its host is not of the named kind')
  return ok({
    ip: place.ip,
    port: Number(port),
    peer: (id as PeerId | undefined) ?? null,
    text: `${place.text}/tcp/${port}${id === undefined ? '' : `/p2p/${id}`}`,
  })
}

/** Whether a text has the format of a peer id. */
export function isPeerId(text: string): text is PeerId {
  return PEER_ID.test(text)
}

/** The same place with the id of the node there. */
export function withPeer(address: NodeAddress, peer: PeerId): NodeAddress {
  const place = address.peer === null ? address.text : address.text.slice(0, address.text.lastIndexOf('/p2p/'))
  return { ...address, peer, text: `${place}/p2p/${peer}` }
}

/** IP address in a multiaddr of a connection; undefined if it has none. */
export function ipOf(multiaddr: string): Ip | undefined {
  const [, kind, host] = multiaddr.split('/')
  return kind === 'ip4' || kind === 'ip6' ? parseIp(host ?? '') : undefined
}

function readHost(kind: string, host: string): { readonly ip: Ip | null; readonly text: string } | undefined {
  if (kind === 'dns' || kind === 'dns4' || kind === 'dns6') {
    const name = host.toLowerCase()
    return DNS_NAME.test(name) ? { ip: null, text: `/${kind}/${name}` } : undefined
  }
  if (kind !== 'ip4' && kind !== 'ip6') return undefined
  const ip = parseIp(host)
  if (ip === undefined || (ip.length === 4) !== (kind === 'ip4')) return undefined
  return { ip, text: `/${kind}/${formatIp(ip)}` }
}
