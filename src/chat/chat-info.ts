import { ok, type Result } from '../../consensus/primitives/result.ts'
import { ChatInfo } from '../../marketplace/chat/info/chat-info.ts'
import type { OwnerBounds } from '../../marketplace/chat/keys/keys.ts'
import type { ChatPlatform } from '../../marketplace/chat/platform.ts'
import { isLoopback } from '../../rpc/mcp/guard.ts'
import type { RunningOutside } from '../adapters/open-outside.ts'
import type { DaemonOptions } from '../daemon/open-core.ts'
import { systemClock } from '../daemon/runtime.ts'
import { changedAt, readComparison, readFaq } from './chat-files.ts'

/** What the info API is given. */
export interface ChatInfoParts {
  readonly config: DaemonOptions['config']
  readonly outside: RunningOutside
  readonly platform: ChatPlatform
  readonly bounds: OwnerBounds
}

/** Fault `config/file` for an unusable file of the operator. */
export async function openChatInfo({ config, outside, platform, bounds }: ChatInfoParts): Promise<Result<ChatInfo>> {
  const { tokensMax, budgetMs, wallets, qaModel, comparisonFile, faqFile } = config.chat
  const comparison = await readComparison(comparisonFile)
  if (!comparison.ok) return comparison
  const faq = await readFaq(faqFile)
  if (!faq.ok) return faq
  const { file, gguf } = config.outside.models
  // Wallets can sign in only if the host name is certain.
  const isNamed = config.rpc.publicUrl !== null || isLoopback(config.rpc.host)
  const means = {
    models: outside.models,
    readiness: (model: Parameters<ChatPlatform['readiness']>[0]) => platform.readiness(model),
    speech: outside.speech.readiness,
    search: outside.search.readiness,
    latencies: (model: string, tier?: string) =>
      platform.latencies.figures(tier === undefined ? model : `${model}/${tier}`, systemClock.now()),
    clock: systemClock,
  }
  const rules = {
    bounds,
    tokensMax,
    budgetMs,
    wallets: wallets.length === 0 || !isNamed ? 'none' : wallets === 'all' ? 'all' : 'some',
    wordsAnswers: qaModel,
    comparison: comparison.value,
    faq: faq.value,
    updatedMs: await changedAt([file, gguf, comparisonFile, faqFile], systemClock.now()),
  } as const
  return ok(new ChatInfo(means, rules))
}
