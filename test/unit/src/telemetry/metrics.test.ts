import { describe, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { tabTotals } from '../../../../marketplace/ledger/tab-records.ts'
import type { NodeApi } from '../../../../rpc/node/node-api.ts'
import type { AnswerFacts } from '../../../../rpc/server/server-edges.ts'
import { Metrics } from '../../../../src/telemetry/metrics.ts'
import { seeded } from '../../../sim/miners.ts'
import { fork, importAll, mineBranch } from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { TestMempool } from '../../../support/mempool.ts'
import { RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { testRemoteWork } from '../../../support/remote-work.ts'
import { connect, joiningNode, servingNode, takeSnapshot } from '../../../support/snapshot-nodes.ts'

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Scraped {
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))

function parseSample(line: string): Sample {
  const sample = /^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$/.exec(line)
  if (sample === null) throw new Error(`no sample: ${line}`)
  const [, name, inner = '', value] = sample
  const pairs = [...inner.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)]
  const labels = Object.fromEntries(pairs.map(([, label, text]) => [label, unescaped(text as string)]))
  return { name: name as string, labels, value: Number((value as string).replace('+Inf', 'Infinity')) }
}

/** Parses the text format strictly: each metric must be announced once, before its samples. */
function parse(text: string): Scraped {
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const samples: Sample[] = []
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, word, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (line.startsWith('#')) {
      expect(word === 'HELP' ? helps.has(name!) : types.has(name!), line).toBe(false)
      if (word === 'HELP') helps.add(name!)
      else types.set(name!, rest!)
      continue
    }
    const sample = parseSample(line)
    const metric = types.has(sample.name) ? sample.name : sample.name.replace(/_(bucket|sum|count)$/, '')
    expect([...types.keys()].at(-1), line).toBe(metric)
    expect(helps.has(metric), line).toBe(true)
    samples.push(sample)
  }
  return { types, samples }
}

const scrape = async (metrics: Metrics): Promise<Scraped> => parse(await metrics.text())

function answer(route: string, status: number, seconds: number): AnswerFacts {
  return { requestId: '1', method: 'GET', route, status, seconds }
}

/** The only sample of a metric without labels. */
async function value(metrics: Metrics, name: string): Promise<number> {
  const found = (await scrape(metrics)).samples.filter((sample) => sample.name === name)
  expect(found.map(({ labels }) => labels)).toEqual([{}])
  return found[0]!.value
}

/** A node for the metrics, without a market. */
async function watched(metrics: Metrics, chain?: TestChain) {
  const { test, mempool, ...pool } = await opened(chain)
  const facts = { hashesPerSecond: 0, peers: 0, reasons: [] as string[] }
  const node: NodeApi = {
    ...{ version: '0', startedAtMs: 0, clock: { now: () => 0 }, chain: test.chain, mempool, market: null },
    mining: () => ({ threads: 1, hashesPerSecond: facts.hashesPerSecond, rewardTo: null }),
    remoteWork: testRemoteWork({ chain: test.chain, mempool }),
    peerCount: () => facts.peers,
    notReadyBecause: () => facts.reasons,
    metrics: () => metrics.text(),
    publicUrl: null,
  }
  metrics.watch(node)
  return { test, mempool, facts, put: pool.put }
}

async function opened(chain?: TestChain) {
  const pool = await TestMempool.open({ test: chain ?? (await TestChain.open()) })
  return { test: pool.test, mempool: pool.mempool, put: (from: number) => pool.put(from, 0) }
}

describe('the text of the metrics', () => {
  it('is well formed, before there is a node and with one', async () => {
    const metrics = new Metrics()
    const before = await scrape(metrics)
    expect(before.types.size).toBeGreaterThan(3)
    await watched(metrics)
    metrics.answered(answer('/api/v1/status', 200, 0.01))
    const { types, samples } = await scrape(metrics)
    expect(types.size).toBeGreaterThan(before.types.size + 5)
    expect([...types.keys()].filter((name) => !/^farthing_[a-z_]+$/.test(name))).toEqual([])
    const counters = [...types].filter(([, type]) => type === 'counter').map(([name]) => name)
    expect(counters).toEqual([
      'farthing_chat_tokens_total',
      'farthing_http_shed_total',
      'farthing_reorganisations_total',
      'farthing_deep_reorganisations_total',
      'farthing_stale_blocks_total',
      'farthing_blocks_mined_total',
    ])
    expect(samples.filter((sample) => !Number.isFinite(sample.value))).toEqual([])
    expect(new Set(samples.map(({ name, labels }) => JSON.stringify([name, labels]))).size).toBe(samples.length)
  })

  it('counts chats by model and status, and their tokens by kind', async () => {
    const metrics = new Metrics()
    const usage = { promptTokens: 7, completionTokens: 11, totalTokens: 18, estimated: false }
    const chat = { requestId: '1', model: 'model-2', seconds: 3, usage }
    metrics.chatted({ ...chat, status: 200, firstPieceSeconds: 0.3 })
    metrics.chatted({ ...chat, status: 499, firstPieceSeconds: null })
    const { samples } = await scrape(metrics)
    const told = (name: string) =>
      samples.filter((one) => one.name === name).map(({ labels, value }) => [labels, value])
    expect(told('farthing_chat_seconds_count')).toEqual([
      [{ model: 'model-2', status: '200' }, 1],
      [{ model: 'model-2', status: '499' }, 1],
    ])
    expect(told('farthing_chat_first_piece_seconds_count')).toEqual([[{ model: 'model-2' }, 1]])
    expect(told('farthing_chat_tokens_total')).toEqual([
      [{ model: 'model-2', kind: 'prompt' }, 14],
      [{ model: 'model-2', kind: 'completion' }, 22],
    ])
  })

  it('keeps whatever stands in a label', async () => {
    const metrics = new Metrics()
    const routes = ['/a"b', '/a\\b', '/a\nb', '/\\n', '/{x="y"} 1', '/ü', '']
    for (const route of routes) metrics.answered(answer(route, 404, 0))
    const { samples } = await scrape(metrics)
    const counts = samples.filter(({ name }) => name === 'farthing_http_request_seconds_count')
    expect(counts.map(({ labels }) => labels.route)).toEqual(routes)
    expect(counts.map(({ labels, value: count }) => [labels.status, count])).toEqual(routes.map(() => ['404', 1]))
  })

  it('counts answers by route and status in buckets that add up', async () => {
    const metrics = new Metrics()
    const seconds = [0.0005, 0.001, 0.003, 0.02, 0.3, 1, 9, 100]
    for (const each of seconds) metrics.answered(answer('/tx', 200, each))
    metrics.answered(answer('/tx', 503, 2))
    const { samples } = await scrape(metrics)
    const good = samples.filter(({ labels }) => labels.route === '/tx' && labels.status === '200')
    const buckets = good.filter(({ name }) => name.endsWith('_bucket'))
    for (const { labels, value: count } of buckets) {
      const bound = Number(labels.le!.replace('+Inf', 'Infinity'))
      expect(count, labels.le).toBe(seconds.filter((each) => each <= bound).length)
    }
    expect(buckets.map(({ labels }) => labels.le).at(-1)).toBe('+Inf')
    const [sum, count] = ['sum', 'count'].map((end) => good.find(({ name }) => name.endsWith(`_${end}`))!.value)
    expect([sum, count]).toEqual([seconds.reduce((a, b) => a + b), seconds.length])
  })

  it('is that of one node: two in a process do not count for each other', async () => {
    const [one, two] = [new Metrics(), new Metrics()]
    one.mined()
    one.answered(answer('/', 200, 1))
    expect([await value(one, 'farthing_blocks_mined_total'), await value(two, 'farthing_blocks_mined_total')]).toEqual([
      1, 0,
    ])
    expect((await scrape(two)).samples.some(({ name }) => name.startsWith('farthing_http'))).toBe(false)
  })
})

describe('the metrics of a node', () => {
  it('follow its chain', async () => {
    const metrics = new Metrics()
    const { test } = await watched(metrics)
    expect(await value(metrics, 'farthing_height')).toBe(0)
    await test.mineTo(3)
    expect(await value(metrics, 'farthing_height')).toBe(3)
    expect(await value(metrics, 'farthing_base_fee')).toBe(32)
    const age = (): number => (Date.now() - test.chain.head.header.timeMs) / 1_000
    const least = age()
    const shown = await value(metrics, 'farthing_head_age_seconds')
    expect(shown).toBeGreaterThanOrEqual(least)
    expect(shown).toBeLessThanOrEqual(age())
  })

  it('count changes of head that left blocks behind, and no others', async () => {
    const metrics = new Metrics()
    const { test } = await watched(metrics)
    await test.mine()
    const other = await fork(test)
    await mineBranch(test, 2, 1)
    expect(await value(metrics, 'farthing_reorganisations_total')).toBe(0)
    await importAll(test, await mineBranch(other, 4, 2))
    expect(test.height).toBe(5)
    expect(await value(metrics, 'farthing_reorganisations_total')).toBe(1)
  })

  it('follow its mempool', async () => {
    const metrics = new Metrics()
    const { test, mempool, put } = await watched(metrics)
    const sizes = async () => [
      await value(metrics, 'farthing_mempool_transactions'),
      await value(metrics, 'farthing_mempool_bytes'),
    ]
    expect(await sizes()).toEqual([0, 0])
    const txs = [await put(1), await put(3)]
    expect(await sizes()).toEqual([2, txs[0]!.size + txs[1]!.size + 8])
    expect(await value(metrics, 'farthing_mempool_min_fee_rate')).toBe(Number(mempool.minFeeRate))
    await test.mine([txs[0]!])
    expect(await sizes()).toEqual([1, txs[1]!.size + 4])
    expect(await value(metrics, 'farthing_transactions_total')).toBe(1)
  })

  it('follow the tabs of the chain', async () => {
    const metrics = new Metrics()
    const random = new RandomChain(await TestChain.open(restlessRuleBook()), seeded(26))
    await watched(metrics, random.test)
    expect(await value(metrics, 'farthing_tabs_open')).toBe(0)
    await random.grow(14)
    const { open, locked, claimed, burned } = tabTotals(random.test.chain.database)
    expect(open).toBeGreaterThan(0)
    expect(await value(metrics, 'farthing_tabs_open')).toBe(open)
    const coins = { locked, claimed, burned }
    for (const [name, units] of Object.entries(coins))
      expect(await value(metrics, `farthing_tabs_${name}_coins`)).toBe(Number(units) / 100_000_000)
  })

  it('leave out the transactions that a node cannot know that began from a snapshot', async () => {
    const disk = new MemoryKeyValueStore()
    const full = await TestChain.open(undefined, disk)
    const pay = { to: wallet(2).address, amount: 1n as never, create: false }
    await full.mine([await full.tx(wallet(1), 'transfer', pay)])
    const server = servingNode('server', full, disk)
    await full.mineTo(6)
    const joined = await joiningNode(full.ruleBook, new MemoryKeyValueStore())
    await connect(joined, server)
    expect(await takeSnapshot(joined, full, server.snapshots.refs()[0] as never)).toEqual({
      ok: true,
      value: undefined,
    })
    const metrics = new Metrics()
    await watched(metrics, joined.test)
    expect(await value(metrics, 'farthing_height')).toBe(joined.test.height)
    const { samples } = await scrape(metrics)
    expect(samples.filter(({ name }) => name === 'farthing_transactions_total')).toEqual([])
  })

  it('say whether it is ready, how fast it mines and how many peers it has, at the moment of asking', async () => {
    const metrics = new Metrics()
    const { facts } = await watched(metrics)
    const shown = async () =>
      Promise.all(['ready', 'hashes_per_second', 'peers'].map((name) => value(metrics, `farthing_${name}`)))
    expect(await shown()).toEqual([1, 0, 0])
    Object.assign(facts, { hashesPerSecond: 1_234, peers: 5, reasons: ['stopping'] })
    expect(await shown()).toEqual([0, 1_234, 5])
  })
})

describe('the delay of the event loop', () => {
  it('is at least as long as a turn that took long, and is forgotten when it was told', async () => {
    const metrics = new Metrics()
    const greatest = async (): Promise<number> => {
      const { samples } = await scrape(metrics)
      const delays = samples.filter(({ name }) => name === 'farthing_event_loop_delay_seconds')
      expect(delays.map(({ labels }) => labels.quantile)).toEqual(['0.5', '0.99', '1'])
      return delays.at(-1)!.value
    }
    const turn = () => new Promise((resolve) => setTimeout(resolve, 20))
    await turn()
    const blockedMs = 700
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs)
    await turn()
    const told = await greatest()
    expect(told).toBeGreaterThan((blockedMs * 0.9) / 1_000)
    expect(await greatest()).toBeLessThan(told)
  })
})
