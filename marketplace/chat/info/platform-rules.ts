import type { OwnerBounds } from '../keys/keys.ts'
import type { Comparison, FaqEntry } from './shapes.ts'

/** What holds on this node by its configuration. */
export interface PlatformRules {
  /** What every owner of keys may use. */
  readonly bounds: OwnerBounds
  /** Tokens of an answer at most. */
  readonly tokensMax: number
  /** Time for all stages of an answer. */
  readonly budgetMs: number
  /** Who may make keys by signing in with a wallet. */
  readonly wallets: 'all' | 'some' | 'none'
  /** Whether a model words the answers of the info API. */
  readonly wordsAnswers: boolean
  /** The operator's own words on other products. */
  readonly comparison: Comparison
  /** The operator's own questions and answers. */
  readonly faq: readonly FaqEntry[]
  /** Last change of the configuration. */
  readonly updatedMs: number
}

/** The paid way to the same models. */
export interface PaidChat {
  readonly url: string
  /** `$0.01 (0.04 FAR)`. */
  readonly price: string
}

/** A paid service of the node, which is no part of the platform. */
export interface PaidService {
  readonly serviceId: string
  readonly name: string
  /** What it does, in a sentence. */
  readonly brief: string
  /** `$0.01 (0.04 FAR)`. */
  readonly price: string
  /** Why it cannot be bought now, or null. */
  readonly reason: string | null
}

/** Where the platform is asked, and what there is beside it. */
export interface Site {
  /** Without a slash at the end. */
  readonly baseUrl: string
  /** Who runs the node, empty where they have not said. */
  readonly operator: string
  /** Whether keys are made on pages of the node. */
  readonly hasDashboard: boolean
  /** Null where it is not sold now. */
  readonly paidChat: PaidChat | null
  /** Services that the node sells, without those that cannot be bought now. */
  readonly servicesOnSale: number
  /** Every service of the node, also those that cannot be bought now. */
  readonly services: readonly PaidService[]
}
