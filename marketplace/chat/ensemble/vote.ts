import { type FinalAnswer, finalAnswerOf } from './final-answer.ts'

/** What came of a vote. */
export interface Vote {
  /** Solutions for each answer that was found, the most first; each a list of indices. */
  readonly groups: readonly (readonly number[])[]
  /** Index of a solution with the answer that most have; null where no answer has more than every other. */
  readonly winner: number | null
}

/**
 * Votes on solutions by their final answers. A number without a unit counts with the one unit that others give the same number; where
 * they give several it stands for itself. Which answer wins does not depend on the order of the solutions.
 */
export function vote(solutions: readonly string[]): Vote {
  const answers = solutions.map(finalAnswerOf)
  const groups = new Map<string, number[]>()
  for (const [i, answer] of answers.entries()) {
    const key = keyOf(answer, answers)
    groups.set(key, [...(groups.get(key) ?? []), i])
  }
  // Without an answer there is nothing to agree on.
  groups.delete(NOTHING)
  const sorted = [...groups.values()].toSorted((one, other) => other.length - one.length)
  const [first, second] = sorted
  const isDecided = first !== undefined && first.length > 1 && first.length > (second?.length ?? 0)
  return { groups: sorted, winner: isDecided ? (first[0] as number) : null }
}

const NOTHING = JSON.stringify(['', ''])

function keyOf({ value, unit }: FinalAnswer, answers: readonly FinalAnswer[]): string {
  const units = new Set(answers.filter((one) => one.value === value && one.unit !== '').map((one) => one.unit))
  const [only] = units
  return JSON.stringify([value, unit === '' && units.size === 1 ? only : unit])
}
