import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatOutcome, ChatPiece, ChatSink } from '../../../marketplace/chat/call.ts'
import { mostUsage } from '../../../marketplace/chat/expected-tokens.ts'
import { NO_USAGE } from '../../../marketplace/chat/models/usage.ts'
import type { ModelUsage } from '../../../marketplace/ports/models.ts'
import { notNow } from '../../../marketplace/ports/readiness.ts'
import type { ServiceDefinition } from '../../../marketplace/services/service.ts'
import { CHAT_LINE } from '../../../marketplace/services/text/chat-line.ts'
import { CHAT_RESULT, unitsOfChat } from '../../../marketplace/services/text/chat-result.ts'
import { PRICE_UNITS, tokenUnits } from '../../../marketplace/services/text/token-price.ts'
import type { Offer } from '../../../marketplace/till/shop.ts'
import { httpFault } from '../../contract/http-faults.ts'
import type { ChatApi } from '../../node/node-api.ts'
import { type CompletionHead, completionJson, usageJson } from '../completion.ts'
import type { ChatRequest } from '../read-request.ts'
import type { End } from '../visit.ts'
import { GatheredChat } from './gathered.ts'
import { TAB_BODY_BYTES_MAX } from './wants-tab.ts'

const RESULT_BYTES_MAX = 1_048_576
/** Time beyond that of all stages, in which the answer is put together. */
const GRACE_MS = 5_000

/** What a chat is told that comes while all places are taken. */
const FULL = notNow('too many chats are under way; ask again in a moment')

/** What a chat on a tab works with. */
export interface TabWorkParts {
  readonly chat: ChatApi
  readonly head: CompletionHead
  readonly read: ChatRequest
  /** For limits by caller. */
  readonly who: string
  readonly requestId: string
  readonly end: End
}

/** A chat that is paid from a tab: the work of one call, and what became of it. */
export class TabWork {
  readonly #parts: TabWorkParts
  readonly #sink: ChatSink | null
  readonly #gathered = new GatheredChat()
  readonly #beganMs = performance.now()
  #firstPieceMs: number | null = null
  #usage: ModelUsage = NO_USAGE
  #fault: Fault | null = null
  #isLive = false
  #leave: () => void = () => {}

  /** `sink` gets the pieces of a stream. */
  constructor(parts: TabWorkParts, sink: ChatSink | null) {
    this.#parts = parts
    this.#sink = sink === null ? null : this.#watched(sink)
  }

  /** Why the work failed; null if it did not, or if it was done for an earlier call. */
  get fault(): Fault | null {
    return this.#fault
  }

  /** Whether the pieces of the answer went to the sink. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Gives up the place among the chats at once. Only the work takes one: a payment that is waited for may never be good. */
  readonly leave = (): void => this.#leave()

  /** The chat as the till sells it, under the name and price of node-llm-chat. */
  offer({ definition, priceUsdMicros }: Offer): Offer {
    const { chat, read } = this.#parts
    const { model } = read.call
    const most = tokenUnits(mostUsage(read.call))
    const sold: ServiceDefinition = {
      ...definition,
      requestCharsMax: CHAT_LINE.length + TAB_BODY_BYTES_MAX,
      parse: () => ok(read.call),
      ready: () => (this.#hasRoom() ? chat.platform.readiness(model) : FULL),
      execute: (_, __, signal) => this.#answer(signal),
      resultSchema: CHAT_RESULT,
      resultBytesMax: RESULT_BYTES_MAX,
      timeoutMs: chat.budgetMs + GRACE_MS,
      mostOnTab: () => ({ times: most, of: PRICE_UNITS }),
      usedOnTab: (result) => ({ times: unitsOfChat(result), of: most }),
    }
    return { definition: sold, priceUsdMicros }
  }

  #hasRoom(): boolean {
    const leave = this.#parts.chat.enter()
    leave?.()
    return leave !== null
  }

  async #answer(deadline: AbortSignal): Promise<object> {
    const { head } = this.#parts
    this.#isLive = this.#sink !== null
    let status = 500
    try {
      const answered = await this.#asked(deadline)
      const cause = answered.ok ? null : this.#parts.end.faultOf(answered.fault)
      status = cause === null ? 200 : httpFault(cause.code).status
      if (answered.ok) return this.#whole(answered.value, head)
      if (this.#isPart(cause as Fault)) return this.#part(head)
      this.#fault = cause
      throw new Error(faultMessage(cause as Fault))
    } finally {
      this.#tell(status)
    }
  }

  async #asked(deadline: AbortSignal): Promise<Result<ChatOutcome>> {
    const { chat, read, who, end } = this.#parts
    const leave = chat.enter(end.stop)
    if (leave === null) return fail(fault('chat/busy', { model: read.call.model, seconds: 1 }))
    this.#leave = leave
    const call = { ...read.call, who, isPaid: true } as const
    const until = AbortSignal.any([deadline, end.signal])
    return chat.platform.answer(call, this.#sink, until, (spent) => {
      this.#usage = spent
    })
  }

  /**
   * Whether what was made of a stream is sold: its caller left after models had worked for it, or its time was over after words were sent.
   * Else callers would ask for answers that are longer than the time, and have the words for nothing.
   */
  #isPart({ code }: Fault): boolean {
    if (this.#sink === null) return false
    const { totalTokens, completionTokens } = this.#usage
    return code === 'chat/aborted' ? totalTokens > 0 : code === 'chat/timeout' && completionTokens > 0
  }

  #whole(outcome: ChatOutcome, head: CompletionHead): object {
    if (this.#sink === null) return completionJson(head, outcome)
    for (const index of outcome.choices.keys()) this.#gathered.take(index, {})
    const choices = this.#gathered.choices((index) => outcome.choices[index]?.finishReason ?? 'stop')
    return { ...completionJson(head, outcome), choices }
  }

  /** What was made until the end. It is what a repeat of the call gets. */
  #part(head: CompletionHead): object {
    const { model } = head
    this.#gathered.take(0, {})
    const report = { model, pipeline: 'broken off', stages: [], grounded: false, citations: [] }
    return {
      ...{ id: head.id, object: 'chat.completion', created: head.created, model },
      choices: this.#gathered.choices(() => 'length'),
      usage: usageJson(this.#usage),
      x_platform: { ...report, usageEstimated: this.#usage.estimated },
    }
  }

  #tell(status: number): void {
    const { chat, requestId, head } = this.#parts
    const seconds = (performance.now() - this.#beganMs) / 1_000
    const firstPieceSeconds = this.#firstPieceMs === null ? null : this.#firstPieceMs / 1_000
    chat.onChat({ requestId, model: head.model, status, seconds, firstPieceSeconds, usage: this.#usage })
  }

  #watched(sink: ChatSink): ChatSink {
    return {
      ready: sink.ready,
      take: (piece: ChatPiece) => {
        this.#firstPieceMs ??= performance.now() - this.#beganMs
        this.#gathered.take(piece.index, piece.delta)
        return sink.take(piece)
      },
    }
  }
}

/** Refuses what a chat on a tab cannot have. */
export function refusedOnTab({ call: { extra } }: ChatRequest): Fault | null {
  return extra.logprobs === true
    ? fault('chat/unsupported', { param: 'logprobs', reason: 'a chat that is paid from a tab has none' })
    : null
}
