import { isIP } from 'node:net'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { NameSystem } from './name-system.ts'
import { hostOf } from './public-url.ts'

const KEPT_MS = 300_000
/** No reader waits longer for it; what was known before counts meanwhile. */
const WAIT_MS_MAX = 2_000

/**
 * The hosts under which this node is known, and their addresses: behind a router no interface shows them, and whoever reads
 * pages through this node could come back to it that way.
 */
export class OwnHosts {
  readonly hosts: ReadonlySet<string>
  readonly #names: Pick<NameSystem, 'lookUp'>
  readonly #clock: Clock
  #known: readonly string[] = []
  #untilMs = Number.NEGATIVE_INFINITY

  /** `publicUrl` and `announced` (a multiaddress) are what the node tells others, null where it tells nothing. */
  constructor(
    { publicUrl, announced }: { readonly publicUrl: string | null; readonly announced: string | null },
    { names, clock }: { readonly names: Pick<NameSystem, 'lookUp'>; readonly clock: Clock },
  ) {
    const url = publicUrl === null || !URL.canParse(publicUrl) ? [] : [hostOf(new URL(publicUrl)).replace(/\.$/, '')]
    const address = announced?.split('/')[2]
    this.hosts = new Set([...url, ...(address === undefined ? [] : [address.toLowerCase()])])
    this.#names = names
    this.#clock = clock
  }

  /** Their addresses as known now; never fails. */
  readonly addresses = async (signal: AbortSignal): Promise<readonly string[]> => {
    if (this.#clock.now() < this.#untilMs) return this.#known
    this.#untilMs = this.#clock.now() + KEPT_MS
    const wait = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS_MAX)])
    const found = await Promise.all(
      [...this.hosts].map(async (host) => {
        const addresses = isIP(host) === 0 ? await this.#names.lookUp(host, wait) : { ok: true as const, value: [host] }
        return addresses.ok ? addresses.value : null
      }),
    )
    // What could not be learned is asked for again by the next reader.
    if (found.includes(null)) this.#untilMs = Number.NEGATIVE_INFINITY
    const all = found.flatMap((addresses) => addresses ?? [])
    if (all.length > 0) this.#known = all
    return this.#known
  }
}
