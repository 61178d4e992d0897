import type { ChainReader } from '../../consensus/chain/reader.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ServiceDefinition } from './service.ts'

/** Maximum kept results; each has at most some hundred kilobytes. */
export const RESULTS_KEPT_MAX = 128

/**
 * Caches results, as JSON text, of services that depend only on input and head. Several payers at the same time share
 * one run; a new head clears the cache. Failures are not kept.
 */
export class ResultCache {
  readonly #results = new LruMap<string, Promise<Result<string>>>(RESULTS_KEPT_MAX)

  constructor(chain: Pick<ChainReader, 'onHeadChange'>) {
    chain.onHeadChange(() => this.#results.clear())
  }

  /** The kept result of a service for an input, or that of `work`. */
  run(definition: ServiceDefinition, input: unknown, work: () => Promise<Result<string>>): Promise<Result<string>> {
    if (definition.keptPerHead !== true) return work()
    const key = keyOf(definition, input)
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const running = work().then((result) => {
      // After a head change, newer work may be stored under the same key.
      if (!result.ok && this.#results.get(key) === running) this.#results.delete(key)
      return result
    })
    this.#results.set(key, running)
    return running
  }
}

function keyOf({ serviceId }: ServiceDefinition, input: unknown): string {
  return `${serviceId} ${JSON.stringify(input, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`
}
