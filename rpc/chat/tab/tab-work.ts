import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { ok } from '../../../consensus/primitives/result.ts'
import type { ChatOutcome, ChatPiece, ChatSink } from '../../../marketplace/chat/call.ts'
import { mostUsage } from '../../../marketplace/chat/expected-tokens.ts'
import type { ServiceDefinition } from '../../../marketplace/services/service.ts'
import { CHAT_LINE } from '../../../marketplace/services/text/chat-line.ts'
import { CHAT_RESULT, unitsOfChat } from '../../../marketplace/services/text/chat-result.ts'
import { PRICE_UNITS, tokenUnits } from '../../../marketplace/services/text/token-price.ts'
import type { Offer } from '../../../marketplace/till/shop.ts'
import { ChatRun } from '../chat-run.ts'
import { type CompletionHead, completionJson, usageJson } from '../completion.ts'
import type { ChatRequest } from '../read-request.ts'
import type { AskedChat, End } from '../visit.ts'
import { GatheredChat } from './gathered.ts'
import { TAB_BODY_BYTES_MAX } from './wants-tab.ts'

const RESULT_BYTES_MAX = 1_048_576
/** Time beyond that of all stages, in which the answer is put together. */
const GRACE_MS = 5_000

/** What a chat on a tab works with. */
export interface TabWorkParts extends Pick<AskedChat, 'chat' | 'head' | 'read' | 'request'> {
  /** The caller by its name for limits. It is known once the tab is on chain. */
  readonly who: () => string
  readonly end: End
}

/** A chat that is paid from a tab: the work of one call, and what became of it. */
export class TabWork {
  readonly #parts: TabWorkParts
  readonly #sink: ChatSink | null
  readonly #run: ChatRun
  readonly #gathered = new GatheredChat()
  #leave: (() => void) | null = null
  #fault: Fault | null = null
  #isLive = false

  /** `sink` gets the pieces of a stream. */
  constructor(parts: TabWorkParts, sink: ChatSink | null) {
    const { chat, request, end } = parts
    this.#parts = parts
    this.#sink = sink === null ? null : this.#gathering(sink)
    this.#run = new ChatRun({ chat, requestId: request.requestId, end })
  }

  /** Why the work failed; null if it did not, or if it was done for an earlier call. */
  get fault(): Fault | null {
    return this.#fault
  }

  /** Whether the pieces of the answer went to the sink. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** The chat as the till sells it, under the name and price of node-llm-chat. */
  offer({ definition, priceUsdMicros }: Offer): Offer {
    const { chat, read } = this.#parts
    const { model } = read.call
    const most = tokenUnits(mostUsage(read.call))
    const sold: ServiceDefinition = {
      ...definition,
      requestCharsMax: CHAT_LINE.length + TAB_BODY_BYTES_MAX,
      parse: () => ok(read.call),
      ready: () => chat.platform.readiness(model),
      // The till checks a call right before it takes it: what has only terms or a stored answer takes no place.
      check: () => this.#enter(),
      execute: (_, __, signal) => this.#answer(signal),
      resultSchema: CHAT_RESULT,
      resultBytesMax: RESULT_BYTES_MAX,
      timeoutMs: chat.budgetMs + GRACE_MS,
      mostOnTab: () => ({ times: most, of: PRICE_UNITS }),
      usedOnTab: (result) => ({ times: unitsOfChat(result), of: most }),
    }
    return { definition: sold, priceUsdMicros }
  }

  /** Gives up the place among the chats of the node, if it has one. */
  leave(): void {
    this.#leave?.()
    this.#leave = null
  }

  #enter(): Fault | null {
    const { chat, end } = this.#parts
    this.#leave ??= chat.enter(end.stop)
    return this.#leave === null ? end.faultOf(fault('chat/busy', { seconds: 1 })) : null
  }

  async #answer(deadline: AbortSignal): Promise<object> {
    const { read, who, head, end } = this.#parts
    this.#isLive = this.#sink !== null
    const call = { ...read.call, who: who(), isPaid: true } as const
    const answered = await this.#run.answer(call, this.#sink, AbortSignal.any([deadline, end.signal]))
    if (answered.ok) return this.#whole(answered.value, head)
    if (this.#isPart(answered.fault)) return this.#part(head)
    this.#fault = answered.fault
    throw new Error(faultMessage(answered.fault))
  }

  /**
   * Whether what was made of a stream is sold: its caller left after models had worked for it, or its time was over after words were sent.
   * Else callers would ask for answers that are longer than the time, and have the words for nothing.
   */
  #isPart({ code }: Fault): boolean {
    if (this.#sink === null) return false
    const { totalTokens, completionTokens } = this.#run.usage
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
    const { usage } = this.#run
    this.#gathered.take(0, {})
    const report = { model, pipeline: 'broken off', stages: [], grounded: false, citations: [] }
    return {
      ...{ id: head.id, object: 'chat.completion', created: head.created, model },
      choices: this.#gathered.choices(() => 'length'),
      usage: usageJson(usage),
      x_platform: { ...report, usageEstimated: usage.estimated },
    }
  }

  #gathering(sink: ChatSink): ChatSink {
    return {
      ready: sink.ready,
      take: (piece: ChatPiece) => {
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
