import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'
import type { Sourced } from './sourced.ts'

/** An EVM network that services know. */
export const EVM_NETWORKS = ['ethereum', 'base'] as const

/** Name of one of them. */
export type EvmNetworkName = (typeof EVM_NETWORKS)[number]

/** What a transfer costs at a block; amounts in wei, null where the node does not tell. */
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
  /** In the spelling of EIP-55. */
  readonly address: string | null
  /** As the record has it: an address of a picture, or of a token. Nobody has looked there. */
  readonly avatar: string | null
  readonly resolver: string | null
  /** Whether the name leads to the address: a reverse record alone proves nothing. */
  readonly forwardVerified: boolean
}

/** What is looked up: a normalised name, or an address. */
export type EnsQuery = { readonly name: string } | { readonly address: string }

/** Reads public EVM networks through nodes that the operator named. Faults: `provider/*`. */
export interface EvmReader {
  readonly readiness: (network: EvmNetworkName) => Readiness
  readonly gas: (network: EvmNetworkName, signal: AbortSignal) => Promise<Result<Sourced<GasFacts>>>
  /** Of an address on the layer-2 network. */
  readonly balance: (address: string, signal: AbortSignal) => Promise<Result<Sourced<EvmBalance>>>
  readonly ensReadiness: () => Readiness
  /** A name as ENSIP-15 writes it, null where it is none. Only while `ensReadiness` says that names can be looked up. */
  readonly ensName: (name: string) => string | null
  /** On Ethereum. A name that is answered off chain is `provider/not-found`: no gateway is asked. */
  readonly ens: (query: EnsQuery, signal: AbortSignal) => Promise<Result<Sourced<EnsFacts>>>
}
