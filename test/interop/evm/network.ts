import type { Hex } from 'viem'

/** An EVM network with its dollar token, as configured in clients and the node. */
export interface TestNetwork {
  readonly chainId: number
  /** Name of the network in generation 1. */
  readonly word: string
  readonly token: Hex
  /** Name and version of the token's EIP-712 domain. */
  readonly domain: { readonly name: string; readonly version: string }
  readonly decimals: number
}

/** Chain id of Base's test network. Clients of generation 1 know networks by name and sign with their own id for it. */
export const CHAIN_ID = 84_532

/** The test network of Base, with the token at the address that clients trust by default. */
export const BASE_SEPOLIA: TestNetwork = {
  chainId: CHAIN_ID,
  word: 'base-sepolia',
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  domain: { name: 'USDC', version: '2' },
  decimals: 6,
}

/** A network unknown to all clients, with an unusual token. Generation 1 has no name for it. */
export const OWN_NETWORK: TestNetwork = {
  chainId: 31_337,
  word: 'house',
  token: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
  domain: { name: 'House Dollar', version: '7' },
  decimals: 8,
}
