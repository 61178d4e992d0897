import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  HELD_BACK_COMPARISONS,
  HELD_BACK_COURTESY,
  LATER_COMPARISONS,
  LATER_COURTESY,
  TUNED_COMPARISONS,
  TUNED_COURTESY,
} from '../support/labelled/courtesy.ts'
import { HELD_BACK_LANGUAGES, TUNED_LANGUAGES } from '../support/labelled/languages.ts'
import { HELD_BACK_MOODS, TUNED_MOODS } from '../support/labelled/moods.ts'
import {
  chatScore,
  languageScore,
  moodScore,
  namesScore,
  strayScore,
  subjectsScore,
  summaryScore,
  turnScore,
  unitScore,
  wantedScore,
} from '../support/labelled/scores.ts'
import {
  HELD_BACK_CHATS,
  HELD_BACK_LETTERS,
  HELD_BACK_NAMES,
  TUNED_CHATS,
  TUNED_LETTERS,
  TUNED_NAMES,
} from '../support/labelled/shop.ts'
import { HELD_BACK_SUBJECTS, TUNED_SUBJECTS } from '../support/labelled/subjects.ts'
import { HELD_BACK_SUMMARIES, TUNED_SUMMARIES } from '../support/labelled/summaries.ts'
import { HELD_BACK_TALKS, TUNED_TALKS } from '../support/labelled/talks.ts'
import {
  HELD_BACK_DECISIONS,
  HELD_BACK_HEADINGS,
  HELD_BACK_TERMS,
  TUNED_DECISIONS,
  TUNED_HEADINGS,
  TUNED_TERMS,
} from '../support/labelled/terms.ts'
import { HELD_BACK_TURNS, TUNED_TURNS } from '../support/labelled/turns.ts'
import { HELD_BACK_UNITS, TUNED_UNITS } from '../support/labelled/units.ts'
import { ROOT } from '../support/source-tree.ts'

// `node test/bench/language.ts [root]` prints the scores of the language engines on the labelled texts. With the root
// of another working tree, such as one of an older commit, it scores the engines of that tree on the same texts.
const root = resolve(process.argv[2] ?? ROOT)
const from = async (path: string) => await import(pathToFileURL(join(root, path)).href)
const engine = (name: string) => from(`src/engines/language/${name}`)

const [{ moodOf }, { subjectsOf }, { summarise }] = await Promise.all(
  ['mood.ts', 'subjects.ts', 'summary.ts'].map(engine),
)

const { guessLanguage } = await from('marketplace/services/text/language.ts')

console.table({
  'sentiment, tuned on': moodScore(TUNED_MOODS, moodOf),
  'sentiment, held back': moodScore(HELD_BACK_MOODS, moodOf),
  'turns, tuned on': turnScore(TUNED_TURNS, moodOf),
  'turns, held back': turnScore(HELD_BACK_TURNS, moodOf),
  'languages, tuned on': languageScore(TUNED_LANGUAGES, guessLanguage),
  'languages, held back': languageScore(HELD_BACK_LANGUAGES, guessLanguage),
  'keywords, tuned on': subjectsScore(TUNED_SUBJECTS, subjectsOf),
  'keywords, held back': subjectsScore(HELD_BACK_SUBJECTS, subjectsOf),
  'talks, tuned on': { ...subjectsScore(TUNED_TALKS, subjectsOf), ...strayScore(TUNED_TALKS, subjectsOf) },
  'talks, held back': { ...subjectsScore(HELD_BACK_TALKS, subjectsOf), ...strayScore(HELD_BACK_TALKS, subjectsOf) },
  'summaries, tuned on': summaryScore(TUNED_SUMMARIES, summarise),
  'summaries, held back': summaryScore(HELD_BACK_SUMMARIES, summarise),
  'units, tuned on': unitScore(TUNED_UNITS, summarise),
  'units, held back': unitScore(HELD_BACK_UNITS, summarise),
  'letters, tuned on': turnScore(TUNED_LETTERS, moodOf),
  'letters, held back': turnScore(HELD_BACK_LETTERS, moodOf),
  'chats, tuned on': chatScore(TUNED_CHATS, summarise),
  'chats, held back': chatScore(HELD_BACK_CHATS, summarise),
  'names, tuned on': namesScore(TUNED_NAMES, subjectsOf),
  'names, held back': namesScore(HELD_BACK_NAMES, subjectsOf),
  'courtesy, tuned on': moodScore(TUNED_COURTESY, moodOf),
  'courtesy, held back': moodScore(HELD_BACK_COURTESY, moodOf),
  'courtesy, later': moodScore(LATER_COURTESY, moodOf),
  'comparisons, tuned on': turnScore(TUNED_COMPARISONS, moodOf),
  'comparisons, held back': turnScore(HELD_BACK_COMPARISONS, moodOf),
  'comparisons, later': turnScore(LATER_COMPARISONS, moodOf),
  'decisions, tuned on': { ...chatScore(TUNED_DECISIONS, summarise), ...wantedScore(TUNED_DECISIONS, summarise) },
  'decisions, held back': {
    ...chatScore(HELD_BACK_DECISIONS, summarise),
    ...wantedScore(HELD_BACK_DECISIONS, summarise),
  },
  'terms, tuned on': unitScore(TUNED_TERMS, summarise),
  'terms, held back': unitScore(HELD_BACK_TERMS, summarise),
  'headings, tuned on': namesScore(TUNED_HEADINGS, subjectsOf),
  'headings, held back': namesScore(HELD_BACK_HEADINGS, subjectsOf),
})
