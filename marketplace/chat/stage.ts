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
  /** Tells whether answers can be spoken. Absent without speech. */
  readonly speech?: Pick<Speech, 'readiness'>
  readonly clock: Clock
  /** Random number from 0 to 1. */
  readonly random: () => number
  /** Whether a model chooses the tier of a request if no rule matches. */
  readonly modelRouter: boolean
  /** Time for all stages of an answer. */
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
  /** The conversation as sent to models. */
  readonly messages: readonly ChatMessage[]
  /** Text of the user's last message. */
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
  /** The answer so far. Empty until a stage has written it. */
  readonly text: string
  readonly finishReason: string
  /** Further facts for the report. */
  readonly facts: Readonly<Record<string, unknown>>
  /** A problem of a stage that went on all the same, for its report. */
  readonly note?: string
}

/** What a stage is given. */
export interface StageContext {
  readonly call: ChatCall
  readonly desk: ModelDesk
  readonly means: ChatMeans
  /** Aborts this stage: the caller left, or time is over. A stage that `keeps` time must pass the signal to its questions. */
  readonly signal: AbortSignal
  /** Time left for this call. */
  readonly remainingMs: () => number
  /** Receives the answer in pieces, if this is the last stage that makes text and there is a reader. */
  readonly say: DeltaSink | null
}

/** One step of a pipeline. */
export interface Stage {
  /** Its name in the API. */
  readonly name: string
  /** What it does, in one sentence for people. */
  readonly about: string
  /** Whether it makes the text of the answer. Only such a stage can stream. */
  readonly makesText?: true
  /** Whether there is no answer without it. Failures of other stages are reported, and the state stays. */
  readonly isEssential?: true
  /**
   * Share of the time budget (0 to 1) that it leaves to later stages. It is stopped when no more than that is left, and
   * does not start with less than a second for itself. Absent: it may use all the time.
   */
  readonly keeps?: number
  /** Why it does not run in this state. Null if it runs. Must depend only on its arguments. */
  readonly skip?: (state: ChatState, context: Omit<StageContext, 'say'>) => string | null
  /** Faults of any kind, mostly `model/*`. */
  readonly run: (state: ChatState, context: StageContext) => Promise<Result<ChatState>>
}

/** The stages in order. */
export interface Pipeline {
  readonly name: string
  readonly stages: readonly Stage[]
  /** Prepares the state before the first stage. */
  readonly enter?: (state: ChatState) => ChatState
}
