import { describe, expect, it } from 'vitest'
import { powInput } from '../../../consensus/block/pow.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import { JOBS_PER_ADDRESS } from '../../../miner/job-book.ts'
import { REFRESH_MS } from '../../../miner/miner.ts'
import { RETIME_MS, UNUSED_MS, WAIT_MS_MAX } from '../../../miner/remote-work.ts'
import { REMOTE_ADDRESSES_MAX } from '../../../miner/seats.ts'
import { HeldPacer } from '../../support/mining.ts'
import { ASKER, addressNumber, Followed, MINER, OTHER, Shop, settled } from '../../support/remote-shop.ts'

describe('a template', () => {
  it('is a block on the head that pays the address, and costs nothing until a miner asks', async () => {
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
    expect(await shop.work.template(MINER, ASKER)).toEqual(fail(fault('mining/not-ready', { reasons: ['syncing'] })))
    expect(shop.work.subscribe(MINER, new Followed(), ASKER).ok).toBe(false)
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
    const asked = shop.work.template(MINER, ASKER)
    await settled()
    shop.time.pass(WAIT_MS_MAX)
    expect(await asked).toEqual(fail(fault('mining/busy')))
    pacer.release()
    await settled()
    expect((await shop.job()).template.block.header.height).toBe(1)
  })
})

describe('a miner that follows an address', () => {
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

  it('is served before addresses that no miner follows', async () => {
    const shop = await Shop.open()
    for (let i = 0; i < 5; i++) await shop.job(addressNumber(i))
    const jobsThen: number[] = []
    shop.work.subscribe(MINER, { job: () => jobsThen.push(shop.work.jobs), end() {} }, ASKER)
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
    expect(await shop.work.template(MINER, ASKER)).toEqual(fail(fault('mining/not-ready', { reasons: ['stopping'] })))
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
    // Each template takes 200 ms of the clock.
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
  it('are forgotten if unused for a while, with their jobs and the timer', async () => {
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
    for (let i = 0; i < REMOTE_ADDRESSES_MAX; i++) shop.work.subscribe(addressNumber(i), new Followed(), ASKER)
    expect(await shop.work.template(OTHER, ASKER)).toEqual(fail(fault('mining/busy')))
    expect(shop.work.addresses).toBe(REMOTE_ADDRESSES_MAX)
  })

  it('that are followed do not keep out who has none: who has most makes room, whatever his number of addresses', async () => {
    const shop = await Shop.open()
    const taken = Array.from({ length: REMOTE_ADDRESSES_MAX }, (_, i) =>
      shop.follow(addressNumber(i), { network: '203.0.113', address: `203.0.113.${i % 4}` }),
    )
    const honest = shop.follow(MINER)
    await settled()
    expect([honest.jobs.length > 0, taken.filter(({ ended }) => ended > 0)]).toEqual([true, taken.slice(-1)])
    for (let i = 200; i < 400; i++)
      await shop.work.template(addressNumber(i), { network: '203.0.113', address: '203.0.113.9' })
    expect(honest.ended).toBe(0)
  })

  it('of a miner who asks again and again are not taken by who asks for ever new ones', async () => {
    const shop = await Shop.open()
    const mine = await shop.job(MINER)
    for (let i = 0; i < 300; i++) await shop.job(addressNumber(i), { network: '203.0.113', address: '203.0.113.1' })
    expect(await shop.submit(mine.id, 0n)).toBe('ok')
  })

  it('that others hear too are not ended for what one asks for', async () => {
    const shop = await Shop.open()
    const honest = shop.follow(MINER)
    const rude = { network: '203.0.113', address: '203.0.113.1' }
    for (let i = 0; i < REMOTE_ADDRESSES_MAX - 1; i++) shop.follow(addressNumber(i), rude)
    await shop.work.template(MINER, rude)
    for (let i = 0; i < 20; i++) shop.follow(addressNumber(100 + i), { network: `${i}`, address: `${i}` })
    expect(honest.ended).toBe(0)
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
