import { describe, expect, it } from 'vitest'
import { resultLines } from '../../../../src/cli/result-text.ts'

describe('a result for people', () => {
  it('has a field a line, with amounts as one writes them, and lists below their names', () => {
    const result = {
      service: 'node-swap-quote',
      amountIn: { symbol: 'FAR', decimals: 8, amount: '10' },
      held: { symbol: 'SALT', decimals: 4, units: '49837', text: '4.9837' },
      route: [
        { pool: 'FAR-SALT-30', feePct: 0.3 },
        { pool: 'SALT-WOOL-100', feePct: 1, tags: [] },
      ],
      words: ['a', 'b'],
      dst: false,
      reason: null,
      unknown: [],
    }
    expect(resultLines(result)).toEqual([
      'service   node-swap-quote',
      'amountIn  10 FAR',
      'held      4.9837 SALT',
      'route',
      '  - pool    FAR-SALT-30',
      '    feePct  0.3',
      '  - pool    SALT-WOOL-100',
      '    feePct  1',
      '    tags    -',
      'words     a, b',
      'dst       false',
      'reason    -',
      'unknown   -',
    ])
  })

  it('is a text as it is, line by line, and further in below its name', () => {
    expect(resultLines('one line')).toEqual(['one line'])
    expect(resultLines('two\nlines')).toEqual(['two', 'lines'])
    expect(resultLines({ text: 'two\nlines', n: 1 })).toEqual(['text', '  two', '  lines', 'n  1'])
  })

  it('breaks lists that are too long for a line, and lists of lists', () => {
    const long = 'x'.repeat(60)
    expect(resultLines([long, long])).toEqual([`- ${long}`, `- ${long}`])
    expect(resultLines([[1, 2], [], {}])).toEqual(['- 1, 2', '- -', '- -'])
  })

  it('shows what is nothing', () => {
    expect([null, undefined, {}, []].map((nothing) => resultLines(nothing))).toEqual([['-'], ['-'], ['-'], ['-']])
  })
})
