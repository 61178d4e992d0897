import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FindableParts, TextIndex, termsOf } from '../../../../marketplace/queries/bm25.ts'

interface Entry {
  readonly heading: string
  readonly text: string
  readonly words?: string
}

const TEXTS: readonly Entry[] = [
  { heading: 'How do I get a key?', text: 'Keys are made in the dashboard.', words: 'token credential' },
  { heading: 'What does it cost?', text: 'Nothing. It is free of charge.' },
  { heading: 'Was kostet es?', text: 'Nichts: die Schlüssel sind kostenlos.' },
  { heading: 'モデルは何ですか', text: '五つのモデルがあります。価格は無料です。' },
]
const partsOf = ({ heading, text, words = '' }: Entry): FindableParts => [
  [2, heading],
  [1, `${words} ${text}`],
]
const index = new TextIndex(TEXTS, partsOf)
const best = (question: string): string | undefined => index.find(question, 1)[0]?.found.heading

describe('words', () => {
  it('are told apart in every script, without those that are in every sentence', () => {
    expect(termsOf('How do I get API keys?')).toEqual(['api', 'key'])
    expect(termsOf('Ключи и ЦЕНЫ')).toEqual(['ключи', 'цены'])
    expect(termsOf('हिन्दी में')).toEqual(['हिन्दी', 'में'])
    expect(termsOf('モデルGPT')).toEqual(['モデ', 'デル', 'gpt'])
    expect(termsOf('ｍｏｄｅｌ-2')).toEqual(['model2'])
    expect(termsOf('Model 2, model-3; 42 a.b')).toEqual(['model2', 'model3', '42'])
    expect(termsOf('?! \u{1f600}')).toEqual([])
  })

  it('are taken from any text, quickly and never too many', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
        expect(termsOf(text).length).toBeLessThanOrEqual(4_000)
        expect(termsOf(text)).toEqual(termsOf(text))
      }),
    )
    expect(termsOf('a b '.repeat(100_000)).length).toBeLessThanOrEqual(4_000)
  })
})

describe('finding', () => {
  it('gives the text that a question is about, in the language of both', () => {
    expect(best('Where are keys made?')).toBe('How do I get a key?')
    expect(best('which credentials?')).toBe('How do I get a key?')
    expect(best('is there a charge')).toBe('What does it cost?')
    expect(best('Sind Schlüssel kostenlos?')).toBe('Was kostet es?')
    expect(best('価格はいくら')).toBe('モデルは何ですか')
  })

  it('gives nothing for a question that no word of a text is in', () => {
    expect(index.find('Who painted the Sistine Chapel?', 5)).toEqual([])
    expect(index.find('', 5)).toEqual([])
    expect(new TextIndex([], partsOf).find('key', 5)).toEqual([])
  })

  it('says how much of the question a text is about', () => {
    const whole = index.find('dashboard key', 1)[0]!
    const half = index.find('dashboard of Jupiter and Saturn', 1)[0]!
    expect(whole.coverage).toBe(1)
    expect(half.coverage).toBeGreaterThan(0.2)
    expect(half.coverage).toBeLessThan(0.5)
  })

  it('gives the best first, each with a share of the question, and so many at most', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('key', 'free', 'charge', 'dashboard', 'kostenlos', 'moon')), (words) => {
        const hits = index.find(words.join(' '), 2)
        expect(hits.length).toBeLessThanOrEqual(2)
        expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a))
        for (const { coverage } of hits) expect(coverage > 0 && coverage <= 1).toBe(true)
      }),
    )
  })
})
