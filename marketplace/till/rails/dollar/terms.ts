/** An EVM network, as x402 versions 1 and 2 name it. */
export interface DollarNetwork {
  /** Name in x402 version 1, such as `base`. */
  readonly word: string
  /** Name in x402 version 2 (CAIP-2), such as `eip155:8453`. */
  readonly caip2: `eip155:${number}`
  readonly chainId: number
}

/** A dollar token that implements EIP-3009. */
export interface DollarAsset {
  /** Such as `USDC`. */
  readonly symbol: string
  /** With its EIP-55 checksum. */
  readonly contract: string
  readonly decimals: number
  /** EIP-712 domain of the contract. Clients refuse to sign without it; a wrong name makes signatures invalid. */
  readonly domain: { readonly name: string; readonly version: string }
}

/** What the stablecoin rail takes: scheme `exact` over EIP-3009. */
export interface DollarTerms {
  readonly network: DollarNetwork
  readonly asset: DollarAsset
  /** Address that authorizations must pay, with its EIP-55 checksum. */
  readonly payTo: string
  /** How long an offer can be paid, and how long the authorizations of clients hold: enough for queue, work and settlement. */
  readonly maxTimeoutSeconds: number
}

const USD_DECIMALS = 6

/** Units of the asset for a price in millionths of a dollar, rounded up. */
export function dollarAmount({ decimals }: DollarAsset, priceUsdMicros: bigint): bigint {
  if (decimals >= USD_DECIMALS) return priceUsdMicros * 10n ** BigInt(decimals - USD_DECIMALS)
  const scale = 10n ** BigInt(USD_DECIMALS - decimals)
  return (priceUsdMicros + scale - 1n) / scale
}

/** For display: one whole token is a dollar. */
export function dollarsOf({ decimals }: DollarAsset, amount: bigint): number {
  return Number(amount) / 10 ** decimals
}
