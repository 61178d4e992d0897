import { availableParallelism, cpus, loadavg } from 'node:os'
import { type BenchRow, printTable } from '../../bench/report.ts'
import { benchClaims } from './claims.ts'
import { benchDollarQuotes } from './quotes.ts'
import { benchDollarSettles } from './settles.ts'
import { benchTabs } from './tabs.ts'

/** Benchmarks that need other projects' programs, by the names that choose them: `npm run bench -- quotes`. */
const BENCHMARKS: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  quotes: benchDollarQuotes,
  settles: benchDollarSettles,
  claims: benchClaims,
  tabs: benchTabs,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHMARKS, name))
if (unknown.length > 0)
  throw new Error(`no benchmark ${unknown.join(', ')}; there are: ${Object.keys(BENCHMARKS).join(', ')}`)
const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, ${cpus()[0]?.model}`
const load = (): string =>
  loadavg()
    .map((value) => value.toFixed(2))
    .join(' ')
process.stdout.write(`${machine}, load average ${load()}\n`)
const rows: BenchRow[] = []
for (const [name, bench] of Object.entries(BENCHMARKS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  process.stdout.write(`running ${name}\n`)
  rows.push(...(await bench()))
}
printTable(rows)
process.stdout.write(`load average at the end ${load()}\n`)
