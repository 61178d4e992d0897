import { setImmediate } from 'node:timers/promises'
import { meetsTarget, powHash, type WorkVerifier } from '../../consensus/block/pow.ts'
import { toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { RemoteJob } from '../../miner/job-book.ts'
import { REFRESH_MS } from '../../miner/miner.ts'
import type { RemoteWork, RemoteWorkDependencies } from '../../miner/remote-work.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import type { TestChain } from './chain.ts'
import { TestTime } from './market-parts.ts'
import { TestMempool } from './mempool.ts'
import { testRemoteWork } from './remote-work.ts'
import { filled } from './unsigned.ts'

/** The default client of a request. */
export const ASKER: Holder = { network: '192.0.2', address: '192.0.2.1' }

/** The address that a test mines for. */
export const MINER = filled<Address>(0xa1)
/** The address of another miner. */
export const OTHER = filled<Address>(0xa2)
/** A further address for each number. */
export const addressNumber = (i: number): Address => toHex(uintBE(BigInt(i + 1), 32)) as Address

/** Lets the event loop turn 30 times. By then all work that needs no timer is done. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 30; i++) await setImmediate()
}

/** Remote work on a test chain. Time passes when the test says so. */
export class Shop {
  readonly pool: TestMempool
  readonly time = new TestTime()
  readonly work: RemoteWork
  readonly mined: string[] = []
  readonly refused: string[] = []
  reasons: readonly string[] = []
  hashes = 0

  constructor(pool: TestMempool, parts: Partial<RemoteWorkDependencies>) {
    this.pool = pool
    this.time.nowMs = pool.test.nowMs
    const verifier: WorkVerifier = {
      verifyWork: async (jobs) => {
        this.hashes += jobs.length
        return jobs.map(({ bytes, target, cost }) => meetsTarget(powHash(nativePowHasher, bytes, cost), target))
      },
    }
    this.work = testRemoteWork({
      ...{ chain: pool.test.chain, mempool: pool.mempool, clock: this.time, timers: this.time, verifier },
      notReadyBecause: () => this.reasons,
      onMined: ({ id }) => this.mined.push(id),
      onRefused: (_, { code }) => this.refused.push(code),
      ...parts,
    })
  }

  static async open(parts: Partial<RemoteWorkDependencies> = {}, test?: TestChain): Promise<Shop> {
    return new Shop(await TestMempool.open(test === undefined ? {} : { test }), parts)
  }

  get test(): TestChain {
    return this.pool.test
  }

  /** Lets time pass, also on the chain, in steps of `REFRESH_MS`. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += REFRESH_MS) {
      this.time.pass(Math.min(REFRESH_MS, ms - passed))
      this.test.nowMs = Math.max(this.test.nowMs, this.time.nowMs)
      await settled()
    }
  }

  follow(address: Address, holder = ASKER): Followed {
    const followed = new Followed()
    const subscribed = this.work.subscribe(address, followed, holder)
    if (!subscribed.ok) throw new Error(subscribed.fault.code)
    followed.leave = subscribed.value
    return followed
  }

  async job(address = MINER, holder = ASKER): Promise<RemoteJob> {
    const job = await this.work.template(address, holder)
    if (!job.ok) throw new Error(job.fault.code)
    return job.value
  }

  /** Submits a nonce. Returns `ok` or the code of the refusal. */
  async submit(jobId: string, nonce: bigint): Promise<string> {
    const answer = await this.work.submit(jobId, nonce)
    return answer.ok ? 'ok' : answer.fault.code
  }

  /** Makes another miner's block the head. */
  async overtaken(transactions: readonly Transaction[] = []): Promise<void> {
    await this.test.mine(transactions)
    this.time.nowMs = this.test.nowMs
    await settled()
  }
}

/** A listener that records its jobs. */
export class Followed {
  readonly jobs: RemoteJob[] = []
  ended = 0
  leave: () => void = () => {}

  job(job: RemoteJob): void {
    this.jobs.push(job)
  }

  end(): void {
    this.ended += 1
  }

  /** Height and number of transactions of each job. */
  get seen(): readonly string[] {
    return this.jobs.map(({ template: { block } }) => `${block.header.height}:${block.transactions.length}`)
  }
}
