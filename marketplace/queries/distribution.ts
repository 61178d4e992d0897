/** How concentrated an asset is among its holders. */
export interface Concentration {
  /** Herfindahl-Hirschman index: sum of the squared shares in per cent (0 to 10,000), in millionths, rounded down. */
  readonly hhiPpm: bigint
  /** Gini coefficient in millionths, rounded down: 0 if all hold the same, near 1,000,000 if one has almost all. */
  readonly giniPpm: bigint
}

const PPM = 1_000_000n
const HHI_WHOLE = 10_000n

/**
 * Takes amounts in descending order; null if they sum to 0. Gini by ranks i in ascending order: (2 x sum(i x amount_i)
 * / sum(amount) - (n + 1)) / n.
 */
export function concentrationOf(descending: readonly bigint[]): Concentration | null {
  const count = BigInt(descending.length)
  const sum = descending.reduce((total, amount) => total + amount, 0n)
  if (sum === 0n) return null
  let [squares, ranked] = [0n, 0n]
  for (const [i, amount] of descending.entries()) {
    squares += amount * amount
    ranked += (count - BigInt(i)) * amount
  }
  return {
    hhiPpm: (squares * HHI_WHOLE * PPM) / (sum * sum),
    giniPpm: ((2n * ranked - (count + 1n) * sum) * PPM) / (count * sum),
  }
}
