import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../../../consensus/tx/transaction.ts'
import { ExtraPool } from '../../../../../src/p2p/relay/extra-pool.ts'
import { TestMempool } from '../../../../support/mempool.ts'
import { filled, SAMPLE, unsigned } from '../../../../support/unsigned.ts'

const made = (number: number, size?: number): Transaction => {
  const tx = unsigned('transfer', SAMPLE.transfer(), { sender: filled(number % 250), nonce: BigInt(number) })
  return size === undefined ? tx : { ...tx, size }
}
const idsOf = (pool: ExtraPool): readonly string[] => pool.transactions().map(({ wtxId }) => wtxId)

describe('the pool of those that left', () => {
  it('has what the mempool replaced and what was mined', async () => {
    const pool = await TestMempool.open()
    const extra = new ExtraPool(pool.mempool)
    const replaced = await pool.put(1, 0, { rate: 100n })
    const mined = await pool.put(1, 0, { rate: 200n })
    expect(idsOf(extra)).toEqual([replaced.wtxId])
    await pool.test.mine([mined])
    expect(idsOf(extra)).toEqual([replaced.wtxId, mined.wtxId])
    expect([extra.hasLeft(mined.wtxId), pool.mempool.count]).toEqual([true, 0])
  })

  it('keeps the newest within its bounds in count and bytes', () => {
    let leave: (tx: Transaction) => void = () => {}
    const extra = new ExtraPool({
      onRemoval: (listener) => {
        leave = listener
      },
    })
    for (let i = 0; i < 2_100; i++) leave(made(i))
    expect(extra.transactions()).toHaveLength(2_048)
    expect(extra.hasLeft(made(51).wtxId)).toBe(false)
    expect(extra.hasLeft(made(52).wtxId)).toBe(true)
    for (let i = 0; i < 300; i++) leave(made(i + 5_000, 40_000))
    expect(extra.transactions()).toHaveLength(209)
    // A transaction that leaves the mempool again becomes the newest, and counts once.
    leave(made(5_299, 40_000))
    expect(extra.transactions()).toHaveLength(209)
  })

  it('lets those that were refused push out only each other', () => {
    let leave: (tx: Transaction) => void = () => {}
    const extra = new ExtraPool({
      onRemoval: (listener) => {
        leave = listener
      },
    })
    leave(made(1))
    for (let i = 0; i < 600; i++) extra.refused(made(i + 100))
    expect(extra.transactions()).toHaveLength(513)
    expect(idsOf(extra)).toContain(made(1).wtxId)
    expect(extra.hasLeft(made(650).wtxId)).toBe(false)
  })
})
