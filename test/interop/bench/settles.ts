import { open } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { getAddress, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { cpuMicros } from '../../bench/processes.ts'
import { type BenchRow, factRow, round, valueRow } from '../../bench/report.ts'
import { removeFolder } from '../../support/processes.ts'
import { authorization, sign } from '../evm/authorization.ts'
import { carried, paymentObject, type StableOffer, unitsOf } from '../x402/payments.ts'
import { PATH, SERVICE, startSeller } from './seller.ts'

const WARM_UP = 100
const CALLS = 600
const ACROSS = 8
const VALID_SECONDS = 290
const P99_MS_MAX = 10
/** Claimed, executing, settling, settled. */
const SYNCED_WRITES = 4
const CLAIM_BYTES = 1_500

interface Prepared {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A paid call, and what the facilitator's two answers took of it. */
interface Timed {
  readonly callMs: number
  readonly status: number
  /** What the service took, by the receipt. */
  readonly serviceMs: number
}

/**
 * Time of a paid call over the stablecoin rail that is our own: the whole call as the client sees it, without the service
 * and without the two calls to the facilitator, which are measured from here over a connection of the same kind.
 */
export async function benchStableSettles(): Promise<readonly BenchRow[]> {
  const seller = await startSeller()
  const quoted = await fetch(`http://127.0.0.1:${seller.node.port}${PATH}`, { method: 'POST' })
  const terms = JSON.parse(Buffer.from(quoted.headers.get('payment-required') ?? '', 'base64').toString('utf8'))
  const [offer] = (terms as { readonly accepts: readonly StableOffer[] }).accepts
  const calls = await prepare(offer as StableOffer, 2 * (WARM_UP + CALLS))
  const agent = new Agent({ keepAlive: true, maxSockets: ACROSS })
  const node = `http://127.0.0.1:${seller.node.port}/api/x402/${SERVICE}`
  const facilitator = `http://127.0.0.1:${seller.facilitator.port}`
  await pay(agent, node, calls.splice(0, WARM_UP), 1)
  const cpuBefore = cpuMicros(seller.node.pid)
  const alone = await pay(agent, node, calls.splice(0, CALLS), 1)
  const cpuMs = (cpuMicros(seller.node.pid) - cpuBefore) / CALLS / 1_000
  const disk = await diskTimes(seller.folder)
  const facilitatorMs = await facilitatorTime(agent, facilitator, offer as StableOffer)
  await pay(agent, node, calls.splice(0, WARM_UP), ACROSS)
  const together = await pay(agent, node, calls.splice(0, CALLS), ACROSS)
  agent.destroy()
  await seller.end()
  removeFolder(seller.folder)
  const own = alone.map(({ callMs, serviceMs }) => Math.max(0, callMs - serviceMs - facilitatorMs))
  return [
    valueRow(`settling a stablecoin call, our part, p99 of ${CALLS}`, percentile(own, 99), 'ms', { most: P99_MS_MAX }),
    factRow('  our part, p50', `${round(percentile(own, 50))} ms`),
    factRow('  our part, CPU of all threads', `${round(cpuMs)} ms`),
    factRow(
      `  of it: ${SYNCED_WRITES} writes that the disk confirms, p50 and p99`,
      `${round(percentile(disk, 50))} ms, ${round(percentile(disk, 99))} ms`,
    ),
    factRow('  taken off: both calls to the facilitator', `${round(facilitatorMs)} ms`),
    factRow('  the whole call, p50 and p99', spread(alone)),
    factRow(`  the whole call with ${ACROSS} at once, p50 and p99`, spread(together)),
  ]
}

async function prepare(offer: StableOffer, count: number): Promise<Prepared[]> {
  const payer = privateKeyToAccount(generatePrivateKey())
  const prepared: Prepared[] = []
  for (let i = 0; i < count; i++) {
    const validBefore = String(Math.floor(Date.now() / 1_000) + VALID_SECONDS)
    const said = authorization({
      ...{ from: payer.address, to: getAddress(offer.payTo), value: unitsOf(offer), validBefore },
    })
    const headers = carried(2, paymentObject(2, offer, await sign(payer, said)))
    prepared.push({ headers, body: JSON.stringify({ request: `ok:${i}` }) })
  }
  return prepared
}

/** Sends calls in a few lanes, one at a time on each. */
async function pay(agent: Agent, url: string, calls: readonly Prepared[], lanes: number): Promise<readonly Timed[]> {
  const timed: Timed[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      const startedMs = performance.now()
      const { status, text } = await post(agent, url, call.body, call.headers)
      const callMs = performance.now() - startedMs
      if (status !== 200) throw new Error(`a call was answered with ${status}: ${text}`)
      const { receipt } = JSON.parse(text) as { readonly receipt: { readonly durationMs: number } }
      timed.push({ callMs, status, serviceMs: receipt.durationMs })
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return timed
}

/** Median of what a verification and a settlement take together, over a kept-open connection. */
async function facilitatorTime(agent: Agent, url: string, offer: StableOffer): Promise<number> {
  const from: Hex = '0x00000000000000000000000000000000000000aa'
  const payload = { authorization: authorization({ from, to: offer.payTo, value: unitsOf(offer) }), signature: '0x' }
  const paymentPayload = paymentObject(2, offer, payload)
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: offer })
  const times: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const startedMs = performance.now()
    await post(agent, `${url}/verify`, body, {})
    await post(agent, `${url}/settle`, body, {})
    times.push(performance.now() - startedMs)
  }
  return percentile(times, 50)
}

/** What as many confirmed writes take here as a paid call has, one after another: less no durable claim can wait. */
async function diskTimes(folder: string): Promise<readonly number[]> {
  const file = await open(join(folder, 'disk-times'), 'w')
  const bytes = Buffer.alloc(CLAIM_BYTES)
  const times: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const startedMs = performance.now()
    for (let j = 0; j < SYNCED_WRITES; j++) {
      await file.write(bytes)
      await file.datasync()
    }
    times.push(performance.now() - startedMs)
  }
  await file.close()
  return times
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

function spread(calls: readonly Timed[]): string {
  const times = calls.map(({ callMs }) => callMs)
  return `${round(percentile(times, 50))} ms, ${round(percentile(times, 99))} ms`
}
