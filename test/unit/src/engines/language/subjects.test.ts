import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { subjectsOf } from '../../../../../src/engines/language/subjects.ts'
import { runs } from '../../../../support/runs.ts'

const NEWS = `Tim Cook met Angela Merkel in Berlin. Farthing is a proof-of-work chain with a paid market. The paid market of the
chain sells services to agents, and agents pay in the coin of the chain. Later Angela Merkel flew to San Francisco.`

const flat = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ')

describe('what a text is about', () => {
  it('is told by its phrases, best first', () => {
    const { keywords } = subjectsOf({ text: NEWS })
    const texts = keywords.map(({ text }) => text)
    expect(texts).toContain('proof-of-work chain')
    expect(texts).toContain('paid market')
    expect(keywords[0]?.score).toBe(1)
    expect(keywords.map(({ score }) => score)).toEqual(keywords.map(({ score }) => score).sort((a, b) => b - a))
    expect(texts).not.toContain('the')
  })

  it('is told by the words that come up again', () => {
    expect(subjectsOf({ text: NEWS }).topics.slice(0, 2)).toEqual(['chain', 'agents'])
    expect(subjectsOf({ text: 'Every word stands once here.' }).topics).toEqual([])
  })

  it('is told by names, each once', () => {
    expect(subjectsOf({ text: NEWS }).entities).toEqual([
      { text: 'Tim Cook', type: 'person' },
      { text: 'Angela Merkel', type: 'person' },
      { text: 'Berlin', type: 'place' },
      { text: 'San Francisco', type: 'place' },
    ])
  })

  it('stands in the text, whatever the text', () => {
    const words = [
      'Berlin',
      "Merkel's",
      'the',
      'Tim',
      'Cook',
      'chain',
      '-',
      '3',
      '.',
      '\n',
      '\u{1f525}',
      'na\u00efve',
      '(',
      '@x',
    ]
    const text = fc.oneof(
      fc.array(fc.constantFrom(...words)).map((parts) => parts.join(' ')),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
    )
    fc.assert(
      fc.property(text, (text) => {
        const { keywords, entities, topics } = subjectsOf({ text })
        expect(keywords.length).toBeLessThanOrEqual(15)
        expect(entities.length).toBeLessThanOrEqual(30)
        expect(topics.length).toBeLessThanOrEqual(5)
        for (const { text: found, score } of keywords) {
          expect(flat(text)).toContain(flat(found))
          expect(score > 0 && score <= 1).toBe(true)
        }
        for (const { text: name } of entities) expect(text).toContain(name)
      }),
      { numRuns: runs(300) },
    )
  })
})
