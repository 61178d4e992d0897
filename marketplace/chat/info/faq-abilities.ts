import type { FaqFacts, FaqItem } from './faq-item.ts'
import type { ModelInfo } from './shapes.ts'

interface Ability {
  readonly id: string
  readonly question: string
  /** The beginning of a capability's text. Models with this capability are named in the answer. */
  readonly capability: string
  /** The model whose limitations explain why the ability is missing. */
  readonly of: string
  readonly yes: (ids: string) => string
  readonly words: string
}

const ABILITIES: readonly Ability[] = [
  {
    id: 'tools',
    question: 'Are tool calls supported?',
    capability: 'Tool calls',
    of: 'model-1',
    yes: (ids) =>
      `Yes, with ${ids}: a request with tools goes to one model that supports them, and its tool calls come back untouched.`,
    words: 'tool tools function functions calling tool_choice tool_calls agent',
  },
  {
    id: 'structured',
    question: 'Can answers follow a JSON schema?',
    capability: 'Structured output',
    of: 'model-1',
    yes: (ids) =>
      `Yes, with ${ids}: response_format json_schema or json_object. An answer that does not follow the schema is asked for once more, and else refused with 422.`,
    words: 'json schema structured output response_format json_object format',
  },
  {
    id: 'vision',
    question: 'Can it see pictures?',
    capability: 'Pictures in',
    of: 'model-4',
    yes: (ids) =>
      `Yes, ${ids}: image_url parts with PNG, JPEG, WebP or GIF, as data URLs or https addresses. Video is not taken.`,
    words: 'vision image images picture photo see multimodal image_url video png jpeg',
  },
  {
    id: 'voice',
    question: 'Can it speak?',
    capability: 'Speech as',
    of: 'model-voice',
    yes: () =>
      'Yes: POST /api/v1/voice answers as model-2 does and reads the answer out; POST /api/v1/audio/speech reads any text. Both give WAV, 24 kHz, 16 bit, mono.',
    words: 'voice speech speak talk speaking audio sound tts text-to-speech wav aloud listen',
  },
  {
    id: 'search',
    question: 'Does it search the web?',
    capability: 'Web search',
    of: 'model-4',
    yes: (ids) =>
      `Yes, ${ids} by itself for current events and facts; the answer cites its pages by [1] and in annotations. Only pages that were really found are cited.`,
    words:
      'web search internet online browse current events news citation citations sources grounded grounding up-to-date knowledge',
  },
]

/** What the models here can do, and why an ability is missing. */
export function aboutAbilities({ models }: FaqFacts): readonly FaqItem[] {
  const abilities = ABILITIES.map(({ id, question, words, ...ability }) => ({
    ...{ id, question, words },
    answer: answerOf(ability, models),
  }))
  return [...abilities, choosing(models)]
}

function answerOf(
  { capability, of, yes }: Pick<Ability, 'capability' | 'of' | 'yes'>,
  models: readonly ModelInfo[],
): string {
  const ids = models.filter(({ capabilities }) => capabilities.some((text) => text.startsWith(capability)))
  if (ids.length > 0) return yes(ids.map(({ id }) => id).join(', '))
  const { limitations = [] } = models.find(({ id }) => id === of) ?? {}
  const lack = limitations.find((text) => text.toLowerCase().includes(capability.toLowerCase())) ?? limitations[0]
  return `Not on this node at the moment. ${of}: ${lack}.`
}

function choosing(models: readonly ModelInfo[]): FaqItem {
  const lines = models.map(({ id, best_for: uses }) => `${id}: ${uses.join(', ')}`)
  return {
    id: 'choose',
    question: 'Which model should I use for code, writing or mathematics?',
    answer: `What each is good for: ${lines.join('. ')}.`,
    words:
      'model choose choosing recommend recommendation best better good suited compare difference pick code coding program programming math maths essay text translate question quick fast',
  }
}
