import { readFileSync } from 'node:fs'
import { fromHex } from '../../consensus/primitives/bytes.ts'

/** Spelling of bytes in a vector file, see `test/vectors/generate/render.ts`. */
export type SpelledBytes =
  | string
  | readonly [string, number, number, string]
  | { readonly hex: string; readonly times: number }

/** The head of every vector file. */
interface VectorHead {
  readonly about: string
  readonly counts: Readonly<Record<string, number>>
  readonly values?: Readonly<Record<string, string>>
}

/** A vector file. `bytes` resolves names from its table of values. */
export type Vectors<Parts> = VectorHead & Parts & { bytes(spelled: SpelledBytes): Uint8Array }

/** Reads a vector file. The caller names the expected counts, so that a file that lost cases fails instead of passing silently. */
export function loadVectors<Parts>(name: string, counts: Readonly<Record<string, number>>): Vectors<Parts> {
  const file = JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8')) as VectorHead & Parts
  requireCounts(name, 'says', file.counts, counts)
  const cases = (file as { cases?: readonly { readonly group?: string }[] }).cases ?? []
  if (cases[0]?.group !== undefined) requireCounts(name, 'has', countGroups(cases), counts)
  const table = new Map(Object.entries(file.values ?? {}).map(([key, hex]) => [`=${key}`, fromHex(hex)]))
  return { ...file, bytes: (spelled) => unspell(spelled, table) }
}

/** Counts what ran: call {@link Tally.ran} once for each case and {@link Tally.close} at the end. */
export class Tally {
  readonly #counts: Record<string, number> = {}

  ran(group: string): void {
    this.#counts[group] = (this.#counts[group] ?? 0) + 1
  }

  /** Throws unless exactly the expected number of cases of each group ran. */
  close(expected: Readonly<Record<string, number>>): void {
    requireCounts('the run', 'has', this.#counts, expected)
  }
}

function countGroups(cases: readonly { readonly group?: string }[]): Record<string, number> {
  const tally: Record<string, number> = {}
  for (const { group = '' } of cases) tally[group] = (tally[group] ?? 0) + 1
  return tally
}

function requireCounts(
  name: string,
  verb: string,
  found: Readonly<Record<string, number>>,
  expected: Readonly<Record<string, number>>,
): void {
  const groups = new Set([...Object.keys(found), ...Object.keys(expected)])
  if (groups.size === 0) throw new Error(`${name} ${verb} no cases`)
  for (const group of groups) {
    if (found[group] !== expected[group] || !((expected[group] ?? 0) > 0))
      throw new Error(`${name} ${verb} ${found[group] ?? 0} cases of ${group}, expected are ${expected[group] ?? 0}`)
  }
}

function unspell(spelled: SpelledBytes, table: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const named = (name: string): Uint8Array => {
    const value = table.get(name)
    if (value === undefined) throw new Error(`the table has no ${name}`)
    return value
  }
  if (typeof spelled === 'string') return spelled.startsWith('=') ? Uint8Array.from(named(spelled)) : fromHex(spelled)
  if ('times' in spelled) return fromHex(spelled.hex.repeat(spelled.times))
  const [name, at, drop, put] = spelled
  const base = named(name)
  return Uint8Array.from([...base.subarray(0, at), ...fromHex(put), ...base.subarray(at + drop)])
}
