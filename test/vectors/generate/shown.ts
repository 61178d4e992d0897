import { hex } from './bytes.ts'
import { shortHex } from './tx-wire.ts'

/** Fields whose number is a truth value on the wire. */
const TRUTHS: ReadonlySet<string> = new Set([
  'create',
  'freezable',
  'frozen',
  'hidden',
  'exactOut',
  'halted',
  'close',
  'insider',
])

/** JSON of a value: bytes as hex (long ones shortened), large numbers as decimal text. */
export function shownFields(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.length > 128 ? shortHex(value) : hex(value)
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(shownFields)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, TRUTHS.has(key) ? part === 1 : shownFields(part)]),
  )
}
