import { Counter, Histogram, type Registry } from 'prom-client'
import type { ChatFacts } from '../../rpc/node/node-api.ts'

const SECONDS_BUCKETS = [0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120]

/** Counts chats by the platform's models. */
export class ChatMetrics {
  readonly #seconds: Histogram<'model' | 'status'>
  readonly #first: Histogram<'model'>
  readonly #tokens: Counter<'model' | 'kind'>

  constructor(registry: Registry) {
    const registers = [registry]
    this.#seconds = new Histogram({
      name: 'farthing_chat_seconds',
      help: 'Time of chats, by model and status; 499 means that the caller left',
      labelNames: ['model', 'status'],
      buckets: SECONDS_BUCKETS,
      registers,
    })
    this.#first = new Histogram({
      name: 'farthing_chat_first_piece_seconds',
      help: 'Time to the first piece of streamed answers, by model',
      labelNames: ['model'],
      buckets: SECONDS_BUCKETS,
      registers,
    })
    this.#tokens = new Counter({
      name: 'farthing_chat_tokens_total',
      help: 'Tokens of all stages, by model and kind (prompt, completion)',
      labelNames: ['model', 'kind'],
      registers,
    })
  }

  add({ model, status, seconds, firstPieceSeconds, usage }: ChatFacts): void {
    this.#seconds.labels(model, String(status)).observe(seconds)
    if (firstPieceSeconds !== null) this.#first.labels(model).observe(firstPieceSeconds)
    this.#tokens.labels(model, 'prompt').inc(usage.promptTokens)
    this.#tokens.labels(model, 'completion').inc(usage.completionTokens)
  }
}
