import { ok, type Result } from '../../consensus/primitives/result.ts'
import { ChatInfo } from '../../marketplace/chat/info/chat-info.ts'
import type { OwnerBounds } from '../../marketplace/chat/keys/keys.ts'
import type { ChatPlatform } from '../../marketplace/chat/platform.ts'
import { isLoopback } from '../../rpc/mcp/guard.ts'
import type { RunningOutside } from '../adapters/open-outside.ts'
import type { DaemonOptions } from '../daemon/open-core.ts'
import { systemClock } from '../daemon/runtime.ts'
import { changedAt, readComparison, readFaq } from './chat-files.ts'

/** What the info API is opened with. */
export interface ChatInfoParts {
  readonly config: DaemonOptions['config']
  readonly outside: RunningOutside
  readonly platform: ChatPlatform
  readonly bounds: OwnerBounds
}

/** Opens what the node says of its chat platform. The fault is `config/file`, for a file of the operator that cannot be used. */
export async function openChatInfo({ config, outside, platform, bounds }: ChatInfoParts): Promise<Result<ChatInfo>> {
  const { tokensMax, budgetMs, wallets, qaModel, comparisonFile, faqFile } = config.chat
  const comparison = await readComparison(comparisonFile)
  if (!comparison.ok) return comparison
  const faq = await readFaq(faqFile)
  if (!faq.ok) return faq
  const { file, gguf } = config.outside.models
  // As the dashboard has it: a wallet signs for a host that is certain.
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
