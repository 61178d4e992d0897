import { describe, expect, it } from 'vitest'
import { finalAnswerOf } from '../../../../../marketplace/chat/ensemble/final-answer.ts'
import { vote } from '../../../../../marketplace/chat/ensemble/vote.ts'

describe('the final answer of a solution', () => {
  it.each([
    ['Answer: 1,000', '1000/1', ''],
    ['Answer: 1000.0', '1000/1', ''],
    ['Answer: 1 000', '1000/1', ''],
    ["**Answer:** 1'000.", '1000/1', ''],
    ['Final answer: 0.5', '1/2', ''],
    ['The final answer is 2/4.', '1/2', ''],
    ['Answer: \\frac{2}{4}', '1/2', ''],
    ['so \\boxed{\\dfrac{1}{2}} it is\nHope that helps', '1/2', ''],
    ['\\boxed{7} no, \\boxed{ 8 }', '8/1', ''],
    ['#### 72', '72/1', ''],
    ['Answer: x = -3', '-3/1', ''],
    ['Answer: −3', '-3/1', ''],
    ['Answer: -0', '0/1', ''],
    ['Answer: $42$', '42/1', ''],
    ['Answer: 5 km', '5/1', 'km'],
    ['Answer: 5 \\text{ km}', '5/1', 'km'],
    ['Answer: €12.50', '25/2', '€'],
    ['Answer: 50 %', '50/1', '%'],
    ['Antwort: 12', '12/1', ''],
    ['Réponse : 12', '12/1', ''],
    ['答案：12', '12/1', ''],
    ['Answer: Yes, because it is even.', 'yes', ''],
    ['Antwort: Nein', 'no', ''],
    ['It follows.\n\nYes.', 'yes', ''],
    ['Answer: Paris!', 'paris', ''],
    ['Answer: 1\nAnswer: 2', '2/1', ''],
    ['Answer: 1/0', '1/0', ''],
    ['', '', ''],
  ])('of %j is %s %s', (solution, value, unit) => {
    expect(finalAnswerOf(solution)).toEqual({ value, unit })
  })

  it('is read at once, however long and odd the solution', () => {
    for (const text of [
      '\\boxed{'.repeat(50_000),
      'Answer: '.repeat(50_000),
      '1,'.repeat(100_000),
      '{'.repeat(100_000),
    ])
      expect(finalAnswerOf(text).value.length).toBeLessThanOrEqual(300)
  })
})

describe('a vote', () => {
  it.each([
    ['all agree', ['Answer: 4', 'Answer: 4.0', '\\boxed{4}'], 0, [3]],
    ['two of three', ['Answer: 5', 'Answer: 4', 'Answer: 4'], 1, [2, 1]],
    ['each its own', ['Answer: 5', 'Answer: 4', 'Answer: 3'], null, [1, 1, 1]],
    ['two that differ', ['Answer: 5', 'Answer: 4'], null, [1, 1]],
    ['one alone', ['Answer: 5'], null, [1]],
    ['a unit left out', ['Answer: 5', 'Answer: 5 km', 'Answer: 6 km'], 0, [2, 1]],
    ['units that differ', ['Answer: 5 m', 'Answer: 5 km', 'Answer: 5'], null, [1, 1, 1]],
    ['nothing said', ['', '', 'Answer: 5'], null, [1]],
  ] as const)('%s', (_, solutions, winner, sizes) => {
    const result = vote(solutions)
    expect(result.winner).toBe(winner)
    expect(result.groups.map(({ length }) => length)).toEqual(sizes)
  })
})
