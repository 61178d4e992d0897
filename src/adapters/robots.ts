import { LRUCache } from 'lru-cache'
import type { Clock } from '../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { WebPage } from '../../marketplace/ports/web.ts'
import { ALL_ALLOWED, NONE_ALLOWED, type RobotsRules, readRobots } from './robots-rules.ts'

/** Bytes of the file that RFC 9309 requires to be read. */
export const BYTES_MAX = 512_000
const CACHE_BYTES_MAX = 8_388_608
/** Faults of this node or its callers. They are not cached, so that they do not affect other callers. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['web/timeout', 'web/busy'])
const KEPT_MS = { answered: 3_600_000, unreachable: 60_000 }

/** Reads a page without checking its robots.txt. */
export type ReadFile = (url: URL, bytesMax: number) => Promise<Result<WebPage>>

/**
 * A site whose robots.txt is unreachable forbids everything (RFC 9309, 2.3.1.4). The fault must not claim that the site
 * asked for it.
 */
const SILENT = fault('web/refused', { reason: 'the robots.txt of the site cannot be read now' })

interface Kept {
  readonly rules: RobotsRules
  readonly silent: Fault | null
  readonly untilMs: number
}

/** The robots.txt rules of sites, cached for a while. */
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

  /** Whether a site allows a page to be read. The fault says why the robots.txt could not be read. */
  async allows(url: URL, read: ReadFile): Promise<Result<boolean>> {
    const kept = this.#kept.get(url.origin)
    const isFresh = kept !== undefined && kept.untilMs > this.#clock.now()
    const known = isFresh ? ok(kept) : await this.#learn(url.origin, read)
    if (!known.ok) return known
    const { rules, silent } = known.value
    return silent === null ? ok(rules.allows(url.pathname + url.search)) : fail(silent)
  }

  async #learn(origin: string, read: ReadFile): Promise<Result<Kept>> {
    const page = await read(new URL('/robots.txt', origin), BYTES_MAX)
    if (!page.ok && OWN_FAULTS.has(page.fault.code)) return page
    const answered = page.ok && page.value.status < 500
    const learned = {
      rules: answered ? this.#rulesOf(page.value) : NONE_ALLOWED,
      silent: answered ? null : page.ok || page.fault.code === 'web/answer' ? SILENT : page.fault,
      untilMs: this.#clock.now() + (answered ? KEPT_MS.answered : KEPT_MS.unreachable),
    }
    this.#kept.set(origin, learned)
    return ok(learned)
  }

  #rulesOf({ status, body }: WebPage): RobotsRules {
    if (status < 200 || status >= 300) return ALL_ALLOWED
    return readRobots(new TextDecoder().decode(body), this.#product)
  }
}
