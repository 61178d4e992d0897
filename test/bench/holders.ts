import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChainDatabase } from '../../consensus/chain/database.ts'
import { HOLDERS, type Holding, topHolders } from '../../consensus/chain/holders.ts'
import { KEYS } from '../../consensus/chain/layout.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { TOKEN_BALANCES } from '../../consensus/ledger/token-balances.ts'
import { toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import { encode } from '../../consensus/primitives/codec.ts'
import type { Address, Hash } from '../../consensus/primitives/ids.ts'
import { anyTable } from '../../consensus/state/table.ts'
import type { StateChange } from '../../consensus/state/view.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { openChain } from '../../src/storage/folder.ts'
import type { LevelStore } from '../../src/storage/level-store.ts'
import { seeded } from '../sim/miners.ts'
import { fastDevnet } from '../support/network.ts'
import { type BenchRow, median, time, valueRow } from './report.ts'

const HOLDER_COUNT = 1_000_000
const PER_BATCH = 20_000
const TOP = 10
const READS = 300
/** Blocks in which the largest holders trade, so that LevelDB holds many deleted index entries. */
const TRADES = 300
const MIB = 1_048_576
const SIZES = { cacheBytes: 32 * MIB, writeBufferBytes: 16 * MIB }
const ASSET = '67'.repeat(32) as Hash

/** Times of pages of the largest holders of an asset with a million holders, from a real LevelDB. */
export async function benchHolders(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'))
  const ruleBook = createRuleBook(fastDevnet(), PROTOCOL)
  const opened = await openChain(folder, ruleBook, ruleBook.genesis, SIZES)
  if (!opened.ok) throw new Error(opened.fault.code)
  const { database, store } = opened.value
  const random = seeded(1)
  for (let first = 0; first < HOLDER_COUNT; first += PER_BATCH) {
    const opened = Array.from({ length: PER_BATCH }, (_, i) => moved(first + i, 0n, amountOf(random)))
    await apply(database, store, opened)
  }
  const [fresh] = await reads(database, undefined)
  for (let i = 0; i < TRADES; i++) await trade(database, store)
  const [top, worst] = await reads(database, undefined)
  const [middle] = await reads(database, { address: addressOf(0), amount: (2n ** 99n) as Holding['amount'] })
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  const limit = { most: 5 }
  return [
    valueRow(`top ${TOP} of ${HOLDER_COUNT} holders, just written, median`, fresh, 'ms', limit),
    valueRow(`top ${TOP} after ${TRADES} blocks of trades among them, median`, top, 'ms', limit),
    valueRow(`top ${TOP} after ${TRADES} blocks of trades among them, worst of ${READS}`, worst, 'ms', limit),
    valueRow(`${TOP} from the middle, median`, middle, 'ms', limit),
  ]
}

async function reads(database: ChainDatabase, after: Holding | undefined): Promise<readonly [number, number]> {
  const times: number[] = []
  for (let i = 0; i < READS; i++) {
    times.push(
      await time(async () => {
        const page = await topHolders(database, ASSET, TOP, after)
        if (page.length !== TOP) throw new Error('the page is short')
      }),
    )
  }
  return [median(times), Math.max(...times)]
}

/** The largest holders give some units away, as in a block. */
async function trade(database: ChainDatabase, store: LevelStore): Promise<void> {
  const top = await topHolders(database, ASSET, TOP)
  const changes = top.map(({ address, amount }) => change(address, amount, amount - 1_000n))
  await apply(database, store, changes)
}

async function apply(database: ChainDatabase, store: LevelStore, changes: readonly StateChange[]): Promise<void> {
  const writes = HOLDERS.changesOf(changes, (key) => database.indexed(HOLDERS, key))
  await store.batch(
    writes.map((write) => ({ ...write, key: KEYS.index(HOLDERS.prefix, write.key) })),
    () => {},
  )
}

function moved(number: number, before: bigint, after: bigint): StateChange {
  return change(addressOf(number), before, after)
}

function change(address: Address, before: bigint, after: bigint): StateChange {
  const bytes = (amount: bigint) =>
    amount === 0n ? undefined : encode(TOKEN_BALANCES.codec, { amount: amount as Holding['amount'] })
  const key = TOKEN_BALANCES.key({ address, asset: ASSET })
  return { table: anyTable(TOKEN_BALANCES), key, before: bytes(before), after: bytes(after) }
}

/** Real addresses are hashes. The multiplication spreads test addresses over the keys likewise. */
function addressOf(number: number): Address {
  return toHex(uintBE((BigInt(number + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n) % 2n ** 128n, 16)).repeat(2) as Address
}

function amountOf(random: () => number): bigint {
  return 1n + BigInt(Math.floor(random() * 2 ** 50)) * 2n ** 50n
}
