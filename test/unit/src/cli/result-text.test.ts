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

  it('has an amount and whatever else is said of it', () => {
    const transfer = { txId: 'ab', height: 9, symbol: 'FUSD', decimals: 6, amount: '500', usd: 500 }
    const result = {
      transfers: [{ ...transfer, from: { place: 'staking' } }],
      held: { symbol: 'FAR', decimals: 8, units: '5', text: '0.00000005', usd: null },
    }
    expect(resultLines(result)).toEqual([
      'transfers',
      '  - amount  500 FUSD',
      '    txId    ab',
      '    height  9',
      '    usd     500',
      '    from',
      '      place  staking',
      'held',
      '  amount  0.00000005 FAR',
      '  usd     -',
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

  const SHORT = 'not all of the result is shown: --json has the whole'

  it('says where it goes too deep', () => {
    let deep: unknown = 'the bottom'
    for (let i = 0; i < 5_000; i++) deep = i % 2 === 0 ? { in: deep } : [deep]
    const lines = resultLines(deep)
    expect(lines.length).toBeLessThan(30)
    expect(lines.at(-2)?.trim()).toBe('... what lies deeper')
    expect(lines.at(-1)).toBe(SHORT)
  })

  it('says how much of a wide object and of a long list is left out', () => {
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`f${i}`, i]))
    expect(resultLines(wide).slice(-3)).toEqual(['f499  499', '... 199500 more', SHORT])
    const long = Array.from({ length: 200_000 }, (_, i) => ({ i }))
    expect(resultLines(long).slice(-3)).toEqual(['- i  499', '... 199500 more', SHORT])
    const square = Array.from({ length: 100 }, () => Array.from({ length: 101 }, (_, i) => i))
    expect(resultLines(square).slice(-2)).toEqual(['... 8100 more lines', SHORT])
  })

  it('shows no file in letters, no endless line, and no endless name', () => {
    expect(resultLines({ pdf: 'A'.repeat(1_000) })).toEqual([`pdf  ${'A'.repeat(60)} ... 940 more characters`, SHORT])
    expect(resultLines('a '.repeat(5_000))).toEqual([`${'a '.repeat(4_000)} ... 2000 more characters`, SHORT])
    expect(resultLines({ ['n'.repeat(1_000)]: 1 })).toEqual([`${'n'.repeat(100)}...   1`, SHORT])
    expect(resultLines(`${'a '.repeat(3_900)}`)).toHaveLength(1)
  })
})
