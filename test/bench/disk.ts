import { prefixKey } from '../../consensus/chain/layout.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { type BenchChain, createFixture, type Fixture, mineBlock, openBenchChain, signTransfers } from './fixture.ts'
import { type BenchRow, factRow } from './report.ts'

const ACCOUNTS = 20_000
const SENDERS = 200
const BLOCKS = 30

/** Parts of a store by their lifetime: kept for ever, or dropped by a setting or after a while. */
const PARTS = {
  'headers, history': ['entry', 'canonical', 'history'],
  bodies: ['bodies'],
  witnesses: ['witnesses'],
  receipts: ['receipts'],
  'lookups by id and indexes': ['location', 'index'],
  'undo of 2,400 blocks': ['undo', 'indexUndo'],
} as const satisfies Record<string, readonly Parameters<typeof prefixKey>[0][]>

type Part = keyof typeof PARTS

/** Bytes that blocks add to the disk, uncompressed, keys included. */
export async function benchDisk(): Promise<readonly BenchRow[]> {
  const fixture = createFixture(ACCOUNTS, SENDERS)
  const empty = await growth(fixture, 0)
  const busy = await growth(fixture, SENDERS)
  return (Object.keys(PARTS) as Part[]).map((part) => {
    const block = empty[part] / BLOCKS
    const transfer = (busy[part] - empty[part]) / (BLOCKS * SENDERS)
    return factRow(
      `disk, ${part}`,
      `${Math.round(block)} bytes an empty block, ${Math.round(transfer)} more a transfer`,
    )
  })
}

/** What blocks with this number of transfers add. The first block brings the senders' keys, so it does not count. */
async function growth(fixture: Fixture, transfers: number): Promise<Record<Part, number>> {
  const bench = await openBenchChain(fixture, createInlineVerifier(NATIVE_BACKEND), { paced: false })
  const block = async (nonce: number): Promise<void> => {
    const signed = transfers === 0 ? [] : await signTransfers(fixture, bench.chain, BigInt(nonce))
    await mineBlock(bench.chain, signed)
  }
  await block(0)
  const before = await sizes(bench)
  for (let nonce = 1; nonce <= BLOCKS; nonce++) await block(nonce)
  const after = await sizes(bench)
  await bench.close()
  return mapParts((part) => after[part] - before[part])
}

async function sizes({ chain }: BenchChain): Promise<Record<Part, number>> {
  const found = mapParts(() => 0)
  for (const part of Object.keys(PARTS) as Part[]) {
    for (const prefix of PARTS[part]) {
      for await (const [key, value] of chain.database.store.entries(prefixKey(prefix)))
        found[part] += key.length + value.length
    }
  }
  return found
}

function mapParts(value: (part: Part) => number): Record<Part, number> {
  return Object.fromEntries((Object.keys(PARTS) as Part[]).map((part) => [part, value(part)])) as Record<Part, number>
}
