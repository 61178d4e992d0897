import type { Clock } from '../../consensus/chain/ports.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Outside } from '../ports/outside.ts'
import type { Speech } from '../ports/speech.ts'
import type { ChatCall, Citation } from './call.ts'
import type { ChatModels, ModelDesk } from './desk.ts'
import type { ChatMessage, DeltaSink } from './models/backend.ts'

/** What pipelines use. */
export interface ChatMeans extends Pick<Outside, 'search' | 'web' | 'engines'> {
  readonly models: ChatModels
  /** Absent without speech. */
  readonly speech?: Pick<Speech, 'readiness'>
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  /** Whether a model chooses the tier of a request if no rule matches. */
  readonly modelRouter: boolean
  /** For all stages of an answer. */
  readonly budgetMs: number
}

/** A page that a search found, with its number in the text. */
export interface Source {
  readonly index: number
  readonly url: string
  readonly title: string
  readonly snippet: string
}

/** A judgement of a text. */
export interface Verdict {
  readonly passes: boolean
  readonly issues: readonly string[]
}

/** State of a call between stages. Each stage returns a new state. */
export interface ChatState {
  readonly messages: readonly ChatMessage[]
  readonly question: string
  readonly mode: string | null
  readonly tier: string | null
  readonly plan: string | null
  readonly research: string | null
  readonly drafts: readonly string[]
  readonly critique: string | null
  readonly verdict: Verdict | null
  readonly sources: readonly Source[]
  readonly citations: readonly Citation[]
  /** Empty until a stage has written an answer. */
  readonly text: string
  readonly finishReason: string
  readonly facts: Readonly<Record<string, unknown>>
  /** A problem of a stage that succeeded all the same, for its report. */
  readonly note?: string
}

/** What a stage is given. */
export interface StageContext {
  readonly call: ChatCall
  readonly desk: ModelDesk
  readonly means: ChatMeans
  /** Aborts this stage: the caller left, or time is over. A stage that `keeps` time must pass the signal to its questions. */
  readonly signal: AbortSignal
  readonly remainingMs: () => number
  /** Set if this is the last stage that makes text and there is a reader. */
  readonly say: DeltaSink | null
}

/** One step of a pipeline. */
export interface Stage {
  readonly name: string
  /** One sentence for people. */
  readonly about: string
  /** It makes the text of the answer. Only such a stage can stream. */
  readonly makesText?: true
  /** There is no answer without it. Failures of other stages are reported, and the state stays. */
  readonly isEssential?: true
  /**
   * Share of the time budget (0 to 1) that it leaves to later stages. It does not start with less than a second for
   * itself. Absent: it may use all the time.
   */
  readonly keeps?: number
  /** Null if it runs. Must depend only on its arguments. */
  readonly skip?: (state: ChatState, context: Omit<StageContext, 'say'>) => string | null
  /** Faults of any kind, mostly `model/*`. */
  readonly run: (state: ChatState, context: StageContext) => Promise<Result<ChatState>>
}

/** The stages in order. */
export interface Pipeline {
  readonly name: string
  readonly stages: readonly Stage[]
  /** Called before the first stage. */
  readonly enter?: (state: ChatState) => ChatState
}
