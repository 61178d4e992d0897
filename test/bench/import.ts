import { transactionsRoot, witnessRoot } from '../../consensus/block/block.ts'
import type { SignatureVerifier } from '../../consensus/crypto/verifier.ts'
import { signatureJob } from '../../consensus/tx/check.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import {
  createFixture,
  decoded,
  type Fixture,
  importBytes,
  mineBlock,
  openBenchChain,
  signTransfers,
} from './fixture.ts'
import { type BenchRow, median, ratioRow, round, time } from './report.ts'

const ACCOUNTS = 10_000
/** Transactions in a block that is about full. */
const PER_BLOCK = 380
const BLOCKS = 12
/** Unmeasured blocks before the measured ones: a running node has the pages and records of its accounts in its cache. */
const BLOCKS_BEFORE = 8
const ROUNDS = 3
const THREADS = 2

/** Cold and cached block import with a real LevelDB, against cryptography alone and decoding alone. */
export async function benchImport(): Promise<readonly BenchRow[]> {
  const fixture = createFixture(ACCOUNTS, PER_BLOCK)
  const verifier = new VerifyPool(THREADS)
  const { warmUp, blocks } = await prepare(fixture, verifier)
  const transactions = blocks.length * PER_BLOCK
  const cold: number[] = []
  const cached: number[] = []
  const crypto: number[] = []
  const decoding: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    crypto.push(await cryptoAlone(fixture, verifier, blocks))
    cold.push(await importAll(fixture, verifier, { warmUp, blocks, cached: false }))
    decoding.push(await time(() => blocks.forEach(decodeAndRoot)))
    cached.push(await importAll(fixture, verifier, { warmUp, blocks, cached: true }))
  }
  await verifier.close()
  const rate = (ms: number): number => (transactions * 1_000) / ms
  const [coldRate, cachedRate, cryptoRate, decodeRate] = [cold, cached, crypto, decoding].map((ms) =>
    rate(median(ms)),
  ) as [number, number, number, number]
  return [
    ratioRow(
      `block import, cold, store included (bound: crypto on ${THREADS} threads, ${round(cryptoRate)} tx/s)`,
      `${round(coldRate)} tx/s`,
      coldRate / cryptoRate,
      0.55,
    ),
    ratioRow(
      'block import, signatures cached (bound: cold import)',
      `${round(cachedRate)} tx/s`,
      cachedRate / coldRate,
      2,
    ),
    ratioRow(
      `block import, signatures cached (bound: decode + id + root, ${round(decodeRate)} tx/s)`,
      `${round(cachedRate)} tx/s`,
      cachedRate / decodeRate,
      0.15,
    ),
  ]
}

interface Prepared {
  /** Unmeasured blocks; the first two bring the senders' keys. */
  readonly warmUp: readonly Uint8Array[]
  readonly blocks: readonly Uint8Array[]
}

async function prepare(fixture: Fixture, verifier: SignatureVerifier): Promise<Prepared> {
  const { chain, close } = await openBenchChain(fixture, verifier, { paced: false })
  const first = await signTransfers(fixture, chain, 0n)
  const half = Math.ceil(first.length / 2)
  const warmUp = [await mineBlock(chain, first.slice(0, half)), await mineBlock(chain, first.slice(half))]
  const blocks: Uint8Array[] = []
  for (let nonce = 1n; nonce <= BLOCKS_BEFORE + BLOCKS; nonce++)
    blocks.push(await mineBlock(chain, await signTransfers(fixture, chain, nonce)))
  await close()
  return { warmUp: [...warmUp, ...blocks.slice(0, BLOCKS_BEFORE)], blocks: blocks.slice(BLOCKS_BEFORE) }
}

async function importAll(
  fixture: Fixture,
  verifier: SignatureVerifier,
  work: Prepared & { readonly cached: boolean },
): Promise<number> {
  const { chain, close } = await openBenchChain(fixture, verifier, { cached: work.cached ? work.blocks : [] })
  for (const bytes of work.warmUp) await importBytes(chain, bytes)
  const ms = await time(async () => {
    for (const bytes of work.blocks) await importBytes(chain, bytes)
  })
  await close()
  return ms
}

/** The same signatures on the same threads, and nothing else. */
async function cryptoAlone(
  fixture: Fixture,
  verifier: SignatureVerifier,
  blocks: readonly Uint8Array[],
): Promise<number> {
  const { chain, close } = await openBenchChain(fixture, verifier)
  const keys = new Map(fixture.senders.map((key) => [key.address, key.keys]))
  const jobs = blocks.map((bytes) => {
    const found = decoded(bytes).transactions.map((tx) => jobOf(tx, keys.get(tx.body.sender) as never, chain.network))
    return found
  })
  const ms = await time(async () => {
    for (const block of jobs) await verifier.verify(block)
  })
  await close()
  return ms
}

function jobOf(...[tx, keys, network]: Parameters<typeof signatureJob>) {
  const job = signatureJob(tx, keys, network)
  if (!job.ok) throw new Error(job.fault.code)
  return job.value
}

function decodeAndRoot(bytes: Uint8Array): void {
  const { transactions, header } = decoded(bytes)
  if (transactionsRoot(transactions) !== header.transactionsRoot || witnessRoot(transactions) !== header.witnessRoot)
    throw new Error('roots differ')
}
