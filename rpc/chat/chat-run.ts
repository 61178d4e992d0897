import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { ChatCall, ChatOutcome, ChatSink } from '../../marketplace/chat/call.ts'
import { NO_USAGE } from '../../marketplace/chat/models/usage.ts'
import type { ModelUsage } from '../../marketplace/ports/models.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { ChatApi } from '../node/node-api.ts'
import type { End } from './visit.ts'

interface RunMeans {
  readonly chat: ChatApi
  readonly requestId: string
  readonly end: End
}

/** The work of the models on one chat, however it is paid. It is reported once, however it ends. */
export class ChatRun {
  readonly #means: RunMeans
  readonly #beganMs = performance.now()
  #firstPieceMs: number | null = null
  #usage: ModelUsage = NO_USAGE

  constructor(means: RunMeans) {
    this.#means = means
  }

  /** What the models used so far. */
  get usage(): ModelUsage {
    return this.#usage
  }

  /** Asks the models. `until` ends their work. */
  async answer(call: ChatCall, sink: ChatSink | null, until: AbortSignal): Promise<Result<ChatOutcome>> {
    const { chat, requestId, end } = this.#means
    let status = 500
    try {
      const told = sink === null ? null : this.#timed(sink)
      const answered = await chat.platform.answer(call, told, until, (spent) => {
        this.#usage = spent
      })
      const outcome = answered.ok ? answered : fail(end.faultOf(answered.fault))
      status = outcome.ok ? 200 : httpFault(outcome.fault.code).status
      return outcome
    } finally {
      const seconds = (performance.now() - this.#beganMs) / 1_000
      const firstPieceSeconds = this.#firstPieceMs === null ? null : this.#firstPieceMs / 1_000
      chat.onChat({ requestId, model: call.model, status, seconds, firstPieceSeconds, usage: this.#usage })
    }
  }

  #timed(sink: ChatSink): ChatSink {
    return {
      ready: sink.ready,
      take: (piece) => {
        this.#firstPieceMs ??= performance.now() - this.#beganMs
        return sink.take(piece)
      },
    }
  }
}
