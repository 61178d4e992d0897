import { SERVICE_TABLE } from '../../marketplace/services/table.ts'

/** Services that need the internet or something that the operator sets up. */
export const NEEDING_OTHERS: ReadonlySet<string> = new Set(
  [
    ...['image-gen', 'crypto-prices', 'llm-chat', 'geo-ip', 'web-fetch', 'url-meta', 'web-search', 'rss-read'],
    ...['domain-info', 'weather', 'fx-rates', 'email-validate', 'translate', 'crypto-price', 'gas-price'],
    ...['evm-balance', 'ens-resolve', 'x402-validation'],
  ].map((name) => `node-${name}`),
)

/** All services but {@link NEEDING_OTHERS}, in the order of `SERVICE_TABLE`. A daemon with default settings sells these. */
export const SOLD_ALONE: readonly string[] = SERVICE_TABLE.map(({ serviceId }) => serviceId as string).filter(
  (serviceId) => !NEEDING_OTHERS.has(serviceId),
)
