import { describe, expect, it } from 'vitest'
import { guessLanguage, isPlainly } from '../../../../../marketplace/services/texts/language.ts'
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

  it('is without a doubt for no text of another language, and for most letters of a shop', () => {
    const known = 'cs da de en es et fi fr hu id it lt lv nb nl no pl pt ro sk sl sv tr'.split(' ')
    const taken = (text: string) => known.filter((language) => isPlainly(language, text))
    for (const { text, languages } of [...TUNED_LANGUAGES, ...HELD_BACK_LANGUAGES])
      for (const language of taken(text)) expect([text, languages.includes(language)]).toEqual([text, true])
    for (const [language, text] of [
      ['de', 'Hallo, meine Tasse ist heute kaputt angekommen. Ich h\u00e4tte gern eine neue. Danke! Julia'],
      ['fr', "Bonjour,\nj'ai re\u00e7u mon colis hier mais une assiette est cass\u00e9e.\nMerci d'avance.\nSophie"],
      ['en', 'My parcel 55120 has not arrived. I need it for a birthday, so please refund 43.90 euros. Anna Smith'],
    ])
      expect(taken(text as string)).toEqual([language])
  })

  it.for([
    'Dobr\u00fd de\u0148, m\u00f4j bal\u00edk e\u0161te nepri\u0161iel. M\u00f4\u017eete mi pom\u00f4c\u0165?',
    'Helo, bungkusan saya belum sampai lagi. Bolehkah anda membantu saya?',
    'Das Meeting findet statt. Please bring your laptop to the meeting.',
    'Unser Slogan ist "Just do it with us" und er ist gut.',
    'Wo ist sie? O\u00f9 est le plat que j\u2019ai command\u00e9?',
    'Guten Abend',
    '',
  ])(
    'is never without a doubt for one that is near to another language, for two languages, for too little: %j',
    (text) => {
      const known = 'cs da de en es fi fr hu id it nl no pl pt ro sk sv tr'.split(' ')
      expect(known.filter((language) => isPlainly(language, text))).toEqual([])
    },
  )

  it('reads what an apostrophe joins as two words', () => {
    expect(guessLanguage("L'h\u00f4tel n\u2019est pas propre").language).toBe('fr')
    expect(guessLanguage('La pulizia dell\u2019albergo').language).toBe('it')
  })
})
