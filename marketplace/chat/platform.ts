import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { enginesFor } from '../ports/engines.ts'
import { FreePlaces } from '../ports/free-places.ts'
import type { ModelRole, ModelUsage } from '../ports/models.ts'
import { notConfigured, notNow, type Readiness } from '../ports/readiness.ts'
import type { ChatCall, ChatChoice, ChatOutcome, ChatSink, PlatformModelId, PlatformReport } from './call.ts'
import { fitsWindow } from './context-window.ts'
import { lastQuestion } from './conversation.ts'
import { type DeskManner, ModelDesk, PICTURE_ROLES, TEXT_ROLES } from './desk.ts'
import { annotationsOf, withoutAnnotations } from './ensemble/annotations.ts'
import { LatencyBook } from './models/latencies.ts'
import { addUsage, IMAGE_TOKENS } from './models/usage.ts'
import { PIPELINES } from './pipelines/table.ts'
import { firstState, runPipeline } from './run-pipeline.ts'
import { isSingleCall, runSingleCall } from './single-call.ts'
import type { ChatMeans, StageContext } from './stage.ts'
import { refusedForm } from './structured.ts'
import { asChatFault, isUnbegun, wholeSeconds } from './upstream-fault.ts'
import { callWithImages } from './vision/call-with-images.ts'
import { hasImages, imagePartsOf, someoneSees } from './vision/image-parts.ts'

const TRIED_AGAIN = 'no model can answer right now; its servers failed a moment ago and are tried again'
const NO_SPEECH = notConfigured('speech', 'models.file', 'chat.espeak')

/** Faults of the caller: no model takes such a request. */
const UNTAKEN: ReadonlySet<string> = new Set([
  'chat/invalid-request',
  'chat/unsupported',
  'chat/schema',
  'chat/refused',
])

/** Most images that are read at once: in total, per caller, and per host. */
export const PICTURES = { atOnce: 4, perWho: 2, perWhat: 2 }

/** The chat platform of a node: its models and their answers. */
export class ChatPlatform {
  /** Response times by model id, and by model and tier: `model-4/fast`. */
  readonly latencies = new LatencyBook()
  readonly #means: ChatMeans
  readonly #pictures = new FreePlaces(PICTURES)

  constructor(means: ChatMeans) {
    this.#means = means
  }

  /**
   * Any backend that answers in text is enough, except for the voice model. model-4 is also ready if only questions
   * with images can be answered.
   */
  readiness(model: PlatformModelId): Readiness {
    const text = this.#readinessOf(TEXT_ROLES)
    if (model === 'model-4') return text.available ? text : this.#readinessOf(this.#rolesFor(true))
    return text.available && model === 'model-voice' ? (this.#means.speech?.readiness() ?? NO_SPEECH) : text
  }

  /** Seconds until a text model is tried again, if none is available. At least one. */
  get restSeconds(): number {
    return this.#restSecondsOf(TEXT_ROLES)
  }

  #readinessOf(roles: readonly ModelRole[]): Readiness {
    const standings = roles.map((role) => this.#means.models.readiness(role, true))
    const isSetUp = standings.some((standing) => standing.available || standing.requires.length === 0)
    // Details of backends are for the operator only.
    const none = isSetUp ? notNow(`${TRIED_AGAIN} in ${this.#restSecondsOf(roles)} s`) : (standings[0] as Readiness)
    return standings.find(({ available }) => available) ?? none
  }

  /** `vision` is used only if a model supports images. */
  #rolesFor(hasPictures: boolean): readonly ModelRole[] {
    return hasPictures && someoneSees(this.#means.models) ? PICTURE_ROLES : TEXT_ROLES
  }

  #restSecondsOf(roles: readonly ModelRole[]): number {
    return wholeSeconds(this.#means.models.restMs(roles) ?? 0)
  }

  /**
   * Streamed if there is a sink. Faults: `chat/no-backend`, `chat/context-length`, `chat/busy`, `chat/upstream`,
   * `chat/refused`, `chat/timeout`, `chat/schema`, `chat/aborted`, `chat/unsupported`, `chat/invalid-request`, and
   * `engine/failed` if images cannot be read. `spent` receives the usage, also of a failed answer. Another call of
   * `spent` replaces the earlier figures.
   */
  async answer(
    call: ChatCall,
    sink: ChatSink | null,
    signal: AbortSignal,
    spent: (usage: ModelUsage) => void = () => {},
  ): Promise<Result<ChatOutcome>> {
    const roles = this.#rolesFor(call.model === 'model-4' && hasImages(call.messages))
    const readiness = this.#readinessOf(roles)
    if (!readiness.available) {
      const { reason, requires } = readiness
      const seconds = requires.length > 0 ? {} : { seconds: this.#restSecondsOf(roles) }
      return fail(fault('chat/no-backend', { model: call.model, reason, requires, ...seconds }))
    }
    const refused = refusedForm(call.form) ?? fitsWindow(call, this.#means.models)
    if (refused !== null) return fail(refused)
    const beganMs = this.#means.clock.now()
    const limit = AbortSignal.timeout(this.#means.budgetMs)
    const until = AbortSignal.any([signal, limit])
    const { engines } = this.#means
    const means = { ...this.#means, engines: enginesFor(engines, call.who ?? '') }
    // An image holds a slot while it waits, so it must not wait for other work of its caller.
    const imageMeans = { engines: enginesFor(engines, `images of ${call.who ?? ''}`), pictures: this.#pictures }
    const seen = await callWithImages(call, { ...this.#means, ...imageMeans }, until)
    if (!seen.ok && !isUnbegun(seen.fault) && seen.fault.code !== 'chat/unsupported') spent(usageOfImages(call))
    if (!seen.ok) return fail(signal.aborted ? fault('chat/aborted') : asChatFault(seen.fault, call.model))
    const context = this.#context(seen.value, means, until)
    const outcome = await this.#run(seen.value, context, sink).finally(() => spent(context.desk.usage))
    if (outcome.ok) {
      this.#noteTime(outcome.value.report, beganMs)
      return outcome
    }
    // Images were read, no model answered, and the caller is to blame. So the caller pays for the images.
    const cause = asChatFault(outcome.fault, call.model)
    const isToBlame = signal.aborted || UNTAKEN.has(cause.code)
    if (isToBlame && !context.desk.isAnswered && imagePartsOf(call.messages).length > 0)
      spent(addUsage(context.desk.usage, usageOfImages(call)))
    return fail(signal.aborted ? fault('chat/aborted') : cause)
  }

  #noteTime({ model, tier }: PlatformReport, beganMs: number): void {
    const nowMs = this.#means.clock.now()
    this.latencies.note(model, nowMs - beganMs, nowMs)
    if (tier !== undefined) this.latencies.note(`${model}/${tier}`, nowMs - beganMs, nowMs)
  }

  #context(call: ChatCall, means: ChatMeans, signal: AbortSignal): Omit<StageContext, 'say'> {
    const { clock, budgetMs, models } = means
    const endMs = clock.now() + budgetMs
    return {
      call,
      desk: new ModelDesk(models, signal, mannerOf(call)),
      means,
      signal,
      remainingMs: () => endMs - clock.now(),
    }
  }

  #run(call: ChatCall, context: Omit<StageContext, 'say'>, sink: ChatSink | null): Promise<Result<ChatOutcome>> {
    return isSingleCall(call) ? runSingleCall(call, context, sink) : this.#throughPipeline(call, context, sink)
  }

  async #throughPipeline(
    call: ChatCall,
    context: Omit<StageContext, 'say'>,
    sink: ChatSink | null,
  ): Promise<Result<ChatOutcome>> {
    const pipeline = PIPELINES[call.model]
    const first = firstState(withoutAnnotations(call.messages), lastQuestion(call.messages))
    const outcome = await runPipeline(pipeline, first, context, sink)
    if (!outcome.ok) return outcome
    const { state, stages } = outcome.value
    const annotations = annotationsOf(state.citations)
    if (annotations.length > 0) await sink?.take({ index: 0, delta: { annotations } })
    const cited = annotations.length > 0 ? { annotations } : {}
    const message = { role: 'assistant', content: state.text, refusal: null, ...cited }
    const choice: ChatChoice = { message, finishReason: state.finishReason, logprobs: null }
    const report: PlatformReport = {
      model: call.model,
      pipeline: pipeline.name,
      ...(state.tier !== null && { tier: state.tier }),
      ...(state.mode !== null && { mode: state.mode }),
      stages,
      grounded: state.sources.length > 0,
      citations: state.citations,
      usageEstimated: context.desk.usage.estimated,
      ...(context.desk.resumed !== null && { resumed: context.desk.resumed }),
      ...state.facts,
    }
    return ok({ choices: [choice], usage: context.desk.usage, report })
  }
}

function mannerOf({ resumes, who, isPaid }: ChatCall): DeskManner {
  return { resumes, isPaid: isPaid === true, ...(who !== undefined && { who }) }
}

/** No model answered, but this node has read the images. */
function usageOfImages({ messages }: ChatCall): ModelUsage {
  const tokens = imagePartsOf(messages).length * IMAGE_TOKENS.usual
  return { promptTokens: tokens, completionTokens: 0, totalTokens: tokens, estimated: true }
}
