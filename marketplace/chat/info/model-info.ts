import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Readiness } from '../../ports/readiness.ts'
import { type ChatModelId, PLATFORM_MODEL_IDS, type PlatformModelId } from '../call.ts'
import { windowOf } from '../context-window.ts'
import { type ChatModels, canAnswer } from '../desk.ts'
import { DRAFTS_MAX } from '../ensemble/draft-models.ts'
import { TIER_BUDGET_MS, TIERS, type Tier } from '../ensemble/tiers.ts'
import type { ModelFacts } from '../models/backend.ts'
import type { LatencyFigures } from '../models/latencies.ts'
import { PIPELINES } from '../pipelines/table.ts'
import type { Stage } from '../stage.ts'
import { SPEAKING } from '../voice/speaking.ts'
import { CARDS, type Capability, type Need } from './cards.ts'
import { distinctModels, groupedNumber, namesOf, speedText, totalParameters } from './figures.ts'
import { type ModelInfo, measuredSpeed, type TierSpeed } from './shapes.ts'

const UNREACHED = 'it is configured, and cannot be reached now'

/** Sources of the facts about models. */
export interface ModelInfoMeans {
  readonly models: ChatModels
  readonly readiness: (model: ChatModelId) => Readiness
  readonly speech: () => Readiness
  readonly search: () => Readiness
  /** Of a model, or of one of its tiers. */
  readonly latencies: (model: PlatformModelId, tier?: Tier) => LatencyFigures | null
  readonly clock: Clock
}

/** All models of the platform in their current state. */
export function modelInfos(means: ModelInfoMeans, baseUrl: string, pricing: string): readonly ModelInfo[] {
  return PLATFORM_MODEL_IDS.map((id) => modelInfo(id, means, { baseUrl, pricing }))
}

/** Each model once. */
export function chatModels({ facts }: Pick<ChatModels, 'facts'>): readonly ModelFacts[] {
  return distinctModels(facts, (model) => canAnswer(model) || sees(model) || model.roles.includes('speech'))
}

/** Stages of a model, in order. */
export function stagesOf(id: PlatformModelId): readonly Pick<Stage, 'name' | 'about'>[] {
  return id === 'model-voice' ? [...PIPELINES['model-2'].stages, ...SPEAKING] : PIPELINES[id].stages
}

function modelInfo(
  id: PlatformModelId,
  means: ModelInfoMeans,
  { baseUrl, pricing }: { readonly baseUrl: string; readonly pricing: string },
): ModelInfo {
  const { name, tagline, label, bestFor } = CARDS[id]
  const behind = modelsBehind(id, means.models)
  const readiness = readinessOf(id, means)
  const figures = means.latencies(id)
  return {
    id,
    name,
    tagline,
    speed: speedText(label, figures),
    parameters: totalParameters(behind),
    powered_by: poweredBy(id, behind, means),
    context_window: windowText(id, means.models),
    pricing,
    best_for: bestFor,
    pipeline: stagesOf(id).map((stage) => stage.name),
    ...abilities(id, means, readiness),
    how_it_works: howItWorks(id, means.models),
    info_url: `${baseUrl}/api/v1/info/models/${id}`,
    available: readiness.available,
    ...(!readiness.available && { unavailable_reason: lackIn(readiness), requires: readiness.requires }),
    measured: measuredSpeed(figures),
    ...(id === 'model-4' && { tiers: tiersOf(means) }),
  }
}

/** The voice model needs speech, and also model-2 to write the answer. */
export function readinessOf(id: PlatformModelId, { readiness, speech }: ModelInfoMeans): Readiness {
  if (id !== 'model-voice') return readiness(id)
  const text = readiness('model-2')
  return text.available ? speech() : text
}

function poweredBy(id: PlatformModelId, behind: readonly ModelFacts[], { speech }: ModelInfoMeans): string {
  if (behind.length === 0) return 'nothing: no model is configured for it'
  const speaker = speech()
  const isProgram = id === 'model-voice' && speaker.available && !behind.some(({ roles }) => roles.includes('speech'))
  return isProgram ? `${namesOf(behind)}; speech by ${speaker.engine}` : namesOf(behind)
}

function sees(model: ModelFacts): boolean {
  return canAnswer(model, ['vision'])
}

/** For model-1 those with the role `fast`, or all if none has it. */
function modelsBehind(id: PlatformModelId, { facts }: Pick<ChatModels, 'facts'>): readonly ModelFacts[] {
  const having = (fits: (model: ModelFacts) => boolean): readonly ModelFacts[] => distinctModels(facts, fits)
  const fast = id === 'model-1' ? having(({ roles }) => roles.includes('fast')) : []
  if (fast.length > 0) return fast
  if (id === 'model-4') return having((model) => canAnswer(model) || sees(model))
  if (id === 'model-voice') return having((model) => canAnswer(model) || model.roles.includes('speech'))
  return having((model) => canAnswer(model))
}

function windowText(id: PlatformModelId, models: Pick<ChatModels, 'facts'>): string {
  const chat: ChatModelId = id === 'model-voice' ? 'model-2' : id
  // If only models with vision are configured, their window counts.
  const tokens = windowOf(chat, models) || (chat === 'model-4' ? windowOf(chat, models, ['vision']) : 0)
  if (tokens === 0) return 'unknown: no model is configured'
  const size = `${groupedNumber(tokens)} tokens`
  return id === 'model-4' ? `${size} at once; longer conversations are compressed` : size
}

/** A capability that lacks something becomes a limitation that says so. */
function abilities(
  id: PlatformModelId,
  means: ModelInfoMeans,
  readiness: Readiness,
): Pick<ModelInfo, 'capabilities' | 'limitations'> {
  const { capabilities, limitations } = CARDS[id]
  if (!readiness.available)
    return { capabilities: [], limitations: [`It cannot answer now: ${lackIn(readiness)}`, ...limitations] }
  const lackOf = ({ needs }: Capability): string | null => (needs === undefined ? null : LACKS[needs](means))
  const lacking = capabilities.flatMap((capability) => {
    const lack = lackOf(capability)
    return lack === null ? [] : [`Not on this node: ${lowerFirst(capability.text)} (${lack})`]
  })
  const text = textLack(means)
  const blind = text === null ? [] : [`Questions without pictures are not answered on this node (${text})`]
  return {
    capabilities: capabilities.filter((capability) => lackOf(capability) === null).map((one) => one.text),
    limitations: [...blind, ...lacking, ...limitations],
  }
}

/** Null if the need is met. */
const LACKS: Readonly<Record<Need, (means: ModelInfoMeans) => string | null>> = {
  text: textLack,
  search: (means) => textLack(means) ?? reasonOf(means.search()),
  vision: ({ models }) => {
    const seeing = models.facts.filter((backend) => backend.models.some(sees))
    if (seeing.some(({ usable }) => usable)) return null
    if (seeing.length > 0) return UNREACHED
    return reasonOf(models.readiness('vision', true)) ?? 'no model with the role vision supports vision'
  },
  tools: (means) => {
    const needs = textLack(means) === null ? (['tools'] as const) : (['tools', 'vision'] as const)
    const takes = means.models.facts.some(({ models: own }) => own.some((model) => canAnswer(model, needs)))
    return takes ? null : 'no configured model supports tools'
  },
  several: (means) => {
    const usable = means.models.facts.filter((backend) => backend.usable)
    const count = distinctModels(usable, (model) => canAnswer(model)).length
    return (
      textLack(means) ??
      (count > 1 ? null : `it has ${count} model; drafts are sampled from it at different temperatures`)
    )
  },
}

/** Null if questions in text can be answered. */
function textLack({ readiness }: ModelInfoMeans): string | null {
  return reasonOf(readiness('model-2'))
}

function reasonOf(readiness: Readiness): string | null {
  return readiness.available ? null : lackIn(readiness)
}

/** Faults of a backend can name machines, so only the operator sees them. */
function lackIn({ reason, requires }: Extract<Readiness, { available: false }>): string {
  return requires.length > 0 ? reason : UNREACHED
}

function howItWorks(id: PlatformModelId, models: Pick<ChatModels, 'facts'>): string {
  const steps = stagesOf(id).map(({ name, about }, i) => `${i + 1}. ${name}: ${about}`)
  const count = Math.min(DRAFTS_MAX, distinctModels(models.facts, (model) => canAnswer(model)).length)
  const drafts =
    id === 'model-4' ? ` On this node drafts come from ${count === 1 ? '1 model' : `${count} models`}.` : ''
  return `${CARDS[id].how}${drafts} Stages: ${steps.join(' ')} Every answer tells in x_platform which of them ran, and with which models.`
}

function tiersOf({ latencies }: ModelInfoMeans): readonly TierSpeed[] {
  return TIERS.map((tier) => {
    const { fromMs, toMs } = TIER_BUDGET_MS[tier]
    return { tier, budget_ms: { from: fromMs, to: toMs }, measured: measuredSpeed(latencies('model-4', tier)) }
  })
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
