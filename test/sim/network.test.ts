import { type ChildProcess, spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Verdict } from '../support/sim/verdict.ts'

/** Number of simulations; all run within three minutes on two cores. */
const COUNT = Number(process.env.FARTHING_SIM_SEEDS ?? 12)
const SEEDS = Array.from({ length: COUNT }, (_, i) => i + 1)
/** A run that takes longer hangs, even on a busy machine. */
const HUNG_MS = (10 + COUNT) * 120_000
const ENTRY = 'test/support/sim-entry.ts'

type Line = Verdict & { readonly seed: number; readonly seconds: number }

const lines = SEEDS.map(() => Promise.withResolvers<Line>())
const children: ChildProcess[] = []

/** The command that repeats the run exactly. */
const againOf = (seed: number): string => `again: node ${ENTRY} ${seed}`

/** Runs some of the seeds in another process. */
function run(seeds: readonly number[]): void {
  const child = spawn(process.execPath, [ENTRY, ...seeds.map(String)], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let complaint = ''
  child.stderr.on('data', (data) => {
    complaint = `${complaint}${data}`.slice(-4_000)
  })
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Line
    lines[line.seed - 1]?.resolve(line)
  })
  // Only seeds without a result are still pending.
  child.on('close', () => {
    for (const seed of seeds) lines[seed - 1]?.reject(new Error(`no end of it; ${againOf(seed)}\n${complaint}`))
  })
}

beforeAll(() => {
  for (const { promise } of lines) promise.catch(() => {})
  const processes = Math.min(COUNT, availableParallelism())
  for (let first = 0; first < processes; first++) run(SEEDS.filter((_, i) => i % processes === first))
})

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

describe('twenty nodes over 200 blocks and whatever befalls them', () => {
  it.each(SEEDS)('agree at last, and do no wrong (seed %i)', { timeout: HUNG_MS }, async (seed) => {
    const again = againOf(seed)
    const { wrong, height, transactions, seconds, ...figures } = await lines[seed - 1]!.promise
    console.log(
      `  seed ${seed}: ${height} blocks, ${transactions} transactions, ${seconds} s, ${JSON.stringify(figures)}`,
    )
    expect(wrong, again).toEqual([])
    expect(height, again).toBeGreaterThanOrEqual(200)
    expect(transactions, again).toBeGreaterThan(100)
  })
})
