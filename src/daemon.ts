import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/settings.ts'
import { Chain } from '../consensus/chain/chain.ts'
import type { NetworkParams } from '../consensus/chain/params.ts'
import { createRuleBook } from '../consensus/chain/rule-book.ts'
import { parseAddress } from '../consensus/crypto/address.ts'
import { type Fault, fault, faultMessage } from '../consensus/primitives/fault.ts'
import type { Address } from '../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import { type ChainAlert, ChainWatch } from '../marketplace/checkout/chain-watch.ts'
import type { ClaimStore } from '../marketplace/checkout/claim-store.ts'
import type { ServiceDefinition } from '../marketplace/services/service.ts'
import { Mempool } from '../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../mempool/policy.ts'
import { Miner } from '../miner/miner.ts'
import { RemoteWork } from '../miner/remote-work.ts'
import { DEFAULT_HTTP_LIMITS, LIST_COST } from '../rpc/limits.ts'
import type { MiningFacts, NodeApi } from '../rpc/node.ts'
import { createServer } from '../rpc/server.ts'
import { useNativeSha256 } from './crypto/native-backend.ts'
import { nativePowHasher } from './crypto/native-pow.ts'
import type { WalletKey } from './crypto/wallet-key.ts'
import { createMarket, type Market } from './market.ts'
import { PROTOCOL } from './protocol.ts'
import { eventLoopPacer, systemClock, systemTimers } from './runtime.ts'
import { folderPaths, isStorageFailure, openChain, storageFault } from './storage/folder.ts'
import { loadMempool, saveMempool } from './storage/mempool-file.ts'
import type { Logger } from './telemetry/logger.ts'
import { Metrics } from './telemetry/metrics.ts'
import { VERSION } from './version.ts'
import { MiningPool } from './workers/mining-pool.ts'
import { VerifyPool } from './workers/verify-pool.ts'

/** Opens a claim store; the daemon closes it. */
export type OpenClaims = (path: string) => Promise<ClaimStore & { close(): Promise<void> }>

/** What a daemon is started with. */
export interface DaemonOptions {
  readonly config: Config
  readonly params: NetworkParams
  readonly services: readonly ServiceDefinition[]
  /** Opens the claim store of the market at a path of the data folder. */
  readonly openClaims: OpenClaims
  /** Wallet of the market; null where there is none, then nothing is sold. */
  readonly wallet: WalletKey | null
  readonly logger: Logger
  /** Called with errors after which the process must not go on: bugs in consensus, a failing disk. */
  readonly onFatal: (error: unknown) => void
}

/** A running daemon. */
export interface Daemon {
  readonly node: NodeApi
  readonly url: string
  /** Stops everything in reverse order; nothing is lost. */
  readonly stop: () => Promise<void>
}

const MIB = 1_048_576
/**
 * How long a stopping node waits for calls under way, and then for answers on their way out. The rest of the five seconds that a
 * stop may take belongs to the disk and to what is being verified: on a busy machine that is more than half of them.
 */
const CALLS_GRACE_MS = 800
const ANSWERS_GRACE_MS = 300
/** Reasons for which a node that is not ready has no head worth mining on. */
const NOTHING_TO_MINE = /^(stopping|syncing)/
const SAVE_MEMPOOL_MS = 60_000
const PRUNE_MS = 600_000

type Stop = () => Promise<unknown> | unknown

/** Starts a daemon, or says in one fault why it cannot start; then nothing is left running. */
export async function startDaemon(options: DaemonOptions): Promise<Result<Daemon>> {
  const stops: Stop[] = []
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  const started = await assemble(options, stops)
  if (started.ok) return ok({ ...started.value, stop: stopAll })
  await stopAll()
  return started
}

async function assemble(options: DaemonOptions, stops: Stop[]): Promise<Result<Omit<Daemon, 'stop'>>> {
  useNativeSha256()
  const { config, logger } = options
  const core = await openCore(options, stops)
  if (!core.ok) return core
  const { chain, mempool, metrics, watch } = core.value
  const market = await openMarket(options, core.value, stops)
  if (!market.ok) return market
  const mining = openMiner(options, core.value, stops)
  if (!mining.ok) return mining
  const state = { stopping: false }
  const notReadyBecause = (): readonly string[] => (state.stopping ? ['stopping'] : [])
  const remoteWork = openRemoteWork(options, core.value, notReadyBecause)
  stops.push(() => remoteWork.stop())
  const node: NodeApi = {
    version: VERSION,
    startedAtMs: systemClock.now(),
    clock: systemClock,
    chain,
    mempool,
    market: market.value,
    mining: mining.value.facts,
    remoteWork,
    peerCount: noPeers,
    notReadyBecause,
    warnings: () => watch.warnings,
    metrics: () => metrics.text(),
    publicUrl: config.rpc.publicUrl,
  }
  metrics.watch(node)
  await resumeWork({ options, chain, mempool, market: market.value })
  watch.check()
  const url = await listen(options, node, { metrics, stops })
  if (!url.ok) return url
  stops.push(async () => {
    state.stopping = true
    await Promise.all([mining.value.stop(), remoteWork.stop(), closeMarket(market.value)])
  })
  mining.value.start()
  logger.info({ network: options.params.name, height: chain.head.header.height, url: url.value }, 'ready')
  return ok({ node, url: url.value })
}

/** Sells nothing more, and gives calls under way a moment; what takes longer is taken up at the next start. */
async function closeMarket(market: Market | null): Promise<void> {
  if (market === null) return
  market.shop.closeWhile(() => 'the node is stopping')
  await Promise.race([market.checkout.stop(), setTimeout(CALLS_GRACE_MS)])
  market.checkout.abandon()
}

/** There is no peer-to-peer network in this release. */
function noPeers(): number {
  return 0
}

interface Core {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly verifier: VerifyPool
  readonly metrics: Metrics
  readonly watch: ChainWatch
}

async function openCore({ config, params, onFatal, logger }: DaemonOptions, stops: Stop[]): Promise<Result<Core>> {
  const ruleBook = createRuleBook(params, PROTOCOL)
  const { genesis } = ruleBook
  const sizes = { cacheBytes: config.storage.cacheMib * MIB, writeBufferBytes: config.storage.writeBufferMib * MIB }
  const opened = await openChain(config.dataDir, ruleBook, genesis, sizes)
  if (!opened.ok) return opened
  stops.push(() => opened.value.store.close())
  const verifier = new VerifyPool(config.verify.threads || availableParallelism())
  stops.push(() => verifier.close())
  const chain = new Chain({
    ruleBook,
    database: opened.value.database,
    network: { chainId: 1, genesis: genesis.block.id },
    verifier,
    powHasher: nativePowHasher,
    clock: systemClock,
    pacer: eventLoopPacer(),
    reorganisationDepthMax: config.chain.reorganisationMax,
  })
  stops.push(() => chain.stop())
  const policy = { ...DEFAULT_MEMPOOL_POLICY, countMax: config.mempool.countMax, bytesMax: config.mempool.mibMax * MIB }
  const mempool = new Mempool({ chain, verifier, policy })
  const { mempool: mempoolPath } = folderPaths(config.dataDir)
  const save = (): Promise<void> => saveMempool(mempoolPath, mempool.transactions())
  stops.push(save)
  stops.push(repeat(SAVE_MEMPOOL_MS, save, onFatal))
  const metrics = new Metrics()
  const onAlert = ({ kind, facts, message }: ChainAlert): void => {
    if (kind === 'reorganised') metrics.reorganisedDeeply()
    logger.warn(facts, message)
  }
  const { pauseDepth } = config.market
  const watch = new ChainWatch({ chain, pauseDepth, settled: () => noPeers() > 0, behind: () => false, onAlert })
  return ok({ chain, mempool, verifier, metrics, watch })
}

async function openMarket(
  options: DaemonOptions,
  { chain, mempool, watch }: Core,
  stops: Stop[],
): Promise<Result<Market | null>> {
  const { config, wallet, logger, services, onFatal } = options
  if (!config.market.enabled || wallet === null) return ok(null)
  let store: Awaited<ReturnType<OpenClaims>>
  try {
    store = await options.openClaims(folderPaths(config.dataDir).market)
  } catch (error) {
    return fail(storageFault(config.dataDir, error))
  }
  stops.push(() => store.close())
  const onFault = onceInARow((area, cause) => logger.warn({ area, code: cause.code }, faultMessage(cause)))
  const market = createMarket({ config, chain, mempool, store, wallet, services, peerCount: noPeers, onFault })
  if (!market.ok) return market
  const { settler, registrar, settings, shop } = market.value
  shop.closeWhile(() => watch.closedBecause)
  stops.push(() => settler.stop())
  stops.push(() => registrar.stop())
  const prune = (): Promise<number> =>
    store.pruneResults(systemClock.now() - settings.resultKeepMs, settings.resultBytesMax)
  stops.push(repeat(PRUNE_MS, prune, onFatal))
  return market
}

interface Mining {
  readonly start: () => void
  readonly stop: Stop
  readonly facts: () => MiningFacts
}

function openMiner(options: DaemonOptions, { chain, mempool, metrics }: Core, stops: Stop[]): Result<Mining> {
  const { config, logger, wallet, onFatal } = options
  const { threads } = config.mine
  if (threads === 0)
    return ok({ start: () => {}, stop: () => {}, facts: () => ({ threads, hashesPerSecond: 0, rewardTo: null }) })
  const rewardTo = rewardAddress(options)
  if (!rewardTo.ok) return rewardTo
  const pool = new MiningPool(threads, (error) => logger.error({ error }, 'a mining thread failed'))
  const miner = new Miner(
    {
      chain,
      mempool,
      searcher: pool,
      clock: systemClock,
      pacer: eventLoopPacer(),
      timers: systemTimers,
      extra: new Uint8Array(randomBytes(32)),
      onMined: ({ header, id, transactions }) => {
        metrics.mined()
        logger.info({ height: header.height, id, transactions: transactions.length }, 'mined')
      },
      onRefused: (block, cause) => logger.warn({ height: block.header.height, code: cause.code }, 'own block refused'),
      onFatal,
    },
    rewardTo.value,
  )
  const stop = async (): Promise<void> => {
    await miner.stop()
    await pool.close()
  }
  stops.push(stop)
  const rate = new HashRate(() => pool.hashes)
  const address = wallet === null && config.mine.address === null ? null : rewardTo.value
  return ok({
    start: () => miner.start(),
    stop,
    facts: () => ({ threads, hashesPerSecond: rate.perSecond(), rewardTo: address }),
  })
}

/** Work for external miners, each of whom names his own address. */
function openRemoteWork(
  { logger, onFatal }: DaemonOptions,
  { chain, mempool, verifier, metrics }: Core,
  notReadyBecause: () => readonly string[],
): RemoteWork {
  return new RemoteWork({
    chain,
    mempool,
    verifier,
    clock: systemClock,
    pacer: eventLoopPacer(),
    timers: systemTimers,
    extra: new Uint8Array(randomBytes(32)),
    notReadyBecause: () => notReadyBecause().filter((reason) => NOTHING_TO_MINE.test(reason)),
    onMined: ({ header, id, transactions }) => {
      metrics.mined()
      logger.info({ height: header.height, id, transactions: transactions.length }, 'mined by an external miner')
    },
    onRefused: (block, cause) =>
      logger.warn({ height: block.header.height, code: cause.code }, 'block of an external miner refused'),
    onFatal,
  })
}

/** Hashes per second between two looks at a counter, at least a second apart. */
class HashRate {
  readonly #read: () => bigint
  #since = { ms: performance.now(), hashes: 0n }
  #rate = 0

  constructor(read: () => bigint) {
    this.#read = read
  }

  perSecond(): number {
    const ms = performance.now()
    if (ms - this.#since.ms < 1_000) return this.#rate
    const hashes = this.#read()
    this.#rate = Math.round((Number(hashes - this.#since.hashes) * 1_000) / (ms - this.#since.ms))
    this.#since = { ms, hashes }
    return this.#rate
  }
}

function rewardAddress({ config, params, wallet }: DaemonOptions): Result<Address> {
  if (config.mine.address !== null) return parseAddress(params.addressPrefix, config.mine.address)
  if (wallet !== null) return ok(wallet.address)
  return fail(
    fault('config/value', {
      key: 'mine.address',
      value: 'unset',
      allowed: 'an address to mine for, as there is no market wallet',
    }),
  )
}

async function listen(
  { config, logger, onFatal }: DaemonOptions,
  node: NodeApi,
  { metrics, stops }: { readonly metrics: Metrics; readonly stops: Stop[] },
): Promise<Result<string>> {
  const { host, port, rateRead, rateTransaction, rateQuote, concurrentMax, trustProxy } = config.rpc
  const ratesPerMinute = {
    ...DEFAULT_HTTP_LIMITS.ratesPerMinute,
    read: rateRead,
    list: Math.ceil(rateRead / LIST_COST),
    transaction: rateTransaction,
    quote: rateQuote,
  }
  const app = await createServer(node, {
    limits: { ...DEFAULT_HTTP_LIMITS, ratesPerMinute, concurrentMax },
    trustProxy,
    onError: (error, requestId) => {
      logger.error({ requestId, error: error instanceof Error ? error.stack : String(error) }, 'error while answering')
      if (isStorageFailure(error)) onFatal(error)
    },
    onAnswer: (facts) => {
      metrics.answered(facts)
      logger.debug(facts, 'answered')
    },
  })
  stops.push(() => closeServer(app))
  return bind(app, host, port)
}

async function closeServer(app: FastifyInstance): Promise<void> {
  const closed = app.close()
  await Promise.race([closed, setTimeout(ANSWERS_GRACE_MS)])
  app.server.closeAllConnections()
  await closed
}

async function bind(app: FastifyInstance, host: string, port: number): Promise<Result<string>> {
  try {
    return ok(await app.listen({ host, port }))
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string }
    if (code === 'EADDRINUSE') return fail(fault('rpc/port-taken', { host, port }))
    return fail(fault('rpc/address-unusable', { host, port, reason: message }))
  }
}

/** What a stop or a crash left: a branch half taken, waiting transactions, paid calls, unpublished services. */
async function resumeWork({
  options,
  chain,
  mempool,
  market,
}: {
  options: DaemonOptions
  chain: Chain
  mempool: Mempool
  market: Market | null
}): Promise<void> {
  await chain.resume()
  for (const tx of await loadMempool(folderPaths(options.config.dataDir).mempool)) await mempool.submit(tx)
  if (market === null) return
  await market.checkout.resume()
  market.registrar.check()
}

/** Tells of a fault that comes again with every block only when it changes. */
function onceInARow(tell: (area: string, cause: Fault) => void): (area: string, cause: Fault) => void {
  const last = new Map<string, string>()
  return (area, cause) => {
    if (last.get(area) === cause.code) return
    last.set(area, cause.code)
    tell(area, cause)
  }
}

/** Runs work now and then; a failure is fatal, since only a failing disk can cause it. */
function repeat(ms: number, work: () => Promise<unknown>, onFatal: (error: unknown) => void): Stop {
  const timer = setInterval(() => void work().catch(onFatal), ms).unref()
  return () => clearInterval(timer)
}
