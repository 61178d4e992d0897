import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stretches } from '../../../../../marketplace/services/text/sentence-ends.ts'
import { usableSentences } from '../../../../../marketplace/services/text/sentences.ts'
import { HELD_BACK_SENTENCES, TUNED_SENTENCES } from '../../../../support/labelled/split-sentences.ts'

const of = (text: string) => usableSentences(text, 50).map((sentence) => sentence.text)

describe('sentences of a text', () => {
  it.for([...TUNED_SENTENCES, ...HELD_BACK_SENTENCES])(
    'end at no short form, initial, number or address: %j',
    (sentences) => {
      expect(of(sentences.join(' '))).toEqual(sentences.filter((one) => one.length >= 12))
    },
  )

  it('end at a line break, whatever stands before it', () => {
    expect(of('He asked to see the Dr.\nThe nurse said no to him.')).toEqual([
      'He asked to see the Dr.',
      'The nurse said no to him.',
    ])
  })

  it('are cut so that nothing of a text is lost', () => {
    const part = fc.constantFrom(
      'U.S.',
      ' ',
      'Dr.',
      '...',
      '?',
      '"',
      'He',
      'b',
      '\n',
      '5',
      'a.m.',
      'No.',
      '\u2026',
      'R.',
    )
    const text = fc.oneof(
      fc.array(part).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(text, (text) => {
        const found = [...stretches(text)]
        expect(found.map((stretch) => stretch.text).join('')).toBe(text)
        for (const { start, text: inner } of found) expect(text.slice(start, start + inner.length)).toBe(inner)
      }),
    )
  })
})
