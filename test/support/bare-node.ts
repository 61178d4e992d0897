import { SERVICE_TABLE } from '../../marketplace/services/table.ts'

/** Services that a node sells only when its operator has set something up, or where it has the internet. */
export const NEEDING_OTHERS: ReadonlySet<string> = new Set(
  [
    ...['image-gen', 'crypto-prices', 'llm-chat', 'geo-ip', 'web-fetch', 'url-meta', 'web-search', 'rss-read'],
    ...['domain-info', 'weather', 'fx-rates', 'email-validate', 'translate', 'crypto-price', 'gas-price'],
    ...['evm-balance', 'ens-resolve', 'x402-validation'],
  ].map((name) => `node-${name}`),
)

/** Services that any node sells, in the order of the table: those of the daemons of tests that set nothing up. */
export const SOLD_ALONE: readonly string[] = SERVICE_TABLE.map(({ serviceId }) => serviceId as string).filter(
  (serviceId) => !NEEDING_OTHERS.has(serviceId),
)
