import { describe, expect, it } from 'vitest'
import { powInput, searchNonce, targetOfWork } from '../../../consensus/block/pow.ts'
import { readUintBE, uintBE } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import type { RemoteJob } from '../../../miner/job-book.ts'
import { REFRESH_MS } from '../../../miner/miner.ts'
import { CHECKING_MAX, RETIME_MS } from '../../../miner/remote-work.ts'
import { nativePowHasher } from '../../../src/crypto/native-pow.ts'
import { TestChain } from '../../support/chain.ts'
import { testRuleBook } from '../../support/network.ts'
import { MINER, Shop, settled } from '../../support/remote-shop.ts'

/** A nonce of a job that meets its target, and one that does not. */
function noncesOf({ template: { block } }: RemoteJob, test: TestChain): { good: bigint; bad: bigint } {
  const job = { input: powInput(block.bytes), target: uintBE(block.header.target, 32) }
  const { pow } = test.ruleBook.at(block.header.height).block
  const search = (target: Uint8Array, hasher = nativePowHasher): bigint =>
    searchNonce({ ...job, target, cost: pow, start: 0n, stride: 1n }, hasher, { stopped: () => false, onHash() {} })!
  const inverse = uintBE((1n << 256n) - 1n - readUintBE(job.target) - 1n, 32)
  const bad = (): bigint => search(inverse, (...args) => nativePowHasher(...args).map((byte) => 0xff - byte))
  return { good: search(job.target), bad: readUintBE(job.target) === (1n << 256n) - 1n ? -1n : bad() }
}

/** A chain whose blocks take about four hashes, so that there are wrong nonces. */
function harderChain(): Promise<TestChain> {
  const { block } = testRuleBook().at(1)
  const target = targetOfWork(4n)
  return TestChain.open(testRuleBook({ block: { ...block, powLimit: target, initialTarget: target } }))
}

describe('a nonce', () => {
  it('that solves a job makes the block the head, and is reported as mined', async () => {
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

  it('is stale if the same one is taken at the same time, and no refusal is reported', async () => {
    const shop = await Shop.open()
    const { id } = await shop.job()
    expect(await Promise.all([shop.submit(id, 0n), shop.submit(id, 0n)])).toEqual(['ok', 'mining/stale-job'])
    expect([shop.refused, shop.test.height]).toEqual([[], 1])
  })
})
