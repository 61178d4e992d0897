/** One line of the table that `npm run bench` prints. */
export interface BenchRow {
  readonly what: string
  /** The figure, as text with its unit. */
  readonly figure: string
  /** Ratio of the figure to its bound, or of the bound to a cost, both measured in this run; null without a bound. */
  readonly ratio: number | null
  readonly goal: string
  /** Null if the figure has no goal. */
  readonly met: boolean | null
}

/** A row whose goal is a minimal ratio to a bound. */
export function ratioRow(what: string, figure: string, ratio: number, least: number): BenchRow {
  return { what, figure, ratio, goal: `>= ${least} of the bound`, met: ratio >= least }
}

/** A row whose goal is a minimum or a maximum. */
export function valueRow(
  what: string,
  value: number,
  unit: string,
  goal: { readonly least: number } | { readonly most: number },
): BenchRow {
  const figure = `${round(value)} ${unit}`
  if ('least' in goal) return { what, figure, ratio: null, goal: `>= ${goal.least} ${unit}`, met: value >= goal.least }
  return { what, figure, ratio: null, goal: `<= ${goal.most} ${unit}`, met: value <= goal.most }
}

/** A row without a goal. */
export function factRow(what: string, figure: string): BenchRow {
  return { what, figure, ratio: null, goal: '', met: null }
}

/** Prints the table. A figure that misses its goal is shown as it is. */
export function printTable(rows: readonly BenchRow[]): void {
  const cells = rows.map(({ what, figure, ratio, goal, met }) => [
    what,
    figure,
    ratio === null ? '' : ratio.toFixed(2),
    goal,
    met === null ? '' : met ? 'met' : 'SHORT',
  ])
  const head = ['measured', 'figure', 'ratio', 'goal', '']
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => (row[i] as string).length)))
  for (const row of [head, widths.map((width) => '-'.repeat(width)), ...cells]) {
    process.stdout.write(`${row.map((cell, i) => cell.padEnd(widths[i] as number)).join('  ')}\n`)
  }
}

/** Rounds to three significant digits, or to a whole number from a hundred on. */
export function round(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] as number
}

/** Milliseconds of a clock that all processes on this machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Milliseconds that the work takes. */
export async function time(work: () => Promise<unknown> | unknown): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
