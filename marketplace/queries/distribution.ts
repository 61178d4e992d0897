/** How unevenly something is held, by amounts of holders, the largest first. */
export interface Concentration {
  /** Sum of the squares of all shares in percent, 0 to 10,000, in millionths, rounded down. */
  readonly hhiPpm: bigint
  /** Gini coefficient in millionths, rounded down: 0 where all hold the same, towards 1,000,000 where one holds all. */
  readonly giniPpm: bigint
}

const PPM = 1_000_000n
const HHI_WHOLE = 10_000n

/**
 * Concentration among holders whose amounts descend. Herfindahl-Hirschman: sum of (100 x share)^2. Gini by ranks in ascending
 * order: (2 x sum(i x amount_i) / sum(amount) - (n + 1)) / n. Null without holders.
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
