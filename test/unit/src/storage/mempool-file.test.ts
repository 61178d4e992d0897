import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BYTES_LIST } from '../../../../consensus/chain/layout.ts'
import { encode } from '../../../../consensus/primitives/codec.ts'
import { encodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { loadMempool, saveMempool } from '../../../../src/storage/mempool-file.ts'
import { fork } from '../../../support/branches.ts'
import { wallet } from '../../../support/chain.ts'
import { overtake, TestMempool } from '../../../support/mempool.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mempool-file-'))
  path = join(folder, 'mempool')
})
afterEach(() => rm(folder, { recursive: true }))

/**
 * Saves the waiting transactions, and submits them to a new mempool on the same blocks that has checked no signature
 * yet.
 */
async function restarted(pool: TestMempool): Promise<TestMempool> {
  await saveMempool(path, pool.mempool.transactions())
  const next = await TestMempool.open({ test: await fork(pool.test) })
  for (const tx of await loadMempool(path)) await next.mempool.submit(tx)
  return next
}

const encoded = (transactions: readonly Transaction[]) => transactions.map(encodeTransaction)

describe('the file of waiting transactions', () => {
  it('gives back what was saved, byte for byte and in order', async () => {
    const pool = await TestMempool.open()
    const saved = [await pool.pay(3, 0), await pool.pay(1, 0), await pool.pay(1, 1)]
    await saveMempool(path, saved)
    const loaded = await loadMempool(path)
    expect(encoded(loaded)).toEqual(encoded(saved))
    expect(loaded.map(({ txId, wtxId }) => [txId, wtxId])).toEqual(saved.map(({ txId, wtxId }) => [txId, wtxId]))
  })

  it('gives each account’s in the order of its nonces, whatever the order they arrived in', async () => {
    const pool = await TestMempool.open()
    const [a10, b1, a2, a9, b0] = await Promise.all([
      ...[pool.pay(1, 10), pool.pay(3, 1), pool.pay(1, 2), pool.pay(1, 9), pool.pay(3, 0)],
    ])
    const arrived = [a10, b1, a2, a9, b0] as Transaction[]
    await saveMempool(path, arrived)
    expect(encoded(await loadMempool(path))).toEqual(encoded([a2, b0, a9, a10, b1] as Transaction[]))
  })

  it('is replaced whole, and nothing is left beside it', async () => {
    const pool = await TestMempool.open()
    await saveMempool(path, [await pool.pay(1, 0), await pool.pay(1, 1)])
    await saveMempool(path, [])
    expect([await loadMempool(path), await readdir(folder)]).toEqual([[], ['mempool']])
  })

  it('is empty if it is missing or damaged', async () => {
    expect(await loadMempool(path)).toEqual([])
    const pool = await TestMempool.open()
    await saveMempool(path, [await pool.pay(1, 0)])
    const whole = await readFile(path)
    for (const damaged of [whole.subarray(0, 2), Buffer.from('not a list of transactions'), Buffer.alloc(64, 0xff)]) {
      await writeFile(path, damaged)
      expect(await loadMempool(path)).toEqual([])
    }
  })

  it('loses only the transactions that cannot be read', async () => {
    const pool = await TestMempool.open()
    const [first, second] = [await pool.pay(1, 0), await pool.pay(3, 0)]
    const entries = [encodeTransaction(first), new Uint8Array(9), encodeTransaction(second).subarray(1)]
    await writeFile(path, encode(BYTES_LIST, [...entries, encodeTransaction(second)]))
    expect(encoded(await loadMempool(path))).toEqual(encoded([first, second]))
  })
})

describe('a restart', () => {
  it('leaves what waits as it was', async () => {
    const pool = await TestMempool.open()
    await pool.putRun(1, 0, 3, { rate: 60n })
    await pool.put(3, 0, { rate: 90n })
    await pool.put(1, 6, { rate: 80n })
    const next = await restarted(pool)
    expect(encoded(next.mempool.transactions())).toEqual(encoded(pool.mempool.transactions()))
    expect(encoded([...next.mempool.candidates()])).toEqual(encoded([...pool.mempool.candidates()]))
    expect([next.mempool.count, next.mempool.bytes]).toEqual([pool.mempool.count, pool.mempool.bytes])
  })

  it('loses nothing of an account whose first transaction was replaced', async () => {
    const pool = await TestMempool.open()
    await pool.putRun(1, 0, 19, { rate: 60n })
    await pool.put(1, 0, { rate: 90n })
    await pool.test.mine([await pool.pay(3, 0)])
    await pool.putRun(3, 1, 20, { rate: 60n })
    await pool.put(3, 1, { rate: 90n })
    const next = await restarted(pool)
    expect(next.mempool.count).toBe(40)
    expect(encoded([...next.mempool.candidates()]).length).toBe(40)
  })

  it('loses nothing of an account that a reorganisation gave transactions back to', async () => {
    const pool = await TestMempool.open()
    await pool.test.mine([await pool.pay(1, 0)])
    await pool.putRun(1, 1, 20)
    await overtake(pool.test, 1, [[], []])
    expect(pool.mempool.transactions().at(-1)?.body.nonce).toBe(0n)
    expect((await restarted(pool)).mempool.count).toBe(21)
  })

  it('validates again: mined, outdated, expired and forged ones do not come back', async () => {
    const pool = await TestMempool.open()
    const expiring = await pool.put(1, 0, { validUntil: 1 })
    const mined = await pool.put(3, 0)
    const outdated = await pool.put(4, 0)
    const good = await pool.put(5, 0)
    const forger = { ...wallet(7), keys: wallet(6).keys, address: wallet(6).address }
    const forged = await pool.pay(forger, 0)
    await saveMempool(path, [forged, expiring, mined, outdated, good])
    await pool.test.mine([mined, await pool.pay(4, 0, { amount: 1n })])
    const next = await TestMempool.open({ test: await fork(pool.test) })
    const outcomes: unknown[] = []
    for (const tx of await loadMempool(path)) outcomes.push((await next.submit(tx))?.code)
    const refusals = ['tx/bad-signature', 'tx/expired', 'mempool/mined', 'tx/nonce-too-low', undefined]
    expect(outcomes).toEqual(refusals)
    expect(encoded(next.mempool.transactions())).toEqual(encoded([good]))
  })
})
