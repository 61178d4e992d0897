import { randomBytes } from 'node:crypto'
import type { Chain } from '../../consensus/chain/chain.ts'
import { eip55 } from '../../consensus/external/eip55.ts'
import { evmAddressOf, signDigest } from '../../consensus/external/eip712.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { unlessAway } from '../../marketplace/till/claim-store.ts'
import { ChannelRail } from '../../marketplace/till/rails/dollar/channel/channel-rail.ts'
import { ChannelClaimer } from '../../marketplace/till/rails/dollar/channel/claimer.ts'
import { CountedChain } from '../../marketplace/till/rails/dollar/channel/counted-chain.ts'
import type { ChannelTerms } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import { type DollarTerms, dollarAmount } from '../../marketplace/till/rails/dollar/terms.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import { ChannelCounter } from '../../rpc/market/channel-counter.ts'
import type { FacilitatorAuth } from '../adapters/facilitator-http.ts'
import type { DaemonOptions, OpenedTabs, Stop } from '../daemon/open-core.ts'
import { repeat } from '../daemon/open-core.ts'
import { systemClock, systemTimers } from '../daemon/runtime.ts'
import { folderPaths, storageFault } from '../storage/folder.ts'
import { makeKeyFile } from '../storage/key-file.ts'
import { chainSide } from './channel-chain.ts'
import { isLeft } from './left-channels.ts'
import type { Market } from './open-market.ts'

/** The rail of channels, with what the daemon starts. */
export interface RunningChannels {
  readonly counter: ChannelCounter
  /** Takes up calls of earlier runs, and begins to claim. */
  readonly start: () => Promise<void>
}

/** The parts that the rail is built on. */
export interface ChannelParts {
  readonly options: DaemonOptions
  readonly chain: Chain
  readonly market: Market
  readonly terms: DollarTerms
  readonly auth: ReadonlyMap<string, FacilitatorAuth>
  /** Calls on channels are kept where those of tabs are. */
  readonly tabs: OpenedTabs
  readonly signer: ReceiptSigner
  readonly onFault: (area: string, cause: Fault) => void
}

/** Name of the key among the secrets of replicas. */
const SHARED_KEY = 'channel-key'
const KEY_BYTES = 32
const CLAIM_MS = 30_000

/**
 * Null if the operator takes no channels and none is left to be claimed. Faults: `config/file`, `config/value`, those of the disk.
 */
export async function openChannelRail(parts: ChannelParts, stops: Stop[]): Promise<Result<RunningChannels | null>> {
  const { options, chain, market, tabs, signer, onFault } = parts
  const { config, onFatal } = options
  const isEnding = !config.stable.channels
  if (isEnding && !(await isLeft(tabs.store))) return ok(null)
  const key = await authorizerKey(options, tabs)
  if (!key.ok) return key
  const terms = channelTerms(parts, key.value)
  const side = await chainSide(parts, { terms, sign: (digest) => signDigest(key.value, digest) }, stops)
  if (!side.ok) return side
  const { closedBecause } = side.value
  const channels = new CountedChain(side.value.channels)
  const { shop, settings, workshop, takeover } = market
  const { store } = tabs
  const unclaimedMax = dollarAmount(terms.asset, config.stable.channelUnclaimedMaxMicros)
  const shared = { channels, store, terms, unclaimedMax, clock: systemClock }
  const rail = new ChannelRail({
    ...shared,
    ...{ chain, shop, settings, workshop, signer, closedBecause, isEnding, timers: systemTimers, onError: onFatal },
  })
  takeover?.join(rail.till)
  const claimer = new ChannelClaimer({
    ...shared,
    sightings: rail.sightings,
    onFault: (cause) => onFault('claims of channels', cause),
    // Where replicas share a store, the one that looks for claims keeps the others from it: it must be able to pay for them.
    isHeld: () => takeover !== null && (takeover.heldBecause !== null || !shop.maySettle),
  })
  stops.push(() => claimer.stop())
  stops.push(repeat(CLAIM_MS, async () => claimer.check(), onFatal))
  const start = async (): Promise<void> => {
    void side.value.start().then(() => claimer.check())
    await unlessAway(async () => ok(await rail.till.resume()))
  }
  return ok({ counter: new ChannelCounter({ rail, claimer, store, counted: channels }), start })
}

/** A channel names the key that signs its claims, so it must not change: it is kept where the calls are. */
async function authorizerKey(
  { config: { dataDir } }: DaemonOptions,
  { secret }: OpenedTabs,
): Promise<Result<Uint8Array>> {
  const make = (): Uint8Array => randomBytes(KEY_BYTES)
  if (secret !== null) return unlessAway(async () => ok(await secret(SHARED_KEY, make)))
  const path = folderPaths(dataDir).channelKey
  try {
    const key = await makeKeyFile(path, make)
    return key === null
      ? fail(fault('config/file', { path, reason: 'it does not hold a key of 64 hex digits' }))
      : ok(key)
  } catch (error) {
    return fail(storageFault(dataDir, error))
  }
}

function channelTerms({ options: { config }, terms }: ChannelParts, key: Uint8Array): ChannelTerms {
  const { channelWithdrawDelay, channelDepositMinMicros } = config.stable
  return {
    ...terms,
    receiverAuthorizer: `0x${eip55((evmAddressOf(key) as string).slice(2))}`,
    withdrawDelay: channelWithdrawDelay,
    leastDeposit: dollarAmount(terms.asset, channelDepositMinMicros),
  }
}
