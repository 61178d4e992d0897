import type { AmountLabel } from './proposal.ts'
import { amountText } from './values.ts'

/** Amounts with the labels of a proposal: `paid 10 SALT`. */
export function labelled(labels: readonly AmountLabel[], amounts: readonly string[]): readonly string[] {
  return labels.flatMap(({ label, asset }, i) => {
    const value = amounts[i]
    if (value === undefined) return []
    return [asset === null ? `${label} ${value} shares` : `${label} ${amountText(BigInt(value), asset)}`]
  })
}
