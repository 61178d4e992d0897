import { LRUCache } from 'lru-cache'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { WebPage } from '../../marketplace/outside/web.ts'
import { ALL_ALLOWED, NONE_ALLOWED, type RobotsRules, readRobots } from './robots-rules.ts'

/** As much of the file as RFC 9309 wants to be read. */
export const BYTES_MAX = 512_000
const CACHE_BYTES_MAX = 8_388_608
const KEPT_MS = { answered: 3_600_000, unreachable: 60_000 }

/** Reads a page without asking for its robots.txt. */
export type ReadFile = (url: URL, bytesMax: number) => Promise<Result<WebPage>>

interface Kept {
  readonly rules: RobotsRules
  readonly untilMs: number
}

/** What sites ask of visitors that are programs, remembered for a while. */
export class Robots {
  readonly #product: string
  readonly #clock: Clock
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: CACHE_BYTES_MAX,
    sizeCalculation: ({ rules }, origin) => rules.size + origin.length,
  })

  constructor(product: string, clock: Clock) {
    this.#product = product
    this.#clock = clock
  }

  /**
   * Whether a site lets a page be read. A file that is not there forbids nothing; a site that cannot be asked forbids everything
   * (RFC 9309, 2.3.1).
   */
  async allows(url: URL, read: ReadFile): Promise<boolean> {
    const kept = this.#kept.get(url.origin)
    const rules =
      kept !== undefined && kept.untilMs > this.#clock.now() ? kept.rules : await this.#learn(url.origin, read)
    return rules.allows(url.pathname + url.search)
  }

  async #learn(origin: string, read: ReadFile): Promise<RobotsRules> {
    const page = await read(new URL('/robots.txt', origin), BYTES_MAX)
    const answered = page.ok && page.value.status < 500
    const rules = answered ? this.#rulesOf(page.value) : NONE_ALLOWED
    const untilMs = this.#clock.now() + (answered ? KEPT_MS.answered : KEPT_MS.unreachable)
    this.#kept.set(origin, { rules, untilMs })
    return rules
  }

  #rulesOf({ status, body }: WebPage): RobotsRules {
    if (status < 200 || status >= 300) return ALL_ALLOWED
    return readRobots(new TextDecoder().decode(body), this.#product)
  }
}
