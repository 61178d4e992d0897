import { join } from 'node:path'
import { removeFolder, temporaryFolder, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { httpRequest, sendAll } from './http-load.ts'
import { cpuMicros, type Server, startServer } from './processes.ts'
import { type BenchRow, median, ratioRow, round } from './report.ts'

const ENTRY = join(ROOT, 'test/support/daemon-entry.ts')
const CONSTANT = join(ROOT, 'test/bench/quote-server.ts')
const PATH = '/api/x402/node-network-stats'
const REQUESTS = 12_000
const ROUNDS = 5
const CONNECTIONS = 32
const UNLIMITED = ['--rpc-rate-quote', '100000000', '--rpc-port', '0']

/** CPU time of a 402 quote against a handler with a constant answer of the same size. */
export async function benchQuotes(): Promise<readonly BenchRow[]> {
  const folder = temporaryFolder()
  await publish(folder)
  const daemon = await startServer(ENTRY, ['start', '--data-dir', folder, ...UNLIMITED], { TEST_FAST_BLOCKS: '1' })
  const sample = await fetch(`http://127.0.0.1:${daemon.port}${PATH}`, { method: 'POST' })
  const constant = await startServer(CONSTANT, [String((await sample.arrayBuffer()).byteLength)])
  const request = httpRequest(PATH, 'application/json', Buffer.from('{"request":""}'))
  const costs = { quote: [] as number[], constant: [] as number[] }
  for (let i = 0; i < ROUNDS; i++) {
    costs.constant.push(await costOf(constant, request))
    costs.quote.push(await costOf(daemon, request))
  }
  await Promise.all([daemon.program.end('SIGTERM'), constant.program.end('SIGTERM')])
  removeFolder(folder)
  const [quote, bound] = [median(costs.quote), median(costs.constant)]
  return [
    ratioRow(
      `402 quote, CPU per request (bound: constant handler, ${round(bound)} us)`,
      `${round(quote)} us`,
      bound / quote,
      0.5,
    ),
  ]
}

/** Publishes the services on the chain of the folder, so that quotes are real offers. */
async function publish(folder: string): Promise<void> {
  const miner = await startServer(ENTRY, ['start', '--data-dir', folder, '--mine-threads', '1', ...UNLIMITED], {
    TEST_FAST_BLOCKS: '1',
  })
  await until('the services are published', async () => {
    const answer = await fetch(`http://127.0.0.1:${miner.port}${PATH}`, { method: 'POST' })
    return ((await answer.json()) as { available: boolean }).available
  })
  await miner.program.end('SIGTERM')
}

async function costOf({ port, pid }: Server, request: Buffer): Promise<number> {
  const before = cpuMicros(pid)
  const counts = await sendAll(port, new Array<Buffer>(REQUESTS).fill(request), CONNECTIONS)
  if (counts.get(402) !== REQUESTS) throw new Error(`unexpected answers: ${[...counts]}`)
  return (cpuMicros(pid) - before) / REQUESTS
}
