import { join } from 'node:path'
import { exportBlocks } from '../../src/storage/block-file.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { removeFolder, temporaryFolder, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { createFixture, mineBlock, openBenchChain, signTransfers } from './fixture.ts'
import { residentMb, startServer } from './processes.ts'
import { type BenchRow, median, valueRow } from './report.ts'

const ENTRY = join(ROOT, 'test/bench/bench-daemon-entry.ts')
const GROWING = join(ROOT, 'test/bench/growing-daemon-entry.ts')
const ACCOUNTS = 400
const BLOCKS = 10_000
/** One block in 40 holds transfers, from a tenth of the accounts. */
const BUSY_EVERY = 40
const STARTS = 5

/** Memory of a daemon after the import of 10,000 blocks, and the time until a daemon that starts on that folder is ready. */
export async function benchLongRun(): Promise<readonly BenchRow[]> {
  const folder = temporaryFolder()
  const file = join(folder, 'blocks.bin')
  await writeBlocks(file)
  const env = { BENCH_ACCOUNTS: String(ACCOUNTS), BENCH_BLOCKS: file }
  const args = ['start', '--data-dir', join(folder, 'data'), '--rpc-port', '0']
  const grown = await startServer(GROWING, [...args, '--mine-threads', '1'], env)
  await until('all blocks are imported', () => grown.program.stdout.includes(`imported ${BLOCKS}`), { ms: 300_000 })
  const memory = residentMb(grown.pid)
  await grown.program.end('SIGTERM')
  const readyMs: number[] = []
  for (let i = 0; i < STARTS; i++) {
    const server = await startServer(ENTRY, args, env)
    readyMs.push(server.readyMs)
    await server.program.end('SIGTERM')
  }
  removeFolder(folder)
  return [
    valueRow(`resident memory after ${BLOCKS} blocks, one mining thread`, memory, 'MB', { most: 300 }),
    valueRow('start to ready on that folder', median(readyMs) / 1_000, 's', { most: 1.5 }),
  ]
}

async function writeBlocks(file: string): Promise<void> {
  const fixture = createFixture(ACCOUNTS, ACCOUNTS)
  const verifier = new VerifyPool(1)
  const { chain, close } = await openBenchChain(fixture, verifier, { paced: false })
  let nonce = 0n
  for (let height = 1; height <= BLOCKS; height++) {
    const busy = height % BUSY_EVERY === 0
    const transactions = busy
      ? await signTransfers({ ...fixture, senders: fixture.senders.slice(0, ACCOUNTS / 10) }, chain, nonce++)
      : []
    await mineBlock(chain, transactions)
  }
  const written = await exportBlocks(chain, file, { from: 1, to: BLOCKS })
  if (!written.ok) throw new Error(written.fault.code)
  await close()
  await verifier.close()
}
