import { describe, expect, it } from 'vitest'
import { addressOfKeys, encodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import type { SignatureVerifier } from '../../../consensus/crypto/verifier.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../mempool/policy.ts'
import { seedOf } from '../../support/actors.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { feeText } from '../../support/fee-text.ts'
import { HeldVerifier, TestMempool } from '../../support/mempool.ts'
import { PolicyAccount } from '../../support/policy-signer.ts'
import { filled } from '../../support/unsigned.ts'

const ALICE = wallet(1).address
const idsOf = (transactions: Iterable<Transaction>) => [...transactions].map(({ txId }) => txId)

/** A mempool whose signature checks wait until they are released. */
async function held(policy: Parameters<typeof TestMempool.open>[0] = {}) {
  const verifier = new HeldVerifier()
  return { verifier, pool: await TestMempool.open({ ...policy, verifier }) }
}

describe('an empty mempool', () => {
  it('has nothing, and asks for the base fee', async () => {
    const { mempool } = await TestMempool.open()
    expect([mempool.count, mempool.bytes, mempool.minFeeRate]).toEqual([0, 0, 32n])
    expect([mempool.transactions(), mempool.ofAccount(ALICE), [...mempool.candidates()]]).toEqual([[], [], []])
    expect(mempool.nextNonce(ALICE)).toBe(0n)
    expect(mempool.nextNonce(filled<Address>(0x55))).toBe(0n)
    expect(mempool.policy).toEqual(DEFAULT_MEMPOOL_POLICY)
  })
})

describe('waiting transactions', () => {
  it('are found by id, by account, and in order of arrival', async () => {
    const pool = await TestMempool.open()
    const [a0, b0] = [await pool.put(1, 0), await pool.put(3, 0)]
    const [a2, a1] = [await pool.put(1, 2), await pool.put(1, 1)]
    const { mempool } = pool
    expect(idsOf(mempool.transactions())).toEqual(idsOf([a0, b0, a2, a1]))
    expect(idsOf(mempool.ofAccount(ALICE))).toEqual(idsOf([a0, a1, a2]))
    expect([mempool.get(b0.txId), mempool.get(filled(9))]).toEqual([b0, undefined])
    expect(mempool.count).toBe(4)
    expect(mempool.bytes).toBe([a0, b0, a1, a2].reduce((sum, { size }) => sum + size + 4, 0))
  })

  it('tell the nonce that comes next: the first that is missing', async () => {
    const pool = await TestMempool.open()
    await pool.test.mine([await pool.pay(1, 0), await pool.pay(1, 1)])
    expect(pool.mempool.nextNonce(ALICE)).toBe(2n)
    await pool.put(1, 3)
    expect(pool.mempool.nextNonce(ALICE)).toBe(2n)
    await pool.put(1, 2)
    expect(pool.mempool.nextNonce(ALICE)).toBe(4n)
  })

  it('are candidates by what they pay, each account’s in the order of its nonces', async () => {
    const pool = await TestMempool.open()
    const cheapFirst = await pool.put(1, 0, { rate: 50n })
    const dearSecond = await pool.put(1, 1, { rate: 900n })
    const middle = await pool.put(3, 0, { rate: 70n })
    const top = await pool.put(4, 0, { rate: 80n })
    const low = await pool.put(4, 1, { rate: 40n })
    await pool.put(5, 0, { rate: 60n })
    await pool.put(5, 2, { rate: 999n })
    const fifth = pool.mempool.ofAccount(wallet(5).address)[0] as Transaction
    const order = [top, middle, fifth, cheapFirst, dearSecond, low]
    expect(idsOf(pool.mempool.candidates())).toEqual(idsOf(order))
    // A block with exactly the mempool's candidates.
    await pool.test.mine([...pool.mempool.candidates()])
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf(pool.mempool.ofAccount(wallet(5).address)))
    expect(pool.noncesOf(5)).toEqual([2n])
  })

  it('of equal rate are candidates in order of arrival, a replacement as the latest', async () => {
    const pool = await TestMempool.open()
    for (const n of [4, 1, 5, 3]) await pool.put(n, 0, { rate: n === 4 ? 50n : 55n })
    await pool.put(4, 0, { rate: 55n })
    expect([...pool.mempool.candidates()].map(({ body }) => body.sender)).toEqual(
      [1, 5, 3, 4].map((n) => wallet(n).address),
    )
  })

  it('of which one was dropped are no candidates behind it', async () => {
    const pool = await TestMempool.open()
    const [first, second, third] = (await pool.putRun(1, 0, 2)) as [Transaction, Transaction, Transaction]
    const { bytes } = pool.mempool
    pool.mempool.drop(second.txId)
    pool.mempool.drop(second.txId)
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf([first, third]))
    expect(pool.mempool.bytes).toBe(bytes - second.size - 4)
    expect(idsOf(pool.mempool.candidates())).toEqual([first.txId])
    expect(pool.mempool.nextNonce(ALICE)).toBe(1n)
    expect(await pool.submit(second)).toBeNull()
    expect(idsOf(pool.mempool.candidates())).toEqual(idsOf([first, second, third]))
  })
})

describe('listeners', () => {
  it('hear of what was admitted, replacements too, and of nothing else', async () => {
    const pool = await TestMempool.open()
    const heard: string[][] = [[], []]
    for (const list of heard) pool.mempool.onAdmission(({ txId }) => list.push(txId))
    const first = await pool.put(1, 0, { rate: 100n })
    await pool.submit(first)
    await pool.submit(await pool.pay(1, 0, { rate: 101n }))
    const better = await pool.put(1, 0, { rate: 200n })
    await pool.submit(await pool.pay(3, 0, { rate: 1n }))
    expect(heard).toEqual([idsOf([first, better]), idsOf([first, better])])
  })

  it('hear when the transaction can be found already', async () => {
    const pool = await TestMempool.open()
    const found: unknown[] = []
    pool.mempool.onAdmission(({ txId }) => found.push(pool.mempool.get(txId)?.txId))
    const tx = await pool.put(1, 0)
    expect(found).toEqual([tx.txId])
  })
})

describe('while a signature is checked', () => {
  it('the same transaction may come again, and is taken once', async () => {
    const { verifier, pool } = await held()
    const tx = await pool.pay(1, 0)
    const heard: string[] = []
    pool.mempool.onAdmission(({ txId }) => heard.push(txId))
    const both = [pool.submit(tx), pool.submit(tx)]
    expect(pool.mempool.count).toBe(0)
    verifier.release()
    expect(await Promise.all(both)).toEqual([null, { code: 'mempool/known', detail: {} }])
    expect([heard, pool.mempool.count]).toEqual([[tx.txId], 1])
  })

  it('another one with its nonce may come, which then must pay more', async () => {
    const { verifier, pool } = await held()
    const [one, two, three] = await Promise.all([100n, 105n, 120n].map((rate) => pool.pay(1, 0, { rate })))
    const outcomes = [one, two, three].map((tx) => pool.submit(tx as Transaction))
    verifier.release()
    const texts = { leastText: feeText(two as Transaction, 110n), tipText: feeText(two as Transaction, 100n) }
    const detail = { minFeeRate: '110', minTip: '100', ...texts }
    const refusal = { code: 'mempool/replacement-fee-too-low', detail }
    expect(await Promise.all(outcomes)).toEqual([null, refusal, null])
    expect(pool.mempool.transactions()).toEqual([three])
  })

  it('others of its account may come, and only what the balance covers is taken', async () => {
    const { verifier, pool } = await held()
    const amount = pool.test.balance(ALICE) / 2n
    await pool.test.mine([await pool.pay(1, 0)])
    const both = [await pool.pay(1, 1, { amount, rate: 50n }), await pool.pay(1, 2, { amount, rate: 50n })]
    const outcomes = both.map((tx) => pool.submit(tx))
    verifier.release()
    expect(await Promise.all(outcomes)).toMatchObject([null, { code: 'mempool/balance-exceeded' }])
  })

  it('the head may move: what it made impossible is refused', async () => {
    const { verifier, pool } = await held()
    const expiring = await pool.pay(3, 0, { validUntil: 1 })
    const mined = await pool.pay(1, 0)
    const outdated = await pool.pay(4, 0)
    const fine = await pool.pay(5, 0)
    const outcomes = [expiring, mined, outdated, fine].map((tx) => pool.submit(tx))
    await pool.test.mine([mined, await pool.pay(4, 0, { amount: 1n })])
    verifier.release()
    expect(await Promise.all(outcomes)).toEqual([
      { code: 'tx/expired', detail: { validUntil: 1, height: 2 } },
      { code: 'mempool/mined', detail: {} },
      { code: 'tx/nonce-too-low', detail: { nonce: '0', next: '1' } },
      null,
    ])
    expect(pool.mempool.transactions()).toEqual([fine])
  })
})

describe('the number of signatures that wait for verification', () => {
  const BUSY = { code: 'mempool/busy', detail: {} }

  it('is bounded, and room comes back with every answer', async () => {
    const { verifier, pool } = await held({ policy: { verifyingMax: 2 } })
    const waiting = [pool.submit(await pool.pay(1, 0)), pool.submit(await pool.pay(3, 0))]
    const third = await pool.pay(4, 0)
    expect(await pool.submit(third)).toEqual(BUSY)
    expect(verifier.held).toBe(2)
    verifier.release()
    expect(await Promise.all(waiting)).toEqual([null, null])
    const again = pool.submit(third)
    verifier.release()
    expect(await again).toBeNull()
  })

  it('counts every signature of a policy', async () => {
    const { verifier, pool } = await held({ policy: { verifyingMax: 2 } })
    const vault = new PolicyAccount(
      2,
      [1, 2, 3].map((n) => ({ scheme: 1, seed: seedOf(n) })),
    )
    expect(vault.address).toBe(addressOfKeys(encodeAccountKeys(vault.keys)))
    await pool.test.mine([await pool.pay(1, 0, { to: vault.address, amount: 10n ** 10n, create: true })])
    const single = pool.submit(await pool.pay(3, 0))
    const double = await pool.pay(vault, 0)
    expect(await pool.submit(double)).toEqual(BUSY)
    verifier.release()
    expect(await single).toBeNull()
    const again = pool.submit(double)
    expect(await pool.submit(await pool.pay(4, 0))).toEqual(BUSY)
    verifier.release()
    expect(await again).toBeNull()
  })

  it('has room again after signatures that were bad, and after a verifier that failed', async () => {
    const inner = new HeldVerifier()
    let broken = true
    const verifier: SignatureVerifier = {
      verify: (jobs) => (broken ? Promise.reject(new Error('a thread died')) : inner.verify(jobs)),
    }
    const pool = await TestMempool.open({ verifier, policy: { verifyingMax: 1 } })
    const tx = await pool.pay(1, 0)
    const failed = { code: 'mempool/unverified', detail: { reason: 'Error: a thread died' } }
    expect(await pool.submit(tx)).toEqual(failed)
    broken = false
    const forger = { ...wallet(3), keys: wallet(1).keys, address: ALICE }
    const bad = pool.submit(await pool.pay(forger, 0))
    inner.release()
    expect(await bad).toEqual({ code: 'tx/bad-signature', detail: {} })
    const good = pool.submit(tx)
    inner.release()
    expect(await good).toBeNull()
  })

  it('does not grow by a witness that is known to be good', async () => {
    const { verifier, pool } = await held({ policy: { verifyingMax: 1 } })
    const first = await pool.pay(1, 0)
    const admitted = pool.submit(first)
    verifier.release()
    expect(await admitted).toBeNull()
    pool.mempool.drop(first.txId)
    const other = pool.submit(await pool.pay(3, 0))
    expect(await pool.submit(first)).toBeNull()
    verifier.release()
    expect(await other).toBeNull()
  })
})

describe('a witness that the mempool has checked', () => {
  it('is not checked again in a block', async () => {
    const asked: number[] = []
    const verifier: SignatureVerifier = {
      verify: async (jobs) => {
        asked.push(jobs.length)
        return jobs.map(() => true)
      },
    }
    const test = await TestChain.open(undefined, undefined, { verifier })
    const pool = await TestMempool.open({ test })
    const tx = await pool.put(1, 0)
    await test.mine([tx])
    expect(asked).toEqual([])
    await test.mine([await pool.pay(3, 0)])
    expect(asked).toEqual([1])
  })
})

describe('a full mempool', () => {
  it('takes only what pays more than its cheapest, which then goes', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 3 } })
    const [dear, cheap, middle] = [
      await pool.put(1, 0, { rate: 90n }),
      await pool.put(3, 0, { rate: 50n }),
      await pool.put(4, 0, { rate: 70n }),
    ]
    const refusal = { code: 'mempool/full', detail: { minFeeRate: '50' } }
    expect(await pool.submit(await pool.pay(5, 0, { rate: 50n }))).toEqual(refusal)
    const better = await pool.put(5, 0, { rate: 51n })
    expect(pool.mempool.get(cheap.txId)).toBeUndefined()
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf([dear, middle, better]))
  })

  it('is full in bytes too', async () => {
    const { size } = await (await TestMempool.open()).pay(1, 0)
    const bytesMax = 2 * (size + 4)
    const pool = await TestMempool.open({ policy: { bytesMax } })
    await pool.put(1, 0, { rate: 90n })
    // Fills the pool to its last byte.
    await pool.put(3, 0, { rate: 50n })
    expect(pool.mempool.bytes).toBe(bytesMax)
    const refusal = { code: 'mempool/full', detail: { minFeeRate: '50' } }
    expect(await pool.submit(await pool.pay(4, 0, { rate: 50n }))).toEqual(refusal)
    expect(pool.mempool.count).toBe(2)
    // Eviction frees a twentieth of the space at once, so only one transaction of this size stays.
    const dearest = await pool.put(4, 0, { rate: 95n })
    expect([pool.mempool.transactions(), pool.mempool.bytes]).toEqual([[dearest], size + 4])
  })

  it('takes replacements, also of what is cheaper than all that could go', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 3 } })
    await pool.put(1, 0, { rate: 40n })
    const [behind, other] = [await pool.put(1, 1, { rate: 90n }), await pool.put(3, 0, { rate: 50n })]
    const better = await pool.put(1, 0, { rate: 44n })
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf([behind, other, better]))
    const best = await pool.put(3, 0, { rate: 55n })
    expect(idsOf(pool.mempool.transactions())).toEqual(idsOf([behind, better, best]))
  })

  it('lets an account’s last transaction go first, however cheap those before it are', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 3 } })
    await pool.put(1, 0, { rate: 40n })
    await pool.put(1, 1, { rate: 60n })
    await pool.put(3, 0, { rate: 80n })
    await pool.put(4, 0, { rate: 70n })
    expect([pool.noncesOf(1), pool.noncesOf(3), pool.noncesOf(4)]).toEqual([[0n], [0n], [0n]])
  })

  it('refuses what it recently evicted for its fee, until the head moves', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 2 } })
    await pool.put(1, 0, { rate: 50n })
    const dear = await pool.put(3, 0, { rate: 90n })
    await pool.put(4, 0, { rate: 80n })
    expect(pool.mempool.minFeeRate).toBe(51n)
    pool.mempool.drop(dear.txId)
    const same = await pool.pay(5, 0, { rate: 50n })
    const detail = { feeRate: '50', minFeeRate: '51', feeText: feeText(same, 50n), leastText: feeText(same, 51n) }
    expect(await pool.submit(same)).toEqual({ code: 'mempool/fee-too-low', detail })
    await pool.test.mine()
    expect(pool.mempool.minFeeRate).toBe(32n)
    expect(await pool.submit(same)).toBeNull()
  })

  it('asks for more than the whole way to what had to go was worth, and for no less later', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 2 } })
    await pool.put(1, 0, { rate: 40n })
    await pool.put(1, 1, { rate: 60n })
    await pool.put(3, 0, { rate: 80n })
    expect([pool.noncesOf(1), pool.mempool.minFeeRate]).toEqual([[0n], 41n])
    await pool.put(4, 0, { rate: 90n })
    expect([pool.noncesOf(1), pool.mempool.minFeeRate]).toEqual([[], 41n])
  })

  it('tells a newcomer that went itself to make room what would stay', async () => {
    const pool = await TestMempool.open({ policy: { countMax: 20 } })
    await pool.put(1, 0, { rate: 40n })
    for (let n = 3; n <= 10; n++) await pool.putRun(n, 0, n === 3 ? 4 : 1, { rate: 90n })
    expect(pool.mempool.count).toBe(20)
    const heard: string[] = []
    pool.mempool.onAdmission(({ txId }) => heard.push(txId))
    // Eviction removes two, to leave room for one more: the cheapest one, then the new one itself.
    const refusal = { code: 'mempool/full', detail: { minFeeRate: '51' } }
    const newcomer = await pool.pay(2, 0, { rate: 50n })
    expect(await pool.submit(newcomer)).toEqual(refusal)
    expect([pool.mempool.get(newcomer.txId), pool.mempool.count, heard]).toEqual([undefined, 19, []])
    expect(await pool.submit(await pool.pay(2, 0, { rate: 51n }))).toBeNull()
  })
})
