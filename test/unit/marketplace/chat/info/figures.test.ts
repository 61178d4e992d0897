import { describe, expect, it } from 'vitest'
import {
  countText,
  declaredCount,
  distinctModels,
  groupedNumber,
  namesOf,
  secondsText,
  speedText,
  totalParameters,
} from '../../../../../marketplace/chat/info/figures.ts'
import type { ModelFacts } from '../../../../../marketplace/chat/models/backend.ts'
import type { BackendFacts } from '../../../../../marketplace/chat/models/pool.ts'

function model(id: string, declaredParameters: string | null): ModelFacts {
  return { id, roles: ['general'], context: 8_192, supports: new Set(), declaredParameters }
}

function backend(...models: readonly ModelFacts[]): BackendFacts {
  const totals = {} as BackendFacts['totals']
  const load = { inside: 0, waiting: 0, totals, latencies: [] }
  return { what: 'models', name: 'house', usable: true, trouble: null, models, ...load }
}

describe('parameters', () => {
  it.each([
    ['8B', 8e9],
    ['1.5T', 1.5e12],
    ['700M', 7e8],
    [' ~70 b ', 7e10],
    ['135m', 1.35e8],
    ['500k', 5e5],
  ])('that are declared as %s are a number', (text, count) => expect(declaredCount(text)).toBe(count))

  it.each(['', 'B', '8', '8x7B', 'eight B', '8BB', '-8B', '1e3B', '9999999B'])('are none in "%s"', (text) =>
    expect(declaredCount(text)).toBeNull(),
  )

  it('of all models are a sum, a least number where some are not declared, and unknown where none is', () => {
    const [small, large, silent] = [model('a', '700M'), model('b', '1.5T'), model('c', null)]
    expect(totalParameters([small, large])).toBe('1.5T')
    expect(totalParameters([small, model('d', '8B')])).toBe('8.7B')
    expect(totalParameters([small, silent])).toBe('at least 700M')
    expect(totalParameters([small, model('e', 'many')])).toBe('at least 700M')
    expect(totalParameters([silent])).toBe('unknown')
    expect(totalParameters([])).toBe('unknown')
  })

  it('are told in the unit that they fill', () =>
    expect([999, 1_500, 1_234_567_890, 2e12].map(countText)).toEqual(['999', '1.5K', '1.23B', '2T']))
})

describe('models', () => {
  it('on several backends count once, with the parameters of the backend that declares them', () => {
    const facts = [backend(model('a', null), model('b', '1B')), backend(model('a', '8B'), model('b', '9B'))]
    const found = distinctModels(facts, () => true)
    expect(found.map(({ id, declaredParameters }) => [id, declaredParameters])).toEqual([
      ['a', '8B'],
      ['b', '1B'],
    ])
    expect(distinctModels(facts, ({ id }) => id === 'c')).toEqual([])
  })

  it('are named in a line that does not grow without end', () => {
    const many = Array.from({ length: 14 }, (_, i) => model(`m${i}`, null))
    expect(namesOf(many.slice(0, 2))).toBe('m0, m1')
    expect(namesOf(many)).toMatch(/^m0, .*, m11 and 2 more$/)
    expect(namesOf([])).toBe('')
  })
})

describe('times', () => {
  it('stand behind the label only where they were measured', () => {
    expect(speedText('Fast', null)).toBe('Fast; not measured yet')
    expect(speedText('Fast', { count: 120, p50Ms: 400, p95Ms: 900 })).toBe(
      'Fast; p50 0.4 s, p95 0.9 s over 120 answers',
    )
    expect(speedText('Max', { count: 1, p50Ms: 12_400, p95Ms: 12_400 })).toBe('Max; p50 12 s, p95 12 s over 1 answer')
  })

  it('are as exact as is of use', () =>
    expect([3, 40, 458, 9_960, 17_000].map(secondsText)).toEqual(['0.003 s', '0.04 s', '0.5 s', '10 s', '17 s']))

  it('and counts are grouped', () =>
    expect([7, 1_000, 1_048_576].map(groupedNumber)).toEqual(['7', '1,000', '1,048,576']))
})
