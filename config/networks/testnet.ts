import type { NetworkParams } from '../../consensus/chain/params.ts'
import { MAINNET } from './mainnet.ts'

/** The public test network: the main network's rules, coins without value. */
export const TESTNET: NetworkParams = {
  ...MAINNET,
  name: 'testnet',
  addressPrefix: 'tfar',
  genesis: { ...MAINNET.genesis, message: 'Farthing testnet' },
}
