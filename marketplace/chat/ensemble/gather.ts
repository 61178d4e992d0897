import type { Fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { DeskQuestion } from '../desk.ts'
import type { PoolAnswer } from '../models/pool.ts'
import { withWords } from '../spoken.ts'
import type { StageContext } from '../stage.ts'

/**
 * Waits for all answers. After `deadlineMs` one answer is enough, and the open questions are given up. Answers keep the
 * order of their questions. If no question was answered, the fault is that of the first question.
 */
export async function gather(
  questions: readonly DeskQuestion[],
  deadlineMs: number,
  { desk, signal }: Pick<StageContext, 'desk' | 'signal'>,
): Promise<Result<readonly PoolAnswer[]>> {
  const late = AbortSignal.timeout(Math.max(1, Math.floor(deadlineMs)))
  const enough = new AbortController()
  const until = AbortSignal.any([signal, enough.signal])
  let answered = 0
  const look = (): void => {
    if (late.aborted && answered > 0) enough.abort()
  }
  late.addEventListener('abort', look, { once: true })
  const results = await Promise.all(
    questions.map(async (question) => {
      const answer = withWords(await desk.ask(question, until))
      if (answer.ok) answered += 1
      look()
      return answer
    }),
  )
  late.removeEventListener('abort', look)
  const answers = results.flatMap((one) => (one.ok ? [one.value] : []))
  const faults = results.flatMap((one): readonly Fault[] => (one.ok ? [] : [one.fault]))
  return answers.length > 0 || faults[0] === undefined ? ok(answers) : fail(faults[0])
}
