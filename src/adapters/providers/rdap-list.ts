import type { Clock } from '../../../consensus/chain/ports.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { type JsonAt, readJson } from './json-at.ts'
import type { Provider } from './provider.ts'
import { providerJson } from './provider-fetch.ts'

const NAME = 'iana'
const HOST = 'https://data.iana.org'
const LIST_BYTES_MAX = 2_097_152
const ENDINGS_MAX = 20_000
const DAY_MS = 86_400_000

/** Registry addresses by domain ending, in lower-case ASCII. */
export type RegistryList = ReadonlyMap<string, string>

/** IANA's list of RDAP registries (https://data.iana.org/rdap/dns.json, RFC 9224), read at most once a day. */
export class RdapList implements Provider<null, RegistryList> {
  readonly name = NAME
  readonly url = 'https://data.iana.org/rdap/'
  readonly #host: string
  readonly #clock: Clock
  #kept: { readonly list: RegistryList; readonly atMs: number } | null = null

  /** `host` is the base address of a copy; null for IANA's own. */
  constructor(host: string | null, clock: Clock) {
    this.#host = host ?? HOST
    this.#clock = clock
  }

  get known(): RegistryList | null {
    return this.#kept?.list ?? null
  }

  readonly ask = async (_: null, signal: AbortSignal): Promise<Result<RegistryList>> => {
    const nowMs = this.#clock.now()
    if (this.#kept !== null && nowMs - this.#kept.atMs < DAY_MS) return ok(this.#kept.list)
    const answer = await providerJson(NAME, `${this.#host}/rdap/dns.json`, { bytesMax: LIST_BYTES_MAX }, signal)
    const list = answer.ok ? readJson(NAME, answer.value, readList) : answer
    if (list.ok) this.#kept = { list: list.value, atMs: nowMs }
    return list
  }

  readonly check = (signal: AbortSignal): Promise<Result<RegistryList>> => this.ask(null, signal)
}

/** The longest ending in the list decides (RFC 9224, 4). */
export function registryOf(list: RegistryList, domain: string): string | undefined {
  const labels = domain.split('.')
  const endings = labels.map((_, index) => labels.slice(index).join('.'))
  return endings.map((ending) => list.get(ending)).find((address) => address !== undefined)
}

function readList(json: JsonAt): RegistryList {
  json.at('version').like(/^1\.\d+$/)
  const list = new Map<string, string>()
  for (const service of json.at('services').list()) {
    const [endings, addresses] = service.list()
    if (endings === undefined || addresses === undefined) return service.wrong('has not two lists')
    const address = bestOf(addresses.list().map((one) => one.text()))
    if (address === null) continue
    for (const ending of endings.list()) list.set(ending.text().toLowerCase(), address)
    if (list.size > ENDINGS_MAX) return json.wrong('has too many endings')
  }
  return list.size === 0 ? json.wrong('has no registries') : list
}

/** With a trailing slash. */
function bestOf(addresses: readonly string[]): string | null {
  const best = addresses.find((one) => one.startsWith('https://')) ?? addresses.find((one) => one.startsWith('http://'))
  if (best === undefined || !URL.canParse(best)) return null
  return best.endsWith('/') ? best : `${best}/`
}
