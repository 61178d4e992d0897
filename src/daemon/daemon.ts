import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { withScripts } from '../../marketplace/services/documents/scripts.ts'
import { type ChainAlert, ChainWatch } from '../../marketplace/till/chain-watch.ts'
import { ClaimsAway, unlessAway } from '../../marketplace/till/claim-store.ts'
import { NATIVE_CLAIMS, type NativeClaimStore } from '../../marketplace/till/rails/native/claim.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import { isLoopback } from '../../rpc/mcp/guard.ts'
import type { NodeApi } from '../../rpc/node/node-api.ts'
import { openOutside, type RunningOutside } from '../adapters/open-outside.ts'
import { openChat } from '../chat/open-chat.ts'
import { openDashboard } from '../chat/open-dashboard.ts'
import { useNativeSha256 } from '../crypto/native-backend.ts'
import { openReceiptSigner } from '../crypto/receipt-key.ts'
import type { SellerKey } from '../crypto/wallet-key.ts'
import { openDollarRail, type RunningRail } from '../market/dollar-rail.ts'
import { openFacilitator } from '../market/open-facilitator.ts'
import { createMarket, type Market } from '../market/open-market.ts'
import { openTabRail, type RunningTabs } from '../market/tab-rail.ts'
import { openPeerNetwork, type PeerNetwork } from '../p2p/host/open-network.ts'
import { folderPaths, storageFault } from '../storage/folder.ts'
import { loadMempool } from '../storage/mempool-file.ts'
import { makeOperatorToken } from '../storage/operator-token.ts'
import { askedBy, watchProviders } from '../telemetry/provider-log.ts'
import { startPulse } from '../telemetry/pulse.ts'
import { openMining } from '../workers/open-mining.ts'
import { listen } from './http-api.ts'
import { type Core, type DaemonOptions, type OpenedTabs, openCore, repeat, type Stop } from './open-core.ts'
import { systemClock, systemTimers } from './runtime.ts'
import { VERSION } from './version.ts'

/** A running daemon. */
export interface Daemon {
  readonly node: NodeApi
  readonly url: string
  /** Multiaddresses at which peers reach this node. */
  readonly peerAddresses: readonly string[]
  /**
   * Stops all parts in the reverse order of their start. Paid calls that take too long are taken up at the next start.
   */
  readonly stop: () => Promise<void>
}

/**
 * How long a stopping node waits for calls in progress. A stop may take five seconds in all, and on a busy machine the
 * disk and running verification need more than half of them.
 */
const CALLS_GRACE_MS = 800
const PRUNE_MS = 600_000
const MARK_BYTES = 8
/** A node that just started may find a heavier branch without cause for alarm. */
const SETTLED_MS = 60_000

/** After a fault nothing is left running. */
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
  const core = await openCore(options, stops)
  if (!core.ok) return core
  const { chain, mempool, metrics } = core.value
  const network = await openNetwork(options, core.value, stops)
  if (!network.ok) return network
  const standing = new Standing(network.value)
  const watch = watchChain(options, core.value, standing)
  const outside = await openReach(options, { ...core.value, standing }, stops)
  if (!outside.ok) return outside
  const market = await openMarket(options, { ...core.value, standing, watch, outside: outside.value }, stops)
  if (!market.ok) return market
  const chat = await openChat({ options, outside: outside.value, metrics }, stops)
  if (!chat.ok) return chat
  const facilitator = await openFacilitator(options, core.value, stops)
  if (!facilitator.ok) return facilitator
  const mining = openMining(options, core.value, () => standing.notReadyBecause())
  if (!mining.ok) return mining
  stops.push(() => mining.value.stop())
  const peerNode = network.value?.node
  const operatorToken = await operatorTokenOf(options)
  if (!operatorToken.ok) return operatorToken
  const node: NodeApi = {
    version: VERSION,
    startedAtMs: systemClock.now(),
    clock: systemClock,
    chain,
    mempool,
    market: market.value,
    mining: mining.value.facts,
    remoteWork: mining.value.remoteWork,
    peerCount: () => standing.peerCount,
    notReadyBecause: () => [...standing.notReadyBecause(), ...storeReasons(market.value)],
    warnings: () => [...watch.warnings, ...(market.value?.rail?.warnings() ?? [])],
    metrics: () => metrics.text(),
    publicUrl: options.config.rpc.publicUrl,
    pages: { loopback: isLoopback(options.config.rpc.host), allowedOrigins: options.config.mcp.allowedOrigins },
    network: network.value?.api ?? null,
    operatorToken: operatorToken.value,
    facilitator: facilitator.value,
    chat: chat.value?.api ?? null,
    dashboard: chat.value && openDashboard(options.config, operatorToken.value, askedBy(outside.value, market.value)),
    ...(peerNode && { fetchKeys: (address) => peerNode.fetchKeys(address) }),
  }
  metrics.watch(node)
  if (network.value !== null) metrics.watchNetwork(network.value)
  await resumeWork({ options, core: core.value, market: market.value })
  watch.check()
  const url = await listen(options, node, { metrics, stops })
  if (!url.ok) return url
  const listening = (await network.value?.start()) ?? ok(undefined)
  if (!listening.ok) return listening
  stops.push(async () => {
    standing.stopping = true
    chat.value?.stop()
    await Promise.all([mining.value.stop(), closeMarket(market.value), network.value?.stop()])
  })
  network.value?.node.synchroniser.onProgress(({ behind }) => mining.value.work(!behind))
  mining.value.work(!standing.behind)
  stops.push(sayReady(options, node, url.value, { metrics, standing }))
  return ok({ node, url: url.value, peerAddresses: network.value?.addresses() ?? [] })
}

function sayReady(
  { logger, params }: DaemonOptions,
  node: NodeApi,
  url: string,
  { metrics, standing }: Pick<Core, 'metrics'> & { readonly standing: Standing },
): Stop {
  logger.info({ network: params.name, height: node.chain.head.header.height, url }, 'ready')
  const mined = (): number => metrics.minedCount
  return startPulse({ logger, timers: systemTimers, node, mined, behind: () => standing.behind })
}

async function operatorTokenOf({ config: { dataDir } }: DaemonOptions): Promise<Result<string>> {
  try {
    return ok(await makeOperatorToken(folderPaths(dataDir).operatorToken))
  } catch (error) {
    return fail(storageFault(dataDir, error))
  }
}

async function openNetwork(
  { config, params, logger, onFatal, transactionMode = 'gossip' }: DaemonOptions,
  { chain, store, mempool, verifier }: Core,
  stops: Stop[],
): Promise<Result<PeerNetwork | null>> {
  if (!config.p2p.enabled) return ok(null)
  const opened = await openPeerNetwork({
    config,
    params,
    chain,
    store,
    mempool,
    workVerifier: verifier,
    transactionMode,
    logger,
    onFatal,
  })
  if (opened.ok) stops.push(() => opened.value.stop())
  return opened
}

class Standing {
  stopping = false
  readonly #network: PeerNetwork | null
  readonly #startedMs = systemClock.now()

  constructor(network: PeerNetwork | null) {
    this.#network = network
  }

  get peerCount(): number {
    return this.#network?.node.peers.list().length ?? 0
  }

  /** Without peers that are reached by name. */
  get peerAddresses(): readonly string[] {
    const peers = this.#network?.api.peers() ?? []
    return peers.flatMap(({ address }) => /^\/ip[46]\/([^/]+)\//.exec(address)?.[1] ?? [])
  }

  /** True also from the start until the node has caught up; always false without a network. */
  get behind(): boolean {
    return this.#network?.node.synchroniser.progress().behind ?? false
  }

  /** Whether a deep reorganisation would be suspicious. */
  get settled(): boolean {
    return this.peerCount > 0 && !this.behind && systemClock.now() - this.#startedMs >= SETTLED_MS
  }

  notReadyBecause(): readonly string[] {
    if (this.stopping) return ['stopping']
    const progress = this.#network?.node.synchroniser.progress()
    return progress?.behind === true ? [`syncing: block ${progress.height} of ${progress.targetHeight}`] : []
  }
}

/** Identifies a data folder without giving its token away. */
function folderMark(token: string): Uint8Array {
  return createHash('sha256').update(`mark of a folder: ${token}`).digest().subarray(0, MARK_BYTES)
}

/** A node that cannot reach its claims sells nothing, so a load balancer should use another one. */
function storeReasons(market: Market | null): readonly string[] {
  const away = market?.store.shared?.awayBecause ?? null
  return away === null ? [] : [away]
}

/** While the watch has a reason (`closedBecause`), the market is closed. */
function watchChain({ config, logger }: DaemonOptions, { chain, metrics }: Core, standing: Standing): ChainWatch {
  const onAlert = ({ kind, facts, message }: ChainAlert): void => {
    if (kind === 'reorganised') metrics.reorganisedDeeply()
    logger.warn(facts, message)
  }
  const { pauseDepth } = config.market
  return new ChainWatch({
    chain,
    pauseDepth,
    settled: () => standing.settled,
    behind: () => standing.behind,
    onAlert,
  })
}

interface SellingMarket extends Market {
  readonly rail: RunningRail | null
  readonly tabRail: RunningTabs
}

/** Null if the node has neither services nor chats. */
async function openReach(
  { config, wallet, logger, internet, fixtureModels, onFatal }: DaemonOptions,
  { metrics, standing }: Core & { readonly standing: Standing },
  stops: Stop[],
): Promise<Result<RunningOutside | null>> {
  const sells = config.market.enabled && wallet !== null
  if (!sells && !config.chat.enabled) return ok(null)
  const outside = await openOutside(
    {
      config: config.outside,
      espeak: config.chat.enabled ? config.chat.espeak : null,
      publicUrl: config.rpc.publicUrl,
      announced: config.p2p.announce,
      peerAddresses: () => standing.peerAddresses,
      clock: systemClock,
      timers: systemTimers,
      internet,
      fixtureModels,
    },
    stops,
  )
  if (!outside.ok) return outside
  metrics.watchProviders(outside.value.checkable)
  stops.push(watchProviders(outside.value.checkable, outside.value.looked(), { logger, onFatal }))
  return outside
}

interface MarketNeeds extends Core {
  readonly standing: Standing
  readonly watch: ChainWatch
  readonly outside: RunningOutside | null
}

async function openMarket(
  options: DaemonOptions,
  { chain, mempool, standing, watch, outside }: MarketNeeds,
  stops: Stop[],
): Promise<Result<SellingMarket | null>> {
  const { config, wallet, logger, services, onFatal } = options
  if (!config.market.enabled || wallet === null || outside === null) return ok(null)
  let store: NativeClaimStore & { close(): Promise<void> }
  try {
    store = await options.openClaims(folderPaths(config.dataDir).market, NATIVE_CLAIMS)
  } catch (error) {
    return fail(error instanceof ClaimsAway ? error.fault : storageFault(config.dataDir, error))
  }
  stops.push(() => store.close())
  const onFault = onceInARow((area, cause) => logger.warn({ area, code: cause.code }, faultMessage(cause)))
  const token = await operatorTokenOf(options)
  if (!token.ok) return token
  const tabs = await openTabStore(options, stops)
  if (!tabs.ok) return tabs
  const receipts = await receiptSigner(options, tabs.value, wallet)
  if (!receipts.ok) return receipts
  const market = createMarket({
    config,
    chain,
    mempool,
    store,
    wallet,
    receipts: receipts.value,
    sharedKeyMark: options.sharesKey === true ? folderMark(token.value) : null,
    services: services.map((one) => withScripts(one, outside.documents.scripts)),
    peerCount: () => standing.peerCount,
    outside,
    onFault,
    onError: onFatal,
  })
  if (!market.ok) return market
  const { settler, registrar, takeover, settings, shop } = market.value
  shop.closeWhile(() => watch.closedBecause)
  stops.push(() => settler.stop())
  stops.push(() => registrar.stop())
  stops.push(() => takeover?.stop())
  const prune = (): Promise<Result<number>> =>
    unlessAway(async () =>
      ok(await store.pruneResults(systemClock.now() - settings.resultKeepMs, settings.resultBytesMax)),
    )
  stops.push(repeat(PRUNE_MS, prune, onFatal))
  const tabParts = { options, chain, mempool, market: market.value, signer: receipts.value, onFault }
  // Also where no new tabs are taken: those that are open are claimed and closed.
  const tabRail = openTabRail({ ...tabParts, store: tabs.value.store }, stops)
  const railParts = { options, chain, market: market.value, tabs: tabs.value, signer: receipts.value, onFault }
  const rail = await openDollarRail(railParts, stops)
  if (!rail.ok) return rail
  const { dollar: stable = null, channels = null } = rail.value ?? {}
  return ok({ ...market.value, stable, channels, rail: rail.value, tabs: tabRail.counter, tabRail })
}

async function openTabStore({ openTabs, config }: DaemonOptions, stops: Stop[]): Promise<Result<OpenedTabs>> {
  try {
    const opened = await openTabs(folderPaths(config.dataDir).marketTabs)
    stops.push(() => opened.store.close())
    return ok(opened)
  } catch (error) {
    return fail(error instanceof ClaimsAway ? error.fault : storageFault(config.dataDir, error))
  }
}

function receiptSigner(
  { config }: DaemonOptions,
  { secret }: OpenedTabs,
  { receipts }: SellerKey,
): Promise<Result<ReceiptSigner>> {
  return unlessAway(() => openReceiptSigner(config.market.tabKeyFile, secret, receipts))
}

/** Calls that take longer than the grace are taken up at the next start. */
async function closeMarket(market: SellingMarket | null): Promise<void> {
  if (market === null) return
  market.shop.close('the node is stopping')
  const { till, rail, tabRail } = market
  const tills = [till, rail?.dollar.till, rail?.channels?.till, tabRail.counter.till]
  await Promise.race([Promise.all(tills.map((one) => one?.stop())), setTimeout(CALLS_GRACE_MS)])
  for (const one of tills) one?.abandon()
}

/** Continues after a stop or crash. */
async function resumeWork({
  options,
  core: { chain, mempool },
  market,
}: {
  options: DaemonOptions
  core: Core
  market: SellingMarket | null
}): Promise<void> {
  await chain.resume()
  for (const tx of await loadMempool(folderPaths(options.config.dataDir).mempool)) await mempool.submit(tx)
  if (market === null) return
  // If the claim store cannot be reached, its claims are taken up when it is back.
  await unlessAway(async () => ok(await market.till.resume()))
  await market.tabRail.start()
  market.takeover?.start()
  await market.rail?.start()
  market.registrar.check()
}

/** The same fault may come again with every block. */
function onceInARow(tell: (area: string, cause: Fault) => void): (area: string, cause: Fault) => void {
  const last = new Map<string, string>()
  return (area, cause) => {
    if (last.get(area) === cause.code) return
    last.set(area, cause.code)
    tell(area, cause)
  }
}
