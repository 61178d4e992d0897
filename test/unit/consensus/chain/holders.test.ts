import { describe, expect, it } from 'vitest'
import { HOLDERS, holderCount, topHolders } from '../../../../consensus/chain/holders.ts'
import { MemoryKeyValueStore, type Write } from '../../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../../consensus/chain/layout.ts'
import { TOKEN_BALANCES } from '../../../../consensus/ledger/token-balances.ts'
import { encode } from '../../../../consensus/primitives/codec.ts'
import type { Address, Hash } from '../../../../consensus/primitives/ids.ts'
import { anyTable, NATIVE_ASSET } from '../../../../consensus/state/table.ts'
import type { StateChange } from '../../../../consensus/state/view.ts'
import { TestChain, WALLETS, wallet } from '../../../support/chain.ts'
import { dumpStore } from '../../../support/stores.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'

const GOLD = filled<Hash>(0x67)
const IRON = filled<Hash>(0x69)
const LARGEST = 2n ** 112n - 1n

/** State changes of token balances, from address, balance before and balance after. */
function moved(asset: Hash, moves: readonly (readonly [number, bigint, bigint])[]): readonly StateChange[] {
  return moves.map(([number, before, after]) => {
    const key = TOKEN_BALANCES.key({ address: filled<Address>(number), asset })
    const bytes = (value: bigint) => (value === 0n ? undefined : encode(TOKEN_BALANCES.codec, { amount: units(value) }))
    return { table: anyTable(TOKEN_BALANCES), key, before: bytes(before), after: bytes(after) }
  })
}

/** A chain's store, and a function that writes token balances to it directly. */
async function tokens() {
  const store = new MemoryKeyValueStore()
  const { database } = (await TestChain.open(undefined, store)).chain
  const apply = async (changes: readonly StateChange[]): Promise<void> => {
    const writes = HOLDERS.changesOf(changes, (key) => database.indexed(HOLDERS, key))
    const stored = writes.map((write): Write => ({ ...write, key: KEYS.index(HOLDERS.prefix, write.key) }))
    await store.batch(stored, () => {})
  }
  return { store, database, apply }
}

const held = (number: number, amount: bigint) => ({ address: filled<Address>(number), amount })

describe('holders of the native coin', () => {
  it('are genesis’s at first, and every account that has received since', async () => {
    const test = await TestChain.open()
    const { database } = test.chain
    const count = holderCount(database, NATIVE_ASSET)
    expect(count).toBeGreaterThanOrEqual(WALLETS.length)
    expect((await topHolders(database, NATIVE_ASSET, 1_000)).length).toBe(count)
    const to = filled<Address>(0x77)
    await test.mine([await test.tx(wallet(1), 'transfer', SAMPLE.transfer({ to, amount: units(9), create: true }))])
    expect(holderCount(database, NATIVE_ASSET)).toBe(count + 1)
    const all = await topHolders(database, NATIVE_ASSET, 1_000)
    expect(all.at(-1)).toEqual({ address: to, amount: 9n })
    expect(all).toContainEqual({ address: wallet(1).address, amount: test.balance(wallet(1).address) })
  })
})

describe('holders of a token', () => {
  it('stand in the order of what they hold, equal ones in that of their addresses', async () => {
    const { database, apply } = await tokens()
    const moves = [3, 1, 2].map((number) => [number, 0n, 50n] as const)
    await apply(moved(GOLD, [[9, 0n, 1n], ...moves, [8, 0n, LARGEST], [7, 0n, 2n ** 64n], [6, 0n, 2n ** 64n - 1n]]))
    const order = [
      held(8, LARGEST),
      held(7, 2n ** 64n),
      held(6, 2n ** 64n - 1n),
      held(1, 50n),
      held(2, 50n),
      held(3, 50n),
    ]
    expect(await topHolders(database, GOLD, 6)).toEqual(order)
    expect(await topHolders(database, GOLD, 100)).toEqual([...order, held(9, 1n)])
    expect(holderCount(database, GOLD)).toBe(7)
  })

  it('can be read in pages', async () => {
    const { database, apply } = await tokens()
    const amounts = [5n, 5n, 5n, 9n, 1n, 1n, 7n]
    await apply(
      moved(
        GOLD,
        amounts.map((amount, i) => [i + 1, 0n, amount] as const),
      ),
    )
    await apply(moved(IRON, [[1, 0n, 3n]]))
    const all = await topHolders(database, GOLD, 100)
    for (const size of [1, 2, 3]) {
      const pages = []
      for (let page = await topHolders(database, GOLD, size); page.length > 0; ) {
        pages.push(...page)
        page = await topHolders(database, GOLD, size, page.at(-1))
      }
      expect(pages).toEqual(all)
    }
  })

  it('are told apart by asset, and none is a holder of nothing', async () => {
    const { database, apply } = await tokens()
    expect([holderCount(database, GOLD), await topHolders(database, GOLD, 5)]).toEqual([0, []])
    await apply([
      ...moved(GOLD, [[1, 0n, 5n]]),
      ...moved(IRON, [
        [1, 0n, 6n],
        [2, 0n, 7n],
      ]),
    ])
    await apply(
      moved(IRON, [
        [1, 6n, 0n],
        [2, 7n, 8n],
      ]),
    )
    expect(await topHolders(database, GOLD, 5)).toEqual([held(1, 5n)])
    expect(await topHolders(database, IRON, 5)).toEqual([held(2, 8n)])
    expect([GOLD, IRON].map((asset) => holderCount(database, asset))).toEqual([1, 1])
    await apply(moved(GOLD, [[1, 5n, 0n]]))
    expect([holderCount(database, GOLD), await topHolders(database, GOLD, 5)]).toEqual([0, []])
  })

  it('are as before when the changes are taken back', async () => {
    const { store, apply } = await tokens()
    await apply(
      moved(GOLD, [
        [1, 0n, 5n],
        [2, 0n, 5n],
      ]),
    )
    const before = await dumpStore(store)
    const changes = moved(GOLD, [
      [1, 5n, 0n],
      [2, 5n, 6n],
      [3, 0n, 4n],
    ])
    await apply(changes)
    expect(await dumpStore(store)).not.toEqual(before)
    await apply(changes.map((change) => ({ ...change, before: change.after, after: change.before })))
    expect(await dumpStore(store)).toEqual(before)
  })
})
