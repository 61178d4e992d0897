import { describe, expect, it } from 'vitest'
import { route } from '../../../../../marketplace/chat/ensemble/router.ts'
import type { Tier } from '../../../../../marketplace/chat/ensemble/tiers.ts'
import { HELD_QUESTIONS, type Kind, type Labelled, OPEN_QUESTIONS } from '../../../../support/router-questions.ts'

const TIER_OF: Readonly<Record<Kind, Tier>> = {
  greeting: 'instant',
  question: 'fast',
  code: 'standard',
  creative: 'standard',
  knowledge: 'standard',
  deep: 'deep',
}
const LEAST = 0.95
/** The held-out set is small: one question is more than one percent. */
const LEAST_HELD = 0.9

/** The router's wrong answers on a set, and the number of questions. */
function judged(set: Labelled): { readonly wrong: readonly string[]; readonly all: number } {
  const pairs = Object.entries(set).flatMap(([kind, questions]) =>
    questions.map((question) => [kind as Kind, question] as const),
  )
  const wrong = pairs.flatMap(([kind, question]) => {
    const { tier, task, rule } = route(question)
    const is = tier === 'deep' ? 'deep' : task
    return is === kind && tier === TIER_OF[kind] ? [] : [`${kind}: ${question} -> ${is}, ${tier} (${rule})`]
  })
  return { wrong, all: pairs.length }
}

describe('the router over 200 labelled questions', () => {
  const open = judged(OPEN_QUESTIONS)
  const held = judged(HELD_QUESTIONS)

  it(`is right for at least ${LEAST} of them`, () => {
    const wrong = [...open.wrong, ...held.wrong]
    const all = open.all + held.all
    const share = (of: { readonly wrong: readonly string[]; readonly all: number }) =>
      `${of.all - of.wrong.length} of ${of.all} (${(1 - of.wrong.length / of.all).toFixed(3)})`
    console.log(`router: ${share({ wrong, all })}; held back: ${share(held)}; others: ${share(open)}`)
    for (const line of wrong) console.log(`  ${line}`)
    expect(all).toBe(200)
    expect(1 - wrong.length / all).toBeGreaterThanOrEqual(LEAST)
  })

  it(`is right for at least ${LEAST_HELD} of those that were held back`, () => {
    expect(1 - held.wrong.length / held.all).toBeGreaterThanOrEqual(LEAST_HELD)
  })

  it.each([
    ['java coffee prices', 'question'],
    ['short story about rust', 'creative'],
    ['Why did the Roman empire fall?', 'knowledge'],
  ] as const)('takes "%s" for what it is', (question, task) => {
    expect(route(question)).toMatchObject({ task, tier: TIER_OF[task] })
  })

  it('has each question once', () => {
    const questions = [OPEN_QUESTIONS, HELD_QUESTIONS].flatMap((set) => Object.values(set).flat())
    expect(new Set(questions).size).toBe(questions.length)
  })
})
