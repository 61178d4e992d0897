import type { ChainReader } from '../../consensus/chain/reader.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ServiceDefinition } from './service.ts'

/** Results kept at once: a result has at most some hundred kilobytes. */
export const RESULTS_KEPT_MAX = 128

/**
 * Results of services that say that theirs depend on input and head alone, as JSON text: worked out once however many pay
 * for them at the same time, and forgotten as soon as the head moves. A failure is kept for nobody.
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
      // Another head may have begun another piece of work under the same key.
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
