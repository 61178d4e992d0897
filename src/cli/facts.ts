import { cellOf, tableOf } from './reading.ts'

/** Without a value the line is left out. */
export type Fact = readonly [label: string, value: string | undefined]

/** Facts as lines with aligned values. */
export function factLines(facts: readonly Fact[]): readonly string[] {
  return tableOf(facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]])))
}

/** Most rows of a list within a document. `--json` shows a longer list whole. */
const ROWS_MAX = 20

/** A list within a document as lines, the column heads on top. */
export function rowLines(heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return []
  const more = rows.length > ROWS_MAX ? [`and ${rows.length - ROWS_MAX} more: --json shows all`] : []
  return ['', ...tableOf([heads, ...rows.slice(0, ROWS_MAX)]), ...more]
}

/** Undefined if missing or empty. */
export function textFact(value: unknown): string | undefined {
  const text = cellOf(value)
  return text === '-' || text === '' ? undefined : text
}

/** A time from an answer in readable form: `2026-05-01T12:00:00.000Z` becomes `2026-05-01 12:00:00 UTC`. */
export function timeFact(value: unknown): string | undefined {
  const told = typeof value === 'string' ? /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})[.\d]*Z$/.exec(value) : null
  return told === null ? textFact(value) : `${told[1]} ${told[2]} UTC`
}

/** A number of things: `1 trade`, `2 trades`. */
export function counted(value: unknown, thing: string): string {
  return `${cellOf(value)} ${thing}${value === 1 ? '' : 's'}`
}
