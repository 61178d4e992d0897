import { availableParallelism } from 'node:os'
import type { Config } from '../../config/settings.ts'
import { Chain } from '../../consensus/chain/chain.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import type { ClaimKind, ClaimStore, StoredClaim } from '../../marketplace/till/claim-store.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import type { Internet } from '../adapters/open-web.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'
import type { SharedSecret } from '../crypto/receipt-key.ts'
import type { SellerKey } from '../crypto/wallet-key.ts'
import type { TransactionMode } from '../p2p/relay/transaction-relay.ts'
import { PROTOCOL } from '../protocol.ts'
import { folderPaths, openChain } from '../storage/folder.ts'
import type { LevelStore } from '../storage/level-store.ts'
import { saveMempool } from '../storage/mempool-file.ts'
import { Pruning } from '../storage/pruning.ts'
import type { Logger } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { VerifyPool } from '../workers/verify-pool.ts'
import { eventLoopPacer, systemClock, systemTimers } from './runtime.ts'

/** `path` is in the data folder. The daemon closes the store. */
export type OpenClaims = <C extends StoredClaim>(
  path: string,
  kind: ClaimKind<C>,
) => Promise<ClaimStore<C> & { close(): Promise<void> }>

/** Where the calls of tabs are kept. */
export interface OpenedTabs {
  /** The daemon closes it. */
  readonly store: TabStore & { close(): Promise<void> }
  /** Null if the store is not shared. */
  readonly secret: SharedSecret | null
}

/** `path` is in the data folder. */
export type OpenTabs = (path: string) => Promise<OpenedTabs>

/** What a daemon is started with. */
export interface DaemonOptions {
  readonly config: Config
  readonly params: NetworkParams
  readonly services: readonly ServiceDefinition[]
  readonly openClaims: OpenClaims
  readonly openTabs: OpenTabs
  /** Null for a node without a wallet, which sells nothing. */
  readonly wallet: SellerKey | null
  /** Whether other nodes may have the same wallet key, as on a devnet. Then at most one of them sells with it. */
  readonly sharesKey?: boolean | undefined
  readonly logger: Logger
  /** Default gossip. Not a setting: only tests and measurements use it. */
  readonly transactionMode?: TransactionMode
  /** Replaces the internet. Not a setting: only tests use it. */
  readonly internet?: Internet | undefined
  /** Whether models with random weights may answer. Not a setting: only tests use it. */
  readonly fixtureModels?: boolean | undefined
  /** Called with errors after which the process must stop: bugs in consensus, a failing disk. */
  readonly onFatal: (error: unknown) => void
}

/** Parts are stopped in the reverse order of their start. */
export type Stop = () => Promise<unknown> | unknown

const MIB = 1_048_576
const SAVE_MEMPOOL_MS = 60_000

/** The parts that all others build on. */
export interface Core {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly verifier: VerifyPool
  readonly metrics: Metrics
  readonly store: LevelStore
}

/** Opens chain, mempool and verification threads, and adds what stops them to `stops`. */
export async function openCore({ config, params, onFatal }: DaemonOptions, stops: Stop[]): Promise<Result<Core>> {
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
  const pruning = new Pruning({ chain, retention: config.storage, timers: systemTimers, onFatal })
  stops.push(() => pruning.stop())
  pruning.start()
  const policy = { ...DEFAULT_MEMPOOL_POLICY, countMax: config.mempool.countMax, bytesMax: config.mempool.mibMax * MIB }
  const mempool = new Mempool({ chain, verifier, policy })
  const { mempool: mempoolPath } = folderPaths(config.dataDir)
  const save = (): Promise<void> => saveMempool(mempoolPath, mempool.transactions())
  stops.push(save)
  stops.push(repeat(SAVE_MEMPOOL_MS, save, onFatal))
  return ok({ chain, mempool, verifier, metrics: new Metrics(), store: opened.value.store })
}

/**
 * A failure is fatal, so the work must handle all faults that the node survives. The stop waits for work under way: what the work writes
 * to may be closed next.
 */
export function repeat(ms: number, work: () => Promise<unknown>, onFatal: (error: unknown) => void): Stop {
  const running = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const run: Promise<void> = work()
      .then(() => {}, onFatal)
      .finally(() => running.delete(run))
    running.add(run)
  }, ms).unref()
  return async () => {
    clearInterval(timer)
    await Promise.all(running)
  }
}
