import { describe, expect, it } from 'vitest'
import { guessLanguage } from '../../../../../marketplace/services/text/language.ts'
import { HELD_BACK_LANGUAGES, TUNED_LANGUAGES } from '../../../../support/labelled/languages.ts'
import { languageScore } from '../../../../support/labelled/scores.ts'

describe('the guess of a language', () => {
  it.for([
    ['tuned on', TUNED_LANGUAGES],
    ['held back', HELD_BACK_LANGUAGES],
  ] as const)('tells of a few words whether they are English, and mostly what else they are: %s', ([, texts]) => {
    const { english, language } = languageScore(texts, guessLanguage)
    expect(english).toBeGreaterThanOrEqual(0.95)
    expect(language).toBeGreaterThanOrEqual(0.9)
  })

  it.for([
    'Le Creuset pan',
    'El Paso weather',
    'crème brûlée recipe',
    'de facto standard',
    'Los Angeles Lakers score',
    'Der Spiegel reports on Bayern',
    'C\u2019est la vie, said the man, and left.',
  ])('takes foreign names and dishes in English for English: %j', (text) => {
    expect(guessLanguage(text).language).toBe('en')
  })

  it('is sure of English where enough words are of it, and says so', () => {
    expect(guessLanguage('The room was dirty and nobody would come.')).toEqual({ language: 'en', assumed: false })
    expect(guessLanguage('Battery 5000 mAh')).toEqual({ language: 'en', assumed: true })
    expect(guessLanguage('')).toEqual({ language: 'en', assumed: true })
  })

  it('reads what an apostrophe joins as two words', () => {
    expect(guessLanguage("L'h\u00f4tel n\u2019est pas propre").language).toBe('fr')
    expect(guessLanguage('La pulizia dell\u2019albergo').language).toBe('it')
  })
})
