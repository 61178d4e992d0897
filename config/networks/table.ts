import type { NetworkParams } from '../../consensus/chain/params.ts'
import { DEVNET } from './devnet.ts'
import { MAINNET } from './mainnet.ts'
import { TESTNET } from './testnet.ts'

export const NETWORKS = { mainnet: MAINNET, testnet: TESTNET, devnet: DEVNET } as const satisfies Record<
  string,
  NetworkParams
>

export type NetworkName = keyof typeof NETWORKS
