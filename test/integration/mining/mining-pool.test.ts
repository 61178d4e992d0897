import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sealHeader } from '../../../consensus/block/header.ts'
import {
  meetsTarget,
  POW_SALT,
  powHash,
  powInput,
  referencePowHasher,
  targetOfWork,
} from '../../../consensus/block/pow.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import { createInlineVerifier } from '../../../consensus/crypto/verifier.ts'
import { concat, readUintBE, uintBE, uintLE } from '../../../consensus/primitives/bytes.ts'
import { Mempool } from '../../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../mempool/policy.ts'
import { Miner, type MiningJob } from '../../../miner/miner.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { nativePowHasher } from '../../../src/crypto/native-pow.ts'
import { MiningPool } from '../../../src/workers/mining-pool.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { testHeader } from '../../support/headers.ts'
import { EXTRA, ManualTimers, REWARD_TO } from '../../support/mining.ts'
import { testRuleBook } from '../../support/network.ts'
import { until } from '../../support/processes.ts'
import { runScript, sourceUrl } from '../../support/script.ts'
import { SAMPLE, units } from '../../support/unsigned.ts'

const COST = { memoryKiB: 256, passes: 1, lanes: 1 }
/** A target that every hash meets. */
const EASIEST = (1n << 256n) - 1n
const IMPOSSIBLE = 0n
/** The lowest priority of a thread. */
const LOWEST = 19

interface Found {
  readonly nonce: bigint
  readonly job: MiningJob
}

/** A pool that records everything it reports. */
class HeardPool {
  readonly pool: MiningPool
  readonly found: Found[] = []
  readonly failures: unknown[] = []

  constructor(threads: number) {
    this.pool = new MiningPool(threads, (error) => this.failures.push(error))
    this.pool.onFound((nonce, job) => this.found.push({ nonce, job }))
  }

  async heard(count: number): Promise<readonly Found[]> {
    await until(`${count} nonces`, () => this.found.length >= count, { everyMs: 2 })
    return this.found
  }
}

/** Two threads for all tests that do not need their own, because starting threads takes longer than most tests. */
let mining: HeardPool

beforeAll(async () => {
  mining = new HeardPool(2)
  mining.pool.assign(job(EASIEST, 0))
  await mining.heard(2)
  mining.found.length = 0
})

afterEach(() => {
  mining.pool.assign(null)
  mining.found.length = 0
  expect(mining.failures.splice(0)).toEqual([])
})

afterAll(() => mining.pool.close())

/** Lets both threads search for a nonce that does not exist. */
async function searchInVain(): Promise<void> {
  const { hashes } = mining.pool
  mining.pool.assign(job(IMPOSSIBLE))
  await until('some hashes', () => mining.pool.hashes > hashes + 20n, { everyMs: 2 })
}

const inputOf = (mark: number): Uint8Array => powInput(sealHeader(testHeader({ timeMs: mark })).bytes)
const job = (target: bigint, mark = 1): MiningJob => ({ input: inputOf(mark), target: uintBE(target, 32), cost: COST })

const hashOf = (mark: number, nonce: bigint): bigint =>
  readUintBE(nativePowHasher(concat(inputOf(mark), uintLE(nonce, 8)), POW_SALT, COST))

/** The first good nonce of one of two shares, at 60 hashes on average. Found without the code under test. */
function firstGood(mark: number, from: bigint): bigint {
  let nonce = from
  while (hashOf(mark, nonce) > targetOfWork(60n)) nonce += 2n
  return nonce
}

const sorted = (found: readonly Found[]): readonly bigint[] => found.map(({ nonce }) => nonce).toSorted(byValue)

describe('mining threads', () => {
  it('find a nonce that the reference hasher finds valid too', async () => {
    const { header } = sealHeader(testHeader({ target: targetOfWork(100n) }))
    const { bytes } = sealHeader(header)
    mining.pool.assign({ input: powInput(bytes), target: uintBE(header.target, 32), cost: COST })
    const [first] = (await mining.heard(1)) as [Found]
    const mined = sealHeader({ ...header, nonce: first.nonce })
    expect(meetsTarget(powHash(referencePowHasher, mined.bytes, COST), header.target)).toBe(true)
  })

  it('each find the first good nonce of their own share, and no other', async () => {
    for (let mark = 1; mark <= 6; mark++) {
      mining.pool.assign(job(targetOfWork(60n), mark))
      const expected = [firstGood(mark, 0n), firstGood(mark, 1n)].toSorted(byValue)
      expect(sorted(await mining.heard(2))).toEqual(expected)
      mining.pool.assign(null)
      mining.found.length = 0
    }
  })

  it.each([1, 3])('begin with nonces of their own: %i threads, as many nonces, one hash each', async (threads) => {
    const others = new HeardPool(threads)
    const own = Array.from({ length: threads }, (_, thread) => BigInt(thread))
    for (let round = 1; round <= 3; round++) {
      others.pool.assign(job(EASIEST, round))
      expect(sorted(await others.heard(threads))).toEqual(own)
      expect(others.pool.hashes).toBe(BigInt(round * threads))
      others.found.length = 0
    }
    await others.pool.close()
    expect(others.failures).toEqual([])
  })

  it('turn to a new job, and say which job a nonce belongs to', async () => {
    await searchInVain()
    expect(mining.found).toEqual([])
    for (let mark = 2; mark < 12; mark++) {
      const next = job(targetOfWork(8n), mark)
      mining.pool.assign(next)
      const [found] = (await mining.heard(1)) as [Found]
      expect(found.job).toBe(next)
      expect(hashOf(mark, found.nonce)).toBeLessThanOrEqual(targetOfWork(8n))
      mining.pool.assign(null)
      mining.found.length = 0
    }
  })

  it('do not report a nonce whose job was replaced meanwhile', async () => {
    const last = job(EASIEST, 99)
    for (let mark = 1; mark < 20; mark++) {
      mining.pool.assign(job(EASIEST, mark))
      // Long enough for the threads to find a nonce. This thread gets no messages before it yields.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
    mining.pool.assign(last)
    const found = await mining.heard(2)
    expect(found.map((one) => one.job)).toEqual([last, last])
    expect(sorted(found)).toEqual([0n, 1n])
  })

  it('rest when there is nothing to do, and work again', async () => {
    await searchInVain()
    mining.pool.assign(null)
    let hashes = -1n
    await until('rest', () => {
      const before = hashes
      hashes = mining.pool.hashes
      return before === hashes
    })
    expect(mining.found).toEqual([])
    mining.pool.assign(job(EASIEST, 2))
    expect(sorted(await mining.heard(2))).toEqual([0n, 1n])
    expect(mining.pool.hashes).toBe(hashes + 2n)
  })

  it('do not search the last job again while they rest', async () => {
    const { hashes } = mining.pool
    mining.pool.assign(job(EASIEST, 1))
    await mining.heard(2)
    mining.pool.assign(null)
    await setTimeout(150)
    expect(mining.pool.hashes).toBe(hashes + 2n)
  })

  it.runIf(process.platform === 'linux' && getPriority() < LOWEST)(
    'have the lowest priority, and no other thread has',
    async () => {
      // The pool's two threads have worked before, so they have set their priority.
      expect(lowestThreads().length).toBe(2)
      expect(lowestThreads()).not.toContain(process.pid)
    },
  )
})

describe('a mining thread that fails', () => {
  it('is reported and started again, and mines what comes next', async () => {
    mining.pool.assign({ ...job(EASIEST, 2), cost: { ...COST, memoryKiB: 0 } })
    await until('both failures', () => mining.failures.length >= 2)
    expect(mining.failures.map((error) => (error as Error).name)).toEqual(['RangeError', 'RangeError'])
    const next = job(EASIEST, 3)
    mining.pool.assign(next)
    expect(sorted(await mining.heard(2))).toEqual([0n, 1n])
    expect(mining.found.map((one) => one.job)).toEqual([next, next])
    expect(mining.failures.splice(0).length).toBe(2)
  })

  it('because the pool closes is not reported, and does not start again', async () => {
    const closing = new HeardPool(1)
    closing.pool.assign(job(IMPOSSIBLE))
    await until('some hashes', () => closing.pool.hashes > 5n, { everyMs: 2 })
    await closing.pool.close()
    const { hashes } = closing.pool
    closing.pool.assign(job(EASIEST, 2))
    await setTimeout(50)
    expect([closing.failures, closing.found, closing.pool.hashes]).toEqual([[], [], hashes])
  })
})

describe.concurrent('a pool that closes', () => {
  it.each(['busy', 'not yet started', 'failing'])('when %s lets the process end by itself', async (state) => {
    const program = runScript([
      `import { MiningPool } from ${JSON.stringify(sourceUrl('src/workers/mining-pool.ts'))}`,
      `const pool = new MiningPool(2, () => {})`,
      `const cost = { memoryKiB: ${state === 'failing' ? 0 : 256}, passes: 1, lanes: 1 }`,
      'const job = { input: new Uint8Array(32), target: new Uint8Array(32), cost }',
      ...(state === 'not yet started' ? [] : ['await new Promise((done) => setTimeout(done, 150))']),
      ...(state === 'busy' || state === 'failing' ? ['pool.assign(job)'] : []),
      ...(state === 'failing' ? ['await new Promise((done) => setTimeout(done, 100))'] : []),
      'await pool.close()',
      'console.log("closed")',
    ])
    expect(await program.finished()).toEqual({ code: 0, signal: null, stdout: 'closed\n', stderr: '' })
  })
})

describe('a miner on real threads', () => {
  it('mines block after block at a difficulty that takes some work, with what waits in the mempool', async () => {
    const base = testRuleBook().at(0).block
    const work = targetOfWork(150n)
    const ruleBook = testRuleBook({ block: { ...base, powLimit: work, initialTarget: work } })
    const test = await TestChain.open(ruleBook)
    const verifier = createInlineVerifier(NATIVE_BACKEND)
    const mempool = new Mempool({ chain: test.chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
    const tx = await test.tx(wallet(1), 'transfer', SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) }))
    expect(await mempool.submit(tx)).toMatchObject({ ok: true })
    const { pool, failures } = mining
    const refused: unknown[] = []
    const miner = new Miner(
      {
        ...{ chain: test.chain, mempool, searcher: pool, pacer: UNPACED, timers: new ManualTimers(), extra: EXTRA },
        clock: { now: () => test.chain.head.header.timeMs + 3_000 },
        onMined: ({ header }) => {
          test.nowMs = header.timeMs
        },
        onRefused: (_, cause) => refused.push(cause),
        onFatal: (error) => failures.push(error),
      },
      REWARD_TO,
    )
    miner.start()
    const mined = (): boolean => test.chain.database.location(tx.txId) !== undefined
    await until('five blocks with the payment', () => test.height >= 5 && mined(), { everyMs: 5 })
    await miner.stop()
    expect([refused, failures]).toEqual([[], []])
    const again = await TestChain.open(ruleBook)
    again.nowMs = test.nowMs
    for (let height = 1; height <= test.height; height++) {
      const block = test.chain.database.block(test.chain.database.idAt(height)!)!
      expect([await again.import(block), block.header.miner]).toEqual(['connected', REWARD_TO])
    }
  })
})

function byValue(a: bigint, b: bigint): number {
  return a < b ? -1 : 1
}

/** Threads of this process at the lowest priority. */
function lowestThreads(): readonly number[] {
  return readdirSync('/proc/self/task')
    .filter((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
      // Fields are counted after the name, which may have blanks. The nice value is field 19.
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16] === String(LOWEST)
    })
    .map(Number)
}
