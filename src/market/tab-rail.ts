import { ok, type Result } from '../../consensus/primitives/result.ts'
import { unlessAway } from '../../marketplace/till/claim-store.ts'
import { Claimer } from '../../marketplace/till/rails/tab/claimer.ts'
import { TabRail } from '../../marketplace/till/rails/tab/tab-rail.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import { TabCounter } from '../../rpc/market/tab-counter.ts'
import { NATIVE_BACKEND } from '../crypto/native-backend.ts'
import { verifyTabLater } from '../crypto/tab-verifier.ts'
import { type DaemonOptions, repeat, type Stop } from '../daemon/open-core.ts'
import { eventLoopPacer, systemClock, systemTimers } from '../daemon/runtime.ts'
import type { Market, MarketParts } from './open-market.ts'

/** The rail of tabs, with what the daemon starts. */
export interface RunningTabs {
  readonly counter: TabCounter
  /** Takes up calls of earlier runs, and begins to claim. */
  readonly start: () => Promise<void>
}

/** The parts that the rail is built on. */
export interface TabParts {
  readonly options: DaemonOptions
  readonly chain: MarketParts['chain']
  readonly mempool: Mempool
  readonly market: Market
  readonly store: TabStore
  readonly signer: ReceiptSigner
  readonly onFault: MarketParts['onFault']
}

const PRUNE_MS = 600_000

/** Builds rail and claimer over an open store. */
export function openTabRail(
  { options, chain, mempool, market, store, signer, onFault }: TabParts,
  stops: Stop[],
): RunningTabs {
  const { shop, sender, price, settings, workshop, takeover, atRisk } = market
  const { onFatal } = options
  const rail = new TabRail({
    ...{ chain, shop, store, sink: mempool, price, settings, workshop, atRisk, signer },
    ...{
      backend: NATIVE_BACKEND,
      verifyLater: verifyTabLater,
      clock: systemClock,
      timers: systemTimers,
      pacer: eventLoopPacer(),
    },
    onError: onFatal,
  })
  const claimer = new Claimer({
    ...{ chain, shop, store, sender, sink: mempool, clock: systemClock },
    onFault: (cause) => onFault('claims of tabs', cause),
    riskLimit: () => rail.unclaimedMost,
    isHeld: () => takeover !== null && takeover.heldBecause !== null,
  })
  takeover?.join(rail.till)
  stops.push(() => claimer.stop())
  const prune = (): Promise<Result<number>> =>
    unlessAway(async () => ok(await store.prune(systemClock.now() - settings.resultKeepMs, settings.resultBytesMax)))
  stops.push(repeat(PRUNE_MS, prune, onFatal))
  const start = async (): Promise<void> => {
    await unlessAway(async () => ok(await rail.till.resume()))
    claimer.check()
  }
  const counter = new TabCounter({ rail, chain, shop, store, backend: NATIVE_BACKEND })
  return { counter, start }
}
