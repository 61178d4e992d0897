import type { Mood } from '../../../marketplace/ports/language-tasks.ts'
import { stretches } from '../../../marketplace/services/text/sentence-ends.ts'
import { turnsAgainst } from './contrast.ts'
import { thanksOf } from './courtesy.ts'
import { EMOTIONS, type Emotion } from './emotion-words.ts'
import { isIronic } from './phrases.ts'
import { type SentenceMood, sentenceMood } from './sentence-mood.ts'

/** Beyond this a text is not neutral (VADER). */
const NEUTRAL_MAX = 0.05
/** Words with a valence that make a verdict half sure. */
const HALF_SURE_WORDS = 2
const DECIMALS = 4

/**
 * Mood of a text: the mean of its sentences that have one, and of the others a quarter, so that a long report with one
 * complaint is not a complaint. Confidence says how many words speak, and how much they agree; it is no probability.
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

/** Where irony has something bad in it or right behind it, praise is meant the other way round; it shows none of the emotions that its words name. */
function withIrony(pieces: readonly string[], moods: readonly SentenceMood[]): readonly SentenceMood[] {
  const isBad = (at: number): boolean => (moods[at]?.bad ?? 0) > 0
  if (!pieces.some((piece, at) => isIronic(piece) && (isBad(at) || isBad(at + 1)))) return moods
  return moods.map((mood) => {
    const { polarity, good, bad } = mood
    return polarity <= 0 ? mood : { ...mood, polarity: -polarity, good: 0, bad: good + bad, emotions: [] }
  })
}

/** Less of this a sentence, and a text only mentions emotions. */
const EMOTION_WEIGHT_MIN = 0.2
/** Less of all that a text shows is noise. */
const EMOTION_SHARE_MIN = 0.1
/** Part that counts of an emotion which goes against the mood of the text. */
const AGAINST_MOOD = 0.5
const SHARE_DECIMALS = 2
/** Emotions that are good or bad to have; the others are either. */
const SIDES: ReadonlyMap<Emotion, number> = new Map([
  ['joy', 1],
  ['trust', 1],
  ['sadness', -1],
  ['anger', -1],
  ['fear', -1],
  ['disgust', -1],
])

/** Emotions of a text with their shares, the strongest first. */
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

/** What a sentence weighs that takes back the one before it, and that one. */
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
