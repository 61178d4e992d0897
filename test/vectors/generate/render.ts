import { hex } from './bytes.ts'

/**
 * How a file spells bytes: plain hex; `=name`, a value of the file's table; `["=name", at, drop, put]`, that value with
 * `drop` bytes at `at` replaced by `put`; or `{ hex, times }`, a repetition.
 */
export type SpelledBytes =
  | string
  | readonly [string, number, number, string]
  | { readonly hex: string; readonly times: number }

/** Values that many cases vary. */
export type ValueTable = Readonly<Record<string, Uint8Array>>

/** A short spelling of bytes: as a value of the table or a variation of one, as a repetition, or in hex. */
export function spell(bytes: Uint8Array, table: ValueTable): SpelledBytes {
  let best: SpelledBytes = hex(bytes)
  let cost = best.length
  for (const [name, base] of Object.entries(table)) {
    const { at, drop, put } = difference(base, bytes)
    if (drop === 0 && put.length === 0) return `=${name}`
    const needed = name.length + 2 * put.length + 16
    if (needed < cost) [best, cost] = [[`=${name}`, at, drop, hex(put)], needed]
  }
  const [first] = bytes
  return cost > 1_000 && bytes.every((byte) => byte === first)
    ? { hex: hex(bytes.subarray(0, 1)), times: bytes.length }
    : best
}

function difference(base: Uint8Array, bytes: Uint8Array): { at: number; drop: number; put: Uint8Array } {
  const shorter = Math.min(base.length, bytes.length)
  let at = 0
  while (at < shorter && base[at] === bytes[at]) at++
  let same = 0
  while (same < shorter - at && base[base.length - 1 - same] === bytes[bytes.length - 1 - same]) same++
  return { at, drop: base.length - same - at, put: bytes.subarray(at, bytes.length - same) }
}

/** The table in hex. */
export function spellTable(table: ValueTable): Record<string, string> {
  return Object.fromEntries(Object.entries(table).map(([name, bytes]) => [name, hex(bytes)]))
}

/** A vector file: what it is about, how many cases each group has, and its parts. */
export interface VectorFile {
  readonly about: string
  readonly counts: Readonly<Record<string, number>>
  readonly [part: string]: unknown
}

/** Number of cases of each group. */
export function countGroups(cases: readonly { readonly group: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { group } of cases) counts[group] = (counts[group] ?? 0) + 1
  return counts
}

/** JSON with one line per case or value, so that a diff is readable. */
export function render(file: VectorFile): string {
  const parts = Object.entries(file).map(([name, part]) => `  ${JSON.stringify(name)}: ${renderPart(part)}`)
  return `{\n${parts.join(',\n')}\n}\n`
}

function renderPart(part: unknown): string {
  if (Array.isArray(part)) return `[\n${part.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n')}\n  ]`
  if (typeof part !== 'object' || part === null) return JSON.stringify(part)
  const entries = Object.entries(part).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n${entries.join(',\n')}\n  }`
}
