import { availableParallelism } from 'node:os'
import type { OutsideConfig } from '../config/outside-settings.ts'
import type { Clock, Timers } from '../consensus/chain/ports.ts'
import { fault } from '../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import type { CryptoPrices } from '../marketplace/outside/crypto-prices.ts'
import type { EvmReader } from '../marketplace/outside/evm.ts'
import type { MailDomains } from '../marketplace/outside/mail.ts'
import type { Models } from '../marketplace/outside/models.ts'
import type { Outside } from '../marketplace/outside/outside.ts'
import type { EndpointProbe } from '../marketplace/outside/probes.ts'
import type { Asked } from '../marketplace/outside/providers.ts'
import { notConfigured } from '../marketplace/outside/readiness.ts'
import type { WebReader } from '../marketplace/outside/web.ts'
import type { Stop } from './core.ts'
import { FileGeoDatabases } from './geo/geo-databases.ts'
import type { Checkable } from './outbound/providers/provider.ts'
import { EnginePool } from './workers/engine-pool.ts'

/** What the outside is made from. */
export interface OutsideParts {
  readonly config: OutsideConfig
  /** Base address that this node tells others; null where it tells none. */
  readonly publicUrl: string | null
  readonly clock: Clock
  readonly timers: Timers
}

/** What services reach beside the chain, with what operators can look at. */
export interface RunningOutside extends Outside {
  readonly checkable: readonly Checkable[]
}

/** Sets up everything that services reach beside the chain; `stops` takes what ends it. */
export async function openOutside(parts: OutsideParts, stops: Stop[]): Promise<Result<RunningOutside>> {
  const engines = new EnginePool(Math.max(1, Math.floor(availableParallelism() / 2)))
  stops.push(() => engines.close())
  const geo = await FileGeoDatabases.open({ config: parts.config.geo, timers: parts.timers })
  if (!geo.ok) return geo
  stops.push(() => geo.value.stop())
  return ok({
    engines,
    web: NO_WEB,
    mail: NO_MAIL,
    endpoint: NO_ENDPOINT,
    geo: geo.value,
    prices: NO_PRICES,
    search: nobody('web search', 'providers.search'),
    domains: { ...nobody('domain registrations', 'providers.domains'), covers: () => null },
    weather: {
      ...nobody('the weather', 'providers.weather'),
      names: () => notConfigured('a geocoder', 'providers.geocoder'),
    },
    rates: nobody('exchange rates', 'providers.rates'),
    evm: NO_EVM,
    models: NO_MODELS,
    translator: nobody('translations', 'providers.translate', 'models.file'),
    checkable: [geo.value],
  })
}

function nobody<Query, Value>(what: string, ...requires: readonly string[]): Asked<Query, Value> {
  return {
    readiness: () => notConfigured(`a provider of ${what}`, ...requires),
    ask: async () => fail(fault('provider/none', { what, reason: 'none is configured' })),
  }
}

const NO_WEB: WebReader = {
  readiness: () => notConfigured('reading the web', 'web.enabled'),
  check: () => fail(fault('web/refused', { reason: 'reading the web is off' })),
  read: async () => fail(fault('web/refused', { reason: 'reading the web is off' })),
}

const NO_MAIL: MailDomains = {
  readiness: () => notConfigured('the name system', 'web.enabled'),
  lookUp: async (domain) => fail(fault('web/unreachable', { host: domain, reason: 'reading the web is off' })),
}

const NO_ENDPOINT: EndpointProbe = {
  readiness: () => notConfigured('an endpoint', 'validation.target', 'rpc.public-url'),
  target: '',
  probe: async (path) => ({
    path,
    status: null,
    latencyMs: 0,
    requestId: null,
    contentType: null,
    error: 'no endpoint is configured',
  }),
}

const NO_PRICES: CryptoPrices = {
  readiness: () => notConfigured('a provider of prices', 'providers.prices'),
  majors: async () => fail(fault('provider/none', { what: 'prices', reason: 'none is configured' })),
  latest: () => null,
}

const NO_EVM: EvmReader = {
  readiness: (network) => notConfigured(`a node of ${network}`, `providers.${network}`),
  gas: async () => fail(NO_NODE),
  balance: async () => fail(NO_NODE),
  ens: async () => fail(NO_NODE),
}
const NO_NODE = fault('provider/none', { what: 'EVM networks', reason: 'none is configured' })

const NO_MODELS: Models = {
  readiness: (role) => notConfigured(`a model with the role ${role}`, 'models.file'),
  complete: async () => fail(NO_MODEL),
  picture: async () => fail(NO_MODEL),
}
const NO_MODEL = fault('model/none', { reason: 'none is configured' })
