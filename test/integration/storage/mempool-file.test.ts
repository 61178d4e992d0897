import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BYTES_LIST } from '../../../consensus/chain/layout.ts'
import { encode } from '../../../consensus/primitives/codec.ts'
import { encodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import { loadMempool, saveMempool } from '../../../src/storage/mempool-file.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { TestMempool } from '../../support/mempool.ts'
import { PolicyAccount } from '../../support/policy-signer.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { SAMPLE, units } from '../../support/unsigned.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'mempool.bin')
})

afterEach(() => removeFolder(folder))

const idsOf = (transactions: readonly Transaction[]): readonly string[] => transactions.map(({ wtxId }) => wtxId)

/** Transactions of several accounts and kinds, from a mempool. */
async function waiting(): Promise<readonly Transaction[]> {
  const { test, mempool, ...pool } = await opened()
  await pool.put(1, [1n, 2n, 3n])
  const register = SAMPLE.agent_register({ payout: wallet(3).address, settlers: [] })
  await mempool.submit(await test.tx(wallet(3), 'agent_register', register))
  await pool.put(2, [9n])
  return mempool.transactions()
}

interface Opened {
  readonly test: TestChain
  readonly mempool: TestMempool['mempool']
  readonly put: (from: number, tips: readonly bigint[]) => Promise<void>
}

/** A mempool on a chain (by default a new one), with a function that submits transfers. */
async function opened(test?: TestChain): Promise<Opened> {
  const pool = await TestMempool.open({ test: test ?? (await TestChain.open()) })
  const put = async (from: number, tips: readonly bigint[]): Promise<void> => {
    for (const [nonce, tip] of tips.entries()) await pool.put(from, nonce, { tip })
  }
  return { test: pool.test, mempool: pool.mempool, put }
}

describe('the file of waiting transactions', () => {
  it('gives back every transaction with its witness, in order of arrival', async () => {
    const transactions = await waiting()
    expect(transactions.length).toBe(5)
    await saveMempool(path, transactions)
    const loaded = await loadMempool(path)
    expect(loaded).toEqual(transactions)
    expect(idsOf(loaded)).toEqual(idsOf(transactions))
  })

  it('may be empty, and a missing file counts as empty', async () => {
    expect(await loadMempool(path)).toEqual([])
    await saveMempool(path, [])
    expect([await loadMempool(path), statSync(path).size]).toEqual([[], 0])
    expect(await loadMempool(join(folder, 'nowhere', 'mempool.bin'))).toEqual([])
    mkdirSync(join(folder, 'a-folder'))
    expect(await loadMempool(join(folder, 'a-folder'))).toEqual([])
  })

  it('is replaced as a whole, and leaves nothing beside it', async () => {
    const transactions = await waiting()
    await saveMempool(path, transactions)
    await saveMempool(path, transactions.slice(0, 1))
    expect(idsOf(await loadMempool(path))).toEqual(idsOf(transactions.slice(0, 1)))
    expect(readdirSync(folder)).toEqual(['mempool.bin'])
  })

  it('that could not be written stays as it was', async () => {
    const transactions = await waiting()
    await saveMempool(path, transactions)
    // The longest name that a file can have: the temporary file beside it would need a longer one.
    const longest = join(folder, 'm'.repeat(255))
    renameSync(path, longest)
    await expect(saveMempool(longest, [])).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
    expect(idsOf(await loadMempool(longest))).toEqual(idsOf(transactions))
  })

  it('holds the largest witness there is', async () => {
    const { test } = await opened()
    const members = Array.from({ length: 8 }, (_, i) => ({ scheme: 2 as const, seed: new Uint8Array(32).fill(i + 1) }))
    const payload = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })
    const tx = await test.tx(new PolicyAccount(8, members), 'transfer', payload)
    expect(tx.size).toBeGreaterThan(40_000)
    await saveMempool(path, [tx, tx])
    expect(await loadMempool(path)).toEqual([tx, tx])
  })
})

describe('a damaged file of waiting transactions', () => {
  it('cut anywhere never fails, and lets nothing into a mempool that was not waiting', async () => {
    const transactions = await waiting()
    await saveMempool(path, transactions)
    const whole = readFileSync(path)
    for (let length = 0; length < whole.length; length += length < 40 ? 1 : 401) {
      writeFileSync(path, whole.subarray(0, length))
      const { mempool } = await opened()
      // A truncated signature can still be decoded; admission refuses it.
      for (const tx of await loadMempool(path)) await mempool.submit(tx)
      expect(mempool.count, `${length} bytes`).toBeLessThan(transactions.length)
      expect(idsOf(mempool.transactions())).toEqual(idsOf(transactions.slice(0, mempool.count)))
    }
  })

  it('with one invalid transaction gives back the others', async () => {
    const transactions = await waiting()
    const encoded = transactions.map(encodeTransaction)
    for (const nonsense of [new Uint8Array(0), new Uint8Array(200).fill(7), encoded[1]!.subarray(0, 60)]) {
      writeFileSync(path, encode(BYTES_LIST, [encoded[0]!, nonsense, ...encoded.slice(2)]))
      expect(idsOf(await loadMempool(path))).toEqual(idsOf(transactions.filter((_, i) => i !== 1)))
    }
  })

  it('of nonsense is empty', async () => {
    for (const content of ['nonsense'.repeat(99), '{}', '\0\0\0\0', '\x04\0\0\0\xff', 'x']) {
      writeFileSync(path, content, 'latin1')
      expect(idsOf(await loadMempool(path)), JSON.stringify(content)).toEqual([])
    }
  })
})

describe('transactions that waited over a restart', () => {
  it('are admitted like any others: what was mined, changed or forged meanwhile is not', async () => {
    const before = await opened()
    await before.put(1, [1n, 2n])
    await before.put(2, [3n])
    const [mined, behind, other] = before.mempool.transactions() as [Transaction, Transaction, Transaction]
    const wire = encodeTransaction(other)
    const last = wire.length - 1
    wire[last] = (wire[last] as number) ^ 1
    await saveMempool(path, [mined, behind])
    writeFileSync(path, encode(BYTES_LIST, [...(await loadMempool(path)).map(encodeTransaction), wire]))
    const after = await opened()
    await after.test.mine([mined])
    const outcomes: (string | null)[] = []
    for (const tx of await loadMempool(path)) {
      const submitted = await after.mempool.submit(tx)
      outcomes.push(submitted.ok ? null : submitted.fault.code)
    }
    expect(outcomes).toEqual(['mempool/mined', null, 'tx/bad-signature'])
    expect(idsOf(after.mempool.transactions())).toEqual([behind.wtxId])
  })
})
