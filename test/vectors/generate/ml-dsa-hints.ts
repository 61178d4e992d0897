import { patched } from './bytes.ts'
import type { KeyPair } from './ml-dsa.ts'

/** The bytes of a case. */
export interface MlDsaParts {
  readonly key: Uint8Array
  readonly message: Uint8Array
  readonly context: Uint8Array
  readonly signature: Uint8Array
}

/** A case before it is judged. */
export type Draft = readonly [group: string, name: string, parts: MlDsaParts]

/** The signature and key pair that all drafts of one level vary. */
export interface Bench {
  readonly pair: KeyPair
  readonly honest: MlDsaParts
}

/** The hint bytes taken apart: positions of all polynomials in a row, and where each polynomial's end. */
interface Hints {
  readonly positions: readonly number[]
  readonly ends: readonly number[]
}

/**
 * The hint section: `omega` positions, then one running count for each polynomial. A lenient verifier accepts many
 * encodings of one signature.
 */
export function hintCases({ pair, honest }: Bench): Draft[] {
  const { omega, k } = pair.params
  const { signature } = honest
  const start = signature.length - omega - k
  const positions = [...signature.subarray(start, start + omega)]
  const hints = { positions, ends: [...signature.subarray(start + omega)] }
  const draft = (name: string, { positions, ends }: Hints): Draft => {
    if (positions.length !== omega || ends.length !== k) throw new Error(`${name}: a hint section of another length`)
    return ['hint', name, { ...honest, signature: patched(signature, start, [...positions, ...ends]) }]
  }
  const variations = [
    ...padding(hints),
    ...order(hints),
    ...duplicates(hints),
    ...counters(hints, omega),
    ...changes(hints),
  ]
  return variations.map(([name, changed]) => draft(name, changed))
}

type Variation = readonly [string, Hints]

function used({ ends }: Hints): number {
  return ends[ends.length - 1] as number
}

function put(hints: Hints, at: number, value: number): Hints {
  return { ...hints, positions: hints.positions.map((old, i) => (i === at ? value : old)) }
}

function putEnd(hints: Hints, at: number, value: number): Hints {
  return { ...hints, ends: hints.ends.map((old, i) => (i === at ? value : old)) }
}

/** After the last hint all bytes must be zero. */
function padding(hints: Hints): Variation[] {
  const first = used(hints)
  const last = hints.positions.length - 1
  const before = hints.positions[first - 1] as number
  return [
    ['padding: 1 right behind the hints', put(hints, first, 1)],
    ['padding: 255 right behind the hints', put(hints, first, 255)],
    ['padding: the last hint again', put(hints, first, before)],
    ['padding: one after the last hint', put(hints, first, (before + 1) & 255)],
    ['padding: 1 at the very end', put(hints, last, 1)],
    ['padding: 128 at the very end', put(hints, last, 128)],
    ['padding: 1 in the middle', put(hints, (first + last) >> 1, 1)],
    ['padding: all 255', { ...hints, positions: hints.positions.map((old, i) => (i < first ? old : 255)) }],
  ]
}

/** Positions must rise within a polynomial. */
function order(hints: Hints): Variation[] {
  return hints.ends.flatMap((end, i): Variation[] => {
    const from = i === 0 ? 0 : (hints.ends[i - 1] as number)
    if (end - from < 2) return []
    const [a, b] = hints.positions.slice(from, from + 2) as [number, number]
    const turned = hints.positions.map((old, at) =>
      at >= from && at < end ? (hints.positions[from + end - 1 - at] as number) : old,
    )
    return [
      [`order: first two of polynomial ${i} swapped`, put(put(hints, from, b), from + 1, a)],
      [`order: polynomial ${i} backwards`, { ...hints, positions: turned }],
    ]
  })
}

/** To a lenient verifier, a repeated position is the same hint. */
function duplicates(hints: Hints): Variation[] {
  return hints.ends.flatMap((end, i): Variation[] => {
    if (end === (i === 0 ? 0 : hints.ends[i - 1])) return []
    const positions = [...hints.positions]
    positions.splice(end, 0, positions[end - 1] as number)
    positions.pop()
    const ends = hints.ends.map((old, j) => (j < i ? old : old + 1))
    return [
      [`duplicate: last of polynomial ${i} twice`, { positions, ends }],
      [
        `duplicate: last of polynomial ${i} written over its neighbour`,
        put(hints, end - 2, hints.positions[end - 1] as number),
      ],
    ]
  })
}

/** The running counts must not fall and not exceed omega. */
function counters(hints: Hints, omega: number): Variation[] {
  const last = hints.ends.length - 1
  const end = used(hints)
  const values = [0, omega, omega + 1, 127, 255]
  return [
    ...hints.ends.flatMap((old, i) =>
      values
        .filter((value) => value !== old)
        .map((value): Variation => [`counter ${i} is ${value}`, putEnd(hints, i, value)]),
    ),
    ['last counter one more', putEnd(hints, last, end + 1)],
    ['last counter one less', putEnd(hints, last, end - 1)],
    ['first counter one more', putEnd(hints, 0, (hints.ends[0] as number) + 1)],
    ['first counter one less', putEnd(hints, 0, (hints.ends[0] as number) - 1)],
    ['counters backwards', { ...hints, ends: hints.ends.toReversed() }],
    ['all counters zero', { ...hints, ends: hints.ends.map(() => 0) }],
    ['all counters 255', { ...hints, ends: hints.ends.map(() => 255) }],
  ]
}

/** Well-formed hints that are not the signer's. */
function changes(hints: Hints): Variation[] {
  const last = hints.ends.length - 1
  const end = used(hints)
  const top = hints.positions[end - 1] as number
  const none = { positions: hints.positions.map(() => 0), ends: hints.ends.map(() => 0) }
  const variations: Variation[] = [
    ['change: last hint removed', putEnd(put(hints, end - 1, 0), last, end - 1)],
    ['change: no hints at all', none],
    [
      'change: one hint alone',
      { positions: hints.positions.map((_, i) => (i === 0 ? 7 : 0)), ends: hints.ends.map(() => 1) },
    ],
    [
      'change: as many hints as there may be',
      { positions: hints.positions.map((_, i) => i), ends: hints.ends.map(() => hints.positions.length) },
    ],
  ]
  if (top < 255) variations.push(['change: one hint more', putEnd(put(hints, end, top + 1), last, end + 1)])
  return variations
}
