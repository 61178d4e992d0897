/** What a kept result takes, and what was paid for it. */
export interface KeptResult {
  readonly bytes: number
  /** Address that paid, or null where that is not known. */
  readonly payer: string | null
  /** Price paid, in millionths of a dollar; 0 where nothing was. */
  readonly priceUsdMicros: bigint
  /** Whether the payer has had the answer to the end at least once. */
  readonly isDelivered: boolean
}

/** One payer's part of the bytes; of payers beyond it, results that are too large for their price go first. */
export const PAYER_PART = 16
/** The smallest part that is looked at: what holds less is not told apart. */
const PAYER_PART_LEAST = 65_536

/**
 * Results to forget so that the rest fits, of all that are kept, the oldest first. Those go first that take more of the bytes than
 * their price is of all prices paid; they are always enough. Addresses are free, so what pushes a result out is only more money for
 * each byte. Among those, results of a payer beyond its part go first, then delivered ones, then those of the payers that hold most, half
 * of that part at a time, and the oldest last. A payer of many bytes from few addresses loses them before a payer of few bytes does.
 */
export function beyondBytes<R extends KeptResult>(results: readonly R[], bytesMax: number): readonly R[] {
  let excess = results.reduce((sum, { bytes }) => sum + bytes, 0) - bytesMax
  if (excess <= 0) return []
  const paid = results.reduce((sum, { priceUsdMicros }) => sum + priceUsdMicros, 0n)
  const isLarge = ({ bytes, priceUsdMicros }: R): boolean => BigInt(bytes) * paid > priceUsdMicros * BigInt(bytesMax)
  const large = results.filter(isLarge)
  const held = bytesByPayer(results)
  const isBeyond = (part: number): ((result: R) => boolean) => {
    return ({ payer }) => payer !== null && (held.get(payer) ?? 0) * part > bytesMax
  }
  const gone = new Set<R>()
  const forget = (some: readonly R[], mayGo: (result: R) => boolean): void => {
    for (const isDelivered of [true, false])
      for (const result of some) {
        if (excess <= 0) return
        if (result.isDelivered !== isDelivered || gone.has(result) || !mayGo(result)) continue
        gone.add(result)
        excess -= result.bytes
        if (result.payer !== null) held.set(result.payer, (held.get(result.payer) ?? 0) - result.bytes)
      }
  }
  forget(large, isBeyond(PAYER_PART))
  forget(large, ({ isDelivered }) => isDelivered)
  const most = [...held.values()].reduce((one, other) => Math.max(one, other), 0)
  for (let part = PAYER_PART * 2; part <= PAYER_PART_LEAST && excess > 0; part *= 2)
    if (most * part > bytesMax) forget(large, isBeyond(part))
  forget(large, () => true)
  // Only where nothing is known to be paid for any of them.
  forget(results, () => true)
  return [...gone]
}

function bytesByPayer(results: readonly KeptResult[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const { payer, bytes } of results) if (payer !== null) held.set(payer, (held.get(payer) ?? 0) + bytes)
  return held
}
