/** The kind of an address, or, in a few English words, why the text is not an address. */
export type Judgement<Kind> = { readonly kind: Kind } | { readonly reason: string }

/** Verdict: the text is not an address. */
export function refuse(reason: string): { readonly reason: string } {
  return { reason }
}
