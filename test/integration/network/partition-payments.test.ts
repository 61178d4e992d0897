import { afterEach, describe, expect, it } from 'vitest'
import { ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { OUTCOME_DELIVERED } from '../../../consensus/tx/payloads.ts'
import { openerOf } from '../../../consensus/tx/redeem-lock.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { FinishedClaim } from '../../../marketplace/till/rails/native/claim.ts'
import { wallet } from '../../support/chain.ts'
import { closeMarkets, type TestMarket, type TestPayment } from '../../support/market.ts'
import { closeStores, Partition } from '../../support/partition.ts'
import { units } from '../../support/unsigned.ts'

/** Numbers of blocks of our half that the other one replaces. */
const DEPTHS = [10, 100]
/** The deepest partition in these tests, with every kind of payment in it. */
const LONG = 1_000
/** Depth at which a receipt counts as final. */
const FINAL = 40
/** How many blocks later the other half mines the same payment. */
const LATER = 4

afterEach(async () => {
  await closeMarkets()
  await closeStores()
})

const delivered = (payment: TestPayment, replayed: boolean) => ({
  ok: true,
  value: { replayed, claim: { state: 'delivered', result: `{"echo":"${payment.request}"}` } },
})

/** A receipt for a delivered call, as the operator's settler would send it. */
function receiptOf(market: TestMarket, { secret }: TestPayment, claim: FinishedClaim): Promise<Transaction> {
  const opener = secret === null ? (ZERO_HEX_32 as Hash) : openerOf(secret)
  const resultHash = claim.state === 'delivered' ? claim.resultHash : (ZERO_HEX_32 as Hash)
  const entry = { txId: claim.txId, outcome: OUTCOME_DELIVERED, resultHash, opener, durationMs: 1 }
  return market.test.tx(wallet(2), 'agent_receipt', { entries: [entry] })
}

/** A call paid in our half's first block and delivered. It is settled as far as `depth` blocks allow. */
async function boughtApart(depth: number, parts: Parameters<typeof Partition.open>[0] = {}) {
  const halves = await Partition.open(parts)
  const { market } = halves
  const payment = await market.order('ok', { term: 9_600 })
  await halves.growOurs(1, { 1: [payment.tx] })
  expect(await market.settle(payment)).toMatchObject(delivered(payment, false))
  await market.pass(500)
  await market.mineWaiting()
  expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
  await halves.growOurs(depth)
  expect(await halves.claimOf(payment)).toEqual(['delivered', depth > FINAL ? 'final' : 'owed'])
  return { halves, market, payment }
}

/** Expects that the call was carried out once, that a repeat gets its result, and that it is settled for good. */
async function expectSettled(halves: Partition, payment: TestPayment): Promise<void> {
  const { market } = halves
  expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
  for (let i = 0; i <= FINAL; i++) await market.mine()
  expect(await halves.claimOf(payment)).toEqual(['delivered', 'final'])
  expect(await market.settle(payment)).toMatchObject(delivered(payment, true))
  expect(halves.runsOf(payment)).toBe(1)
  await halves.audit()
}

describe.each(DEPTHS)('a delivered call whose payment was mined in the half that loses %i blocks', (depth) => {
  it('is settled if both halves mined it, at the height in the other half', async () => {
    const { halves, market, payment } = await boughtApart(depth)
    const { height } = market.closure(payment)!
    await halves.growTheirs(depth + 1, { [LATER]: [payment.tx] })
    await halves.heal()
    const escrow = market.escrow(payment)!
    expect(escrow.minedAt).toBe(halves.forkHeight + LATER)
    expect(escrow.deadline).toBe(halves.forkHeight + LATER + 9_600)
    expect(await market.settle(payment)).toMatchObject(delivered(payment, true))
    await market.pass(500)
    expect(market.waitingEntries.map(({ txId }) => txId)).toEqual([payment.txId])
    await market.mineWaiting()
    expect(market.closure(payment)!.height).toBeGreaterThan(height)
    await expectSettled(halves, payment)
  })

  it('is settled when it is mined again, if the other half has never seen it', async () => {
    const { halves, market, payment } = await boughtApart(depth)
    await halves.growTheirs(depth + 1)
    await halves.heal()
    expect(market.escrow(payment)).toBeUndefined()
    expect(market.mempool.get(payment.txId)).toBeDefined()
    expect(await market.settle(payment)).toMatchObject(delivered(payment, true))
    await market.mineWaiting(3)
    await market.pass(500)
    await market.mineWaiting()
    await expectSettled(halves, payment)
  })

  it('is neither charged nor done again if the caller used the nonce for something else', async () => {
    const { halves, market, payment } = await boughtApart(depth)
    const { nonce } = payment.tx.body
    const elsewhere = { to: wallet(5).address, amount: units(5_000), create: false }
    const rival = await halves.theirs.tx(wallet(1), 'transfer', elsewhere, { nonce })
    await halves.growTheirs(depth + 1, { 2: [rival] })
    await halves.heal()
    expect(market.mempool.get(payment.txId)).toBeUndefined()
    await market.pass(500)
    await market.mineWaiting(3)
    expect([market.escrow(payment), market.closure(payment), market.waitingEntries]).toEqual([undefined, undefined, []])
    expect(await market.settle(payment)).toMatchObject(delivered(payment, true))
    expect(halves.runsOf(payment)).toBe(1)
    await halves.audit()
  })

  it('is settled by a node that started after the reorganisation', async () => {
    const { halves, market, payment } = await boughtApart(depth)
    await halves.growTheirs(depth + 1, { [LATER]: [payment.tx] })
    // The process ends before the market hears of the reorganisation.
    await market.settler.stop()
    await halves.heal()
    expect(await halves.claimOf(payment)).toEqual(['delivered', depth > FINAL ? 'final' : 'owed'])
    const next = await market.restart()
    await next.till.resume()
    await next.pass(500)
    expect(next.waitingEntries.map(({ txId }) => txId)).toEqual([payment.txId])
    await next.mineWaiting()
    expect(next.closure(payment)).toMatchObject({ how: 'delivered' })
    expect(next.workbench.begun).toEqual([])
  })
})

describe.each(DEPTHS)('a payment that expires while the halves are apart for %i blocks', (depth) => {
  it('charges no one, and the delivered result stays', async () => {
    const halves = await Partition.open()
    const { market } = halves
    const before = market.test.balance(wallet(1).address)
    const payment = await market.order('ok', { tx: { validUntil: halves.forkHeight + depth } })
    await halves.growOurs(depth, { 1: [payment.tx] })
    expect(await market.settle(payment)).toMatchObject(delivered(payment, false))
    await halves.growTheirs(depth + 1)
    await halves.heal()
    await market.pass(500)
    await market.mineWaiting(2)
    expect(market.mempool.get(payment.txId)).toBeUndefined()
    expect([market.escrow(payment), market.waitingEntries]).toEqual([undefined, []])
    expect(market.test.balance(wallet(1).address)).toBe(before)
    expect(await market.settle(payment)).toMatchObject(delivered(payment, true))
    expect(halves.runsOf(payment)).toBe(1)
    await halves.audit()
  })
})

describe.each(DEPTHS)('a call whose work is under way while %i blocks are replaced', (depth) => {
  it('goes on, is delivered once, and is settled where the payment is mined in the end', async () => {
    const halves = await Partition.open()
    const { market } = halves
    const payment = await market.order('ok', { term: 9_600 })
    await halves.growOurs(depth, { 1: [payment.tx] })
    await halves.growTheirs(depth + 1, depth === 10 ? {} : { [LATER]: [payment.tx] })
    market.workbench.hold()
    const answer = market.settle(payment)
    await market.quiet()
    await halves.heal()
    const again = market.settle(payment)
    await market.quiet()
    expect(await halves.claimOf(payment)).toEqual(['executing', undefined])
    market.workbench.release()
    expect(await answer).toMatchObject(delivered(payment, false))
    expect(await again).toMatchObject(delivered(payment, true))
    await market.mineWaiting()
    await market.pass(500)
    await market.mineWaiting()
    await expectSettled(halves, payment)
  })
})

it(`calls of all kinds are settled by the surviving branch after ${LONG} blocks apart`, async () => {
  const halves = await Partition.open()
  const { market } = halves
  const order = (request: string, from: number, validUntil = 0) =>
    market.order(request, { from, term: 9_600, tx: { validUntil } })
  const both = await order('ok:both', 1)
  const again = await order('ok:again', 3)
  const rival = await order('ok:rival', 4)
  const expired = await order('ok:expired', 5, halves.forkHeight + LONG)
  const adrift = await order('ok:adrift', 6)
  const all = [both, again, rival, expired]
  await halves.growOurs(1, { 1: [...all, adrift].map(({ tx }) => tx) })
  for (const payment of all) expect(await market.settle(payment)).toMatchObject(delivered(payment, false))
  await market.pass(500)
  await market.mineWaiting()
  await halves.growOurs(LONG)
  for (const payment of all) expect(await halves.claimOf(payment)).toEqual(['delivered', 'final'])
  const payload = { to: wallet(7).address, amount: units(5_000), create: false }
  const spent = await halves.theirs.tx(wallet(4), 'transfer', payload, { nonce: rival.tx.body.nonce })
  await halves.growTheirs(LONG + 1, { [LATER]: [both.tx], [LONG]: [spent] })
  await halves.heal()
  expect(all.map((payment) => market.escrow(payment)?.minedAt)).toEqual([
    halves.forkHeight + LATER,
    ...[undefined, undefined, undefined],
  ])
  expect(market.mempool.transactions().map(({ txId }) => txId)).toEqual([again.txId, adrift.txId])
  await market.mineWaiting(2)
  await market.pass(500)
  await market.mineWaiting()
  // The payment that was off chain can be redeemed now.
  expect(await market.settle(adrift)).toMatchObject(delivered(adrift, false))
  await market.pass(500)
  await market.mineWaiting()
  const ends = [both, again, rival, expired, adrift].map((payment) => market.closure(payment)?.how)
  expect(ends).toEqual(['delivered', 'delivered', undefined, undefined, 'delivered'])
  for (const payment of all) expect(await market.settle(payment)).toMatchObject(delivered(payment, true))
  expect([...all, adrift].map((payment) => halves.runsOf(payment))).toEqual([1, 1, 1, 1, 1])
  await halves.audit()
})

describe('an escrow that ended otherwise in the other half', () => {
  /** A call delivered in our half. Its receipt is signed and not sent. */
  async function unsettled() {
    const halves = await Partition.open()
    const { market } = halves
    const payment = await market.order('ok', { term: 100 })
    await halves.growOurs(1, { 1: [payment.tx] })
    expect(await market.settle(payment)).toMatchObject(delivered(payment, false))
    const claim = (await market.store.get(payment.txId)) as FinishedClaim
    return { halves, market, payment, receipt: await receiptOf(market, payment, claim) }
  }

  it('by a receipt, where ours refunded it: the operator gets the money, the caller the result', async () => {
    const { halves, market, payment, receipt } = await unsettled()
    await halves.growOurs(150)
    expect(market.closure(payment)).toMatchObject({ how: 'expired' })
    expect(await halves.claimOf(payment)).toEqual(['delivered', 'final'])
    await halves.growTheirs(151, { 3: [payment.tx], 5: [receipt] })
    await halves.heal()
    expect(market.closure(payment)).toMatchObject({ how: 'delivered', height: halves.forkHeight + 5 })
    expect(market.waitingEntries).toEqual([])
    await expectSettled(halves, payment)
  })

  it('by a refund, where ours had the receipt: no one is paid twice', async () => {
    const { halves, market, payment, receipt } = await unsettled()
    await halves.growOurs(150, { 3: [receipt] })
    expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
    await halves.growTheirs(151, { 1: [payment.tx] })
    await halves.heal()
    expect(market.closure(payment)).toMatchObject({ how: 'expired', height: halves.forkHeight + 101 })
    await market.pass(500)
    await market.mineWaiting(2)
    expect(market.closure(payment)).toMatchObject({ how: 'expired' })
    expect(await market.settle(payment)).toMatchObject(delivered(payment, true))
    expect(halves.runsOf(payment)).toBe(1)
    await halves.audit()
  })
})

describe('a payment that fails when mined again, because the service is not published yet in the other half', () => {
  it('is not a payment any more, and starts no work', async () => {
    const halves = await Partition.open({ published: false, settings: { settleWaitMs: 0 } })
    const { market } = halves
    await market.publish()
    const payment = await market.pay('ok')
    // The work is held when the branch changes.
    market.workbench.hold()
    const others = []
    for (let i = 0; i < 16; i++) others.push(await market.order(`ok:${i}`, { lock: 'none' }))
    await market.mine(others.map(({ tx }) => tx))
    for (const other of others) void market.settle(other)
    await market.quiet()
    const answer = market.settle(payment)
    await market.quiet()
    expect(await halves.claimOf(payment)).toEqual(['claimed', undefined])
    await halves.growTheirs(4, { 1: [payment.tx] })
    await halves.heal()
    market.workbench.release()
    expect((await answer).ok).toBe(false)
    await market.quiet()
    expect(await market.settle(payment)).toMatchObject({ ok: false, fault: { code: 'pay/failed' } })
    expect(halves.runsOf(payment)).toBe(0)
    await halves.audit()
  })
})
