import { ChatInfo } from '../../marketplace/chat/info/chat-info.ts'
import type { ModelInfoMeans } from '../../marketplace/chat/info/model-info.ts'
import type { PlatformRules, Site } from '../../marketplace/chat/info/platform-rules.ts'
import { notConfigured } from '../../marketplace/ports/readiness.ts'
import { systemClock } from '../../src/daemon/runtime.ts'
import type { ChatWorld } from './chat-world.ts'

/** What a test may change in the description of its chat platform. */
export interface InfoParts {
  readonly means?: Partial<ModelInfoMeans>
  readonly rules?: Partial<PlatformRules>
}

/** The day of the last change of the tests' configuration. */
export const UPDATED = '2026-11-02'

/** A node that sells nothing. */
export const SITE: Site = {
  baseUrl: 'http://node.example',
  operator: '',
  hasDashboard: true,
  paidChat: null,
  servicesOnSale: 0,
  services: [],
}

const RULES: PlatformRules = {
  bounds: { rpm: 60, tpd: 1_000_000, concurrent: 32, keys: 20 },
  tokensMax: 4_096,
  budgetMs: 120_000,
  wallets: 'all',
  wordsAnswers: false,
  comparison: {},
  faq: [],
  updatedMs: Date.parse(`${UPDATED}T12:00:00Z`),
}

/** The description of a world's chat platform. By default it has neither search nor speech. */
export function infoOver({ pool, platform }: Pick<ChatWorld, 'pool' | 'platform'>, parts: InfoParts = {}): ChatInfo {
  const { means, rules } = parts
  const all: ModelInfoMeans = {
    models: pool,
    readiness: (model) => platform.readiness(model),
    speech: () => notConfigured('speech', 'models.file', 'chat.espeak'),
    search: () => notConfigured('a provider of searches', 'providers.search'),
    latencies: (model, tier) =>
      platform.latencies.figures(tier === undefined ? model : `${model}/${tier}`, systemClock.now()),
    clock: systemClock,
    ...means,
  }
  return new ChatInfo(all, { ...RULES, ...rules })
}
