import { formatAddress } from '../../consensus/crypto/address.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { ENS_NAME, HOLDER } from './service-world.ts'

/** Requests for services whose example names another network or things that the test world lacks. */
const REQUESTS: Readonly<Record<string, (fresh: number) => string>> = {
  'node-ens-resolve': () => ENS_NAME,
  'node-evm-balance': () => HOLDER,
  'node-email-validate': (fresh) => `ada${fresh}@mail.example`,
  'node-web-fetch': (fresh) => `http://news.example/?${fresh}`,
  'node-url-meta': (fresh) => `http://news.example/?${fresh}`,
  'node-rss-read': (fresh) => `http://news.example/feed.xml?${fresh}`,
  'node-domain-info': () => 'example.com',
  'node-weather': () => 'Berlin',
}

/** What requests of a test are about. */
export interface RequestFacts {
  /** A number that no other request of the test has, so that no cache can answer. */
  readonly fresh: number
  /** A paid call with a receipt. */
  readonly txId: string
  /** A request for node-signature-verify. */
  readonly signed: string
  readonly address: Address
}

/** A request that a service can answer on a devnet beside a `ServiceWorld`. */
export function workingRequest(serviceId: string, { fresh, txId, signed, address }: RequestFacts): string {
  if (serviceId === 'node-tx-lookup' || serviceId === 'node-receipt-verify') return txId
  if (serviceId === 'node-signature-verify') return signed
  if (serviceId === 'node-wallet-portfolio') return formatAddress('dfar', address)
  const example = SERVICE_TABLE.find((one) => one.serviceId === serviceId)?.example ?? ''
  return REQUESTS[serviceId]?.(fresh) ?? example
}
