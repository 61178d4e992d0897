import type { Chain } from '../../consensus/chain/chain.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import { ClaimsAway, unlessAway } from '../../marketplace/till/claim-store.ts'
import { DOLLAR_CLAIMS, type DollarClaimStore } from '../../marketplace/till/rails/dollar/claim.ts'
import { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { FacilitatorPool } from '../../marketplace/till/rails/dollar/facilitators.ts'
import { Refunder } from '../../marketplace/till/rails/dollar/refunds.ts'
import type { OwnOffer } from '../../marketplace/till/rails/dollar/requirements.ts'
import type { DollarTerms } from '../../marketplace/till/rails/dollar/terms.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import { Takeover } from '../../marketplace/till/takeover.ts'
import { offerExtensions, offerResource } from '../../rpc/cashier/extensions.ts'
import { resourceUrl } from '../../rpc/cashier/options.ts'
import { EvmRpc } from '../adapters/evm-rpc.ts'
import { HttpFacilitator } from '../adapters/facilitator-http.ts'
import type { Checkable, ProviderFacts } from '../adapters/providers/provider.ts'
import { type DaemonOptions, type OpenedTabs, repeat, type Stop } from '../daemon/open-core.ts'
import { localUrl } from '../daemon/own-url.ts'
import { systemClock, systemTimers } from '../daemon/runtime.ts'
import { folderPaths, storageFault } from '../storage/folder.ts'
import { watchProviders } from '../telemetry/provider-log.ts'
import { type ChannelParts, openChannelRail, type RunningChannels } from './channel-rail.ts'
import { dollarTerms, facilitatorAuth, refundWallet } from './dollar-terms.ts'
import { warnOfChannels } from './left-channels.ts'
import type { Market } from './open-market.ts'

/** The stablecoin rail, with what the daemon starts. */
export interface RunningRail {
  readonly dollar: DollarRail
  /** Null if the operator takes no channels. */
  readonly channels: RunningChannels['counter'] | null
  /** Takes up claims of earlier runs, and begins to ask facilitators. */
  readonly start: () => Promise<void>
  readonly providers: Pick<Checkable, 'facts'>
  readonly warnings: () => readonly string[]
}

/** The parts that the rail is built on. */
export interface RailParts {
  readonly options: DaemonOptions
  readonly chain: Chain
  readonly market: Market
  readonly tabs: OpenedTabs
  /** Signs receipts of calls on channels. */
  readonly signer: ReceiptSigner
  readonly onFault: (area: string, cause: Fault) => void
}

const PRUNE_MS = 600_000
const WHAT = 'stablecoin payments'
/** Time of an offer that queue and settlement need beside the service. */
const MARGIN_SECONDS = 10

/** Null if the rail is off. Faults: `config/value`, `config/file`, those of storage. */
export async function openDollarRail(parts: RailParts, stops: Stop[]): Promise<Result<RunningRail | null>> {
  const { options, market } = parts
  const { config, onFatal } = options
  if (!config.stable.enabled) {
    await warnOfChannels(options, parts.tabs)
    return ok(null)
  }
  const terms = dollarTerms(config.stable)
  if (!terms.ok) return terms
  const short = tooShort(terms.value, options.services)
  if (short !== null) return fail(short)
  const opened = await openStore(options)
  if (!opened.ok) return opened
  const store = opened.value
  stops.push(() => store.close())
  const auth = await facilitatorAuth(config.stable)
  if (!auth.ok) return auth
  const basis = { terms: terms.value, auth: auth.value }
  const built = await build(parts, basis, store)
  if (!built.ok) return built
  const { dollar, pool } = built.value
  const channels = await openChannelRail({ ...parts, ...basis }, stops)
  if (!channels.ok) return channels
  const takeover = store.shared === undefined ? null : new Takeover(store.shared, systemTimers)
  takeover?.join(dollar.till)
  stops.push(() => takeover?.stop())
  stops.push(() => pool.stop())
  const { resultKeepMs, resultBytesMax } = market.settings
  const prune = (): Promise<Result<number>> =>
    unlessAway(async () => ok(await store.pruneResults(systemClock.now() - resultKeepMs, resultBytesMax)))
  stops.push(repeat(PRUNE_MS, prune, onFatal))
  const facilitators = {
    get facts(): readonly ProviderFacts[] {
      return pool.facts.map(({ url, healthy, trouble }) => ({ what: WHAT, name: url, usable: healthy, trouble }))
    },
  }
  const start = async (): Promise<void> => {
    // Quotes do not depend on facilitators, so the start does not wait for them.
    stops.push(watchProviders([facilitators], pool.start(), options))
    await unlessAway(async () => ok(await dollar.till.resume()))
    takeover?.start()
    await channels.value?.start()
  }
  const warnings = (): readonly string[] => {
    const { refundsOwed, arrivals } = dollar.figures
    const missing = arrivals?.missing ?? 0
    return [
      ...(refundsOwed === 0 ? [] : [`${refundsOwed} stablecoin refunds are owed: see docs/stablecoin.md`]),
      ...(missing === 0
        ? []
        : [
            `${missing} stablecoin payments that a facilitator reported are not on their chain: see docs/stablecoin.md`,
          ]),
    ]
  }
  return ok({ dollar, channels: channels.value?.counter ?? null, start, providers: facilitators, warnings })
}

async function openStore({
  config,
  openClaims,
}: DaemonOptions): Promise<Result<DollarClaimStore & { close(): Promise<void> }>> {
  try {
    return ok(await openClaims(folderPaths(config.dataDir).stable, DOLLAR_CLAIMS))
  } catch (error) {
    return fail(error instanceof ClaimsAway ? error.fault : storageFault(config.dataDir, error))
  }
}

async function build(
  { options, chain, market, onFault }: RailParts,
  { terms, auth }: Pick<ChannelParts, 'terms' | 'auth'>,
  store: DollarClaimStore,
): Promise<Result<{ readonly dollar: DollarRail; readonly pool: FacilitatorPool }>> {
  const { config, logger, onFatal } = options
  const { facilitators, rpcUrl, refundKeyFile } = config.stable
  const wallet = await refundWallet(refundKeyFile, terms)
  if (!wallet.ok) return wallet
  const { network } = terms
  const [clock, timers] = [systemClock, systemTimers]
  const all = facilitators.map((url) => new HttpFacilitator(url, auth.get(url)))
  const pool = new FacilitatorPool({ facilitators: all, network, clock, timers })
  const ledger = rpcUrl === null ? null : new EvmRpc(rpcUrl, network.chainId, () => clock.now())
  const shared = { store, facilitators: pool, ledger, clock, timers, onError: onFatal }
  const told = (cause: Fault): void => onFault(`stablecoin refund to ${String(cause.detail.payer)}`, cause)
  const refunder = new Refunder({ ...shared, terms, wallet: wallet.value, onFault: told })
  const { shop, workshop, settings } = market
  // The address that catalogues of facilitators list: clients of both versions of x402 can read the answer there.
  const urlOf = (serviceId: string): string =>
    resourceUrl(config.rpc.publicUrl ?? localUrl(config.rpc), serviceId, 'stable')
  const offerOf = (serviceId: string): OwnOffer => ownOffer(shop.offer(serviceId)?.definition, urlOf(serviceId))
  const seller = { terms, offerOf }
  // Each of these faults is money that did not arrive, so each gets its own line in the log.
  const onMissing = (cause: Fault): void =>
    logger.warn({ area: 'stablecoin payments', code: cause.code, ...cause.detail }, faultMessage(cause))
  const sale = { chain, shop, workshop, settings, seller, refunder, onFault: onMissing }
  return ok({ dollar: new DollarRail({ ...shared, ...sale }), pool })
}

/** If the service is not sold, only its address. */
function ownOffer(definition: ServiceDefinition | undefined, url: string): OwnOffer {
  if (definition === undefined) return { resource: { url }, extensions: {} }
  return { resource: offerResource(definition, url), extensions: offerExtensions(definition) }
}

/** An offer must last longer than the slowest service, or it could never be paid. */
function tooShort({ maxTimeoutSeconds }: DollarTerms, services: readonly ServiceDefinition[]): Fault | null {
  const slowest = Math.max(0, ...services.map(({ timeoutMs }) => Math.ceil(timeoutMs / 1_000)))
  const least = slowest + MARGIN_SECONDS
  if (maxTimeoutSeconds >= least) return null
  const allowed = `at least ${least}, as the slowest service may take ${slowest} seconds`
  return fault('config/value', { key: 'stable.max-timeout-seconds', value: String(maxTimeoutSeconds), allowed })
}
