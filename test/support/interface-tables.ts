import type { JsonBody } from './api.ts'

/** Fields and types of a registry entry, from the interface document. */
export const ENTRY_TABLE = {
  serviceId: 'string',
  name: 'string',
  description: 'string',
  capability: 'string',
  priceNative: 'number',
  priceUsd: 'number',
  provenCalls: 'integer',
  provenCallsStable: 'integer',
  provenVolumeStable: 'number',
  provenVolumeNative: 'number',
  agentId: 'string',
  agentName: 'string',
  nodeOperated: 'boolean',
  endpoint: 'string',
  requestFormat: 'string',
} as const
/** Fields and types of the payment protocol document. */
export const PROTOCOL_TABLE = {
  protocol: 'string',
  version: 'integer',
  description: 'string',
  network: 'string',
  chainId: 'integer',
  nativeUsd: 'number',
  payment: { scheme: 'string', asset: 'string', step1: 'string', step2: 'string', step3: 'string' },
  evmStableRail: {
    mode: 'string',
    facilitatorUrl: 'string',
    network: 'string',
    chainId: 'integer',
    asset: 'string',
    assetContract: 'string',
    payTo: 'string',
    scheme: 'string',
    authVerified: 'boolean',
    authDetail: 'string',
    note: 'string',
  },
  facilitators: 'array',
  discovery: {
    wellKnown: 'string',
    bazaar: 'string',
    services: 'string',
    agentCard: 'string',
    llmsTxt: 'string',
    requests: 'string',
    perService: 'string',
  },
  services: 'array',
  nodeOperatedCount: 'integer',
  priceFeed: { source: 'string', live: 'boolean', majors: 'object' },
} as const
/** Fields and types of a facilitator in the payment protocol document. */
export const FACILITATOR_TABLE = {
  mode: 'string',
  url: 'string',
  default: 'boolean',
  verification: 'string',
  scheme: 'string',
  network: 'string',
  asset: 'string',
  assetContract: 'string',
  payTo: 'string',
  note: 'string',
} as const
type Table = { readonly [field: string]: string | Table }

/** Fields that are missing or have another type than in the table. */
export function breaches(value: unknown, table: Table, path = ''): readonly string[] {
  return Object.entries(table).flatMap(([field, type]) => {
    const found = (value as JsonBody)[field]
    if (typeof type === 'object') return breaches(found ?? {}, type, `${path}${field}.`)
    const kind = Array.isArray(found) ? 'array' : found === null ? 'null' : typeof found
    const fits = type === 'integer' ? Number.isSafeInteger(found) : kind === type
    return fits ? [] : [`${path}${field} is ${kind}, not ${type}`]
  })
}
