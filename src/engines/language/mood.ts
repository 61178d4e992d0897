import type { Mood } from '../../../marketplace/outside/language-tasks.ts'
import { type SentenceMood, sentenceMood } from './sentence-mood.ts'

/** Beyond this a text is not neutral (VADER). */
const NEUTRAL_MAX = 0.05
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'sentence' })
/** Words with a valence that make a verdict half sure. */
const HALF_SURE_WORDS = 2
const DECIMALS = 4

/**
 * Mood of a text: the mean of its sentences that have one, and of the others a quarter, so that a long report with one
 * complaint is not a complaint. Confidence says how many words speak, and how much they agree; it is no probability.
 */
export function moodOf({ text }: { readonly text: string }): Mood {
  const sentences = [...SEGMENTER.segment(text)].map(({ segment }) => sentenceMood(segment))
  const polarity = rounded(mean(sentences))
  const sentiment = polarity > NEUTRAL_MAX ? 'positive' : polarity < -NEUTRAL_MAX ? 'negative' : 'neutral'
  return { sentiment, polarity, confidence: rounded(confidence(sentences, sentiment === 'neutral')) }
}

const SILENT_WEIGHT = 0.25

function mean(sentences: readonly SentenceMood[]): number {
  let [sum, weights] = [0, 0]
  for (const { polarity, spoken, words } of sentences) {
    if (words === 0 && spoken === 0) continue
    sum += polarity
    weights += spoken > 0 ? 1 : SILENT_WEIGHT
  }
  return weights === 0 ? 0 : Math.min(1, Math.max(-1, sum / weights))
}

function confidence(sentences: readonly SentenceMood[], isNeutral: boolean): number {
  const total = (of: (mood: SentenceMood) => number): number => sentences.reduce((sum, mood) => sum + of(mood), 0)
  const [good, bad, spoken] = [total((mood) => mood.good), total((mood) => mood.bad), total((mood) => mood.spoken)]
  // Silence is a sign too, the weaker the shorter the text.
  if (spoken === 0)
    return (
      0.5 *
      certainty(
        total((mood) => mood.words),
        10,
      )
    )
  const agreement = good + bad === 0 ? 0 : Math.abs(good - bad) / (good + bad)
  return certainty(spoken, HALF_SURE_WORDS) * (isNeutral ? 1 - agreement : agreement)
}

function certainty(signs: number, half: number): number {
  return signs / (signs + half)
}

function rounded(value: number): number {
  return Number(value.toFixed(DECIMALS)) + 0
}
