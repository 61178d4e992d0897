import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Server, startServer } from '../../bench/processes.ts'
import { temporaryFolder, until } from '../../support/processes.ts'
import { ROOT } from '../../support/source-tree.ts'

const ENTRY = join(ROOT, 'test/support/daemon-entry.ts')
const INSTANT = join(import.meta.dirname, 'instant-facilitator.ts')
/** The service that the benchmarks buy: it does nothing. */
export const SERVICE = 'node-test-again'
/** Path of quotes for {@link SERVICE} on the stablecoin rail. */
export const PATH = `/api/x402/${SERVICE}?rail=stable`
/** Rates that no benchmark reaches. */
const UNLIMITED = ['--rpc-rate-quote', '100000000', '--rpc-rate-read', '100000000', '--rpc-port', '0']
const ALONE = { FARTHING_P2P_ENABLED: 'false', TEST_FAST_BLOCKS: '1' }

/** The node selling over the stablecoin rail, with a facilitator that answers at once. */
export interface Seller {
  readonly node: Server
  readonly facilitator: Server
  readonly payTo: string
  readonly folder: string
  end(): Promise<void>
}

/** Starts the facilitator and the node. The node does not mine, so that all of its time goes to the market. */
export async function startSeller(): Promise<Seller> {
  const facilitator = await startServer(INSTANT, [])
  const payTo = privateKeyToAccount(generatePrivateKey()).address
  const folder = temporaryFolder()
  await publish(folder)
  const stable = [
    ...['--stable-enabled', 'true', '--stable-network', 'base-sepolia', '--stable-pay-to', payTo],
    ...['--stable-facilitators', `http://127.0.0.1:${facilitator.port}`],
  ]
  const node = await startServer(ENTRY, ['start', '--data-dir', folder, ...UNLIMITED, ...stable], ALONE)
  await selling(node)
  const end = async (): Promise<void> => {
    await Promise.all([node.program.end('SIGTERM'), facilitator.program.end('SIGTERM')])
  }
  return { node, facilitator, payTo, folder, end }
}

/** Publishes the services on the chain of the folder, so that quotes are real offers. */
async function publish(folder: string): Promise<void> {
  const miner = await startServer(ENTRY, ['start', '--data-dir', folder, '--mine-threads', '1', ...UNLIMITED], ALONE)
  await selling(miner)
  await miner.program.end('SIGTERM')
}

function selling({ port }: Server): Promise<true> {
  return until('the services are sold', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST' })
    return ((await answer.json()) as { readonly available: boolean }).available && true
  })
}
