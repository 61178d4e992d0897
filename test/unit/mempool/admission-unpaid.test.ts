import { describe, expect, it } from 'vitest'
import { MEMO_BYTES_MAX } from '../../../consensus/tx/transaction.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../mempool/policy.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { type MempoolParts, overtake, TestMempool } from '../../support/mempool.ts'

const { unpaidPerAccount, unpaidPerBlock, executablePerAccount, gappedPerAccount } = DEFAULT_MEMPOOL_POLICY
const REFUSAL = {
  code: 'mempool/account-unpaid',
  detail: { countMax: unpaidPerAccount, perBlock: unpaidPerBlock },
}

interface Spam {
  readonly pool: TestMempool
  /** Sends `count` replacements. Returns how many were admitted. */
  flood(count: number): Promise<number>
}

/** An account that fills the nonces behind a missing one with transactions for the next block only, and replaces each at an eighth more. */
async function spam(parts: MempoolParts = {}): Promise<Spam> {
  const pool = await TestMempool.open(parts)
  await pool.test.mine([await pool.pay(1, 0)])
  let rate = 40n
  const flood = async (count: number): Promise<number> => {
    let taken = 0
    for (let i = 0; i < count; i++) {
      if (i % gappedPerAccount === 0) rate = (rate * 9n) / 8n
      const validUntil = pool.test.height + 1
      const tx = await pool.pay(1, 2 + (i % gappedPerAccount), { rate, amount: 1n, validUntil })
      if ((await pool.submit(tx)) === null) taken += 1
    }
    return taken
  }
  return { pool, flood }
}

describe('an account that never pays', () => {
  it('has so many taken in, gapped, replaced and expired ones together, and so many more with a block', async () => {
    const { pool, flood } = await spam()
    expect(await flood(400)).toBe(unpaidPerAccount)
    const another = await pool.pay(1, 1)
    expect(await pool.submit(another)).toEqual(REFUSAL)
    await pool.test.mine([])
    expect(pool.mempool.count).toBe(0)
    expect(await flood(10)).toBe(unpaidPerBlock)
    for (let i = 0; i < 3; i++) await pool.test.mine([])
    expect(await flood(10)).toBe(3 * unpaidPerBlock)
    expect(await pool.submit(await pool.pay(3, 0))).toBeNull()
  })

  it('is not helped by a mined payment of an account other than its own', async () => {
    const { pool, flood } = await spam()
    await flood(400)
    const stranger = await pool.put(3, 0)
    await pool.test.mine([stranger])
    expect(await flood(10)).toBe(unpaidPerBlock)
  })

  it('is the operator’s own affair where it is the operator', async () => {
    const { pool, flood } = await spam()
    pool.mempool.protect(wallet(1).address)
    expect(await flood(200)).toBe(200)
  })
})

describe('an account that pays', () => {
  it('is never held up: each that is mined gives its place back', async () => {
    const pool = await TestMempool.open()
    for (let block = 0; block < 4; block++) {
      const first = block * executablePerAccount
      await pool.putRun(1, first, first + executablePerAccount - 1, { amount: 1n })
      await pool.test.mine([...pool.mempool.candidates()])
      expect(pool.mempool.count).toBe(0)
    }
  })

  it('gets one place back for a nonce, whatever was replaced at it and whichever of them its own block holds', async () => {
    const pool = await TestMempool.open({ policy: { unpaidPerAccount: 12, unpaidPerBlock: 2 } })
    const replacing = async (nonce: number): Promise<number> => {
      let taken = 0
      for (let rate = 40n; (await pool.submit(await pool.pay(1, nonce, { rate, amount: 1n }))) === null; taken++)
        rate = (rate * 9n) / 8n
      return taken
    }
    const first = await pool.pay(1, 0, { rate: 35n })
    expect(await replacing(0)).toBe(12)
    await pool.test.mine([first])
    expect(await replacing(1)).toBe(3)
    await pool.test.mine([...pool.mempool.candidates()])
    expect(await replacing(2)).toBe(3)
  })

  it('keeps its places where rules judge anew what waits, and where a block holds another at its nonce', async () => {
    const pool = await TestMempool.open({ policy: { unpaidPerAccount: 3, unpaidPerBlock: 0 } })
    const first = await pool.pay(1, 0, { rate: 50n })
    await pool.put(1, 0, { rate: 60n })
    await pool.putRun(1, 1, 2)
    expect(await pool.submit(await pool.pay(1, 3))).toMatchObject({ code: 'mempool/account-unpaid' })
    await pool.test.mine([first])
    await pool.put(1, 3)
    expect(await pool.submit(await pool.pay(1, 4))).toMatchObject({ code: 'mempool/account-unpaid' })
  })

  it('gets its places back too where a reorganisation brings the blocks', async () => {
    const pool = await TestMempool.open({ policy: { unpaidPerAccount: 3, unpaidPerBlock: 0 } })
    await pool.test.mine()
    const [, ...others] = await pool.putRun(1, 0, 2)
    const replacement = await pool.pay(1, 0, { rate: 50n })
    await overtake(pool.test, 1, [[replacement, ...others], []])
    expect(pool.mempool.count).toBe(0)
    await pool.putRun(1, 3, 5)
    expect(await pool.submit(await pool.pay(1, 6))).toMatchObject({ code: 'mempool/account-unpaid' })
  })
})

describe('a transaction', () => {
  it('is ready once no nonce before its own is missing, and told of once', async () => {
    const pool = await TestMempool.open()
    const told: bigint[] = []
    pool.mempool.onReady(({ body }) => told.push(body.nonce))
    await pool.test.mine([await pool.pay(1, 0)])
    const third = await pool.put(1, 4)
    await pool.put(1, 3)
    expect([told, pool.mempool.isReady(third)]).toEqual([[], false])
    expect(pool.mempool.transactions().filter((tx) => pool.mempool.isReady(tx))).toEqual([])
    await pool.put(1, 1)
    expect(told).toEqual([1n])
    await pool.put(1, 2)
    expect([told, pool.mempool.isReady(third)]).toEqual([[1n, 2n, 3n, 4n], true])
    await pool.put(1, 5)
    expect(told).toEqual([1n, 2n, 3n, 4n, 5n])
    expect(pool.mempool.transactions().filter((tx) => pool.mempool.isReady(tx)).length).toBe(5)
  })

  it('is ready when a block has brought the missing nonce', async () => {
    const pool = await TestMempool.open()
    const told: bigint[] = []
    pool.mempool.onReady(({ body }) => told.push(body.nonce))
    await pool.test.mine([await pool.pay(1, 0)])
    await pool.put(1, 2)
    await pool.test.mine([await pool.pay(1, 1)])
    expect(told).toEqual([2n])
    await pool.test.mine([])
    expect(told).toEqual([2n])
  })
})

describe('a full pool', () => {
  it('lets no other go, and asks no more, for a replacement behind a missing nonce that grows', async () => {
    const test = await TestChain.open()
    const first = await TestMempool.open({ test })
    await test.mine(await Promise.all([1, 3, 4, 5].map((account) => first.pay(account, 0))))
    const { size } = await first.pay(1, 1)
    const pool = await TestMempool.open({ test, policy: { bytesMax: 40 * (size + 4) } })
    for (const account of [3, 4, 5]) await pool.putRun(account, 1, 12, { rate: 50n })
    await pool.putRun(1, 2, 5, { rate: 60n })
    const others = () => pool.mempool.transactions().filter(({ body }) => body.sender !== wallet(1).address)
    const before = others()
    const memo = new Uint8Array(MEMO_BYTES_MAX)
    for (const nonce of [2, 3, 4, 5])
      expect(await pool.submit(await pool.pay(1, nonce, { rate: 900n, memo }))).toMatchObject({ code: 'mempool/full' })
    expect([others(), pool.mempool.minFeeRate]).toEqual([before, 32n])
    // A replacement of the same length is admitted as usual. So is a longer one that can be mined.
    expect(await pool.submit(await pool.pay(1, 2, { rate: 900n }))).toBeNull()
    expect(await pool.submit(await pool.pay(3, 1, { rate: 900n, memo }))).toBeNull()
  })
})
