import { route } from '../../marketplace/chat/ensemble/router.ts'
import { codeTier } from '../../marketplace/chat/stages/router.ts'
import { type BenchRow, factRow, round, valueRow } from './report.ts'

const ROUNDS = 2_000
const GOAL = { most: 1 }

/** Usual questions, and questions that cost a careless router the most. */
const QUESTIONS: readonly string[] = [
  'Hello',
  'Who wrote Faust?',
  'Implement a lock-free queue in Rust and explain the memory ordering.',
  'What is 17 % of 4,310, and why?',
  `${'a '.repeat(39)}b`,
  'a'.repeat(79),
  '-a'.repeat(39),
  '🦊'.repeat(79),
  'word '.repeat(20_000),
  ' '.repeat(200_000),
  '('.repeat(100_000),
  '\n'.repeat(100_000),
  '漢'.repeat(100_000),
]

/**
 * How long the routers of model-3 and model-4 take for one question; the slowest question counts. On a busy machine the
 * scheduler dominates the p99. So the mean CPU time of all rounds is given too: it is that of the router alone.
 */
export async function benchChatRouter(): Promise<readonly BenchRow[]> {
  const routers = [
    ['model-3', (question: string) => codeTier(question, null)],
    ['model-4', (question: string) => route(question, false)],
  ] as const
  return routers.flatMap(([model, decide]) => {
    for (const question of QUESTIONS) for (let i = 0; i < 50; i++) decide(question)
    const measured = QUESTIONS.map((question) => measure(() => decide(question)))
    const worst = (of: keyof Measured): number => Math.max(...measured.map((one) => one[of]))
    return [
      valueRow(`router of ${model}, p99 of its worst question`, worst('p99'), 'ms', GOAL),
      factRow(`router of ${model}, p50 of its worst question`, `${round(worst('p50'))} ms`),
      factRow(`router of ${model}, processor time, mean of its worst question`, `${round(worst('processor'))} ms`),
    ]
  })
}

/** Milliseconds of one decision. */
interface Measured {
  readonly p50: number
  readonly p99: number
  readonly processor: number
}

function measure(decide: () => unknown): Measured {
  const before = process.threadCpuUsage()
  const times = timesOf(decide)
  const after = process.threadCpuUsage()
  const processor = (after.user + after.system - before.user - before.system) / 1_000 / ROUNDS
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), processor }
}

function timesOf(decide: () => unknown): readonly number[] {
  return Array.from({ length: ROUNDS }, () => {
    const beganMs = performance.now()
    decide()
    return performance.now() - beganMs
  }).toSorted((one, other) => one - other)
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] as number
}
