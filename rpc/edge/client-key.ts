import { isIPv4, isIPv6 } from 'node:net'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { type ChatKey, OPERATOR } from '../../marketplace/chat/keys/keys.ts'
import type { NodeApi } from '../node/node-api.ts'
import { isOperator } from '../node/operator.ts'

/** Groups of an IPv6 address that name a network: the owner of one address has the whole network. */
const NETWORK_GROUPS = 4
const GROUPS = 8
/** How the key of such a network ends. */
const NETWORK_MARK = '::/64'
/** How a socket shows an IPv4 address where it listens on both. */
const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i

/** Proxies of some makers write the port too: it is another one for each connection. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::\d{1,5})?$/

/** Who a request is limited as. */
export interface LimitKey {
  readonly key: string
  /** Whether it is the operator's own. */
  readonly isOperator: boolean
}

/**
 * Who a request counts for: the operator, a key that the operator made, else its address. Wallets cost nothing, and what one of them
 * may use its keys tell: those of an address are limited together, with and without a key. A made-up key is none.
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

/**
 * Who a key of the chat counts for: the wallet that it is of, since a wallet's keys cost nothing, and itself where the operator made
 * it, for whomever.
 */
export function limitedAs({ id, owner }: Pick<ChatKey, 'id' | 'owner'>): string {
  return owner === OPERATOR ? `key ${id}` : `keys of ${owner}`
}

/** An address as a proxy wrote it, without a port. */
export function withoutPort(written: string): string {
  const [, inBrackets, beforePort] = WITH_PORT.exec(written) ?? []
  return inBrackets ?? beforePort ?? written
}

/** What an address is limited as: itself for IPv4, its /64 for IPv6. Text that is no address stands for itself. */
export function addressKey(written: string): string {
  const address = withoutPort(written)
  if (!address.includes(':')) return address
  const mapped = MAPPED_IPV4.exec(address)
  if (mapped !== null) return mapped[1] as string
  const [bare] = address.split('%') as [string]
  return isIPv6(bare) ? `${networkOf(bare)}${NETWORK_MARK}` : address
}

/** Who an address key is: itself, in the /24 of IPv4 or the /48 of IPv6 that its owner likely has all of. */
export function holderOf(key: string): Holder {
  if (key.endsWith(NETWORK_MARK)) return { address: key, network: key.split(':', NETWORK_GROUPS - 1).join(':') }
  return { address: key, network: isIPv4(key) ? key.slice(0, key.lastIndexOf('.')) : key }
}

/** The first four groups, without leading zeros, in lower case. */
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

/** An IPv4 address at the end counts as two groups. */
function groupsOf(text: string): readonly string[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
