import { describe, expect, it } from 'vitest'
import { usableParts } from '../../../../../marketplace/services/text/parts.ts'

const LIST =
  '- three crates of mugs for the market\n- one table cloth of linen, 3 m\n- the price list in two languages\n'
const textsOf = (text: string): readonly string[] => usableParts(text, 20).parts.map((part) => part.text)

describe('the parts of a list', () => {
  it('are its items, and a sentence behind it for itself', () => {
    const parts = textsOf(`${LIST}We leave on Thursday at six from the workshop.\n`)
    expect(parts).toContain('the price list in two languages')
    expect(parts).toContain('We leave on Thursday at six from the workshop.')
  })

  it.each([
    'There is no evidence at all in any of the studies that we have read that\nthe blue glaze releases lead into food and hurts people.',
    'The van is not\navailable before noon and can carry no more than six crates.',
  ])('are never the end of a broken sentence alone: %j', (sentence) => {
    const parts = textsOf(`${LIST}\n${sentence}\n`)
    const tail = sentence.slice(sentence.indexOf('\n') + 1)
    expect(parts).not.toContain(tail)
    expect(parts).toContain(sentence)
  })

  it('stand where their places say', () => {
    const text = `${LIST}\nThe van is not\navailable before noon and can carry six crates.\nIt comes from the town of Selb.\n`
    for (const { start, text: part } of usableParts(text, 20).parts)
      expect(text.slice(start, start + part.length)).toBe(part)
  })
})
