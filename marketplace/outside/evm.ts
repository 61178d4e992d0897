import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** An EVM network that services know. */
export const EVM_NETWORKS = ['ethereum', 'base'] as const

/** Name of one of them. */
export type EvmNetworkName = (typeof EVM_NETWORKS)[number]

/** What a transfer costs at a block; amounts in wei. */
export interface GasFacts {
  readonly chainId: number
  readonly gasPrice: bigint
  readonly baseFee: bigint | null
  readonly priorityFee: bigint | null
  readonly blockNumber: number
}

/** What an address has at a block, in base units. */
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

/** What the Ethereum Name Service says; null is not set. */
export interface EnsFacts {
  readonly name: string | null
  readonly address: string | null
  readonly avatar: string | null
  readonly resolver: string | null
  /** Whether the name leads to the address: a reverse record alone proves nothing. */
  readonly forwardVerified: boolean
}

/** Reads public EVM networks through nodes that the operator named. Faults: `provider/*`. */
export interface EvmReader {
  readonly readiness: (network: EvmNetworkName) => Readiness
  readonly gas: (network: EvmNetworkName, signal: AbortSignal) => Promise<Result<Sourced<GasFacts>>>
  /** Of an address on the layer-2 network. */
  readonly balance: (address: string, signal: AbortSignal) => Promise<Result<Sourced<EvmBalance>>>
  /** A name as text, or an address; on Ethereum. */
  readonly ens: (
    query: { readonly name: string } | { readonly address: string },
    signal: AbortSignal,
  ) => Promise<Result<Sourced<EnsFacts>>>
}
