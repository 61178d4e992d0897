import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { spentIn } from '../../../../../rpc/client/sdk/ceilings.ts'
import { fileJournal } from '../../../../../rpc/client/sdk/file-journal.ts'
import { memoryJournal, storageJournal } from '../../../../../rpc/client/sdk/journal.ts'
import type { PaymentJournal, PaymentRecord } from '../../../../../rpc/client/sdk/shapes.ts'
import { removeFolder, temporaryFolder } from '../../../../support/processes.ts'

const root = temporaryFolder()
afterAll(() => removeFolder(root))

const DAY = 86_400_000
const START = Date.UTC(2026, 5, 1, 12)

function record(txId: string, atMs: number, change: Partial<PaymentRecord> = {}): PaymentRecord {
  const names = {
    txId,
    secret: 's',
    serviceId: 'node-x',
    request: 'ü\n',
    quoteId: 'q',
    url: 'u',
    sender: 'me',
    tx: 'aa',
  }
  return {
    ...names,
    amount: 2n ** 70n,
    feeMax: 3n,
    nonce: 4n,
    usd: 0.5,
    validUntil: 9,
    state: 'signed',
    atMs,
    ...change,
  }
}

describe('a journal in memory with more payments in a day than it keeps', () => {
  const MINUTE = 60_000
  const PAID = 30_000
  const cost = { amount: 3n, feeMax: 1n, usd: 0.25 }

  it('still tells what all of them cost, in few records, until a day is over', async () => {
    const journal = memoryJournal()
    for (let i = 0; i < PAID; i++)
      await journal.put(record(`tx ${i}`, START + Math.floor(i / 25) * MINUTE, { ...cost, nonce: BigInt(i) }))
    const kept = await journal.since(START)
    expect(spentIn(kept)).toEqual({ units: 4n * BigInt(PAID), usd: PAID / 4 })
    expect(kept.length).toBeLessThan(10_100)
    expect(await journal.get('tx 0')).toBeUndefined()
    // No finished payment is listed as unfinished.
    expect(kept.filter(({ txId, state }) => !txId.startsWith('tx ') && state !== 'settled')).toEqual([])
    const later = START + 3 * DAY
    for (let i = 0; i < 10_001; i++)
      await journal.put(record(`later ${i}`, later, { ...cost, nonce: BigInt(PAID + i) }))
    expect((await journal.since(0)).length).toBeLessThan(10_100)
    expect(spentIn(await journal.since(later)).units).toBe(4n * 10_001n)
  })
})

class Storage {
  readonly map = new Map<string, string>()
  get length(): number {
    return this.map.size
  }
  key = (index: number): string | null => [...this.map.keys()][index] ?? null
  getItem = (key: string): string | null => this.map.get(key) ?? null
  setItem = (key: string, value: string): void => void this.map.set(key, value)
  removeItem = (key: string): void => void this.map.delete(key)
}

const storage = new Storage()
const kinds: Readonly<Record<string, () => PaymentJournal>> = {
  memory: memoryJournal,
  storage: () => storageJournal(storage),
  file: () => fileJournal(join(root, 'journal')),
}

for (const [name, open] of Object.entries(kinds))
  describe(`the journal in ${name}`, () => {
    it('gives back what was put, the last word about each payment, by id and by time', async () => {
      const journal = open()
      expect(await journal.since(0)).toEqual([])
      expect(await journal.get('a')).toBeUndefined()
      await journal.put(record('a', START))
      await journal.put(record('b', START + DAY))
      await journal.put(record('a', START, { state: 'settled' }))
      expect(await journal.get('a')).toEqual(record('a', START, { state: 'settled' }))
      expect((await journal.since(START)).map(({ txId }) => txId).sort()).toEqual(['a', 'b'])
      expect((await journal.since(START + 1)).map(({ txId }) => txId)).toEqual(['b'])
    })
  })

describe('the journal in files', () => {
  const folder = join(root, 'files')

  it('is readable for its owner alone, a file a day', async () => {
    await fileJournal(folder).put(record('a', START))
    await fileJournal(folder).put(record('b', START + DAY))
    expect(readdirSync(folder)).toEqual(['payments-2026-06-01.jsonl', 'payments-2026-06-02.jsonl'])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'payments-2026-06-01.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('loses only a line that was cut short, and no line behind it', async () => {
    const file = join(folder, 'payments-2026-06-01.jsonl')
    appendFileSync(file, readFileSync(file, 'utf8').trim().replace('"a"', '"c"').slice(0, 60))
    await fileJournal(folder).put(record('d', START + 1))
    expect((await fileJournal(folder).since(START)).map(({ txId }) => txId).sort()).toEqual(['a', 'b', 'd'])
  })

  it('does not look empty where it cannot be read', async () => {
    const file = join(root, 'no-folder')
    writeFileSync(file, '')
    await expect(fileJournal(file).since(0)).rejects.toThrow()
    await expect(fileJournal(file).put(record('a', START))).rejects.toThrow()
  })
})

it('the journal in a browser forgets what is older than thirty days', async () => {
  const journal = storageJournal(new Storage())
  await journal.put(record('old', START))
  await journal.put(record('new', START + 31 * DAY))
  expect((await journal.since(0)).map(({ txId }) => txId)).toEqual(['new'])
})
