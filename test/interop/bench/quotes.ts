import { join } from 'node:path'
import { httpRequest, sendAll } from '../../bench/http-load.ts'
import { cpuMicros, type Server, startServer } from '../../bench/processes.ts'
import { type BenchRow, factRow, median, ratioRow, round } from '../../bench/report.ts'
import { removeFolder } from '../../support/processes.ts'
import { PATH, startSeller } from './seller.ts'

const EXPRESS = join(import.meta.dirname, 'express-server.ts')
const REQUESTS = 20_000
const ROUNDS = 7
const CONNECTIONS = 32
const BODY = Buffer.from('{"request":"ok"}')

/** A server's figures in a round of unpaid requests. */
interface Round {
  readonly perSecond: number
  readonly cpuMicros: number
}

/** Unpaid quotes of the node against the official middleware: the same load, in turns. */
export async function benchDollarQuotes(): Promise<readonly BenchRow[]> {
  const seller = await startSeller()
  const facilitatorUrl = `http://127.0.0.1:${seller.facilitator.port}`
  const path = PATH.split('?')[0] as string
  const official = await startServer(EXPRESS, [facilitatorUrl, path, seller.payTo])
  const request = httpRequest(PATH, 'application/json', BODY)
  const ours: Round[] = []
  const theirs: Round[] = []
  // The first round of each warms up and does not count.
  for (let i = 0; i <= ROUNDS; i++) {
    const [theirRound, ourRound] = [await round402(official, request), await round402(seller.node, request)]
    if (i > 0) theirs.push(theirRound)
    if (i > 0) ours.push(ourRound)
  }
  await Promise.all([seller.end(), official.program.end('SIGTERM')])
  removeFolder(seller.folder)
  const ratio = median(ours.map(({ perSecond }, i) => perSecond / (theirs[i] as Round).perSecond))
  const figure = (rounds: readonly Round[]): string =>
    `${round(median(rounds.map(({ perSecond }) => perSecond)))}/s, ${round(median(rounds.map((each) => each.cpuMicros)))} us`
  return [
    ratioRow('stablecoin quotes, requests a second and CPU of one (bound: @x402/express)', figure(ours), ratio, 1.4),
    factRow('  @x402/express beside it', figure(theirs)),
  ]
}

async function round402({ port, pid }: Server, request: Buffer): Promise<Round> {
  const cpuBefore = cpuMicros(pid)
  const startedMs = performance.now()
  const counts = await sendAll(port, new Array<Buffer>(REQUESTS).fill(request), CONNECTIONS)
  const seconds = (performance.now() - startedMs) / 1_000
  if (counts.get(402) !== REQUESTS) throw new Error(`unexpected answers: ${[...counts]}`)
  return { perSecond: REQUESTS / seconds, cpuMicros: (cpuMicros(pid) - cpuBefore) / REQUESTS }
}
