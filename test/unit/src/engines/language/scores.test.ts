import { describe, expect, it } from 'vitest'
import { moodOf } from '../../../../../src/engines/language/mood.ts'
import { subjectsOf } from '../../../../../src/engines/language/subjects.ts'
import { summarise } from '../../../../../src/engines/language/summary.ts'
import {
  HELD_BACK_COMPARISONS,
  HELD_BACK_COURTESY,
  TUNED_COMPARISONS,
  TUNED_COURTESY,
} from '../../../../support/labelled/courtesy.ts'
import { HELD_BACK_MOODS, TUNED_MOODS } from '../../../../support/labelled/moods.ts'
import {
  chatScore,
  moodScore,
  namesScore,
  strayScore,
  subjectsScore,
  summaryScore,
  turnScore,
  unitScore,
  wantedScore,
} from '../../../../support/labelled/scores.ts'
import {
  HELD_BACK_CHATS,
  HELD_BACK_LETTERS,
  HELD_BACK_NAMES,
  TUNED_CHATS,
  TUNED_LETTERS,
  TUNED_NAMES,
} from '../../../../support/labelled/shop.ts'
import { HELD_BACK_SUBJECTS, TUNED_SUBJECTS } from '../../../../support/labelled/subjects.ts'
import { HELD_BACK_SUMMARIES, TUNED_SUMMARIES } from '../../../../support/labelled/summaries.ts'
import { HELD_BACK_TALKS, TUNED_TALKS } from '../../../../support/labelled/talks.ts'
import {
  HELD_BACK_DECISIONS,
  HELD_BACK_HEADINGS,
  HELD_BACK_TERMS,
  TUNED_DECISIONS,
  TUNED_HEADINGS,
  TUNED_TERMS,
} from '../../../../support/labelled/terms.ts'
import { HELD_BACK_TURNS, TUNED_TURNS } from '../../../../support/labelled/turns.ts'
import { HELD_BACK_UNITS, TUNED_UNITS } from '../../../../support/labelled/units.ts'

/** Least share of the labelled texts that the engines must get right, since the services are sold for it. */
const FLOORS = {
  emotions: 0.85,
  sentiment: 0.75,
  precision: 0.75,
  names: 0.85,
  safe: 0.75,
  main: 0.75,
} as const

function atLeast(scores: Readonly<Record<string, number>>): void {
  for (const [name, score] of Object.entries(scores))
    expect(score, `${name} ${score}`).toBeGreaterThanOrEqual(FLOORS[name as keyof typeof FLOORS])
}

describe('the engines for texts, on labelled texts (node test/bench/language.ts shows the scores)', () => {
  it('have enough texts to say something', () => {
    expect(TUNED_MOODS.length + HELD_BACK_MOODS.length).toBeGreaterThanOrEqual(60)
    expect(TUNED_SUBJECTS.length + HELD_BACK_SUBJECTS.length).toBeGreaterThanOrEqual(18)
    expect(TUNED_SUMMARIES.length + HELD_BACK_SUMMARIES.length).toBeGreaterThanOrEqual(12)
  })

  it.for([
    ['tuned on', TUNED_MOODS],
    ['held back', HELD_BACK_MOODS],
  ] as const)(
    `tell the main emotion of ${FLOORS.emotions} and the sentiment of ${FLOORS.sentiment}, %s`,
    ([, texts]) => {
      atLeast(moodScore(texts, moodOf))
    },
  )

  it.for([
    ['tuned on', TUNED_TURNS],
    ['held back', HELD_BACK_TURNS],
  ] as const)('tell the sentiment where a negation or a contrast turns it, %s', ([, texts]) => {
    expect(turnScore(texts, moodOf).sentiment).toBeGreaterThanOrEqual(0.85)
  })

  it.for([
    ['tuned on', TUNED_SUBJECTS],
    ['held back', HELD_BACK_SUBJECTS],
  ] as const)(
    `find ${FLOORS.precision} good ones among five keywords and ${FLOORS.names} of the names, %s`,
    ([, texts]) => {
      atLeast(subjectsScore(texts, subjectsOf))
    },
  )

  it.for([
    ['tuned on', TUNED_TALKS],
    ['held back', HELD_BACK_TALKS],
  ] as const)('tell what dialogues are about, and neither who speaks nor small words, %s', ([, texts]) => {
    atLeast(subjectsScore(texts, subjectsOf))
    expect(strayScore(texts, subjectsOf).stray).toBe(0)
  })

  it.for([
    ['tuned on', TUNED_SUMMARIES],
    ['held back', HELD_BACK_SUMMARIES],
  ] as const)(`make ${FLOORS.safe} of the summaries of sentences that can be understood, %s`, ([, texts]) => {
    atLeast(summaryScore(texts, summarise))
  })

  it.for([
    ['tuned on', TUNED_UNITS],
    ['held back', HELD_BACK_UNITS],
  ] as const)('make summaries of dialogues, lists, reviews and programs of whole parts, %s', ([, texts]) => {
    const { whole, main } = unitScore(texts, summarise)
    expect(whole).toBe(1)
    expect(main).toBeGreaterThanOrEqual(FLOORS.main)
  })

  it.for([
    ['tuned on', TUNED_LETTERS, TUNED_CHATS, TUNED_NAMES],
    ['held back', HELD_BACK_LETTERS, HELD_BACK_CHATS, HELD_BACK_NAMES],
  ] as const)('read what a shop reads: letters, dialogues and names, %s', ([, letters, chats, names]) => {
    expect(turnScore(letters, moodOf).sentiment).toBeGreaterThanOrEqual(0.85)
    const { main, telling } = chatScore(chats, summarise)
    expect(main).toBeGreaterThanOrEqual(FLOORS.main)
    expect(telling).toBeGreaterThanOrEqual(FLOORS.main)
    const found = namesScore(names, subjectsOf)
    expect(found.names).toBeGreaterThanOrEqual(FLOORS.names)
    expect(found.stray).toBe(0)
  })
  it.for([
    ['tuned on', TUNED_COURTESY, TUNED_COMPARISONS],
    ['held back', HELD_BACK_COURTESY, HELD_BACK_COMPARISONS],
  ] as const)('give forms of courtesy no weight, and read comparisons, %s', ([, letters, comparisons]) => {
    atLeast(moodScore(letters, moodOf))
    expect(turnScore(comparisons, moodOf).sentiment).toBeGreaterThanOrEqual(0.85)
  })

  it.for([
    ['tuned on', TUNED_DECISIONS, TUNED_TERMS, TUNED_HEADINGS],
    ['held back', HELD_BACK_DECISIONS, HELD_BACK_TERMS, HELD_BACK_HEADINGS],
  ] as const)('tell what was decided, and what is a clause, an item and a name, %s', ([, chats, terms, headings]) => {
    const { main, telling } = chatScore(chats, summarise)
    for (const score of [main, telling, wantedScore(chats, summarise).wanted])
      expect(score).toBeGreaterThanOrEqual(FLOORS.main)
    expect(unitScore(terms, summarise).main).toBeGreaterThanOrEqual(FLOORS.main)
    const { names, stray } = namesScore(headings, subjectsOf)
    expect(names).toBeGreaterThanOrEqual(FLOORS.names)
    expect(stray).toBe(0)
  })
})
