import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { meetsTarget, powHash, powInput, targetOfWork, type WorkVerifier } from '../../../consensus/block/pow.ts'
import { readUintBE, toHex, uintBE } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { JOBS_PER_ADDRESS, type RemoteJob } from '../../../miner/job-book.ts'
import { REFRESH_MS } from '../../../miner/miner.ts'
import {
  CHECKING_MAX,
  REMOTE_ADDRESSES_MAX,
  RETIME_MS,
  type RemoteWork,
  type RemoteWorkDependencies,
  UNUSED_MS,
  WAIT_MS_MAX,
} from '../../../miner/remote-work.ts'
import { searchNonce } from '../../../miner/search.ts'
import { nativePowHasher } from '../../../src/crypto/native-pow.ts'
import { TestChain } from '../../support/chain.ts'
import { TestTime } from '../../support/market-parts.ts'
import { TestMempool } from '../../support/mempool.ts'
import { HeldPacer } from '../../support/mining.ts'
import { testRuleBook } from '../../support/network.ts'
import { testRemoteWork } from '../../support/remote-work.ts'
import { filled } from '../../support/unsigned.ts'

const MINER = filled<Address>(0xa1)
const OTHER = filled<Address>(0xa2)
const addressNumber = (i: number): Address => toHex(uintBE(BigInt(i + 1), 32)) as Address

/** Lets everything run that needs no timer. */
async function settled(): Promise<void> {
  for (let i = 0; i < 30; i++) await setImmediate()
}

/** Remote work on a test chain, with the time that a test lets pass. */
class Shop {
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

  /** Lets time pass on the chain too, a second at a time. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += REFRESH_MS) {
      this.time.pass(Math.min(REFRESH_MS, ms - passed))
      this.test.nowMs = Math.max(this.test.nowMs, this.time.nowMs)
      await settled()
    }
  }

  follow(address: Address): Followed {
    const followed = new Followed()
    const subscribed = this.work.subscribe(address, followed)
    if (!subscribed.ok) throw new Error(subscribed.fault.code)
    followed.leave = subscribed.value
    return followed
  }

  async job(address = MINER): Promise<RemoteJob> {
    const job = await this.work.template(address)
    if (!job.ok) throw new Error(job.fault.code)
    return job.value
  }

  /** The code that a submission is refused with, or `ok`. */
  async submit(jobId: string, nonce: bigint): Promise<string> {
    const answer = await this.work.submit(jobId, nonce)
    return answer.ok ? 'ok' : answer.fault.code
  }

  /** Somebody else's block becomes the head. */
  async overtaken(transactions: readonly Transaction[] = []): Promise<void> {
    await this.test.mine(transactions)
    this.time.nowMs = this.test.nowMs
    await settled()
  }
}

/** A listener that keeps what it was told. */
class Followed {
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

/** The nonces of a job that meet its target, and that do not: one each. */
function noncesOf({ template: { block } }: RemoteJob, test: TestChain): { good: bigint; bad: bigint } {
  const job = { input: powInput(block.bytes), target: uintBE(block.header.target, 32) }
  const { pow } = test.ruleBook.at(block.header.height).block
  const search = (target: Uint8Array, hasher = nativePowHasher): bigint =>
    searchNonce({ ...job, target, cost: pow, start: 0n, stride: 1n }, hasher, { stopped: () => false, onHash() {} })!
  const inverse = uintBE((1n << 256n) - 1n - readUintBE(job.target) - 1n, 32)
  const bad = (): bigint => search(inverse, (...args) => nativePowHasher(...args).map((byte) => 0xff - byte))
  return { good: search(job.target), bad: readUintBE(job.target) === (1n << 256n) - 1n ? -1n : bad() }
}

/** A chain whose blocks take four hashes or so, so that there are wrong nonces. */
function harderChain(): Promise<TestChain> {
  const { block } = testRuleBook().at(1)
  const target = targetOfWork(4n)
  return TestChain.open(testRuleBook({ block: { ...block, powLimit: target, initialTarget: target } }))
}

describe('a template', () => {
  it('is a block on the head that pays the address, and costs nothing until somebody asks', async () => {
    const shop = await Shop.open()
    await shop.overtaken()
    expect([shop.work.addresses, shop.work.jobs, shop.time.waiting]).toEqual([0, 0, 0])
    const { template, id } = await shop.job()
    const { header, bytes } = template.block
    expect([header.height, header.parent, header.miner]).toEqual([2, shop.test.chain.head.id, MINER])
    expect(id).toBe(toHex(powInput(bytes)).slice(0, 32))
    expect(template.reward).toBeGreaterThan(0n)
    expect((await shop.job()).id).toBe(id)
    const other = await shop.job(OTHER)
    expect(other.template.block.header.miner).toBe(OTHER)
    expect([shop.work.addresses, shop.work.jobs]).toEqual([2, 2])
  })

  it('says what the block earns: the share of the subsidy and the tips', async () => {
    const shop = await Shop.open()
    await shop.pool.put(1, 0)
    await shop.job()
    await settled()
    const { template, id } = await shop.job()
    expect(template.block.transactions).toHaveLength(1)
    expect(template.tips).toBeGreaterThan(0n)
    expect(await shop.submit(id, 0n)).toBe('ok')
    const receipts = shop.test.chain.database.receipts(shop.test.chain.head.id)!
    expect(receipts).toHaveLength(2)
    await shop.test.mineTo(101)
    expect(shop.test.balance(MINER)).toBe(template.reward)
  })

  it('is refused with the reasons while the node has no head worth mining on, and comes when it has', async () => {
    const shop = await Shop.open()
    shop.reasons = ['syncing']
    expect(await shop.work.template(MINER)).toEqual(fail(fault('mining/not-ready', { reasons: ['syncing'] })))
    expect(shop.work.subscribe(MINER, new Followed()).ok).toBe(false)
    expect(shop.work.addresses).toBe(0)
    shop.reasons = []
    const followed = shop.follow(MINER)
    await settled()
    shop.reasons = ['syncing']
    await shop.overtaken()
    await shop.pass(5 * REFRESH_MS)
    expect(followed.seen).toEqual(['1:0'])
    shop.reasons = []
    await shop.pass(REFRESH_MS)
    expect(followed.seen).toEqual(['1:0', '2:0'])
  })

  it('is waited for no longer than is bounded', async () => {
    const pacer = new HeldPacer()
    const shop = await Shop.open({ pacer })
    const asked = shop.work.template(MINER)
    await settled()
    shop.time.pass(WAIT_MS_MAX)
    expect(await asked).toEqual(fail(fault('mining/busy')))
    pacer.release()
    await settled()
    expect((await shop.job()).template.block.header.height).toBe(1)
  })
})

describe('whoever follows an address', () => {
  it('gets an empty block at once when the head moves, and a full one after it', async () => {
    const shop = await Shop.open()
    const followed = shop.follow(MINER)
    await settled()
    const tx = await shop.pool.put(1, 0)
    await shop.pool.put(2, 0)
    await shop.overtaken([tx])
    expect(followed.seen).toEqual(['1:0', '2:0', '2:1'])
    await shop.pass(3 * REFRESH_MS)
    expect(followed.seen).toHaveLength(3)
  })

  it('gets better fees at the next refresh, not before and only once', async () => {
    const shop = await Shop.open()
    const followed = shop.follow(MINER)
    await settled()
    for (let i = 0; i < 5; i++) await shop.pool.put(1, i)
    await settled()
    expect(followed.seen).toEqual(['1:0'])
    await shop.pass(REFRESH_MS)
    expect(followed.seen).toEqual(['1:0', '1:5'])
    await shop.pass(2 * REFRESH_MS)
    expect(followed.seen).toEqual(['1:0', '1:5'])
  })

  it('gets a new time when the header has waited', async () => {
    const shop = await Shop.open()
    const followed = shop.follow(MINER)
    await settled()
    await shop.pass(RETIME_MS)
    expect(followed.seen).toEqual(['1:0', '1:0'])
    const [first, second] = followed.jobs.map(({ template }) => template.block.header)
    expect(second).toEqual({ ...first, timeMs: shop.time.nowMs })
    expect(await shop.submit(followed.jobs[1]!.id, 0n)).toBe('ok')
  })

  it('is served before addresses that nobody follows', async () => {
    const shop = await Shop.open()
    for (let i = 0; i < 5; i++) await shop.job(addressNumber(i))
    const jobsThen: number[] = []
    shop.work.subscribe(MINER, { job: () => jobsThen.push(shop.work.jobs), end() {} })
    await settled()
    await shop.overtaken()
    expect(jobsThen).toEqual([6, 1])
    expect(shop.work.jobs).toBe(6)
  })

  it('hears no more after it left, nor what comes after the end', async () => {
    const shop = await Shop.open()
    const [left, stays] = [shop.follow(MINER), shop.follow(MINER)]
    await settled()
    left.leave()
    await shop.overtaken()
    await shop.work.stop()
    await shop.overtaken()
    expect([left.seen, left.ended]).toEqual([['1:0'], 0])
    expect([stays.seen, stays.ended]).toEqual([['1:0', '2:0'], 1])
    expect(await shop.work.template(MINER)).toEqual(fail(fault('mining/not-ready', { reasons: ['stopping'] })))
    expect(shop.time.waiting).toBe(0)
  })

  it('gets a template of the new head where the old one was still being filled', async () => {
    const pacer = new HeldPacer()
    const shop = await Shop.open({ pacer })
    const followed = shop.follow(MINER)
    await settled()
    expect(pacer.waiting).toBe(true)
    await shop.test.mine()
    pacer.release()
    await settled()
    expect(followed.seen).toEqual(['2:0'])
  })
})

describe('full templates', () => {
  it('let everything else go on for three times as long as they took, and begin at once on a new head', async () => {
    const shop = await Shop.open()
    const [first, second] = [shop.follow(MINER), shop.follow(OTHER)]
    await settled()
    // The clock shows some 200 ms more at the end of each than at its beginning.
    const { candidates } = shop.pool.mempool
    shop.pool.mempool.candidates = function* () {
      shop.time.nowMs += 200
      yield* candidates.call(shop.pool.mempool)
    }
    const tx = await shop.pool.put(1, 0)
    await shop.pool.put(2, 0)
    await shop.pass(REFRESH_MS)
    expect([first.seen, second.seen]).toEqual([['1:0', '1:2'], ['1:0']])
    shop.time.pass(599)
    await settled()
    expect(second.seen).toEqual(['1:0'])
    shop.time.pass(1)
    await settled()
    expect(second.seen).toEqual(['1:0', '1:2'])
    await shop.overtaken([tx])
    expect([first.seen.slice(2), second.seen.slice(2)]).toEqual([['2:0', '2:1'], ['2:0']])
  })
})

describe('addresses', () => {
  it('are forgotten when nobody used them for a while, with their jobs and the timer', async () => {
    const shop = await Shop.open()
    const { id } = await shop.job()
    const followed = shop.follow(OTHER)
    await shop.pass(UNUSED_MS)
    expect(shop.work.addresses).toBe(1)
    expect(await shop.submit(id, 0n)).toBe('mining/stale-job')
    followed.leave()
    await shop.pass(UNUSED_MS + REFRESH_MS)
    expect([shop.work.addresses, shop.work.jobs, shop.time.waiting]).toEqual([0, 0, 0])
  })

  it('are bounded: the one unused for longest makes room, one that is followed never does', async () => {
    const shop = await Shop.open()
    const followed = shop.follow(MINER)
    for (let i = 0; i < REMOTE_ADDRESSES_MAX; i++) await shop.job(addressNumber(i))
    expect(shop.work.addresses).toBe(REMOTE_ADDRESSES_MAX)
    await shop.overtaken()
    expect(followed.seen).toEqual(['1:0', '2:0'])
    for (let i = 0; i < REMOTE_ADDRESSES_MAX; i++) shop.work.subscribe(addressNumber(i), new Followed())
    expect(await shop.work.template(OTHER)).toEqual(fail(fault('mining/busy')))
    expect(shop.work.addresses).toBe(REMOTE_ADDRESSES_MAX)
  })

  it('keep only so many jobs of one head', async () => {
    const shop = await Shop.open()
    const followed = shop.follow(MINER)
    for (let i = 0; i < JOBS_PER_ADDRESS + 3; i++) await shop.pass(RETIME_MS)
    expect(followed.jobs.length).toBeGreaterThan(JOBS_PER_ADDRESS)
    expect(shop.work.jobs).toBe(JOBS_PER_ADDRESS)
    expect(await shop.submit(followed.jobs[0]!.id, 0n)).toBe('mining/stale-job')
    expect(await shop.submit(followed.jobs.at(-JOBS_PER_ADDRESS)!.id, 0n)).toBe('ok')
  })
})

describe('a nonce', () => {
  it('that solves a job makes the block the head, and is told', async () => {
    const shop = await Shop.open({}, await harderChain())
    const job = await shop.job()
    const { good } = noncesOf(job, shop.test)
    const answer = await shop.work.submit(job.id, good)
    const { head } = shop.test.chain
    expect(answer.ok && answer.value.id).toBe(head.id)
    expect([head.header.miner, head.header.nonce]).toEqual([MINER, good])
    expect([shop.mined, shop.refused, shop.hashes]).toEqual([[head.id], [], 1])
  })

  it('above the target is refused after one hash, and the job stays', async () => {
    const shop = await Shop.open({}, await harderChain())
    const job = await shop.job()
    const { good, bad } = noncesOf(job, shop.test)
    expect(await shop.submit(job.id, bad)).toBe('mining/low-work')
    expect([shop.hashes, shop.test.height]).toEqual([1, 0])
    expect(await shop.submit(job.id, good)).toBe('ok')
  })

  it('for an older job of the same head is as good', async () => {
    const shop = await Shop.open()
    const followed = shop.follow(MINER)
    await settled()
    await shop.pool.put(1, 0)
    await shop.pass(REFRESH_MS)
    expect(followed.seen).toEqual(['1:0', '1:1'])
    expect(await shop.submit(followed.jobs[0]!.id, 7n)).toBe('ok')
    expect(shop.test.chain.head.header.nonce).toBe(7n)
  })

  it('for a job of another head or for none costs no hash', async () => {
    const shop = await Shop.open()
    const { id } = await shop.job()
    await shop.overtaken()
    expect(await shop.submit(id, 0n)).toBe('mining/stale-job')
    expect(await shop.submit('00'.repeat(16), 0n)).toBe('mining/unknown-job')
    expect(shop.hashes).toBe(0)
  })

  it('that was taken is stale the second time', async () => {
    const shop = await Shop.open()
    const { id } = await shop.job()
    expect(await shop.submit(id, 0n)).toBe('ok')
    expect(await shop.submit(id, 0n)).toBe('mining/stale-job')
  })

  it('is stale where another block comes while it is checked, and nothing is stored', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const shop = await Shop.open({ verifier: { verifyWork: () => held.then(() => [true]) } })
    const { id } = await shop.job()
    const submitted = shop.submit(id, 0n)
    await shop.overtaken()
    release()
    expect(await submitted).toBe('mining/stale-job')
    expect(shop.test.height).toBe(1)
  })

  it('is refused while too many others are checked, and taken afterwards', async () => {
    const waiting: (() => void)[] = []
    const verifyWork = (): Promise<readonly boolean[]> => new Promise((resolve) => waiting.push(() => resolve([false])))
    const shop = await Shop.open({ verifier: { verifyWork } })
    const { id } = await shop.job()
    const first = Array.from({ length: CHECKING_MAX }, (_, i) => shop.submit(id, BigInt(i)))
    expect(await shop.submit(id, 99n)).toBe('mining/busy')
    for (const answer of waiting.splice(0)) answer()
    expect(new Set(await Promise.all(first))).toEqual(new Set(['mining/low-work']))
    const again = shop.submit(id, 99n)
    for (const answer of waiting.splice(0)) answer()
    expect(await again).toBe('mining/low-work')
  })

  it('whose block the chain refuses is told, and its transactions are left out after two of them', async () => {
    const shop = await Shop.open()
    const { chain } = shop.test
    const followed = shop.follow(MINER)
    await settled()
    await shop.pool.put(1, 0)
    await shop.pass(REFRESH_MS)
    const accept = chain.import.bind(chain)
    chain.import = async () => fail(fault('block/state-root'))
    for (let i = 0; i < 2; i++) {
      const { id } = followed.jobs.at(-1)!
      expect(await shop.submit(id, 0n)).toBe('block/state-root')
      expect(await shop.submit(id, 0n)).toBe('mining/stale-job')
      await settled()
    }
    expect(shop.refused).toEqual(['block/state-root', 'block/state-root'])
    await shop.pool.put(2, 0)
    await shop.pass(RETIME_MS)
    expect(followed.seen).toEqual(['1:0', '1:1', '1:0', '1:1', '1:0', '1:0'])
    chain.import = accept
    await shop.overtaken()
    expect(followed.seen.slice(-2)).toEqual(['2:0', '2:2'])
  })

  it('is stale where the same one is taken at the same time, and nobody is told of a refusal', async () => {
    const shop = await Shop.open()
    const { id } = await shop.job()
    expect(await Promise.all([shop.submit(id, 0n), shop.submit(id, 0n)])).toEqual(['ok', 'mining/stale-job'])
    expect([shop.refused, shop.test.height]).toEqual([[], 1])
  })
})
