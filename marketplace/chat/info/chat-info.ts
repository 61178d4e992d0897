import type { ModelInfoMeans } from './model-info.ts'
import { passagesOf, servicePassages } from './passages.ts'
import { type PlatformFacts, platformFacts } from './platform-info.ts'
import type { PlatformRules, Site } from './platform-rules.ts'
import { QaDesk } from './qa.ts'
import type { QaAnswer } from './shapes.ts'

/** What this node says about its chat platform: its facts, and answers to questions about them. */
export class ChatInfo {
  readonly #means: ModelInfoMeans
  readonly #rules: PlatformRules
  readonly #desk: QaDesk

  constructor(means: ModelInfoMeans, rules: PlatformRules) {
    this.#means = means
    this.#rules = rules
    this.#desk = new QaDesk({ models: means.models, clock: means.clock, wordsAnswers: rules.wordsAnswers })
  }

  facts(site: Site): PlatformFacts {
    return platformFacts(this.#means, this.#rules, site)
  }

  /** Never fails. */
  answer(question: string, site: Site, signal: AbortSignal): Promise<QaAnswer> {
    return this.#desk.answer(question, [...passagesOf(this.facts(site)), ...servicePassages(question, site)], signal)
  }
}
