import type { Clock } from '../../consensus/chain/ports.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Outside } from '../ports/outside.ts'
import type { Speech } from '../ports/speech.ts'
import type { ChatCall, Citation } from './call.ts'
import type { ChatModels, ModelDesk } from './desk.ts'
import type { ChatMessage, DeltaSink } from './models/backend.ts'

/** What pipelines reach beside the models. */
export interface ChatMeans extends Pick<Outside, 'search' | 'web' | 'engines'> {
  readonly models: ChatModels
  /** Who reads answers out; absent: nobody. */
  readonly speech?: Pick<Speech, 'readiness'>
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  /** Whether a model is asked for the tier of a request that rules leave open. */
  readonly modelRouter: boolean
  /** Time for all stages of an answer. */
  readonly budgetMs: number
}

/** A page that a search found, by its number in the text. */
export interface Source {
  readonly index: number
  readonly url: string
  readonly title: string
  readonly snippet: string
}

/** What a judge says of a text. */
export interface Verdict {
  readonly passes: boolean
  readonly issues: readonly string[]
}

/** What is known while a call goes through its stages; each stage makes the next state. */
export interface ChatState {
  /** The conversation as models are given it. */
  readonly messages: readonly ChatMessage[]
  /** Text of the last message of the user. */
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
  /** The answer as it stands; empty before there is one. */
  readonly text: string
  readonly finishReason: string
  /** Further facts for the report. */
  readonly facts: Readonly<Record<string, unknown>>
  /** What went wrong in the stage that made this state and went on all the same, for its report. */
  readonly note?: string
}

/** What a stage works with. */
export interface StageContext {
  readonly call: ChatCall
  readonly desk: ModelDesk
  readonly means: ChatMeans
  /** Ends this stage: the call was given up, or the time is over. Questions to the desk need it where the stage `keeps` time. */
  readonly signal: AbortSignal
  /** Time that is left for this call. */
  readonly remainingMs: () => number
  /** Takes the answer in pieces, where this is the last stage that makes text and somebody reads along. */
  readonly say: DeltaSink | null
}

/** One step of a pipeline. */
export interface Stage {
  /** As the interface names it. */
  readonly name: string
  /** What it does, in a sentence for people. */
  readonly about: string
  /** Whether it makes the text of the answer, so that it may be the one that speaks. */
  readonly makesText?: true
  /** Whether there is no answer without it; what goes wrong in any other stage is reported, and the state stays. */
  readonly isEssential?: true
  /**
   * Share of the whole budget of time, from 0 to 1, that it leaves to the stages after it. It is ended when it has used up what is
   * left to it, and does not run where that is less than a second. Without it a stage may take all the time there is.
   */
  readonly keeps?: number
  /** Why it does not run for this state; null where it does. Must not depend on anything but what it is given. */
  readonly skip?: (state: ChatState, context: Omit<StageContext, 'say'>) => string | null
  /** Faults: any; `model/*` for the most part. */
  readonly run: (state: ChatState, context: StageContext) => Promise<Result<ChatState>>
}

/** Stages in their order, as a readable list. */
export interface Pipeline {
  readonly name: string
  readonly stages: readonly Stage[]
  /** What is to be known of a conversation before its first stage. */
  readonly enter?: (state: ChatState) => ChatState
}
