/** floor(a / b) for a >= 0, b > 0. */
export const floorOf = (a: bigint, b: bigint): bigint => a / b

/** ceil(a / b) for a >= 0, b > 0. */
export const ceilOf = (a: bigint, b: bigint): bigint => (a % b === 0n ? a / b : a / b + 1n)

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

export const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)

/** Greatest whole number whose square is at most `value`, bit by bit. */
export function squareRoot(value: bigint): bigint {
  let root = 0n
  for (let bit = 2n ** 128n; bit > 0n; bit /= 2n) {
    const next = root + bit
    if (next * next <= value) root = next
  }
  return root
}
