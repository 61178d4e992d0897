import { faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { ChatPlatform } from '../../marketplace/chat/platform.ts'
import { type VoiceMeans, VoicePlatform } from '../../marketplace/chat/voice/voice-platform.ts'
import type { ChatApi, ChatFacts } from '../../rpc/node/node-api.ts'
import type { RunningOutside } from '../adapters/open-outside.ts'
import type { DaemonOptions, Stop } from '../daemon/open-core.ts'
import { eventLoopPacer, systemClock } from '../daemon/runtime.ts'
import { folderPaths, storageFault } from '../storage/folder.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { openChatInfo } from './chat-info.ts'
import { ChatRoom } from './chat-room.ts'
import { openChatKeys } from './stores/level-chat-keys.ts'

/** The sound of each text may take 43 megabytes. */
const VOICES_AT_ONCE = 8

/** What the chat platform is given. */
export interface ChatParts {
  readonly options: DaemonOptions
  readonly outside: RunningOutside | null
  readonly metrics: Metrics
}

/** The chat platform of a running node. */
export interface RunningChat {
  readonly api: ChatApi
  readonly stop: () => void
}

/** Null if the chat platform is off. */
export async function openChat(
  { options, outside, metrics }: ChatParts,
  stops: Stop[],
): Promise<Result<RunningChat | null>> {
  const { config, logger } = options
  const { chat } = config
  if (!chat.enabled || outside === null) return ok(null)
  const platform = new ChatPlatform({
    models: outside.models,
    speech: outside.speech,
    search: outside.search,
    web: outside.web,
    engines: outside.engines,
    clock: systemClock,
    random: Math.random,
    modelRouter: chat.modelRouter,
    budgetMs: chat.budgetMs,
  })
  const keys = await openKeys(options, stops)
  if (!keys.ok) return keys
  const info = await openChatInfo({ config, outside, platform, bounds: keys.value.bounds })
  if (!info.ok) return info
  const onChat = (facts: ChatFacts): void => {
    metrics.chatted(facts)
    logger.debug(facts, 'chat')
  }
  const room = new ChatRoom(chat.concurrentMax)
  const voice = openVoice({ platform, outside, budgetMs: chat.budgetMs })
  const api = {
    platform,
    voice,
    keys: keys.value,
    info: info.value,
    tokensMax: chat.tokensMax,
    budgetMs: chat.budgetMs,
    enter: room.enter,
    onChat,
  }
  return ok({ api, stop: () => room.close() })
}

function openVoice({
  platform,
  outside: { speech, engines },
  budgetMs,
}: Pick<VoiceMeans, 'platform' | 'budgetMs'> & { readonly outside: RunningOutside }): VoicePlatform {
  const pacer = eventLoopPacer
  return new VoicePlatform({
    platform,
    speech,
    engines,
    clock: systemClock,
    pacer,
    budgetMs,
    atOnceMax: VOICES_AT_ONCE,
  })
}

async function openKeys({ config, logger }: DaemonOptions, stops: Stop[]) {
  const { chat, dataDir } = config
  try {
    const keys = await openChatKeys({
      folder: folderPaths(dataDir).chatKeys,
      clock: systemClock,
      bounds: { rpm: chat.keyRpm, tpd: chat.keyTpd, concurrent: chat.keyConcurrentMax, keys: chat.keysMax },
      onFault: (cause) => logger.warn({ area: 'chat-keys', code: cause.code }, faultMessage(cause)),
    })
    stops.push(() => keys.close())
    return ok(keys)
  } catch (error) {
    return fail(storageFault(dataDir, error))
  }
}
