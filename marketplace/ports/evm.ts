import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** EVM networks that services can read. */
export const EVM_NETWORKS = ['ethereum', 'base'] as const

/** One of {@link EVM_NETWORKS}. */
export type EvmNetworkName = (typeof EVM_NETWORKS)[number]

/** Amounts in wei; null if the node does not give them. */
export interface GasFacts {
  readonly chainId: number
  readonly gasPrice: bigint
  readonly baseFee: bigint | null
  readonly priorityFee: bigint | null
  readonly blockNumber: number
}

/** Balances of an address at a block, in base units. */
export interface EvmBalance {
  readonly chainId: number
  readonly native: bigint
  readonly stable: {
    readonly symbol: string
    readonly contract: string
    readonly decimals: number
    readonly amount: bigint
  }
  readonly blockNumber: number
}

/** A record of the Ethereum Name Service; a field is null if it is not set. */
export interface EnsFacts {
  readonly name: string | null
  /** In the spelling of EIP-55. */
  readonly address: string | null
  /** An unchecked text: the address of a picture or of a token. */
  readonly avatar: string | null
  readonly resolver: string | null
  /** Whether the name resolves to the address. A reverse record alone proves nothing. */
  readonly forwardVerified: boolean
}

/** A normalised name, or an address. */
export type EnsQuery = { readonly name: string } | { readonly address: string }

/** Reads public EVM networks. Faults: `provider/*`. */
export interface EvmReader {
  readonly readiness: (network: EvmNetworkName) => Readiness
  readonly gas: (network: EvmNetworkName, signal: AbortSignal) => Promise<Result<Sourced<GasFacts>>>
  /** On the network Base. */
  readonly balance: (address: string, signal: AbortSignal) => Promise<Result<Sourced<EvmBalance>>>
  readonly ensReadiness: () => Readiness
  /** The name normalised by ENSIP-15; null if it is invalid. Call only while `ensReadiness` is available. */
  readonly ensName: (name: string) => string | null
  /** Looks up on Ethereum. A name that resolves off chain is `provider/not-found`: no gateway is asked. */
  readonly ens: (query: EnsQuery, signal: AbortSignal) => Promise<Result<Sourced<EnsFacts>>>
}
