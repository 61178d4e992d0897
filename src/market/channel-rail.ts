import { randomBytes } from 'node:crypto'
import type { Chain } from '../../consensus/chain/chain.ts'
import { eip55 } from '../../consensus/external/eip55.ts'
import { evmAddressOf, signDigest } from '../../consensus/external/eip712.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { unlessAway } from '../../marketplace/till/claim-store.ts'
import type { AuthorizerKey, ChannelChain } from '../../marketplace/till/rails/dollar/channel/chain.ts'
import { ChannelRail } from '../../marketplace/till/rails/dollar/channel/channel-rail.ts'
import { ChannelClaimer } from '../../marketplace/till/rails/dollar/channel/claimer.ts'
import { CountedChain } from '../../marketplace/till/rails/dollar/channel/counted-chain.ts'
import { FacilitatorChain } from '../../marketplace/till/rails/dollar/channel/facilitator-chain.ts'
import { OwnChain } from '../../marketplace/till/rails/dollar/channel/own-chain.ts'
import type { ChannelTerms } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import { FacilitatorPool } from '../../marketplace/till/rails/dollar/facilitators.ts'
import { type DollarTerms, dollarAmount } from '../../marketplace/till/rails/dollar/terms.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import { ChannelCounter } from '../../rpc/market/channel-counter.ts'
import { JsonRpcNode } from '../adapters/evm/json-rpc-node.ts'
import { EvmRpc } from '../adapters/evm-rpc.ts'
import { EvmKeySender } from '../adapters/evm-sender.ts'
import { type FacilitatorAuth, HttpFacilitator } from '../adapters/facilitator-http.ts'
import type { DaemonOptions, OpenedTabs, Stop } from '../daemon/open-core.ts'
import { repeat } from '../daemon/open-core.ts'
import { systemClock, systemTimers } from '../daemon/runtime.ts'
import { folderPaths, storageFault } from '../storage/folder.ts'
import { makeKeyFile } from '../storage/key-file.ts'
import { evmKeyIn } from './dollar-terms.ts'
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

interface ChainSide {
  readonly channels: ChannelChain
  readonly closedBecause: () => string | null
  readonly start: () => Promise<void>
}

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

/** With a key that pays gas the node needs no facilitator. */
async function chainSide(
  { options: { config }, auth }: ChannelParts,
  signed: { readonly terms: ChannelTerms; readonly sign: AuthorizerKey },
  stops: Stop[],
): Promise<Result<ChainSide>> {
  const { channelGasKeyFile, rpcUrl, facilitators } = config.stable
  const { network } = signed.terms
  if (channelGasKeyFile === null) {
    const all = facilitators.map((url) => new HttpFacilitator(url, auth.get(url), 'batch-settlement'))
    const shared = { network, clock: systemClock, timers: systemTimers }
    const pool = new FacilitatorPool({ ...shared, facilitators: all, isOptional: true })
    stops.push(() => pool.stop())
    const channels = new FacilitatorChain({ ...signed, facilitators: pool })
    return ok({ channels, closedBecause: () => pool.closedBecause, start: () => pool.start() })
  }
  const key = await evmKeyIn(channelGasKeyFile)
  if (!key.ok) return key
  if (rpcUrl === null) {
    const allowed = 'an address, as stable.channel-gas-key-file is set'
    return fail(fault('config/value', { key: 'stable.rpc-url', value: '', allowed }))
  }
  const { chainId } = network
  const node = new JsonRpcNode(new URL(rpcUrl), "the node of the token's chain", chainId)
  const sender = new EvmKeySender({ node, chainId, key: fromHex(key.value) })
  const ledger = new EvmRpc(rpcUrl, chainId, () => systemClock.now())
  const channels = new OwnChain({ ...signed, sender, ledger })
  return ok({ channels, closedBecause: () => null, start: async () => {} })
}
