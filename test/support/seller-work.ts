import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const RUNS = process.env.TEST_RUNS_FILE as string

/**
 * Work for tests of the example seller. It records its start, then succeeds, fails, or hangs in the first run of that request, as the
 * request says.
 */
export async function work(request: string): Promise<object> {
  appendFileSync(RUNS, `${request}\n`)
  if (request.startsWith('fail')) throw new Error('it was told to fail')
  const tries = readFileSync(RUNS, 'utf8')
    .split('\n')
    .filter((line) => line === request).length
  if (request.startsWith('hang') && tries === 1) await setTimeout(600_000)
  return { echo: request }
}

/** After a crash the work runs again. */
export const repeatable = true
