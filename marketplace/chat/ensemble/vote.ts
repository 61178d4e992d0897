import { type FinalAnswer, finalAnswerOf } from './final-answer.ts'

/** Result of a vote. */
export interface Vote {
  /** Indices of the solutions with equal answers, the largest group first. */
  readonly groups: readonly (readonly number[])[]
  /** Index of a solution with the most frequent answer. Null unless it has two votes or more, and more than any other answer. */
  readonly winner: number | null
}

/**
 * Solutions vote by their final answers. A number without a unit counts with the same number in the one unit that other
 * solutions give. If they give several units, it stands alone. The winning answer does not depend on the order of the
 * solutions.
 */
export function vote(solutions: readonly string[]): Vote {
  const answers = solutions.map(finalAnswerOf)
  const groups = new Map<string, number[]>()
  for (const [i, answer] of answers.entries()) {
    const key = keyOf(answer, answers)
    groups.set(key, [...(groups.get(key) ?? []), i])
  }
  // Solutions without an answer do not vote.
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
