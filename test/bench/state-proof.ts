import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { SpacedStore, spaceOf } from '../../consensus/chain/spaced-store.ts'
import { isStateOf } from '../../consensus/chain/state-proof.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { LeafTable } from '../../consensus/state/leaf-table.ts'
import { PAGE_ROOT, type Page } from '../../consensus/state/page.ts'
import { ROOT_PAGE } from '../../consensus/state/tree.ts'
import { eventLoopPacer } from '../../src/daemon/runtime.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { openChain } from '../../src/storage/folder.ts'
import { removeFolder, temporaryFolder } from '../support/processes.ts'
import { seedFolder } from './big-state.ts'
import { BENCH_SIZES } from './fixture.ts'
import { networkParams } from './network-load.ts'
import { type BenchRow, factRow, round, time, valueRow } from './report.ts'

const ACCOUNTS = Number(process.env.BENCH_SEEDED ?? 1_000_000)
const MIB = 1_048_576
const GOAL_S = 60
const NS_PER_MS = 1e6
const US_PER_S = 1e6

/** Cost of proving a state from the disk before its adoption: time, longest stall of the event loop, memory. */
export async function benchStateProof(): Promise<readonly BenchRow[]> {
  const folder = temporaryFolder()
  try {
    const params = networkParams({ accounts: 2, senders: 1 })
    await seedFolder(folder, ACCOUNTS, params)
    const ruleBook = createRuleBook(params, PROTOCOL)
    const opened = await openChain(folder, ruleBook, ruleBook.genesis, BENCH_SIZES)
    if (!opened.ok) throw new Error(opened.fault.code)
    const { database, store } = opened.value
    const root = toHex((database.page(ROOT_PAGE) as Page).hash(PAGE_ROOT)) as Hash
    const room = new SpacedStore(store, spaceOf(store))
    const delay = monitorEventLoopDelay({ resolution: 1 })
    const peak = watchedMemory()
    delay.enable()
    let sound: boolean | undefined
    const check = { ruleBook, pacer: eventLoopPacer(), stopped: () => false }
    const before = process.cpuUsage()
    const ms = await time(async () => {
      sound = await isStateOf(room, root, check)
    })
    delay.disable()
    const { user, system } = process.cpuUsage(before)
    const grown = peak()
    await store.close()
    if (sound !== true) throw new Error('the state was not proven')
    return [
      valueRow(`a state of ${ACCOUNTS} accounts proven from the disk`, ms / 1_000, 's', { most: GOAL_S }),
      factRow(
        'the same: time of processors, longest wait of others, memory that it took at most',
        `${round((user + system) / US_PER_S)} s, ${round(delay.max / NS_PER_MS)} ms, ${grown} MiB`,
      ),
      factRow(`memory of a table of ${ACCOUNTS} leaves`, `${tableBytes()} bytes a leaf`),
    ]
  } finally {
    removeFolder(folder)
  }
}

/** Polls the memory. The returned function ends that and gives the largest growth. */
function watchedMemory(): () => number {
  const before = process.memoryUsage.rss()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 20)
  return () => {
    clearInterval(timer)
    return Math.round((most - before) / MIB)
  }
}

function tableBytes(): number {
  const before = process.memoryUsage().arrayBuffers
  const table = new LeafTable(ACCOUNTS, new Uint8Array(32))
  const bytes = (process.memoryUsage().arrayBuffers - before) / ACCOUNTS
  if (table.has(new Uint8Array(32), new Uint8Array(32))) throw new Error('an empty table has a leaf')
  return round(bytes)
}
