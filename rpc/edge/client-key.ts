import { isIPv4, isIPv6 } from 'node:net'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { type ChatKey, OPERATOR } from '../../marketplace/chat/keys/keys.ts'
import type { NodeApi } from '../node/node-api.ts'
import { isOperator } from '../node/operator.ts'

/** Groups of an IPv6 address that name its /64: the owner of one address has the whole /64. */
const NETWORK_GROUPS = 4
const GROUPS = 8
const NETWORK_MARK = '::/64'
/** An IPv4 address as a socket that listens on both IPv4 and IPv6 shows it. */
const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i

/** An IPv4 address, or an IPv6 address in brackets, with or without a port. Some proxies write the port of the connection. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::\d{1,5})?$/

/** The name under which the limits count a request. */
export interface LimitKey {
  readonly key: string
  readonly isOperator: boolean
}

/**
 * Whom a request counts for: the operator, a key that the operator made, or else the caller's address. A request with the key of a
 * wallet counts for its address, because wallets cost nothing. A key that does not exist is ignored.
 */
export function limitKeyOf(
  node: Pick<NodeApi, 'operatorToken' | 'chat'>,
  { authorization, address }: { readonly authorization: string | undefined; readonly address: string },
): LimitKey {
  if (authorization !== undefined && isOperator(node, authorization)) return { key: 'operator', isOperator: true }
  const key = authorization === undefined ? undefined : node.chat?.keys.identify(authorization)
  if (key?.ok === true && key.value.owner === OPERATOR) return { key: limitedAs(key.value), isOperator: false }
  return { key: addressKey(address), isOperator: false }
}

/** A key that the operator made counts for itself. Others count for their wallet, because a wallet's keys cost nothing. */
export function limitedAs({ id, owner }: Pick<ChatKey, 'id' | 'owner'>): string {
  return owner === OPERATOR ? `key ${id}` : `keys of ${owner}`
}

/** An address that a proxy wrote, without its port and brackets. Any other text stays unchanged. */
export function withoutPort(written: string): string {
  const [, inBrackets, beforePort] = WITH_PORT.exec(written) ?? []
  return inBrackets ?? beforePort ?? written
}

/** The key of an address: the IPv4 address, or the /64 of an IPv6 address. Text that is neither stays unchanged. */
export function addressKey(written: string): string {
  const address = withoutPort(written)
  if (!address.includes(':')) return address
  const mapped = MAPPED_IPV4.exec(address)
  if (mapped !== null) return mapped[1] as string
  const [bare] = address.split('%') as [string]
  return isIPv6(bare) ? `${networkOf(bare)}${NETWORK_MARK}` : address
}

/** The holder of a limit key. The network of an address is its /24 or /48, all of which one owner may have. */
export function holderOf(key: string): Holder {
  if (key.endsWith(NETWORK_MARK)) return { address: key, network: key.split(':', NETWORK_GROUPS - 1).join(':') }
  return { address: key, network: isIPv4(key) ? key.slice(0, key.lastIndexOf('.')) : key }
}

/** The first four groups of an IPv6 address, without leading zeros, in lower case. */
function networkOf(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const gap = new Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill('0')
  return [...before, ...gap, ...after]
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

/** The groups of a part of an IPv6 address. An IPv4 address at the end counts as two. */
function groupsOf(text: string): readonly string[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
