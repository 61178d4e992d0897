import { bodyBytes, fillerSignature, type RawBody, wireBytes, witnessBytes } from './tx-fields.ts'
import { PAYLOADS, type PayloadKind, payload, rawBody, SOUND } from './tx-payloads.ts'
import { shortHex } from './tx-wire.ts'

/** Wire bytes that no block may hold, and their fault. A null in the detail stands for any text. */
export interface MalformedCase {
  readonly name: string
  /** Number of the rule in transactions.md, section 1. */
  readonly rule: number
  readonly wire: string
  readonly fault: { readonly code: string; readonly detail: Readonly<Record<string, unknown>> }
}

export function malformed(
  rule: number,
  name: string,
  wire: Uint8Array,
  code: string,
  detail: MalformedCase['fault']['detail'] = {},
): MalformedCase {
  return { name, rule, wire: shortHex(wire), fault: { code, detail } }
}

/** Reason of a text that its grammar refuses. */
export const GRAMMAR = 'text outside its grammar'

/** A witness whose form fits every account with one key of scheme 1, above nonce 0. */
export const ONE_WITNESS = witnessBytes({ keys: new Uint8Array(0), signatures: [fillerSignature(0)] })

export function wireOf(kind: PayloadKind, bytes: Uint8Array, change: Partial<RawBody> = {}): Uint8Array {
  return wireBytes(bodyBytes(rawBody(kind, bytes, change)), ONE_WITNESS)
}

/** Rule 1: a payload that does not decode as its kind. */
export function undecodable(kind: PayloadKind, name: string, bytes: Uint8Array, reason: string | null = null) {
  return malformed(1, `${kind} with ${name}`, wireOf(kind, bytes), 'tx/payload', { kind, reason })
}

type Change<K extends PayloadKind> = Partial<Parameters<(typeof PAYLOADS)[K]>[0]>

/** Rule 1: the valid payload with a field that does not decode. */
export function unreadable<K extends PayloadKind>(kind: K, name: string, change: Change<K>, reason?: string) {
  return undecodable(kind, name, payload(kind, change), reason)
}

/** Rule 3: the valid payload with a field that is not allowed. */
export function refused<K extends PayloadKind>(
  kind: K,
  name: string,
  change: Change<K>,
  field: string,
  reason: string | null,
) {
  return malformed(3, `${kind} with ${name}`, wireOf(kind, payload(kind, change)), 'tx/field', { field, reason })
}

const BOUND = 2n ** 112n

/** Rule 3: amounts of 0 and just below the least, at the bound of supplies, and the largest that decodes. */
export function badAmounts(kind: PayloadKind, field: string, least: bigint): readonly MalformedCase[] {
  const values = [...(least > 0n ? [0n] : []), ...(least > 1n ? [least - 1n] : []), BOUND, 2n ** 128n - 1n]
  return values.map((value) =>
    malformed(
      3,
      `${kind} with ${field} ${value}`,
      wireOf(kind, PAYLOADS[kind]({ ...SOUND[kind], [field]: value } as never)),
      'tx/amount',
      { field, value: value.toString(), least: least.toString() },
    ),
  )
}

/** Texts that are not symbols, with the reason of their refusal. Undefined stands for any reason. */
export const NO_SYMBOLS: readonly (readonly [text: string, reason: string | undefined])[] = [
  ...['', 'A', 'salt', 'Salt', '1SALT', 'SA-LT', 'SALT ', 'ÄSALT'].map((text) => [text, GRAMMAR] as const),
  ['ABCDEFGHIJK', undefined],
]
