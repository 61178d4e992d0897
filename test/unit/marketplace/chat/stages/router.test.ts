import { describe, expect, it } from 'vitest'
import { codeTier } from '../../../../../marketplace/chat/stages/router.ts'

const plain = (chars: number): string =>
  'a '
    .repeat(chars)
    .slice(0, chars - 1)
    .padEnd(chars, 'b')

describe('the tier of a question for model-3', () => {
  it.for([
    [1, 'fast'],
    [79, 'fast'],
    [80, 'full'],
    [81, 'full'],
    [160, 'full'],
    [1_000_000, 'full'],
  ] as const)('goes by its length: %i characters', ([chars, tier]) => {
    expect(plain(chars)).toHaveLength(chars)
    expect(codeTier(plain(chars), null)).toBe(tier)
  })

  it('counts code points, without blanks at the ends', () => {
    expect(codeTier('🦊'.repeat(79), null)).toBe('fast')
    expect(codeTier('🦊'.repeat(80), null)).toBe('full')
    expect(codeTier(`${' '.repeat(500)}hi\n`, null)).toBe('fast')
    expect(codeTier('', null)).toBe('fast')
    expect(codeTier(`${' '.repeat(10_000)}hi`, null)).toBe('full')
  })

  it.for([
    'Who wrote Faust?',
    'Hello',
    'What is classical music?',
    'The tallest building',
    'A new planet',
    'constructor',
  ])('is fast without a word that means work: %s', (question) => {
    expect(codeTier(question, null)).toBe('fast')
  })

  it.for([
    ...['Implement quicksort', 'REFACTOR this', 'Why does it crash?', 'optimise it', 'Optimizing', 'a SQL query'],
    ...['make a landing-page', 'a[i] => b', 'print `x`', 'if {', 'step-by-step please', 'Fix it.'],
  ])('is full with one, or with signs of code: %s', (question) => {
    expect(codeTier(question, null)).toBe('full')
  })

  it('is full in every mode', () => {
    expect(codeTier('hi', 'code')).toBe('full')
  })
})
