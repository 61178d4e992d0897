import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { createClient } from '../../rpc/client/client.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import { marketOpen } from '../support/caller.ts'
import { keyOf } from '../support/daemon-key.ts'
import { removeFolder, temporaryFolder, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { sendTimed } from './http-load.ts'
import { networkParams, randomTimes, signLoad } from './network-load.ts'
import { MINER } from './network-mining.ts'
import { type BenchNode, BenchNodes, metricsOf, type NodeRecord, status } from './network-nodes.ts'
import { residentMb, type Server, startServer } from './processes.ts'
import { type BenchRow, factRow, nowMs, round, valueRow } from './report.ts'

const NODES = 5
/** Number of the node that sells, answers chats and is attacked. */
const SELLER = 1
const SENDERS = 600
const KIND = { accounts: 2_000, senders: SENDERS, realWork: true }
const PER_SECOND = Number(process.env.BENCH_RATE ?? 60)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3_600)
const SAMPLE_MS = 15_000
const SPAN_MS = 300_000
/** Share of the run in which caches and pools fill. The memory slope is taken after it. */
const SETTLING = 1 / 3
const CALL_EVERY_MS = 3_000
const CHAT_EVERY_MS = 2_000
const ATTACKS = ['soak-hostile-peer-entry.ts', 'soak-hostile-client-entry.ts']
const UPSTREAM = join(ROOT, 'test/bench/chat-upstream-entry.ts')

/**
 * Five nodes for an hour with transactions at each. One also serves calls and chats while a hostile peer and a hostile
 * client attack it. Memory must stay flat, honest peers unblamed and the event loop quick.
 */
export async function benchSoak(): Promise<readonly BenchRow[]> {
  const count = PER_SECOND * SECONDS
  const load = (await signLoad(KIND, Math.ceil(count / SENDERS))).flat().slice(0, count)
  const folder = temporaryFolder()
  const nodes = new BenchNodes()
  const helpers: Server[] = []
  try {
    const upstream = await startServer(UPSTREAM, [])
    helpers.push(upstream)
    await nodes.startMany(NODES, (i) => nodeStart(i, modelsFile(folder, upstream.port)), links)
    const seller = nodes.at(SELLER)
    await marketOpen(seller.url)
    const watch = new Watch(nodes.nodes)
    const [call, chat] = [caller(seller), await chatter(seller)]
    for (const name of ATTACKS) helpers.push(await startAttack(name, seller))
    for (const node of nodes.nodes) await metricsOf(node)
    const over = new AbortController()
    const buying = repeatedly(CALL_EVERY_MS, over.signal, call)
    const chatting = repeatedly(CHAT_EVERY_MS, over.signal, chat)
    const watching = watch.until(over.signal)
    const startedMs = nowMs()
    const requests = load.map(({ request }) => request)
    const refused = await sendToAll(nodes.nodes, requests, startedMs + 500)
    const tookMs = nowMs() - startedMs
    over.abort()
    const [calls, chats] = [await buying, await chatting]
    await watching
    const delays = await Promise.all(nodes.nodes.map(async (node) => delayMs(await metricsOf(node))))
    const agreed = await ofOneMind(nodes.nodes)
    const heaps = (await nodes.stop()).map(({ live }) => leastOfSpans(live))
    return [
      valueRow(`${NODES} nodes, ${SECONDS} s: transactions sent`, (count * 1_000) / tookMs, 'tx/s', {
        least: PER_SECOND * 0.98,
      }),
      valueRow('the same: transactions refused', refused, `of ${count}`, { most: 0 }),
      valueRow(
        'the same: paid calls without a result, receipt or good proof',
        calls.failed.length,
        `of ${calls.done}`,
        {
          most: 0,
        },
      ),
      valueRow('the same: chats that were not answered whole', chats.failed.length, `of ${chats.done}`, { most: 0 }),
      ...[calls, chats].flatMap(({ failed }) => failed.slice(0, 3).map((text) => factRow('what failed', text))),
      valueRow('the same: event-loop delay p99, worst node', Math.max(...delays), 'ms', { most: 50 }),
      factRow('the same: event-loop delay p99 of each', `${delays.map(round).join(', ')} ms`),
      ...watch.rows(),
      factRow(
        'the same: live heap of each, least of every five minutes',
        `${heaps.map((values) => values.map(Math.round).join(' ')).join('; ')} MB`,
      ),
      valueRow('the same: heads at the end', agreed, 'heads', { most: 1 }),
      ...helpers.slice(1).map(({ program }) => factRow('attacks made', program.stdout.trim().split('\n').at(-1) ?? '')),
    ]
  } finally {
    await Promise.all(helpers.map(({ program }) => program.end('SIGKILL')))
    await nodes.close()
    removeFolder(folder)
  }
}

function nodeStart(i: number, models: string) {
  const mining = ['--mine-threads', '1', '--mine-address', MINER]
  const selling = ['--models-file', models, '--chat-key-rpm', '100000', '--chat-key-tpd', '1000000000']
  return {
    ...KIND,
    silent: true,
    sells: i === SELLER,
    flags: [...(i === 0 ? mining : ['--mine-threads', '0']), ...(i === SELLER ? selling : [])],
  }
}

/** Each node dials the two before it. */
function links(i: number): readonly number[] {
  return [i - 1, i - 2].filter((other) => other >= 0)
}

function modelsFile(folder: string, port: number): string {
  const path = join(folder, 'models.json')
  const model = { id: 'bench', roles: ['fast', 'general'], context: 32_000, supports: ['streamUsage'] }
  const backend = { id: 'bench', baseUrl: `http://127.0.0.1:${port}/v1`, models: [model], concurrency: 600 }
  writeFileSync(path, JSON.stringify({ backends: [backend] }))
  return path
}

function startAttack(name: string, { url, address, folder }: BenchNode): Promise<Server> {
  const genesis = networkFacts(networkParams(KIND)).genesis
  return startServer(join(ROOT, 'test/bench', name), [url, address, genesis, folder])
}

/** Every sender uses one node, so that its transactions arrive in order. Returns the number of refusals. */
async function sendToAll(nodes: readonly BenchNode[], requests: readonly Buffer[], startMs: number): Promise<number> {
  const times = randomTimes(requests.length, PER_SECOND)
  const timed = requests.map((request, i) => ({ request, dueMs: startMs + (times[i] as number) }))
  let refused = 0
  await Promise.all(
    nodes.map(({ server }, node) => {
      const own = timed.filter((_, i) => (i % SENDERS) % nodes.length === node)
      return sendTimed(server.port, own, 8, () => {
        refused += 1
      })
    }),
  )
  return refused
}

interface Tries {
  done: number
  readonly failed: string[]
}

/** Repeats the work every `everyMs`, or when the run before is done if that is later. */
async function repeatedly(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<Tries> {
  const tries: Tries = { done: 0, failed: [] }
  for (let dueMs = nowMs(); !signal.aborted; dueMs = Math.max(dueMs + everyMs, nowMs())) {
    await setTimeout(Math.max(0, dueMs - nowMs()), undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    tries.done += 1
    await work().catch((error: unknown) => tries.failed.push(String(error)))
  }
  return tries
}

/** A function that buys a call and checks its receipt. */
function caller({ url }: BenchNode): () => Promise<void> {
  const agent = createClient({
    baseUrl: url,
    wallet: walletFromWords(wordsOfSeed(devSeed(1))),
    network: networkFacts(networkParams(KIND)),
    maxPerDayUsd: 100_000,
    maxPerDayCoins: '1000000',
  })
  return async () => {
    const { verified } = await agent.call('node-network-stats', '')
    if (verified?.ok !== true) throw new Error(`not verified: ${verified?.failed.join(', ')}`)
  }
}

/** A function that asks for a stream and reads it to its end. */
async function chatter({ url, folder }: BenchNode): Promise<() => Promise<void>> {
  const key = await keyOf({ url, dataDir: folder })
  const plan = JSON.stringify({ name: 'soak', pieces: 20, everyMs: 50 })
  const body = JSON.stringify({ model: 'model-1', stream: true, messages: [{ role: 'user', content: plan }] })
  await until('the model was looked at', async () => (await (await fetch(`${url}/v1/models`)).text()).includes('true'))
  return async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    const text = await response.text()
    if (!text.includes('data: [DONE]')) throw new Error(`${response.status} ${text.slice(-300)}`)
  }
}

/** Watches the memory of the nodes and the blame they give each other. */
class Watch {
  readonly #nodes: readonly BenchNode[]
  readonly #memory: number[][]
  readonly #blamed = new Map<string, number>()
  readonly #since = new Map<string, string>()
  #reconnects = 0
  #unanswered = 0

  constructor(nodes: readonly BenchNode[]) {
    this.#nodes = nodes
    this.#memory = nodes.map(() => [])
  }

  async until(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look()
      await setTimeout(SAMPLE_MS, undefined, { signal }).catch(() => {})
    }
    await this.#look()
  }

  rows(): readonly BenchRow[] {
    const rested = this.#memory.map((values) => values.slice(Math.floor(values.length * SETTLING)))
    const slopes = rested.map((values) => slopeOf(values) * (3_600_000 / SAMPLE_MS))
    return [
      valueRow('the same: memory slope after settling, worst node', Math.max(...slopes), 'MB an hour', { most: 20 }),
      factRow('the same: memory slope of each', `${slopes.map(round).join(', ')} MB an hour`),
      factRow('the same: memory of each, first, most, last', this.#memory.map(ends).join('; ')),
      valueRow('the same: offences that honest peers are blamed for', sum(this.#blamed.values()), 'offences', {
        most: 0,
      }),
      factRow('the same: what they are blamed for', [...this.#blamed.keys()].join('; ')),
      valueRow('the same: looks at the peers that a node did not answer', this.#unanswered, 'looks', { most: 0 }),
      valueRow('the same: links between honest peers that were cut', this.#reconnects, 'links', { most: 0 }),
    ]
  }

  async #look(): Promise<void> {
    const honest = new Set(this.#nodes.map(({ address }) => address.split('/').at(-1) as string))
    for (const [i, node] of this.#nodes.entries()) {
      this.#memory[i]?.push(residentMb(node.server.pid))
      const peers = await peersOf(node)
      if (peers === null) {
        this.#unanswered += 1
        continue
      }
      const known = peers.filter(({ id }) => honest.has(id))
      for (const { id, misbehaviour, connectedSince } of known) {
        for (const [name, times] of Object.entries(misbehaviour)) this.#blamed.set(`${i} ${id} ${name}`, times)
        const before = this.#since.get(`${i} ${id}`)
        if (before !== undefined && before !== connectedSince) this.#reconnects += 1
        this.#since.set(`${i} ${id}`, connectedSince)
      }
    }
  }
}

interface PeerList {
  readonly peers: readonly {
    readonly id: string
    readonly misbehaviour: Readonly<Record<string, number>>
    readonly connectedSince: string
  }[]
}

/** Peers of a node; null if it does not answer. */
async function peersOf({ url }: BenchNode): Promise<PeerList['peers'] | null> {
  try {
    const response = await fetch(`${url}/api/v1/peers`)
    return response.ok ? ((await response.json()) as PeerList).peers : null
  } catch {
    return null
  }
}

/** Least-squares slope per sample. */
function slopeOf(values: readonly number[]): number {
  const meanX = (values.length - 1) / 2
  const meanY = sum(values) / values.length
  const over = sum(values.map((value, x) => (x - meanX) * (value - meanY)))
  return over / sum(values.map((_, x) => (x - meanX) ** 2))
}

/** Minimum of a heap in every five minutes. Some full collections find more garbage than others, so the least is the live heap. */
function leastOfSpans(live: NodeRecord['live']): readonly number[] {
  const spans = Map.groupBy(live, ([ms]) => Math.floor(ms / SPAN_MS))
  return [...spans.values()].map((span) => Math.min(...span.map(([, mb]) => mb)))
}

function ends(values: readonly number[]): string {
  return [values[0], Math.max(...values), values.at(-1)].map((value) => Math.round(value as number)).join(' ')
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0)
}

/** Number of different heads once the nodes have settled. */
async function ofOneMind(nodes: readonly BenchNode[]): Promise<number> {
  const heads = async (): Promise<number> =>
    new Set(await Promise.all(nodes.map(async (node) => (await status(node)).blockId))).size
  await until('all have one head', async () => (await heads()) === 1, { ms: 60_000 }).catch(() => {})
  return heads()
}

function delayMs(metrics: ReadonlyMap<string, number>): number {
  return (metrics.get('farthing_event_loop_delay_seconds{quantile="0.99"}') ?? Number.POSITIVE_INFINITY) * 1_000
}
