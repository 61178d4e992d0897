import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type { OutsideConfig } from '../../config/outside-settings.ts'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { MailDomains } from '../../marketplace/ports/mail.ts'
import type { Outside } from '../../marketplace/ports/outside.ts'
import { notConfigured } from '../../marketplace/ports/readiness.ts'
import type { WebReader } from '../../marketplace/ports/web.ts'
import type { Stop } from '../daemon/open-core.ts'
import { VERSION } from '../daemon/version.ts'
import { openDocuments } from '../engines/documents/document-desk.ts'
import { FileGeoDatabases } from '../geo/geo-databases.ts'
import { EnginePool } from '../workers/engine-pool.ts'
import { ProviderPrices } from './crypto-prices.ts'
import { HttpEndpointProbe } from './endpoint-probe.ts'
import { RpcEvmReader } from './evm/evm-reader.ts'
import { DnsMailDomains } from './mail-domains.ts'
import type { NameSystem } from './name-system.ts'
import { type Asked, openAsked } from './open-asked.ts'
import { type Internet, openWeb } from './open-web.ts'
import { PageCache } from './page-cache.ts'
import { type ProviderKeys, readProviderKeys } from './provider-keys.ts'
import type { Checkable } from './providers/provider.ts'
import { RdapDomains } from './providers/rdap.ts'
import { ChainedWeather } from './providers/weather.ts'
import { webSearch } from './providers/web-search.ts'
import { ProviderRates } from './reference-rates.ts'

/** What {@link openOutside} needs. */
export interface OutsideDependencies {
  readonly config: OutsideConfig
  /** The public base address; null if there is none. */
  readonly publicUrl: string | null
  /** Multiaddress that peers are told instead of the addresses that this node listens on. */
  readonly announced?: string | null
  /** IP addresses of the current peers. */
  readonly peerAddresses?: () => readonly string[]
  /** Replaces the internet in tests. */
  readonly internet?: Internet | undefined
  readonly fixtureModels?: boolean | undefined
  /**
   * Whether providers are checked regularly; default true. A command that checks once itself sets false, or each
   * provider would be asked twice.
   */
  readonly isWatching?: boolean
  readonly espeak?: string | null | undefined
  readonly clock: Clock
  readonly timers: Timers
}

/** Everything outside the chain that services use. */
export interface RunningOutside extends Omit<Outside, 'models'>, Asked {
  readonly checkable: readonly Checkable[]
  /** Resolves after the first checks of DNS, EVM nodes, providers and models. */
  readonly looked: () => Promise<void>
}

/** Adds to `stops` what closes it. */
export async function openOutside(parts: OutsideDependencies, stops: Stop[]): Promise<Result<RunningOutside>> {
  const engines = openEngines(parts)
  stops.push(() => engines.close())
  const documents = await openDocuments({ engines, ...parts.config.documents })
  if (!documents.ok) return documents
  const geo = await FileGeoDatabases.open({ config: parts.config.geo, timers: parts.timers })
  if (!geo.ok) return geo
  stops.push(() => geo.value.stop())
  const evm = RpcEvmReader.open({ ...parts, config: parts.config.providers })
  if (!evm.ok) return evm
  stops.push(() => evm.value.stop())
  const watch = watchOf(parts)
  const lookedAtNodes = watch(evm.value)
  const reading = openReading(parts, stops)
  if (!reading.ok) return reading
  const { names, web, mail } = reading.value
  const keys = await readProviderKeys(parts.config.providers.keysFile)
  if (!keys.ok) return keys
  const { prices, rates, lookedAtQuotes } = openQuotes(parts, keys.value, stops)
  const { search, domains, weather, lookedAtFinders } = openFinders(parts, keys.value, web, stops)
  const { fixtureModels = false, espeak = null } = parts
  const asked = await openAsked({ ...parts, keys: keys.value, fixtureModels, espeak })
  if (!asked.ok) return asked
  stops.push(() => asked.value.close())
  const { models, translator, speech } = asked.value
  const lookedAtAsked = watch(asked.value)
  return ok({
    engines,
    documents: documents.value,
    web,
    mail,
    endpoint: new HttpEndpointProbe(parts.config.validationTarget ?? parts.publicUrl?.replace(/\/+$/, '') ?? ''),
    geo: geo.value,
    prices,
    search,
    domains,
    weather,
    rates,
    evm: evm.value,
    models,
    translator,
    speech,
    checkable: [
      geo.value,
      prices,
      rates,
      search,
      domains.chain,
      weather.chain,
      weather.geocoder,
      evm.value,
      ...(names === null ? [] : [names]),
      ...asked.value.checkable,
    ],
    looked: async () => {
      await names?.check()
      await lookedAtAsked
      await lookedAtNodes
      await lookedAtQuotes
      await lookedAtFinders
    },
  })
}

function openReading(
  { config, announced = null, peerAddresses = () => [], ...parts }: OutsideDependencies,
  stops: Stop[],
): Result<{ readonly names: NameSystem | null; readonly web: WebReader; readonly mail: MailDomains }> {
  const opened = openWeb({ ...parts, config: config.web, announced, peerAddresses })
  if (!opened.ok) return opened
  if (!config.web.enabled) return ok({ names: null, web: NO_WEB, mail: NO_MAIL })
  const { names, web } = opened.value
  if (parts.isWatching !== false) names.start()
  stops.push(() => names.stop())
  return ok({ names, web: new PageCache(web, parts.clock), mail: new DnsMailDomains(names, parts.clock) })
}

function openEngines({ config }: OutsideDependencies): EnginePool {
  const readable = config.documents.fonts.map((path) => resolve(path))
  return new EnginePool(Math.max(1, Math.floor(availableParallelism() / 2)), { readable })
}

function watchOf({ isWatching = true }: OutsideDependencies): (one: { start(): Promise<unknown> }) => Promise<unknown> {
  return async (one) => (isWatching ? one.start() : undefined)
}

function openQuotes(parts: OutsideDependencies, keys: ProviderKeys, stops: Stop[]) {
  const { config, clock, timers } = parts
  const prices = new ProviderPrices({ choices: config.providers.prices, keys, clock, timers })
  const rates = new ProviderRates({ choices: config.providers.rates, clock, timers })
  stops.push(() => prices.stop())
  stops.push(() => rates.stop())
  return { prices, rates, lookedAtQuotes: Promise.all([prices, rates].map(watchOf(parts))) }
}

function openFinders(parts: OutsideDependencies, keys: ProviderKeys, web: WebReader, stops: Stop[]) {
  const { config, publicUrl, clock, timers } = parts
  const contact = config.web.contact ?? publicUrl
  const userAgent = contact === null ? null : `Farthing/${VERSION} (+${contact})`
  const search = webSearch({ choices: config.providers.search, keys, clock, timers })
  const domains = new RdapDomains({ lists: config.providers.domains.map(({ url }) => url), web, clock, timers })
  const weather = new ChainedWeather({ choices: config.providers, keys, userAgent, clock, timers })
  for (const finder of [search, domains, weather]) stops.push(() => finder.stop())
  const lookedAtFinders = Promise.all([search, domains, weather].map(watchOf(parts)))
  return { search, domains, weather, lookedAtFinders }
}

const NO_WEB: WebReader = {
  readiness: () => notConfigured('reading the web', 'web.enabled'),
  check: () => fail(fault('web/refused', { reason: 'reading the web is off' })),
  read: async () => fail(fault('web/refused', { reason: 'reading the web is off' })),
}

const NO_MAIL: MailDomains = {
  readiness: () => notConfigured('the name system', 'web.enabled'),
  lookUp: async (domain) => fail(fault('web/unreachable', { host: domain, reason: 'reading the web is off' })),
  isDisposable: () => false,
}
