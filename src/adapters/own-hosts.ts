import { isIP } from 'node:net'
import type { Clock } from '../../consensus/chain/ports.ts'
import { ok } from '../../consensus/primitives/result.ts'
import type { NameSystem } from './name-system.ts'
import { hostOf } from './public-url.ts'

const KEPT_MS = 300_000
const WAIT_MS_MAX = 2_000

/**
 * The host names of this node and their addresses. Behind a router no interface shows these addresses, and a caller
 * could reach this node through them.
 */
export class OwnHosts {
  readonly hosts: ReadonlySet<string>
  readonly #names: Pick<NameSystem, 'lookUp'>
  readonly #clock: Clock
  readonly #known = new Map<string, readonly string[]>()
  #asking: Promise<void> | null = null
  #untilMs = Number.NEGATIVE_INFINITY

  /** `publicUrl` is a base address, `announced` a multiaddress. */
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

  /** A reader waits only if it starts a lookup, or if no address is known yet. Never fails. */
  readonly addresses = async (signal: AbortSignal): Promise<readonly string[]> => {
    const isDue = this.#asking === null && this.#clock.now() >= this.#untilMs
    if (isDue)
      this.#asking = this.#ask().finally(() => {
        this.#asking = null
      })
    if (this.#asking !== null && (isDue || this.#known.size === 0)) await Promise.race([this.#asking, ended(signal)])
    return [...this.#known.values()].flat()
  }

  /** A reader's signal does not cancel this: others may wait for the same answer. */
  async #ask(): Promise<void> {
    const wait = AbortSignal.timeout(WAIT_MS_MAX)
    const found = await Promise.all([...this.hosts].map((host) => this.#lookUp(host, wait)))
    this.#untilMs = found.includes(false) ? Number.NEGATIVE_INFINITY : this.#clock.now() + KEPT_MS
  }

  async #lookUp(host: string, wait: AbortSignal): Promise<boolean> {
    const found = isIP(host) === 0 ? await this.#names.lookUp(host, wait) : ok([host])
    if (found.ok) this.#known.set(host, found.value)
    return found.ok
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
