import { parseAmount } from '../consensus/primitives/amount.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import { likest } from '../consensus/primitives/likeness.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import { parseProxies } from '../rpc/edge/proxies.ts'
import { readChat } from './chat-settings.ts'
import { readOutside } from './outside-settings.ts'
import type { Setting } from './setting.ts'
import { type Config, type Origin, type Prices, type Resolved, SETTINGS, type SettingName } from './settings.ts'

/** Settings from one source, as texts by name, and how the source names them. */
export interface Source {
  readonly origin: Origin
  readonly values: Readonly<Record<string, string>>
  readonly callsIt: (name: string) => string
}

/** All settings with their values and origins. */
export type Resolution = Readonly<Record<SettingName, Resolved>>

const NAMES = Object.keys(SETTINGS) as SettingName[]
const ENVIRONMENT_PREFIX = 'FARTHING_'

/** Flag of a setting: `rpc.port` is `--rpc-port`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll('.', '-')}`
}

/** Environment variable of a setting: `rpc.port` is `FARTHING_RPC_PORT`. */
export function variableOf(name: string): string {
  return ENVIRONMENT_PREFIX + name.replaceAll(/[.-]/g, '_').toUpperCase()
}

/** Unknown variables that begin with `FARTHING_` are refused, except for `others`. */
export function environmentSource(
  environment: Readonly<Record<string, string | undefined>>,
  others: readonly string[],
): Result<Source> {
  const byVariable = new Map(NAMES.map((name) => [variableOf(name), name]))
  const values: Record<string, string> = {}
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || value === undefined || others.includes(variable)) continue
    const name = byVariable.get(variable)
    if (name === undefined) return fail(unknownKey(variable, [...byVariable.keys()], 'environment'))
    values[name] = value
  }
  return ok({ origin: 'environment', values, callsIt: variableOf })
}

/** Flags are given without their dashes. `others` are the command's own flags: a typo may have meant one of them. */
export function flagSource(flags: Readonly<Record<string, string>>, others: readonly string[] = []): Result<Source> {
  const byFlag = new Map(NAMES.map((name) => [flagOf(name).slice(2), name]))
  const values: Record<string, string> = {}
  for (const [flag, value] of Object.entries(flags)) {
    const name = byFlag.get(flag)
    if (name === undefined) {
      const known = [...byFlag.keys(), ...others].map((each) => `--${each}`)
      return fail(unknownKey(`--${flag}`, known, 'flags'))
    }
    values[name] = value
  }
  return ok({ origin: 'flag', values, callsIt: flagOf })
}

/** Settings of a JSON file: nested objects, `{"rpc": {"port": 8420}}`. */
export function fileSource(path: string, content: string): Result<Source> {
  let json: unknown
  try {
    json = JSON.parse(content)
  } catch {
    return fail(fault('config/file', { path, reason: 'it is not JSON' }))
  }
  const values: Record<string, string> = {}
  const refusal = flatten(json, '', values)
  if (refusal !== null) return fail(refusal)
  return ok({ origin: 'file', values, callsIt: (name) => `${name} in ${path}` })
}

/** Later sources override earlier ones, and every source the defaults. */
export function resolveConfig(
  sources: readonly Source[],
  home: string,
): Result<{ readonly config: Config; readonly resolution: Resolution }> {
  const resolution = {} as Record<SettingName, Resolved>
  const called = {} as Record<SettingName, string>
  for (const name of NAMES) {
    resolution[name] = { value: SETTINGS[name].default, origin: 'default' }
    called[name] = name
    for (const { origin, values, callsIt } of sources) {
      const value = values[name]
      if (value === undefined) continue
      resolution[name] = { value, origin }
      called[name] = callsIt(name)
    }
    const wrong = checkValue(SETTINGS[name], resolution[name].value)
    if (wrong !== null)
      return fail(
        fault('config/value', { key: called[name], value: shownValue(name, resolution[name]), allowed: wrong }),
      )
  }
  resolution['data-dir'] = {
    ...resolution['data-dir'],
    value: resolution['data-dir'].value ?? `${home}/.farthing/${resolution.network.value}`,
  }
  return ok({ config: configOf(resolution), resolution })
}

/** The value of a setting for display. If it may hold a password, only the parts that cannot hold it are shown. */
export function shownValue(name: SettingName, { value }: Resolved): string {
  const { isSecret, secretParts }: Setting = SETTINGS[name]
  if (value === null || !isSecret) return String(value)
  return secretParts === undefined ? '(hidden)' : value.replace(secretParts, '(hidden)')
}

function flatten(value: unknown, path: string, into: Record<string, string>): Fault | null {
  if (NAMES.includes(path as SettingName) && value !== null) {
    into[path] = typeof value === 'object' ? pricesText(value) : String(value)
    return null
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return unknownKey(path || 'the file', NAMES, 'file')
  for (const [key, inner] of Object.entries(value)) {
    const refusal = flatten(inner, path === '' ? key : `${path}.${key}`, into)
    if (refusal !== null) return refusal
  }
  return null
}

function pricesText(value: object): string {
  return Object.entries(value)
    .map(([serviceId, price]) => `${serviceId}=${String(price)}`)
    .join(',')
}

function unknownKey(key: string, known: readonly string[], source: string): Fault {
  return fault('config/unknown-key', { key, source, suggestion: likest(key, known, 1)[0] as string })
}

/** The allowed values, if this one is not allowed; else null. */
function checkValue({ type }: Setting, value: string | null): string | null {
  if (value === null) return null
  switch (type.kind) {
    case 'choice':
      return type.choices.includes(value) ? null : type.choices.join(', ')
    case 'boolean':
      return value === 'true' || value === 'false' ? null : 'true, false'
    case 'integer': {
      const number = /^[0-9]{1,12}$/.test(value) ? Number(value) : Number.NaN
      return number >= type.min && number <= type.max ? null : `a whole number from ${type.min} to ${type.max}`
    }
    case 'dollars':
      return parseDollars(value) === null ? 'dollars with at most 6 decimals, like 0.25' : null
    case 'prices':
      return parsePrices(value) === null
        ? 'service ids with dollar prices of up to a million: node-a=0.01,node-b=0.02'
        : null
    case 'proxies':
      return parseProxies(value) === null ? 'true, false, or addresses and networks like 10.0.0.2,2001:db8::/64' : null
    default:
      return value !== '' && (type.pattern?.test(value) ?? true) ? null : type.allowed
  }
}

const USD_DECIMALS = 6
/** A million dollars per call: a higher price is a typo. */
const PRICE_USD_MICROS_MAX = 10n ** 12n

/** Dollars as millionths; null if the text is no amount or has more than six decimals. */
function parseDollars(text: string): bigint | null {
  const parsed = parseAmount(text, USD_DECIMALS)
  return parsed.ok ? parsed.value : null
}

function parsePrices(value: string): Prices | null {
  const prices: Record<string, bigint> = {}
  for (const part of value.split(',').filter((piece) => piece !== '')) {
    const [, serviceId, dollars] = /^([a-z0-9-]+)=([0-9.]+)$/.exec(part.trim()) ?? []
    const parsed = dollars === undefined ? undefined : parseAmount(dollars, USD_DECIMALS)
    if (serviceId === undefined || parsed === undefined || !parsed.ok) return null
    if (parsed.value === 0n || parsed.value > PRICE_USD_MICROS_MAX) return null
    prices[serviceId] = parsed.value
  }
  return prices
}

function ratesOf(integer: (name: SettingName) => number): Config['rpc']['rates'] {
  return {
    read: integer('rpc.rate-read'),
    list: integer('rpc.rate-list'),
    transaction: integer('rpc.rate-transaction'),
    simulate: integer('rpc.rate-simulate'),
    quote: integer('rpc.rate-quote'),
    settle: integer('rpc.rate-settle'),
    tab: integer('rpc.rate-tab'),
    mining: integer('rpc.rate-mining'),
    health: integer('rpc.rate-health'),
    events: integer('rpc.rate-events'),
    mcp: integer('rpc.rate-mcp'),
    chat: integer('rpc.rate-chat'),
    'sign-in': integer('rpc.rate-sign-in'),
  }
}

function configOf(resolution: Resolution): Config {
  const text = (name: SettingName): string => resolution[name].value as string
  const optional = (name: SettingName): string | null => resolution[name].value
  const integer = (name: SettingName): number => Number(resolution[name].value)
  const boolean = (name: SettingName): boolean => resolution[name].value === 'true'
  return {
    network: text('network') as Config['network'],
    dataDir: text('data-dir'),
    rpc: rpcOf(resolution),
    mcp: { allowedOrigins: optional('mcp.allowed-origins')?.split(',') ?? [] },
    p2p: {
      enabled: boolean('p2p.enabled'),
      host: optional('p2p.host'),
      port: integer('p2p.port'),
      peers: optional('p2p.peers')?.split(',') ?? [],
      outbound: integer('p2p.outbound'),
      inboundMax: integer('p2p.inbound-max'),
      mdns: text('p2p.mdns') as Config['p2p']['mdns'],
      dht: boolean('p2p.dht'),
      upnp: boolean('p2p.upnp'),
      autonat: boolean('p2p.autonat'),
      announce: optional('p2p.announce'),
    },
    sync: { snapshot: text('sync.snapshot') as Config['sync']['snapshot'] },
    mine: { threads: integer('mine.threads'), address: optional('mine.address') },
    verify: { threads: integer('verify.threads') },
    devKey: integer('dev-key'),
    wallet: { passphraseFile: optional('wallet.passphrase-file') },
    market: {
      enabled: boolean('market.enabled'),
      agentId: optional('market.agent-id'),
      agentName: text('market.agent-name'),
      owner: optional('market.owner'),
      payout: optional('market.payout'),
      prices: parsePrices(optional('market.prices') ?? '') ?? {},
      minPoolDepthMicros: parseDollars(text('market.min-pool-depth-usd')) ?? 0n,
      nativeUsdMinMicros: parseDollars(optional('market.native-usd-min') ?? ''),
      nativeUsdMaxMicros: parseDollars(optional('market.native-usd-max') ?? ''),
      settlers: optional('market.settlers')?.split(',') ?? [],
      claimsUrl: optional('market.claims-url'),
      claimsLeaseSeconds: integer('market.claims-lease-seconds'),
      tabs: boolean('market.tabs'),
      tabCloseDelay: integer('market.tab-close-delay'),
      tabKeyFile: optional('market.tab-key-file'),
      pauseDepth: integer('market.pause-depth'),
      settleWaitMs: integer('market.settle-wait-ms'),
      resultKeepHours: integer('market.result-keep-hours'),
      resultKeepMib: integer('market.result-keep-mib'),
    },
    stable: stableOf(resolution),
    outside: readOutside((name) => resolution[name].value),
    chat: readChat((name) => resolution[name].value),
    chain: { reorganisationMax: integer('chain.reorganisation-max') },
    mempool: { countMax: integer('mempool.count-max'), mibMax: integer('mempool.mib-max') },
    storage: {
      cacheMib: integer('storage.cache-mib'),
      writeBufferMib: integer('storage.write-buffer-mib'),
      mode: text('storage.mode') as Config['storage']['mode'],
      witnessDays: integer('storage.witness-days'),
      snapshotBlocks: integer('storage.snapshot-blocks'),
    },
    log: { level: text('log.level'), format: text('log.format') as Config['log']['format'] },
  }
}

function rpcOf(resolution: Resolution): Config['rpc'] {
  const integer = (name: SettingName): number => Number(resolution[name].value)
  return {
    host: resolution['rpc.host'].value as string,
    port: integer('rpc.port'),
    publicUrl: resolution['rpc.public-url'].value,
    trustProxy: parseProxies(resolution['rpc.trust-proxy'].value as string) ?? false,
    rates: ratesOf(integer),
    delayMsMax: integer('rpc.delay-max-ms'),
    concurrentMax: integer('rpc.concurrent-max'),
  }
}

function stableOf(resolution: Resolution): Config['stable'] {
  const optional = (name: SettingName): string | null => resolution[name].value
  const number = (name: SettingName): number | null => (optional(name) === null ? null : Number(optional(name)))
  return {
    enabled: optional('stable.enabled') === 'true',
    network: optional('stable.network') as Config['stable']['network'],
    networkWord: optional('stable.network-word'),
    chainId: number('stable.chain-id'),
    assetContract: optional('stable.asset-contract'),
    assetSymbol: optional('stable.asset-symbol'),
    assetName: optional('stable.asset-name'),
    assetVersion: optional('stable.asset-version'),
    assetDecimals: number('stable.asset-decimals'),
    payTo: optional('stable.pay-to'),
    facilitators: optional('stable.facilitators')?.split(',') ?? [],
    facilitatorAuthFile: optional('stable.facilitator-auth-file'),
    rpcUrl: optional('stable.rpc-url'),
    maxTimeoutSeconds: Number(optional('stable.max-timeout-seconds')),
    refundKeyFile: optional('stable.refund-key-file'),
    channels: optional('stable.channels') === 'true',
    channelGasKeyFile: optional('stable.channel-gas-key-file'),
    channelWithdrawDelay: Number(optional('stable.channel-withdraw-delay')),
    channelDepositMinMicros: parseDollars(optional('stable.channel-deposit-min') ?? '') ?? 0n,
    channelUnclaimedMaxMicros: parseDollars(optional('stable.channel-unclaimed-max') ?? '') ?? 0n,
  }
}
