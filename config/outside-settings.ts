import { flag, type Setting, text } from './setting.ts'

/** `url` is null for the provider's default address. */
export interface ProviderChoice {
  readonly name: string
  readonly url: string | null
}

/** Names of providers per kind. */
export const PROVIDER_NAMES = {
  prices: ['coingecko', 'coinbase', 'binance'],
  search: ['searxng', 'brave'],
  domains: ['iana'],
  weather: ['open-meteo', 'met-norway'],
  geocoder: ['open-meteo'],
  rates: ['ecb', 'frankfurter'],
  translate: ['libretranslate'],
} as const satisfies Record<string, readonly string[]>

/** Kinds of data that providers give. */
export type ProviderKind = keyof typeof PROVIDER_NAMES

const HTTP_URL = 'https?:\\/\\/[^\\s,=]+[^\\s,]*'

/** Parts of the setting that may hold a key: what follows a name, addresses, and words too long for a name. */
const ADDRESS_PARTS = /(?<=[=:])[^,]+|[^,=:]{20,}/g

function providers(kind: ProviderKind, about: string): Setting {
  const names = PROVIDER_NAMES[kind]
  const one = `(${names.join('|')})(=${HTTP_URL})?`
  const allowed = `${names.join(', ')}, each with =http(s)://... where it is elsewhere, separated by commas`
  return {
    ...text(about, null, allowed, new RegExp(`^${one}(,${one}){0,7}$`)),
    isSecret: true,
    secretParts: ADDRESS_PARTS,
  }
}

function nodes(about: string): Setting {
  const pattern = /^https?:\/\/[^\s,]+(,https?:\/\/[^\s,]+){0,7}$/
  return { ...text(about, null, 'http(s) URLs separated by commas, at most 8', pattern), isSecret: true }
}

const CIDR = '[0-9a-fA-F:.]+\\/[0-9]{1,3}'

/** Addresses may hold keys, so those of providers are never shown. */
export const OUTSIDE_SETTINGS = {
  'web.enabled': flag('Whether services may use the public web and DNS', true),
  'web.robots': flag('Whether node-web-fetch obeys robots.txt', true),
  'web.ports': text(
    'Ports that URLs of callers may use',
    '80,443',
    'ports separated by commas',
    /^\d{1,5}(,\d{1,5}){0,15}$/,
  ),
  'web.deny': text(
    'Networks that are never contacted for callers, beside all non-public ones and those of this node',
    null,
    'networks like 203.0.113.0/24, separated by commas',
    new RegExp(`^${CIDR}(,${CIDR}){0,255}$`),
  ),
  'web.contact': text(
    'Contact address in the User-Agent, for operators of visited sites; default: rpc.public-url',
    null,
    'an http(s) or mailto URL',
    /^(https?:\/\/|mailto:)[\x21-\x7e]{1,200}$/,
  ),
  'web.resolvers': text(
    'DNS servers; default: those of the system',
    null,
    'IP addresses, each with a port if it is not 53: 127.0.0.1:5353',
    /^[0-9a-fA-F:.[\]]+(,[0-9a-fA-F:.[\]]+){0,7}$/,
  ),
  'validation.target': text(
    'Base address that node-x402-validation probes; default: rpc.public-url',
    null,
    'an http(s) URL without a slash at the end',
    /^https?:\/\/[^\s/]+(\/[^\s]*[^\s/])?$/,
  ),
  'geo.city-db': text('MMDB file with cities or countries (GeoLite2, DB-IP, ip-location-db)', null, 'a path'),
  'geo.asn-db': text('MMDB file with autonomous systems', null, 'a path'),
  'providers.prices': providers('prices', 'Providers of crypto prices, in the order in which they are asked'),
  'providers.search': providers(
    'search',
    'Providers of web search; your own SearXNG must have its JSON format enabled',
  ),
  'providers.domains': providers('domains', 'Source of the list of domain registries (RDAP)'),
  'providers.weather': providers('weather', 'Providers of the weather'),
  'providers.geocoder': providers('geocoder', 'Providers of coordinates of places; default: as providers.weather'),
  'providers.rates': providers('rates', 'Providers of exchange rates of currencies'),
  'providers.translate': providers('translate', 'Providers of translation; default: a model with the role translate'),
  'providers.ethereum': nodes('JSON-RPC nodes of Ethereum, in the order in which they are asked'),
  'providers.base': nodes('JSON-RPC nodes of the layer-2 network Base, in the order in which they are asked'),
  'providers.keys-file': text(
    'JSON file with keys of providers: {"coingecko": "...", "brave": "...", "open-meteo": "..."}',
    null,
    'a path',
  ),
  'models.file': text('JSON file with the model backends (docs/models.md)', null, 'a path'),
  'models.gguf': text('GGUF file of a local model; needs the package node-llama-cpp', null, 'a path'),
  'models.procedural-images': flag(
    'Whether node-image-gen sells abstract pictures, which are computed from the prompt but do not show what it says',
    false,
  ),
  'documents.currency': text(
    'Currency of documents if the request names none',
    'EUR',
    'an ISO 4217 code',
    /^[A-Z]{3}$/,
  ),
  'documents.fonts': text(
    'Font files (TTF, OTF, WOFF) for scripts that the built-in fonts lack',
    null,
    'paths separated by commas',
  ),
} as const satisfies Record<string, Setting>

/** Parsed settings of everything that services use outside the chain. */
export interface OutsideConfig {
  readonly web: {
    readonly enabled: boolean
    readonly robots: boolean
    readonly ports: readonly number[]
    readonly deny: readonly string[]
    readonly contact: string | null
    /** Empty for the DNS servers of the system. */
    readonly resolvers: readonly string[]
  }
  /** Null for the node's public address. */
  readonly validationTarget: string | null
  readonly geo: { readonly cityDb: string | null; readonly asnDb: string | null }
  readonly providers: Readonly<Record<ProviderKind, readonly ProviderChoice[]>> & {
    /** Addresses that may hold keys. */
    readonly ethereum: readonly string[]
    readonly base: readonly string[]
    readonly keysFile: string | null
  }
  readonly models: { readonly file: string | null; readonly gguf: string | null; readonly proceduralImages: boolean }
  readonly documents: { readonly currency: string; readonly fonts: readonly string[] }
}

/** Parses the settings; their texts have already been checked. */
export function readOutside(textOf: (name: keyof typeof OUTSIDE_SETTINGS) => string | null): OutsideConfig {
  const list = (name: keyof typeof OUTSIDE_SETTINGS): readonly string[] => textOf(name)?.split(',') ?? []
  const chosen = (kind: ProviderKind): readonly ProviderChoice[] => list(`providers.${kind}`).map(choiceOf)
  return {
    web: {
      enabled: textOf('web.enabled') === 'true',
      robots: textOf('web.robots') === 'true',
      ports: list('web.ports').map(Number),
      deny: list('web.deny'),
      contact: textOf('web.contact'),
      resolvers: list('web.resolvers'),
    },
    validationTarget: textOf('validation.target'),
    geo: { cityDb: textOf('geo.city-db'), asnDb: textOf('geo.asn-db') },
    providers: {
      prices: chosen('prices'),
      search: chosen('search'),
      domains: chosen('domains'),
      weather: chosen('weather'),
      geocoder: chosen('geocoder'),
      rates: chosen('rates'),
      translate: chosen('translate'),
      ethereum: list('providers.ethereum'),
      base: list('providers.base'),
      keysFile: textOf('providers.keys-file'),
    },
    models: {
      file: textOf('models.file'),
      gguf: textOf('models.gguf'),
      proceduralImages: textOf('models.procedural-images') === 'true',
    },
    documents: { currency: textOf('documents.currency') ?? 'EUR', fonts: list('documents.fonts') },
  }
}

function choiceOf(text: string): ProviderChoice {
  const [name = '', ...rest] = text.split('=')
  return { name, url: rest.length === 0 ? null : rest.join('=').replace(/\/+$/, '') }
}
