import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { executedFrom } from '../../consensus/chain/adoption.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { tabTotals } from '../../marketplace/ledger/tab-records.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import { offerState } from '../../rpc/cashier/offer-state.ts'
import type { WorkKind } from '../../rpc/edge/overload.ts'
import type { ChatFacts, NodeApi } from '../../rpc/node/node-api.ts'
import type { AnswerFacts } from '../../rpc/server/server-edges.ts'
import type { Checkable } from '../adapters/providers/provider.ts'
import { ChatMetrics } from './chat-metrics.ts'
import { watchChannels, watchDollarRail } from './dollar-metrics.ts'
import { type WatchedNetwork, watchNetwork } from './network-metrics.ts'
import { watchProviders } from './provider-metrics.ts'

const NANOSECONDS = 1e9
/** The histogram measures whole timer periods. The period itself is no delay. */
const LOOP_RESOLUTION_MS = 5
const QUANTILES = [50, 99, 100]
const SECONDS_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30]

/** Metrics of one node. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  readonly #answers: Histogram<'route' | 'status'>
  readonly #shed: Counter<'kind'>
  readonly #chats = new ChatMetrics(this.#registry)
  readonly #reorganisations: Counter
  readonly #deepReorganisations: Counter
  #minedCount = 0
  readonly #blocksMined: Counter
  readonly #staleBlocks: Counter

  constructor() {
    this.#loopDelay.enable()
    const registers = [this.#registry]
    this.#answers = new Histogram({
      name: 'farthing_http_request_seconds',
      help: 'Time to answer, by route and status',
      labelNames: ['route', 'status'],
      buckets: SECONDS_BUCKETS,
      registers,
    })
    this.#shed = new Counter({
      name: 'farthing_http_shed_total',
      help: 'Requests refused for lack of time or room, by kind of work',
      labelNames: ['kind'],
      registers,
    })
    this.#reorganisations = new Counter({
      name: 'farthing_reorganisations_total',
      help: 'Changes of head that left blocks behind',
      registers,
    })
    this.#deepReorganisations = new Counter({
      name: 'farthing_deep_reorganisations_total',
      help: 'Reorganisations that paused the market',
      registers,
    })
    this.#staleBlocks = new Counter({
      name: 'farthing_stale_blocks_total',
      help: 'Blocks that left the best chain',
      registers,
    })
    this.#blocksMined = new Counter({
      name: 'farthing_blocks_mined_total',
      help: 'Blocks found by this node and its external miners',
      registers,
    })
    this.#gauge('farthing_memory_bytes', 'Resident memory', () => process.memoryUsage.rss())
    this.#eventLoopGauge()
  }

  watch(node: NodeApi): void {
    const { chain, mempool, market } = node
    this.#watchChain(chain)
    this.#watchMempool(mempool)
    this.#gauge('farthing_hashes_per_second', 'Hash rate of the mining threads', () => node.mining().hashesPerSecond)
    this.#gauge('farthing_mining_addresses', 'Addresses that external miners mine for', () => node.remoteWork.addresses)
    this.#gauge('farthing_peers', 'Connected peers', () => node.peerCount())
    this.#gauge('farthing_ready', '1 if the node is ready', () => (node.notReadyBecause().length === 0 ? 1 : 0))
    this.#gauge('farthing_warnings', 'Warnings about the chain, as in the status', () => node.warnings?.().length ?? 0)
    if (market === null) return
    this.#gauge('farthing_market_running_calls', 'Paid calls under way', () => market.till.runningCount)
    this.#gauge(
      'farthing_market_receipts_owed',
      'Finished calls whose receipt is not final',
      () => market.settler.owedCount,
    )
    const { offers } = market.shop
    const isOpen = (offer: Offer): boolean => offerState(chain, market, offer).reason === null
    this.#gauge('farthing_market_closed', '1 while nothing is sold at all', () => (offers.some(isOpen) ? 0 : 1))
    if (market.stable !== null) watchDollarRail(this.#registry, market.stable)
    if (market.channels) watchChannels(this.#registry, market.channels)
    this.#gauge(
      'farthing_market_services_available',
      'Services that can be sold now',
      () => offers.filter(isOpen).length,
    )
  }

  watchNetwork(network: WatchedNetwork): void {
    watchNetwork(this.#registry, network)
  }

  watchProviders(checkable: readonly Checkable[]): void {
    watchProviders(this.#registry, checkable)
  }

  answered({ route, status, seconds }: AnswerFacts): void {
    this.#answers.labels(route, String(status)).observe(seconds)
  }

  chatted(facts: ChatFacts): void {
    this.#chats.add(facts)
  }

  /** Counts a request that was refused because of overload. */
  shed(kind: WorkKind): void {
    this.#shed.labels(kind).inc()
  }

  /** Counts a block found by this node or by an external miner with its work. */
  mined(): void {
    this.#minedCount++
    this.#blocksMined.inc()
  }

  get minedCount(): number {
    return this.#minedCount
  }

  /** Counts a reorganisation that paused the market. */
  reorganisedDeeply(): void {
    this.#deepReorganisations.inc()
  }

  /** The Prometheus text format. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #watchChain(chain: Chain): void {
    this.#gauge('farthing_height', 'Height of the head', () => chain.head.header.height)
    this.#gauge(
      'farthing_head_age_seconds',
      'Age of the head by its own time',
      () => (Date.now() - chain.head.header.timeMs) / 1_000,
    )
    this.#gauge('farthing_base_fee', 'Base fee of the head', () => Number(chain.head.header.baseFee))
    // A node that started from a snapshot does not know the earlier count.
    this.#gauge('farthing_transactions_total', 'Transactions on the best chain', () =>
      executedFrom(chain.database) === 0 ? chain.head.totalTransactions : null,
    )
    this.#gauge('farthing_side_blocks', 'Stored blocks off the best chain', () => chain.database.side.size)
    const tabs = () => tabTotals(chain.database)
    const coins = (units: bigint): number => Number(formatAmount(units, chain.ruleBook.params.decimals))
    this.#gauge('farthing_tabs_open', 'Open tabs on the chain', () => tabs().open)
    this.#gauge('farthing_tabs_locked_coins', 'Coins that open tabs lock', () => coins(tabs().locked))
    this.#gauge('farthing_tabs_claimed_coins', 'Coins that all claims moved', () => coins(tabs().claimed))
    this.#gauge('farthing_tabs_burned_coins', 'Coins that all claims burned', () => coins(tabs().burned))
    chain.onHeadChange(({ disconnected, head }) => {
      const [left] = disconnected
      // A reverted reorganisation reports the old head as disconnected, but it is the head again.
      if (left === undefined || left.id === head.id) return
      this.#reorganisations.inc()
      this.#staleBlocks.inc(disconnected.length)
    })
  }

  #watchMempool(mempool: Mempool): void {
    this.#gauge('farthing_mempool_transactions', 'Waiting transactions', () => mempool.count)
    this.#gauge('farthing_mempool_bytes', 'Bytes of waiting transactions', () => mempool.bytes)
    this.#gauge('farthing_mempool_min_fee_rate', 'Least accepted fee rate', () => Number(mempool.minFeeRate))
  }

  /** If `read` returns null, the sample is left out. Zero would be a false claim. */
  #gauge(name: string, help: string, read: () => number | null): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        const value = read()
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  }

  #eventLoopGauge(): void {
    const delay = this.#loopDelay
    new Gauge({
      name: 'farthing_event_loop_delay_seconds',
      help: 'Delay of the event loop since the last scrape',
      labelNames: ['quantile'],
      registers: [this.#registry],
      collect() {
        for (const quantile of QUANTILES)
          this.labels(String(quantile / 100)).set(secondsOfDelay(delay.percentile(quantile)))
        delay.reset()
      },
    })
  }
}

function secondsOfDelay(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANOSECONDS - LOOP_RESOLUTION_MS / 1_000)
}
