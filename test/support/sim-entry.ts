import { planOf } from './sim/plan.ts'
import { verdictOn } from './sim/verdict.ts'
import { World } from './sim/world.ts'

/**
 * Runs simulations by seed: `node test/support/sim-entry.ts 7 8`. Prints one line of JSON for each seed; with `--log`,
 * every event. The exit code is 1 if anything was wrong.
 */

const words = process.argv.slice(2)
const echo = words.includes('--log') ? (line: string): void => void process.stdout.write(`${line}\n`) : undefined

for (const seed of words.filter((word) => /^\d+$/.test(word)).map(Number)) {
  const world = new World(planOf(seed), echo)
  const startedMs = performance.now()
  const failure = await world.run().then(
    () => [],
    (error: unknown) => [error instanceof Error ? String(error.stack) : String(error)],
  )
  const verdict = await verdictOn(world)
  const seconds = Math.round(performance.now() - startedMs) / 1_000
  const wrong = [...failure, ...verdict.wrong]
  if (wrong.length > 0) process.exitCode = 1
  process.stdout.write(`${JSON.stringify({ seed, ...verdict, wrong, seconds })}\n`)
}
