import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import equivalents from './equivalents.json' with { type: 'json' }
import { type Mutant, mutantsOf } from './mutants.ts'
import { MUTATED, Sandbox, type Verdict } from './sandbox.ts'

/** Mutation testing of the pool mathematics: `node test/mutation/run.ts`. Works only in temporary copies. */

/** Share of all mutants, equivalent ones counted as survivors, that the tests must kill. */
const KILLED_MIN = 0.85
const MUTANTS_MIN = 60

/** A mutant and the verdict of the tests. */
interface Judged {
  readonly mutant: Mutant
  readonly verdict: Verdict
}

/** Equivalent mutants, which no test can kill, with reasons. */
const reasons = new Map<string, string>(equivalents.map(({ mutant, reason }) => [mutant, reason]))

const sandboxes = Array.from({ length: availableParallelism() }, () => new Sandbox())
try {
  process.exitCode = await main()
} finally {
  for (const sandbox of sandboxes) sandbox.remove()
}

async function main(): Promise<number> {
  const [sandbox] = sandboxes as [Sandbox]
  const mutants = mutantsIn(sandbox)
  const untouched = await sandbox.judge(sandbox.original)
  if (untouched.killed) throw new Error(`the tests fail without a mutant: ${untouched.by}`)
  write(`${mutants.length} mutants of ${MUTATED}, ${sandboxes.length} at a time`)
  const judged = await judgeAll(mutants)
  return report(judged)
}

function mutantsIn({ folder }: Sandbox): readonly Mutant[] {
  const api = new API({ cwd: folder })
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] }).getProjects()
    const source = project?.program.getSourceFile(join(folder, MUTATED))
    if (source === undefined) throw new Error(`${MUTATED} was not parsed`)
    return mutantsOf(source)
  } finally {
    api.close()
  }
}

async function judgeAll(mutants: readonly Mutant[]): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  const waiting = mutants.values()
  await Promise.all(
    sandboxes.map(async (sandbox) => {
      for (const mutant of waiting) {
        const verdict = await sandbox.judge(mutant.text)
        judged.push({ mutant, verdict })
        write(
          `${verdict.killed ? 'killed  ' : 'SURVIVED'} ${mutant.line}: ${mutant.name}${verdict.killed ? `\n           by ${verdict.by}` : ''}`,
        )
      }
    }),
  )
  return judged
}

/** Prints the survivors, and the killed share of all mutants and of those not equivalent. Returns the exit code: 0 if all goals are met. */
function report(judged: readonly Judged[]): number {
  const survivors = judged.filter(({ verdict }) => !verdict.killed).map(({ mutant }) => mutant)
  for (const { name, line, diff } of survivors)
    write(
      `\nsurvivor at ${MUTATED}:${line}, ${reasons.has(name) ? `equivalent: ${reasons.get(name)}` : 'NOT EXPLAINED'}\n${diff}`,
    )
  const names = new Set(survivors.map(({ name }) => name))
  const stale = [...reasons.keys()].filter((name) => !names.has(name))
  for (const name of stale) write(`\nlisted as equivalent, but killed or gone: ${name}`)
  const [all, killed, equivalent] = [judged.length, judged.length - survivors.length, reasons.size - stale.length]
  write(`\n${killed} of ${all} killed: ${percent(killed, all)} of all`)
  write(`${equivalent} equivalent: ${percent(killed, all - equivalent)} of those that can be killed`)
  const amiss = all < MUTANTS_MIN || killed < all * KILLED_MIN || stale.length > 0
  return amiss ? 1 : 0
}

function percent(part: number, of: number): string {
  return `${((100 * part) / of).toFixed(1)} %`
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}
