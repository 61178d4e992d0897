/** What kind of address a text is, or in a few English words why it is none. */
export type Judgement<Kind> = { readonly kind: Kind } | { readonly reason: string }

/** The verdict that a text is no address. */
export function refuse(reason: string): { readonly reason: string } {
  return { reason }
}
