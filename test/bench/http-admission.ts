import { join } from 'node:path'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { removeFolder, temporaryFolder } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { createFixture, openBenchChain, signTransfers } from './fixture.ts'
import { httpRequest, sendAll } from './http-load.ts'
import { startServer } from './processes.ts'
import { type BenchRow, time, valueRow } from './report.ts'

const ENTRY = join(ROOT, 'test/bench/bench-daemon-entry.ts')
const ACCOUNTS = 400
const PER_ACCOUNT = 20
const CONNECTIONS = 32

/** Transactions per second over HTTP, with client and server on the same cores. Each was signed before, and is checked and kept. */
export async function benchHttpAdmission(): Promise<readonly BenchRow[]> {
  const folder = temporaryFolder()
  const fixture = createFixture(ACCOUNTS, ACCOUNTS)
  const transactions = await signAll(fixture)
  const server = await startServer(
    ENTRY,
    [
      'start',
      '--data-dir',
      folder,
      '--rpc-port',
      '0',
      '--rpc-rate-transaction',
      '100000000',
      '--mempool-count-max',
      '100000',
      '--mempool-mib-max',
      '1000',
    ],
    { BENCH_ACCOUNTS: String(ACCOUNTS) },
  )
  const requests = transactions.map((tx) =>
    httpRequest('/api/v1/tx', 'application/octet-stream', encodeTransaction(tx)),
  )
  // First transactions carry keys and must arrive first. They do not count.
  await sendAll(server.port, requests.slice(0, ACCOUNTS), CONNECTIONS)
  const counted = requests.slice(ACCOUNTS)
  let accepted = 0
  const ms = await time(async () => {
    accepted = (await sendAll(server.port, counted, CONNECTIONS)).get(200) ?? 0
  })
  await server.program.end('SIGTERM')
  removeFolder(folder)
  if (accepted !== counted.length) throw new Error(`${accepted} of ${counted.length} were accepted`)
  return [valueRow('transactions over HTTP, load included', (accepted * 1_000) / ms, 'tx/s', { least: 1_500 })]
}

async function signAll(fixture: ReturnType<typeof createFixture>): Promise<readonly Transaction[]> {
  const verifier = new VerifyPool(1)
  const { chain, close } = await openBenchChain(fixture, verifier)
  const transactions: Transaction[] = []
  for (let nonce = 0n; nonce < PER_ACCOUNT; nonce++) transactions.push(...(await signTransfers(fixture, chain, nonce)))
  await close()
  await verifier.close()
  return transactions
}
