import { LRUCache } from 'lru-cache'
import type { Clock } from '../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { WebPage } from '../../marketplace/ports/web.ts'
import { ALL_ALLOWED, NONE_ALLOWED, type RobotsRules, readRobots } from './robots-rules.ts'

/** As much of the file as RFC 9309 wants to be read. */
export const BYTES_MAX = 512_000
const CACHE_BYTES_MAX = 8_388_608
/** Faults that say something of this node and its callers, not of the site: nobody else's reading may hang on them. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['web/timeout', 'web/busy'])
const KEPT_MS = { answered: 3_600_000, unreachable: 60_000 }

/** Reads a page without asking for its robots.txt. */
export type ReadFile = (url: URL, bytesMax: number) => Promise<Result<WebPage>>

/** A site that cannot be asked forbids everything (RFC 9309, 2.3.1.4); callers hear why, and not that it asked for it. */
const SILENT = fault('web/refused', { reason: 'the robots.txt of the site cannot be read now' })

interface Kept {
  readonly rules: RobotsRules
  /** Why the site could not be asked; null where it was. */
  readonly silent: Fault | null
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
   * Whether a site lets a page be read. A file that is not there forbids nothing. Faults: what became of the question, where the
   * site cannot be asked; `web/timeout` and `web/busy`, where asking did not come to its end.
   */
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
