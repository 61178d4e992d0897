import { devSeed } from '../../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { type AgentClient, type ClientOptions, createClient } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { fastDevnet } from '../../support/network.ts'

/** Words of a devnet account with coins. */
export const WORDS = wordsOfSeed(devSeed(1))
/** The network of daemons with fast blocks. */
export const NETWORK = networkFacts(fastDevnet())

/** A client of a daemon, with coins. */
export function buyer(baseUrl: string, options: Partial<ClientOptions> = {}): AgentClient {
  return createClient({ baseUrl, wallet: walletFromWords(WORDS), network: NETWORK, ...options })
}
