import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { cpuMicros, type Server, startServer } from '../../bench/processes.ts'
import { type BenchRow, factRow, round, valueRow } from '../../bench/report.ts'
import { removeFolder } from '../../support/processes.ts'
import { authorization, sign } from '../evm/authorization.ts'
import { carried, type DollarOffer, paymentObject, unitsOf } from '../x402/payments.ts'
import { PATH, SERVICE, startSeller } from './seller.ts'

const BARE = join(import.meta.dirname, 'bare-seller.ts')
const WARM_UP = 200
const CALLS = 600
const ACROSS = 8
const VALID_SECONDS = 290
const P99_MS_MAX = 10

interface Prepared {
  readonly nonce: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Duration of a paid call as its caller sees it. */
interface Timed {
  readonly nonce: string
  readonly callMs: number
}

/**
 * The node's share of a paid call over the stablecoin rail: the client's time less the facilitator's time for the same
 * call, by the facilitator's clock. The service does nothing. Transport between the three processes and waits for a
 * processor count as the node's. Hence a bare seller beside it, called in turns.
 */
export async function benchDollarSettles(): Promise<readonly BenchRow[]> {
  const seller = await startSeller()
  const bare = await startServer(BARE, [`http://127.0.0.1:${seller.facilitator.port}`, seller.folder])
  const quoted = await fetch(`http://127.0.0.1:${seller.node.port}${PATH}`, { method: 'POST' })
  const terms = JSON.parse(Buffer.from(quoted.headers.get('payment-required') ?? '', 'base64').toString('utf8'))
  const [offer] = (terms as { readonly accepts: readonly DollarOffer[] }).accepts
  const agent = new Agent({ keepAlive: true, maxSockets: ACROSS })
  const ours = `http://127.0.0.1:${seller.node.port}/api/x402/${SERVICE}`
  const theirs = `http://127.0.0.1:${bare.port}/`
  const calls = (count: number): Promise<readonly Prepared[]> => prepare(offer as DollarOffer, count)
  await payInTurns(agent, [ours, theirs], await calls(2 * WARM_UP))
  const prepared = await calls(2 * CALLS)
  const cpuBefore = cpuMicros(seller.node.pid)
  const [mine, least] = await payInTurns(agent, [ours, theirs], prepared)
  const cpuMs = (cpuMicros(seller.node.pid) - cpuBefore) / CALLS / 1_000
  const held = (await told(seller.facilitator, '/held')) as Readonly<Record<string, number>>
  const written = ((await told(bare, '/')) as readonly number[]).slice(-CALLS)
  const together = await pay(agent, ours, await calls(CALLS), ACROSS)
  agent.destroy()
  await Promise.all([seller.end(), bare.program.end('SIGTERM')])
  removeFolder(seller.folder)
  const [own, bound] = [without(held, mine), without(held, least)]
  return [
    valueRow(`settling a stablecoin call, our part, p99 of ${CALLS}`, percentile(own, 99), 'ms', { most: P99_MS_MAX }),
    factRow('  our part, p50 and p99', spread(own)),
    {
      ...factRow('  a bare seller beside it (bound)', spread(bound)),
      ratio: percentile(bound, 99) / percentile(own, 99),
    },
    factRow('  of that three writes that the disk confirms', spread(written)),
    factRow('  our part, CPU of all threads', `${round(cpuMs)} ms`),
    factRow('  the whole call, p50 and p99', spread(mine.map(({ callMs }) => callMs))),
    factRow(`  the whole call with ${ACROSS} at once, p50 and p99`, spread(together.map(({ callMs }) => callMs))),
  ]
}

async function prepare(offer: DollarOffer, count: number): Promise<Prepared[]> {
  const payer = privateKeyToAccount(generatePrivateKey())
  const prepared: Prepared[] = []
  for (let i = 0; i < count; i++) {
    const validBefore = String(Math.floor(Date.now() / 1_000) + VALID_SECONDS)
    const said = authorization({
      ...{ from: payer.address, to: getAddress(offer.payTo), value: unitsOf(offer), validBefore },
    })
    const headers = carried(2, paymentObject(2, offer, await sign(payer, said)))
    prepared.push({ nonce: said.nonce, headers, body: JSON.stringify({ request: `ok:${i}` }) })
  }
  return prepared
}

/** Calls two sellers in turns, so that other load on the machine hits both. */
async function payInTurns(
  agent: Agent,
  urls: readonly [string, string],
  calls: readonly Prepared[],
): Promise<readonly [readonly Timed[], readonly Timed[]]> {
  const timed: [Timed[], Timed[]] = [[], []]
  for (const [i, call] of calls.entries())
    timed[(i % 2) as 0 | 1].push(await timedCall(agent, urls[(i % 2) as 0 | 1], call))
  return timed
}

/** Sends calls in a few lanes, one at a time on each. */
async function pay(agent: Agent, url: string, calls: readonly Prepared[], lanes: number): Promise<readonly Timed[]> {
  const timed: Timed[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++])
      timed.push(await timedCall(agent, url, call))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return timed
}

async function timedCall(agent: Agent, url: string, { nonce, body, headers }: Prepared): Promise<Timed> {
  const startedMs = performance.now()
  const { status, text } = await post(agent, url, body, headers)
  const callMs = performance.now() - startedMs
  if (status !== 200) throw new Error(`a call was answered with ${status}: ${text}`)
  return { nonce, callMs }
}

/** What the facilitator or the bare seller has recorded. */
async function told({ port }: Server, path: string): Promise<unknown> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).json()
}

function without(held: Readonly<Record<string, number>>, calls: readonly Timed[]): readonly number[] {
  return calls.map(({ nonce, callMs }) => callMs - (held[nonce] as number))
}

function post(
  agent: Agent,
  url: string,
  body: string,
  more: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...more }
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] as number
}

function spread(times: readonly number[]): string {
  return `${round(percentile(times, 50))} ms, ${round(percentile(times, 99))} ms`
}
