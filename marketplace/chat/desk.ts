import { fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { DeltaSink } from '../models/backend.ts'
import type { ModelPool, PoolAnswer, PoolRequest } from '../models/pool.ts'
import { addUsage, NO_USAGE } from '../models/usage.ts'
import type { ModelRole, ModelUsage } from '../outside/models.ts'

/** What the platform needs of the pool of models. */
export type ChatModels = Pick<ModelPool, 'readiness' | 'complete' | 'stream' | 'facts'>

/** Roles of models that answer in text, the most general first. */
export const TEXT_ROLES: readonly ModelRole[] = ['general', 'reason', 'code', 'fast', 'judge']

/** A question to a model. */
export interface DeskQuestion extends Omit<PoolRequest, 'role'> {
  /** What is wanted, best first. Where none of them can be asked, any model that answers in text is. */
  readonly roles: readonly ModelRole[]
  /** Takes the answer in pieces. */
  readonly sink?: DeltaSink | null
}

/** Asks models on behalf of one call, and keeps count of what was used. */
export class ModelDesk {
  readonly #models: ChatModels
  readonly #signal: AbortSignal
  #usage: ModelUsage = NO_USAGE
  #answered: string[] = []

  constructor(models: ChatModels, signal: AbortSignal) {
    this.#models = models
    this.#signal = signal
  }

  /** Tokens of all questions so far. */
  get usage(): ModelUsage {
    return this.#usage
  }

  /** Models that answered since this was asked last, each once. */
  answered(): readonly string[] {
    return [...new Set(this.#answered.splice(0))]
  }

  /** Asks one model. Faults: `model/*`. */
  async ask({ roles, sink, ...question }: DeskQuestion, signal = this.#signal): Promise<Result<PoolAnswer>> {
    const role = this.#roleFor(roles)
    if (role === null) return fail(fault('model/none', { reason: `none with the role ${roles.join(' or ')}` }))
    const request: PoolRequest = { ...question, role }
    const asked = sink ? this.#models.stream(request, sink, signal) : this.#models.complete(request, signal)
    const answer = await asked
    if (!answer.ok) return answer
    this.#usage = addUsage(this.#usage, answer.value.usage)
    this.#answered.push(answer.value.model)
    return answer
  }

  #roleFor(roles: readonly ModelRole[]): ModelRole | null {
    return [...roles, ...TEXT_ROLES].find((role) => this.#models.readiness(role).available) ?? null
  }
}
