import { availableParallelism } from 'node:os'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { Fields } from '../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type {
  ChatAnswer,
  ChatMessage,
  ChatRequest,
  DeltaSink,
  Heard,
  ModelBackend,
} from '../../../marketplace/chat/models/backend.ts'
import { formInWords, OF_QUESTION, unusableAnswer } from './chat-answer.ts'
import { ggufTrouble } from './gguf-header.ts'
import type { Llama, LlamaContext, LlamaHistoryItem, LlamaModel, LlamaPackage, LlamaSequence } from './llama-package.ts'

/** Models for tests have random weights, so their answers must never be sold. */
export const FIXTURE_PREFIX = 'farthing-fixture'
/** Id of the backend. */
export const GGUF_ID = 'gguf'

/** What the backend is given. */
export interface GgufBackendParts {
  readonly path: string
  /** In tokens. */
  readonly context: number
  readonly allowFixture: boolean
  readonly load: () => Promise<LlamaPackage>
}

interface Loaded {
  readonly package: LlamaPackage
  readonly llama: Llama
  readonly model: LlamaModel
  readonly context: LlamaContext
  /** The conversation format of the model. */
  readonly chatWrapper: object
  readonly name: string
}

const REASON_CHARS_MAX = 160
const NO_LOGPROBS = { reason: 'it does not tell how likely tokens are', status: 400 }
const TOO_LONG = { reason: 'it is far longer than the window of this model', status: 400 }
/** Bounds of a question, because tokenizing blocks the main thread. Prose has four characters a token. */
const CHARS_A_TOKEN_MAX = 8
const MESSAGES_MAX = 1_000
const NO_GRAMMAR = { reason: 'there is no small grammar of this schema', status: 400 }
/** Largest schema that becomes a grammar. A number in it counts as its absolute value, any other value as one. */
const GRAMMAR_SIZE_MAX = 1_000
const ANY_OBJECT: Fields = { type: 'object', additionalProperties: true }
/** Equal questions without a seed of their own get equal answers. */
const SEED = 1

/** A model in a GGUF file, run in this process. One answer at a time. */
export class GgufBackend implements ModelBackend {
  readonly id = GGUF_ID
  readonly requires = ['models.gguf']
  readonly #parts: GgufBackendParts
  #loading: Promise<Result<Loaded>> | null = null
  readonly #closing = new AbortController()
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: GgufBackendParts) {
    this.#parts = parts
  }

  readonly complete = (request: ChatRequest, signal: AbortSignal, heard?: Heard): Promise<Result<ChatAnswer>> =>
    this.#ask(request, null, signal, heard)

  /** Refuses JSON that no grammar can enforce: such an answer must be checked before the caller sees it. */
  readonly stream = (request: ChatRequest, sink: DeltaSink, signal: AbortSignal): Promise<Result<ChatAnswer>> =>
    this.#ask(request, sink, signal)

  readonly picture = async (): Promise<Result<never>> => unusableAnswer(this.id, 'it makes no pictures')

  #ask(request: ChatRequest, sink: DeltaSink | null, signal: AbortSignal, heard?: Heard): Promise<Result<ChatAnswer>> {
    return this.#inTurn(async () => {
      const until = AbortSignal.any([signal, this.#closing.signal])
      if (until.aborted) return fail(fault('model/timeout', { backend: this.id }))
      const loaded = await this.#loaded()
      if (!loaded.ok) return loaded
      try {
        return await this.#answer(loaded.value, request, { sink, heard }, until)
      } catch (error) {
        if (until.aborted) return fail(fault('model/timeout', { backend: this.id }))
        // A loaded model may fail on every question, which checks do not see.
        const isWell = await stillAnswers(loaded.value, until)
        if (until.aborted) return fail(fault('model/timeout', { backend: this.id }))
        const reason = error instanceof Error ? error.message : 'unknown cause'
        return unusableAnswer(this.id, reason, isWell ? OF_QUESTION : {})
      }
    })
  }

  readonly check = async (): Promise<Result<null>> => {
    const loaded = await this.#loaded()
    return loaded.ok ? ok(null) : loaded
  }

  /** Aborts the current answer and all that wait, and frees the memory. */
  async close(): Promise<void> {
    this.#closing.abort()
    const loaded = await this.#loading
    if (loaded === null || !loaded.ok) return
    await this.#last
    await loaded.value.llama.dispose()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  #loaded(): Promise<Result<Loaded>> {
    this.#loading ??= this.#load().then((loaded) => {
      // A missing file may be there at the next check.
      if (!loaded.ok) this.#loading = null
      return loaded
    })
    return this.#loading
  }

  async #load(): Promise<Result<Loaded>> {
    const { path, context: contextSize, allowFixture } = this.#parts
    const unusable = (reason: string): Result<never> =>
      // Callers read why a service is unavailable, so the path is hidden.
      fail(
        fault('model/refused', {
          backend: this.id,
          reason: reason.replaceAll(path, 'the file').slice(0, REASON_CHARS_MAX),
        }),
      )
    const trouble = await ggufTrouble(path)
    if (trouble !== null) return unusable(trouble)
    let llamaPackage: LlamaPackage
    try {
      llamaPackage = await this.#parts.load()
    } catch {
      return unusable('the package node-llama-cpp is not installed')
    }
    let llama: Llama | null = null
    try {
      llama = await llamaPackage.getLlama({
        gpu: false,
        build: 'never',
        skipDownload: true,
        // The engine's threads wait by spinning. With one per processor, any other work would slow all of them.
        maxThreads: Math.max(1, availableParallelism() - 1),
        progressLogs: false,
        logLevel: 'disabled',
      })
      const model = await llama.loadModel({ modelPath: path })
      const name = String(model.fileInfo.metadata.general?.name ?? '')
      if (name.startsWith(FIXTURE_PREFIX) && !allowFixture) {
        await llama.dispose()
        return unusable('the model is made for tests: its answers mean nothing')
      }
      const context = await model.createContext({ contextSize })
      const chatWrapper = llamaPackage.resolveChatWrapper(model)
      return ok({ package: llamaPackage, llama, model, context, chatWrapper, name })
    } catch (error) {
      await llama?.dispose()
      return unusable(error instanceof Error ? error.message : 'unknown cause')
    }
  }

  async #answer(
    { package: { LlamaChatSession }, llama, context, chatWrapper, name }: Loaded,
    { model, messages, maxTokens, temperature, jsonSchema, json, extra = {}, tally }: ChatRequest,
    { sink, heard }: { readonly sink: DeltaSink | null; readonly heard: Heard | undefined },
    signal: AbortSignal,
  ): Promise<Result<ChatAnswer>> {
    const wanted = jsonSchema?.schema ?? (json === true ? ANY_OBJECT : null)
    const grammar = wanted && (await grammarFor(llama, wanted))
    const isInWords = wanted !== null && grammar === null
    if (extra.logprobs === true) return fail(fault('model/refused', { backend: this.id, ...NO_LOGPROBS }))
    if (isInWords && sink !== null) return fail(fault('model/refused', { backend: this.id, ...NO_GRAMMAR }))
    const chars = messages.reduce((sum, { content }) => sum + textIn(content).length, 0)
    if (chars > CHARS_A_TOKEN_MAX * this.#parts.context || messages.length > MESSAGES_MAX)
      return fail(fault('model/refused', { backend: this.id, ...TOO_LONG }))
    const [history, prompt] = conversationOf(messages)
    const sequence = context.getSequence()
    try {
      const session = new LlamaChatSession({ contextSequence: sequence, chatWrapper })
      session.setChatHistory(history)
      const pieces = new PieceQueue(sink ?? (() => heard?.()))
      const inWords = isInWords ? `\n\n${formInWords(wanted)}` : ''
      const asked = session.promptWithMeta(`${prompt}${inWords}`, {
        signal,
        maxTokens,
        temperature: temperature ?? 0,
        ...styleOf(extra),
        onTextChunk: (content) => {
          tally?.take({ content })
          pieces.add({ content })
        },
        ...(grammar && { grammar }),
      })
      const { responseText, stopReason } = await asked.catch((error: unknown) => {
        // The model has read the prompt, even if no text came.
        tally?.promptRead()
        throw error
      })
      await pieces.drained()
      const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter.getState()
      const usage = { promptTokens: usedInputTokens, completionTokens: usedOutputTokens }
      tally?.count(usage)
      if (responseText.trim() === '') return unusableAnswer(this.id, `it is empty (${stopReason})`, OF_QUESTION)
      return ok({
        message: { role: 'assistant', content: responseText },
        text: responseText,
        model: name === '' ? model.id : name,
        finishReason: stopReason === 'maxTokens' ? 'length' : 'stop',
        ...(wanted !== null && { heldBy: isInWords ? 'words' : 'grammar' }),
        usage,
        skipped: 0,
      })
    } finally {
      sequence.dispose()
    }
  }
}

/** If the model answers a plain question, the question that failed before is to blame. */
async function stillAnswers(
  { package: { LlamaChatSession }, context, chatWrapper }: Loaded,
  signal: AbortSignal,
): Promise<boolean> {
  let sequence: LlamaSequence | null = null
  try {
    sequence = context.getSequence()
    const session = new LlamaChatSession({ contextSequence: sequence, chatWrapper })
    const options = { signal, maxTokens: 1, temperature: 0, seed: SEED, onTextChunk: () => undefined }
    await session.promptWithMeta('Hello', options)
    return true
  } catch {
    return false
  } finally {
    sequence?.dispose()
  }
}

function styleOf({ seed, top_p: topP, stop }: Fields): {
  readonly seed: number
  readonly topP?: number
  readonly customStopTriggers?: readonly string[]
} {
  const stops = (Array.isArray(stop) ? stop : [stop]).filter((one) => typeof one === 'string' && one !== '')
  return {
    seed: typeof seed === 'number' ? seed : SEED,
    ...(typeof topP === 'number' && { topP }),
    ...(stops.length > 0 && { customStopTriggers: stops as readonly string[] }),
  }
}

/** Null if no grammar can be made, or only a large one. */
async function grammarFor(llama: Llama, schema: Fields): Promise<object | null> {
  if (!isSmall(schema)) return null
  try {
    return await llama.createGrammarForJsonSchema(schema)
  } catch {
    return null
  }
}

/** A grammar writes out repetition counts. */
function isSmall(schema: Fields): boolean {
  let size = 0
  const left: unknown[] = [schema]
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    size += typeof value === 'number' ? Math.abs(value) : 1
    if (size > GRAMMAR_SIZE_MAX) return false
    if (value !== null && typeof value === 'object') left.push(...Object.values(value))
  }
  return true
}

/** Passes pieces on in order, although they come from a synchronous callback. */
class PieceQueue {
  readonly #sink: DeltaSink
  #last: Promise<void> = Promise.resolve()

  constructor(sink: DeltaSink) {
    this.#sink = sink
  }

  add(piece: Readonly<Record<string, unknown>>): void {
    this.#last = this.#last.then(() => this.#sink(piece))
    // `drained` reports the error.
    this.#last.catch(() => undefined)
  }

  drained(): Promise<void> {
    return this.#last
  }
}

function conversationOf(messages: readonly ChatMessage[]): readonly [LlamaHistoryItem[], string] {
  const items = messages.map(({ role, content }): LlamaHistoryItem => {
    const text = textIn(content)
    if (role === 'assistant') return { type: 'model', response: [text] }
    return { type: role === 'system' ? 'system' : 'user', text }
  })
  const last = items.at(-1)
  return last?.type === 'user' ? [items.slice(0, -1), last.text] : [items, '']
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content ?? '')
  return content
    .map((part) => (part as { readonly text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string')
    .join('\n')
}
