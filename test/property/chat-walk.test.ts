import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ChatPiece } from '../../marketplace/chat/call.ts'
import { ModelDesk } from '../../marketplace/chat/desk.ts'
import { firstState, type PipelineOutcome, runPipeline } from '../../marketplace/chat/run-pipeline.ts'
import type { ChatMeans, ChatState, Stage, StageContext } from '../../marketplace/chat/stage.ts'
import { callOf } from '../support/chat-world.ts'
import { outsideOf } from '../support/outside.ts'

/** How a stage behaves: what it makes, when it is skipped, how long it takes, and how it ends. */
interface Plan {
  readonly makesText: boolean
  readonly isEssential: boolean
  /** When the stage is skipped. Some stages decide differently once there is a text. */
  readonly skip: 'never' | 'always' | 'with text' | 'without text'
  readonly keeps: number | undefined
  readonly ms: number
  readonly end: 'well' | 'fails' | 'fails after a word' | 'fails after a nod'
  readonly leaves: boolean
}

const PLAN: fc.Arbitrary<Plan> = fc.record({
  makesText: fc.boolean(),
  isEssential: fc.boolean(),
  skip: fc.constantFrom('never', 'never', 'never', 'always', 'with text', 'without text'),
  keeps: fc.constantFrom(undefined, undefined, 0, 0.5, 0.9),
  ms: fc.constantFrom(0, 0, 100, 3_000, 6_000),
  end: fc.constantFrom('well', 'well', 'well', 'fails', 'fails after a word', 'fails after a nod'),
  leaves: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
})
const BUDGET_MS = 10_000

interface Walked {
  readonly outcome: Result<PipelineOutcome>
  /** How often each stage ran. */
  readonly runs: readonly number[]
  /** The pieces that were read, with the text of each stage that spoke. */
  readonly pieces: readonly ChatPiece[]
  readonly left: boolean
  readonly askedAfterLeaving: number
}

async function walk(plans: readonly Plan[], reads: boolean): Promise<Walked> {
  let nowMs = 0
  let askedAfterLeaving = 0
  const caller = new AbortController()
  const runs = plans.map(() => 0)
  const pieces: ChatPiece[] = []
  const { web, search, engines } = outsideOf()
  const means: ChatMeans = {
    ...{ web, search, engines, clock: { now: () => nowMs }, random: () => 0, modelRouter: false, budgetMs: BUDGET_MS },
    models: {} as ChatMeans['models'],
  }
  const context = {
    call: callOf(),
    desk: new ModelDesk(means.models, caller.signal),
    means,
    signal: caller.signal,
    remainingMs: () => BUDGET_MS - nowMs,
  }
  const stages = plans.map(
    (plan, i): Stage => ({
      name: `stage ${i}`,
      about: '',
      ...(plan.makesText && { makesText: true as const }),
      ...(plan.isEssential && { isEssential: true as const }),
      ...(plan.keeps !== undefined && { keeps: plan.keeps }),
      skip: ({ text }) => (isSkipped(plan, text) ? 'skipped' : null),
      run: async (state, { say }) => {
        runs[i] = (runs[i] as number) + 1
        if (caller.signal.aborted) askedAfterLeaving += 1
        nowMs += plan.ms
        if (plan.leaves) {
          caller.abort()
          return fail(fault('model/timeout', { backend: 'house' }))
        }
        return spoken(plan, `text ${i}`, state, say)
      },
    }),
  )
  const sink = { ready: () => undefined, take: (piece: ChatPiece) => void pieces.push(piece) }
  const outcome = await runPipeline({ name: '', stages }, firstState([], 'Hello?'), context, reads ? sink : null)
  return { outcome, runs, pieces, left: caller.signal.aborted, askedAfterLeaving }
}

function isSkipped({ skip }: Plan, text: string): boolean {
  return skip === 'always' || (skip === 'with text' && text !== '') || (skip === 'without text' && text === '')
}

async function spoken(
  { makesText, end }: Plan,
  text: string,
  state: ChatState,
  say: StageContext['say'],
): Promise<Result<ChatState>> {
  const failed = fail(fault('model/answer', { backend: 'house', reason: 'it is empty' }))
  await say?.({ role: 'assistant', content: '' })
  if (end === 'fails' || end === 'fails after a nod') return failed
  if (end === 'fails after a word') {
    await say?.({ content: text.slice(0, 3) })
    return failed
  }
  for (const letter of text) await say?.({ content: letter })
  return ok(makesText ? { ...state, text } : { ...state, text: `${state.text}!`.slice(0, state.text.length) })
}

const textOf = (pieces: readonly ChatPiece[]): string => pieces.map(({ delta }) => delta.content ?? '').join('')

describe('a walk through any stages', () => {
  it('ends with one text or a fault, asks each stage once at most, and says nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(PLAN, { maxLength: 8 }), fc.boolean(), async (plans, reads) => {
        const { outcome, runs, pieces, left, askedAfterLeaving } = await walk(plans, reads)
        expect(runs.every((times) => times <= 1)).toBe(true)
        expect(askedAfterLeaving).toBe(0)
        if (left) expect(outcome).toMatchObject({ ok: false })
        if (!outcome.ok) {
          // Nothing was read but the answer of one stage or a part of it.
          expect(['', 'tex', ...plans.map((_, i) => `text ${i}`)]).toContain(textOf(pieces))
          return
        }
        const { state, stages } = outcome.value
        expect(state.text).toMatch(/^text \d$/)
        if (reads) expect(textOf(pieces)).toBe(state.text)
        expect(stages.map(({ stage }) => stage)).toEqual(plans.map((_, i) => `stage ${i}`))
        for (const [i, report] of stages.entries()) {
          if (report.ran) expect(runs[i]).toBe(1)
          else expect(report.reason).toMatch(/./)
        }
        const author = Number(state.text.slice('text '.length))
        expect(stages[author]?.ran).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it('ends with a text where an essential stage made one, whatever becomes of others that say no word', async () => {
    const executor: Plan = {
      ...{ makesText: true, isEssential: true, skip: 'never', keeps: undefined, ms: 0, end: 'well', leaves: false },
    }
    const optional = PLAN.map((plan): Plan => {
      const end = plan.end === 'fails after a word' ? 'fails after a nod' : plan.end
      return { ...plan, isEssential: false, leaves: false, end }
    })
    const some = fc.array(optional, { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(some, some, fc.boolean(), async (before, after, reads) => {
        const { outcome, pieces } = await walk([...before, executor, ...after], reads)
        expect(outcome.ok && outcome.value.state.text).toMatch(/^text \d$/)
        expect(textOf(pieces)).toBe(reads && outcome.ok ? outcome.value.state.text : '')
      }),
      { numRuns: 1_000 },
    )
  })
})
