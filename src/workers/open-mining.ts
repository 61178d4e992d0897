import { randomBytes } from 'node:crypto'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { Miner } from '../../miner/miner.ts'
import { RemoteWork } from '../../miner/remote-work.ts'
import { Shift } from '../../miner/shift.ts'
import type { MiningFacts } from '../../rpc/node/node-api.ts'
import type { Core, DaemonOptions } from '../daemon/open-core.ts'
import { eventLoopPacer, systemClock, systemTimers } from '../daemon/runtime.ts'
import { MiningPool } from './mining-pool.ts'

/** Reasons for "not ready" that mean that there is no head worth mining on. */
const NOTHING_TO_MINE = /^(stopping|syncing)/

/** Mining by threads of this process and by external miners. */
export interface Mining {
  /** Starts or pauses the threads: while the node is behind, blocks that they find are worthless. */
  readonly work: (wanted: boolean) => void
  readonly stop: () => Promise<void>
  readonly facts: () => MiningFacts
  readonly remoteWork: RemoteWork
}

/** The threads start only when `work` is called. */
export function openMining(
  options: DaemonOptions,
  core: Core,
  notReadyBecause: () => readonly string[],
): Result<Mining> {
  const threads = openMiner(options, core)
  if (!threads.ok) return threads
  const remoteWork = openRemoteWork(options, core, notReadyBecause)
  const { work, stop, facts } = threads.value
  return ok({
    work,
    facts,
    remoteWork,
    stop: async () => {
      await Promise.all([stop(), remoteWork.stop()])
    },
  })
}

function openMiner(options: DaemonOptions, { chain, mempool, metrics }: Core): Result<Omit<Mining, 'remoteWork'>> {
  const { config, logger, wallet, onFatal } = options
  const { threads } = config.mine
  if (threads === 0)
    return ok({ work: () => {}, stop: async () => {}, facts: () => ({ threads, hashesPerSecond: 0, rewardTo: null }) })
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
        logger.debug({ height: header.height, id, transactions: transactions.length }, 'mined')
      },
      onRefused: (block, cause) => logger.warn({ height: block.header.height, code: cause.code }, 'own block refused'),
      onFatal,
    },
    rewardTo.value,
  )
  const shift = new Shift(miner)
  const rate = new HashRate(() => pool.hashes)
  const address = wallet === null && config.mine.address === null ? null : rewardTo.value
  return ok({
    work: (wanted) => shift.want(wanted),
    stop: async () => {
      await shift.end()
      await pool.close()
    },
    facts: () => ({ threads, hashesPerSecond: rate.perSecond(), rewardTo: address }),
  })
}

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
      logger.debug({ height: header.height, id, transactions: transactions.length }, 'mined by an external miner')
    },
    onRefused: (block, cause) =>
      logger.warn({ height: block.header.height, code: cause.code }, 'block of an external miner refused'),
    onFatal,
  })
}

/** Hashes per second between two readings of a counter, at least a second apart. */
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
