import type { Mood } from '../../../marketplace/ports/language-tasks.ts'
import { stretches } from '../../../marketplace/services/text/sentence-ends.ts'
import { turnsAgainst } from './contrast.ts'
import { thanksOf } from './courtesy.ts'
import { EMOTIONS, type Emotion } from './emotion-words.ts'
import { isIronic } from './phrases.ts'
import { type SentenceMood, sentenceMood } from './sentence-mood.ts'

/** VADER's bound of a neutral text. */
const NEUTRAL_MAX = 0.05
/** Number of words with a valence at which the certainty is one half. */
const HALF_SURE_WORDS = 2
const DECIMALS = 4

/**
 * The mean over the sentences. Sentences without a mood weigh a quarter, so that a long report with one complaint is no
 * complaint. Confidence grows with the number of words that carry mood and with their agreement. It is not a
 * probability.
 */
export function moodOf({ text }: { readonly text: string }): Mood {
  const pieces = [...stretches(text)].map((stretch) => stretch.text)
  const thanks = thanksOf(text)
  const sentences = withIrony(
    pieces,
    pieces.map((piece) => sentenceMood(piece, thanks)),
  )
  const turns = pieces.map((piece, i) => i > 0 && turnsAgainst(piece))
  const polarity = rounded(mean(sentences, turns))
  const sentiment = polarity > NEUTRAL_MAX ? 'positive' : polarity < -NEUTRAL_MAX ? 'negative' : 'neutral'
  return {
    sentiment,
    polarity,
    confidence: rounded(confidence(sentences, sentiment === 'neutral')),
    emotions: emotions(sentences, polarity),
  }
}

/** Inverts all praise if an ironic sentence has something bad in it or right after it. */
function withIrony(pieces: readonly string[], moods: readonly SentenceMood[]): readonly SentenceMood[] {
  const isBad = (at: number): boolean => (moods[at]?.bad ?? 0) > 0
  if (!pieces.some((piece, at) => isIronic(piece) && (isBad(at) || isBad(at + 1)))) return moods
  return moods.map((mood) => {
    const { polarity, good, bad } = mood
    return polarity <= 0 ? mood : { ...mood, polarity: -polarity, good: 0, bad: good + bad, emotions: [] }
  })
}

/** With less emotion per sentence, a text only mentions emotions. */
const EMOTION_WEIGHT_MIN = 0.2
/** A smaller share of the emotions is noise. */
const EMOTION_SHARE_MIN = 0.1
/** Weight of an emotion that contradicts the mood of the text. */
const AGAINST_MOOD = 0.5
const SHARE_DECIMALS = 2
/** Sign of the emotions that are clearly good or bad. */
const SIDES: ReadonlyMap<Emotion, number> = new Map([
  ['joy', 1],
  ['trust', 1],
  ['sadness', -1],
  ['anger', -1],
  ['fear', -1],
  ['disgust', -1],
])

function emotions(sentences: readonly SentenceMood[], polarity: number): Mood['emotions'] {
  const weights = new Map<Emotion, number>(EMOTIONS.map((emotion) => [emotion, 0]))
  for (const sentence of sentences) {
    for (const { emotion, weight } of sentence.emotions) {
      const isAgainst = (SIDES.get(emotion) ?? 0) * polarity < 0
      weights.set(emotion, (weights.get(emotion) as number) + weight * (isAgainst ? AGAINST_MOOD : 1))
    }
  }
  const spoken = sentences.filter(({ words }) => words > 0).length
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  if (all < EMOTION_WEIGHT_MIN * spoken) return []
  const shown = [...weights].filter(([, weight]) => weight > 0 && weight >= all * EMOTION_SHARE_MIN)
  const total = shown.reduce((sum, [, weight]) => sum + weight, 0)
  return shown
    .sort(([, a], [, b]) => b - a)
    .map(([emotion, weight]) => ({ emotion, share: Number((weight / total).toFixed(SHARE_DECIMALS)) }))
}

const SILENT_WEIGHT = 0.25

/** Weights of a sentence that contradicts the one before it, and of the one before. */
const TURN = { before: 0.5, after: 1.5 }

function mean(sentences: readonly SentenceMood[], turns: readonly boolean[]): number {
  let [sum, weights] = [0, 0]
  for (const [i, { polarity, spoken, words }] of sentences.entries()) {
    if (words === 0 && spoken === 0) continue
    const turned = (turns[i] ? TURN.after : 1) * (turns[i + 1] ? TURN.before : 1)
    const weight = turned * (spoken > 0 ? 1 : SILENT_WEIGHT)
    sum += polarity * turned
    weights += weight
  }
  return weights === 0 ? 0 : Math.min(1, Math.max(-1, sum / weights))
}

function confidence(sentences: readonly SentenceMood[], isNeutral: boolean): number {
  const total = (of: (mood: SentenceMood) => number): number => sentences.reduce((sum, mood) => sum + of(mood), 0)
  const [good, bad, spoken] = [total((mood) => mood.good), total((mood) => mood.bad), total((mood) => mood.spoken)]
  // A text without mood words is a sign of neutrality, the weaker the shorter it is.
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
