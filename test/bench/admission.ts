import { signatureJob } from '../../consensus/tx/check.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { type BenchChain, createFixture, type Fixture, mineBlock, openBenchChain, signTransfers } from './fixture.ts'
import { type BenchRow, median, ratioRow, round, time } from './report.ts'

const SENDERS = 380
const ROUNDS = 3
const PER_SENDER = 12
const THREADS = 2
/** Transactions submitted before the first answer is awaited. */
const IN_FLIGHT = 256

/** Internal mempool admission, from bytes to a waiting transaction, against the cryptography of the same transactions alone. */
export async function benchAdmission(): Promise<readonly BenchRow[]> {
  const fixture = createFixture(SENDERS * 2, SENDERS)
  const verifier = new VerifyPool(THREADS)
  const encoded = await signAll(fixture, verifier)
  const admission: number[] = []
  const crypto: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    crypto.push(await cryptoAlone(fixture, verifier, encoded))
    admission.push(await admitAll(fixture, verifier, encoded))
  }
  await verifier.close()
  const rate = (ms: number): number => (encoded.length * 1_000) / ms
  const [admitted, bound] = [rate(median(admission)), rate(median(crypto))]
  return [
    ratioRow(
      `mempool admission (bound: crypto on ${THREADS} threads, ${round(bound)} tx/s)`,
      `${round(admitted)} tx/s`,
      admitted / bound,
      0.5,
    ),
  ]
}

/** A chain that knows every sender's keys. */
async function warmChain(fixture: Fixture, verifier: VerifyPool): Promise<BenchChain> {
  const bench = await openBenchChain(fixture, verifier)
  const first = await signTransfers(fixture, bench.chain, 0n)
  await mineBlock(bench.chain, first.slice(0, SENDERS / 2))
  await mineBlock(bench.chain, first.slice(SENDERS / 2))
  return bench
}

async function signAll(fixture: Fixture, verifier: VerifyPool): Promise<readonly Uint8Array[]> {
  const { chain, close } = await openBenchChain(fixture, verifier)
  const encoded: Uint8Array[] = []
  for (let nonce = 1n; nonce <= PER_SENDER; nonce++) {
    for (const tx of await signTransfers(fixture, chain, nonce)) encoded.push(encodeTransaction(tx))
  }
  await close()
  return encoded
}

async function admitAll(fixture: Fixture, verifier: VerifyPool, encoded: readonly Uint8Array[]): Promise<number> {
  const { chain, close } = await warmChain(fixture, verifier)
  const mempool = new Mempool({ chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
  const ms = await time(async () => {
    for (let start = 0; start < encoded.length; start += IN_FLIGHT) {
      await Promise.all(encoded.slice(start, start + IN_FLIGHT).map((bytes) => mempool.submit(decoded(bytes))))
    }
  })
  if (mempool.count !== encoded.length) throw new Error(`${mempool.count} of ${encoded.length} were admitted`)
  await close()
  return ms
}

async function cryptoAlone(fixture: Fixture, verifier: VerifyPool, encoded: readonly Uint8Array[]): Promise<number> {
  const { chain, close } = await warmChain(fixture, verifier)
  const jobs = encoded.map((bytes) => {
    const tx = decoded(bytes)
    const keys = chain.keys.keysFor(tx)
    const job = keys.ok ? signatureJob(tx, keys.value, chain.network) : keys
    if (!job.ok) throw new Error(job.fault.code)
    return job.value
  })
  const ms = await time(async () => {
    for (let start = 0; start < jobs.length; start += IN_FLIGHT)
      await verifier.verify(jobs.slice(start, start + IN_FLIGHT))
  })
  await close()
  return ms
}

function decoded(bytes: Uint8Array): Transaction {
  const tx = decodeTransaction(bytes)
  if (!tx.ok) throw new Error(tx.fault.code)
  return tx.value
}
