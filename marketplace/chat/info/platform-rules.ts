import type { OwnerBounds } from '../keys/keys.ts'
import type { Comparison, FaqEntry } from './shapes.ts'

/** Rules of this node from its configuration. */
export interface PlatformRules {
  /** Limits of each owner of keys. */
  readonly bounds: OwnerBounds
  /** Most tokens of an answer. */
  readonly tokensMax: number
  /** Longest time for all stages of an answer. */
  readonly budgetMs: number
  /** Which wallets may sign in and make keys. */
  readonly wallets: 'all' | 'some' | 'none'
  /** Whether a model words the answers of the info API. */
  readonly wordsAnswers: boolean
  /** The operator's comparison with other products. */
  readonly comparison: Comparison
  /** The operator's own questions and answers. */
  readonly faq: readonly FaqEntry[]
  /** Time of the last change of the files that the operator configured. */
  readonly updatedMs: number
}

/** The paid service for the same models. */
export interface PaidChat {
  readonly url: string
  /** Such as `$0.01 (0.04 FAR)`. */
  readonly price: string
}

/** A paid service of the node. It is not part of the platform. */
export interface PaidService {
  readonly serviceId: string
  readonly name: string
  /** What it does, in one sentence. */
  readonly brief: string
  /** Such as `$0.01 (0.04 FAR)`. */
  readonly price: string
  /** Why it cannot be bought now. Null if it can. */
  readonly reason: string | null
}

/** Address of the node, and what it offers besides chat. */
export interface Site {
  /** Without a slash at the end. */
  readonly baseUrl: string
  /** Name of the operator. Empty if not configured. */
  readonly operator: string
  /** Whether the node serves the dashboard, where keys are made. */
  readonly hasDashboard: boolean
  /** The paid chat. Null if it is not for sale now. */
  readonly paidChat: PaidChat | null
  /** Number of services that can be bought now. */
  readonly servicesOnSale: number
  /** All services of the node, including those that cannot be bought now. */
  readonly services: readonly PaidService[]
}
