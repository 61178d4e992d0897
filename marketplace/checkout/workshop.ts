import type { Chain } from '../../consensus/chain/chain.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ServiceContext } from '../services/context.ts'
import { ResultCache } from '../services/result-cache.ts'
import type { ServiceDefinition } from '../services/service.ts'
import { runService } from './run-service.ts'
import { WorkSlots } from './work-slots.ts'

/** What says how long a service may take, and who decides that. */
type ServicePace = Pick<ServiceDefinition, 'timeoutMs' | 'reachesOut'>

/** Time limits up to which a service takes a moment, and up to which it takes a while; models take longer. */
const MOMENT_MS_MAX = 5_000
const WHILE_MS_MAX = 30_000

/**
 * Where services run, whichever way they were paid: so many at once, and what a head alone decides only once for each head.
 * Services have places by how long they may take: a minute with a model, or a stranger's page that never ends, must not hold up
 * what takes a moment.
 */
export class Workshop {
  readonly #moment = new WorkSlots()
  readonly #while = new WorkSlots()
  readonly #strangers = new WorkSlots()
  readonly #long = new WorkSlots()
  readonly #results: ResultCache

  constructor(chain: Pick<Chain, 'onHeadChange'>) {
    this.#results = new ResultCache(chain)
  }

  /** Does something for a service in one of its places for work, as soon as the payer gets one; without a payer, the operator. */
  inPlace<T>(definition: ServicePace, work: () => Promise<T>, payer = ''): Promise<T> {
    return this.#slotsOf(definition).run(work, payer)
  }

  #slotsOf({ timeoutMs, reachesOut }: ServicePace): WorkSlots {
    if (timeoutMs <= MOMENT_MS_MAX) return this.#moment
    if (timeoutMs > WHILE_MS_MAX) return this.#long
    return reachesOut === true ? this.#strangers : this.#while
  }

  /** Runs a service on an input; the result is JSON text, and a fault means that nothing was earned. Call in a place. */
  run(definition: ServiceDefinition, input: unknown, context: ServiceContext): Promise<Result<string>> {
    return this.#results.run(definition, input, () => runService(definition, input, context))
  }
}
