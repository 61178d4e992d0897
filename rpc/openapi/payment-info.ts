/** A price on the stablecoin rail. */
export interface DollarPrice {
  /** Units of the asset; null for a path of several services. */
  readonly amount: string | null
  readonly asset: { readonly contract: string; readonly symbol: string }
  /** CAIP-2 name of the network. */
  readonly network: string
}

/**
 * `x-payment-info` of a paid operation. Catalogues of x402 read `protocols` and `price`. Those of MPP read `offers`: their clients pay
 * an offer of the method `evm` by x402. Shape: draft-payment-discovery, section "Payment Extension".
 */
export function paymentInfo(priceUsd: string | null, dollars: DollarPrice | null): object {
  const price = { mode: 'dynamic', currency: 'USD', ...(priceUsd === null ? {} : { min: priceUsd, max: priceUsd }) }
  return { protocols: ['x402'], price, ...(dollars === null ? {} : { offers: [offerOf(dollars)] }) }
}

function offerOf({ amount, asset, network }: DollarPrice): object {
  const description = `${asset.symbol} on ${network}, by x402 with the scheme exact`
  return { intent: 'charge', method: 'evm', amount, currency: asset.contract, description }
}

/** `x-service-info` of the document, for catalogues. Shape: draft-payment-discovery, section "Service Extension". */
export function serviceInfo(baseUrl: string): object {
  const docs = { homepage: `${baseUrl}/agents`, llms: `${baseUrl}/llms.txt`, apiReference: `${baseUrl}/openapi.json` }
  return { categories: ['data', 'compute', 'search'], docs }
}
