import type { Chain } from '../../consensus/chain/chain.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ServiceContext } from '../services/context.ts'
import { ResultCache } from '../services/result-cache.ts'
import type { ServiceDefinition } from '../services/service.ts'
import { runService } from './run-service.ts'
import { WorkSlots } from './work-slots.ts'

/** Where services run, whichever way they were paid: so many at once, and what a head alone decides only once for each head. */
export class Workshop {
  readonly #slots = new WorkSlots()
  readonly #results: ResultCache

  constructor(chain: Pick<Chain, 'onHeadChange'>) {
    this.#results = new ResultCache(chain)
  }

  /** Does something in one of the places for work, as soon as there is one. */
  inPlace<T>(work: () => Promise<T>): Promise<T> {
    return this.#slots.run(work)
  }

  /** Runs a service on an input; the result is JSON text, and a fault means that nothing was earned. Call in a place. */
  run(definition: ServiceDefinition, input: unknown, context: ServiceContext): Promise<Result<string>> {
    return this.#results.run(definition, input, () => runService(definition, input, context))
  }
}
