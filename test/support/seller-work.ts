import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Work of the example seller as its tests want it: done, failing, or at its first try without an end. */

const RUNS = process.env.TEST_RUNS_FILE as string

/** Notes that it began, then does what its request says. */
export async function work(request: string): Promise<object> {
  appendFileSync(RUNS, `${request}\n`)
  if (request.startsWith('fail')) throw new Error('it was told to fail')
  const tries = readFileSync(RUNS, 'utf8')
    .split('\n')
    .filter((line) => line === request).length
  if (request.startsWith('hang') && tries === 1) await setTimeout(600_000)
  return { echo: request }
}

/** A crash does not end it. */
export const repeatable = true
