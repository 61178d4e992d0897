/** An EVM network as both generations of x402 name it. */
export interface StableNetwork {
  /** Word of generation 1: `base`. */
  readonly word: string
  /** CAIP-2 name of generation 2: `eip155:8453`. */
  readonly caip2: `eip155:${number}`
  readonly chainId: number
}

/** A dollar token that knows EIP-3009. */
export interface StableAsset {
  /** For people: `USDC`. */
  readonly symbol: string
  /** Contract address with its EIP-55 checksum. */
  readonly contract: string
  readonly decimals: number
  /** Name and version of the contract's EIP-712 domain; clients refuse to sign without them, and a wrong name is a bad signature. */
  readonly domain: { readonly name: string; readonly version: string }
}

/** What the stablecoin rail takes: scheme `exact` over EIP-3009. */
export interface StableTerms {
  readonly network: StableNetwork
  readonly asset: StableAsset
  /** Address that authorizations must pay, with its EIP-55 checksum. */
  readonly payTo: string
  /** How long an offer can be paid, and how long an authorization must hold: queue, work and settlement. */
  readonly maxTimeoutSeconds: number
}

const USD_DECIMALS = 6

/** Units of the asset for a price in millionths of a dollar, rounded up. */
export function stableAmount({ decimals }: StableAsset, priceUsdMicros: bigint): bigint {
  if (decimals >= USD_DECIMALS) return priceUsdMicros * 10n ** BigInt(decimals - USD_DECIMALS)
  const scale = 10n ** BigInt(USD_DECIMALS - decimals)
  return (priceUsdMicros + scale - 1n) / scale
}

/** Dollars of an amount of the asset, for people: one unit of a dollar token is a dollar. */
export function stableDollars({ decimals }: StableAsset, amount: bigint): number {
  return Number(amount) / 10 ** decimals
}
