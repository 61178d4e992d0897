import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { KEYS } from '../../consensus/chain/layout.ts'
import { taggedHash } from '../../consensus/crypto/hash.ts'
import { toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import type { Address, BlockId } from '../../consensus/primitives/ids.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { StateKey } from '../../consensus/state/table.ts'
import { DESCRIPTION_BYTES_MAX, REQUEST_FORMAT_BYTES_MAX } from '../../consensus/tx/payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { HEADERS_MAX, KEY_ADDRESSES_MAX, NODE_ADDRESSES_MAX, NOTHING } from '../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../src/p2p/wire/protocols.ts'
import { wallet } from '../support/chain.ts'
import { statusOf } from '../support/p2p/relay-node.ts'
import { type StoredChain, startServed, storedChain } from '../support/served-node.ts'
import { SAMPLE } from '../support/unsigned.ts'
import type { AskerData, AskerOutcome, AskerTask } from './asker-entry.ts'
import { type BenchRow, factRow, round } from './report.ts'

const TIMES = Number(process.env.BENCH_TIMES ?? 20)
const WAITING = Number(process.env.BENCH_POOL ?? 4_000)
const TRANSFERS = 380
const SERVICES = 250
const UNROOTED = 60_000
/** Size of a record that lists eleven calls. */
const UNROOTED_BYTES = 11 * 36
/** First height of the records of calls. No chain here reaches it. */
const FAR_HEIGHT = 0xf0_000_000n
const KEY_BYTES = 4_000
/** Prefix of the one table outside the state root. */
const UNROOTED_PREFIX = 'e0'

interface World {
  readonly transfers: BlockId
  readonly services: BlockId
  readonly waiting: readonly Transaction[]
}

/** Main-thread time of the costliest requests of each protocol, transport included. */
export async function benchServedRequests(): Promise<readonly BenchRow[]> {
  const stored = await storedChain()
  const world = await build(stored)
  const known = Array.from({ length: NODE_ADDRESSES_MAX }, (_, i) => `/ip4/8.8.${i}.8/tcp/8421/p2p/${'x'.repeat(46)}`)
  const served = await startServed(stored, { known })
  for (const tx of world.waiting) await served.mempool.submit(tx)
  await stored.test.mine()
  const data: AskerData = { address: served.host.addresses()[0] as string, status: statusOf(stored.test.chain) }
  const asker = new Worker(new URL('./asker-entry.ts', import.meta.url), { workerData: data })
  await once(asker, 'message')
  const rows: BenchRow[] = []
  for (const [what, protocol, request] of requests(stored, world))
    rows.push(await measure(asker, what, { protocol, request, times: TIMES }))
  await asker.terminate()
  await served.stop()
  await stored.close()
  return rows
}

async function measure(asker: Worker, what: string, task: AskerTask): Promise<BenchRow> {
  const before = process.threadCpuUsage()
  asker.postMessage(task)
  const [{ answered, refused, bytes }] = (await once(asker, 'message')) as [AskerOutcome]
  const { user, system } = process.threadCpuUsage(before)
  const reply = `${round(bytes / 1_024 / task.times)} KiB each, ${answered} answered, ${refused} refused`
  return factRow(`${task.protocol}: ${what}`, `${round((user + system) / 1_000 / task.times)} ms; ${reply}`)
}

type Asked = readonly [what: string, protocol: ProtocolName, request: unknown]

function requests({ test }: StoredChain, { transfers, services, waiting }: World): readonly Asked[] {
  const { database, head } = test.chain
  const genesis = test.ruleBook.genesis.block.id
  const part = { snapshot: head.id, after: new Uint8Array(0) }
  const addresses = Array.from({ length: KEY_ADDRESSES_MAX }, (_, i) => addressOf(i))
  return [
    ['a node like us', 'status', statusOf(test.chain)],
    ['2,000 from genesis on', 'headers', { locator: [genesis], limit: HEADERS_MAX }],
    ['128 empty blocks', 'bodies', Array.from({ length: 128 }, (_, i) => database.idAt(i + 4))],
    ['a full block of transfers', 'bodies', [transfers]],
    ['a block of services', 'bodies', [services]],
    ['none of a full block of transfers', 'blockTransactions', { block: transfers, indexes: [] }],
    ['one of a full block of transfers', 'blockTransactions', { block: transfers, indexes: [0] }],
    ['none of a block of services', 'blockTransactions', { block: services, indexes: [] }],
    [
      'all of a block of services',
      'blockTransactions',
      { block: services, indexes: Array.from({ length: SERVICES }, (_, i) => i) },
    ],
    [`a pool of ${WAITING}`, 'poolIds', { cursor: 0 }],
    ['1,024 of the pool', 'transactions', waiting.slice(0, 1_024).map(({ wtxId }) => wtxId)],
    ['1,024 that are not here', 'announce', null],
    ['the first pages', 'statePages', { ...part, first: true }],
    ['the first records', 'stateRecords', part],
    ['just below what is outside the root', 'stateRecords', { ...part, after: Uint8Array.of(0xdf) }],
    ['a MiB of keys', 'keys', addresses],
    ['a page of keys', 'keyPages', { after: '0'.repeat(64), first: true }],
    ['256 of them', 'addresses', NOTHING],
  ]
}

function addressOf(i: number): Address {
  return toHex(taggedHash('textDigest', encodeText(`keys ${i}`))) as Address
}

/** A chain with everything that is costly to serve. */
async function build({ test, store }: StoredChain): Promise<World> {
  const payload = { to: wallet(9).address, amount: 1n as never, create: false }
  const transfersOf = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => test.tx(wallet(1 + (i % 8)), 'transfer', payload)))
  await test.mine([
    await test.tx(wallet(1), 'agent_register', SAMPLE.agent_register({ payout: wallet(1).address, settlers: [] })),
  ])
  const transfers = await test.mine(await transfersOf(TRANSFERS))
  const description = 'd'.repeat(DESCRIPTION_BYTES_MAX)
  const service = SAMPLE.service_publish({ description, requestFormat: 'r'.repeat(REQUEST_FORMAT_BYTES_MAX) })
  const published = await Promise.all(
    Array.from({ length: SERVICES }, () => test.tx(wallet(1), 'service_publish', service)),
  )
  const services = await test.mine(published)
  await test.mineTo(HEADERS_MAX + 3)
  await store.batch(
    Array.from({ length: KEY_ADDRESSES_MAX }, (_, i) => ({
      key: KEYS.keys(addressOf(i)),
      value: new Uint8Array(KEY_BYTES),
    })),
    () => {},
  )
  const invokes = Array.from({ length: UNROOTED }, (_, i) => toHex(uintBE(BigInt(i) + FAR_HEIGHT, 4)))
  await store.batch(
    invokes.map((id) => ({
      key: KEYS.state((UNROOTED_PREFIX + id) as StateKey),
      value: new Uint8Array(UNROOTED_BYTES),
    })),
    () => {},
  )
  return { transfers: transfers.id, services: services.id, waiting: await transfersOf(WAITING) }
}
