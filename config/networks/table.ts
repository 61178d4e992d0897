import type { NetworkParams } from '../../consensus/chain/params.ts'
import { DEVNET } from './devnet.ts'
import { MAINNET } from './mainnet.ts'
import { TESTNET } from './testnet.ts'

/** The networks this release knows, by name. */
export const NETWORKS = { mainnet: MAINNET, testnet: TESTNET, devnet: DEVNET } as const satisfies Record<
  string,
  NetworkParams
>

/** Name of a known network. */
export type NetworkName = keyof typeof NETWORKS
