import type { OwnerBounds } from '../keys/keys.ts'
import type { Comparison, FaqEntry } from './shapes.ts'

/** From the configuration of this node. */
export interface PlatformRules {
  readonly bounds: OwnerBounds
  readonly tokensMax: number
  /** For all stages of an answer. */
  readonly budgetMs: number
  readonly wallets: 'all' | 'some' | 'none'
  /** A model words the answers of the info API. */
  readonly wordsAnswers: boolean
  readonly comparison: Comparison
  readonly faq: readonly FaqEntry[]
  /** Last change of the files that the operator configured. */
  readonly updatedMs: number
}

/** The paid service for the same models. */
export interface PaidChat {
  readonly url: string
  /** Such as `$0.01 (0.04 FAR)`. */
  readonly price: string
}

/** Not a part of the chat platform. */
export interface PaidService {
  readonly serviceId: string
  readonly name: string
  /** One sentence. */
  readonly brief: string
  /** Such as `$0.01 (0.04 FAR)`. */
  readonly price: string
  /** Null if it can be bought now. */
  readonly reason: string | null
}

/** Address of the node, and what it offers besides chat. */
export interface Site {
  /** Without a slash at the end. */
  readonly baseUrl: string
  /** Empty if not configured. */
  readonly operator: string
  /** Keys are made in the dashboard. */
  readonly hasDashboard: boolean
  /** Null if it is not for sale now. */
  readonly paidChat: PaidChat | null
  /** Number of services that can be bought now. */
  readonly servicesOnSale: number
  /** Includes services that cannot be bought now. */
  readonly services: readonly PaidService[]
}
