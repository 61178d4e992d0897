/** A text under one of the grammars: its kind, or why it is not an address. */
export interface AddressCase {
  readonly format: 'evm' | 'solana' | 'bitcoin' | 'litecoin'
  readonly name: string
  readonly text: string
  readonly kind: string | null
  readonly reason: string | null
}

/** Name, text, and the kind of a valid address or the reason against an invalid one. */
export type Named = readonly [name: string, text: string, verdict: string]

export function addressCases(
  format: AddressCase['format'],
  valid: readonly Named[],
  invalid: readonly Named[],
): AddressCase[] {
  return [
    ...valid.map(([name, text, kind]) => ({ format, name, text, kind, reason: null })),
    ...invalid.map(([name, text, reason]) => ({ format, name, text, kind: null, reason })),
  ]
}

/** Reason of the refusal of any text of more than 90 characters. */
export const TOO_LONG = 'longer than 90 characters'

/** Texts that are not an address in any format. `reason` is the format's reason for most of them. */
export function strayTexts(reason: string): Named[] {
  return [
    ['the empty text', '', reason],
    ['a blank', ' ', reason],
    ['a lone surrogate', '\ud800', reason],
    ['ninety characters', '?'.repeat(90), reason],
    ['ninety-one characters', '1'.repeat(91), TOO_LONG],
  ]
}

/** A valid text with extra characters around it. */
export function wrappedTexts(text: string, reason: string): Named[] {
  return [
    ['a blank before', ` ${text}`, reason],
    ['a blank behind', `${text} `, reason],
    ['a line end behind', `${text}\n`, reason],
    ['a zero byte behind', `${text}\u0000`, reason],
  ]
}
