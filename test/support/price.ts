import { mulDivDown, mulDivUp } from '../../consensus/primitives/amount.ts'
import type { NativePriceSource } from '../../marketplace/till/rails/native/price.ts'
import { units } from './unsigned.ts'

const COIN = 100_000_000n

/** A price source for a test: the coin's price by epoch, in millionths of a dollar, in a pool of a million dollars. */
export function coinAt(usdMicrosIn: (epoch: number) => bigint | undefined): NativePriceSource {
  const at = <T>(epoch: number, use: (usdMicros: bigint) => T): T | undefined => {
    const usdMicros = usdMicrosIn(epoch)
    return usdMicros === undefined ? undefined : use(usdMicros)
  }
  return {
    priceOfMicros: (micros, epoch) => at(epoch, (usdMicros) => units(mulDivUp(micros, COIN, usdMicros))),
    microsOfAmount: (amount, epoch) => at(epoch, (usdMicros) => mulDivUp(amount, usdMicros, COIN)),
    usdMicrosPerCoin: (epoch) => at(epoch, (usdMicros) => mulDivDown(COIN, usdMicros, COIN)),
    depthMicros: (epoch) => at(epoch, () => 1_000_000_000_000n),
    missing: (epoch) => (usdMicrosIn(epoch) === undefined ? { code: 'no-pool', reason: 'there is no pool' } : null),
  }
}
