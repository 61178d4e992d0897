import type { Hash } from '../primitives/ids.ts'
import type { ValueChange } from '../state/overlay.ts'
import type { AnyStateTable, StateKey } from '../state/table.ts'

/** Sums per asset. Conservation holds if every sum is zero. */
export class Balance {
  readonly #sums = new Map<Hash, bigint>()

  count(table: AnyStateTable, key: StateKey, value: unknown, sign: 1n | -1n): void {
    if (value === undefined || table.holdings === undefined) return
    for (const { asset, amount } of table.holdings(value, key)) this.add(asset, sign * amount)
  }

  add(asset: Hash, amount: bigint): void {
    this.#sums.set(asset, (this.#sums.get(asset) ?? 0n) + amount)
  }

  broken(): readonly { readonly asset: Hash; readonly sum: bigint }[] {
    return [...this.#sums].filter(([, sum]) => sum !== 0n).map(([asset, sum]) => ({ asset, sum }))
  }
}

/** Whether the changes neither create nor lose coins. */
export function conserves(changes: readonly ValueChange[]): boolean {
  const balance = new Balance()
  for (const { table, key, before, after } of changes) {
    balance.count(table, key, before, -1n)
    balance.count(table, key, after, 1n)
  }
  return balance.broken().length === 0
}
