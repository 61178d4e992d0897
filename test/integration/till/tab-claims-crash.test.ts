import { afterEach, describe, expect, it } from 'vitest'
import { closeMarkets } from '../../support/market.ts'
import { overtake } from '../../support/mempool.ts'
import { TabSeller, type TestTab } from '../../support/tab-seller.ts'

const FINAL = 40
/** Due after ten minutes: above a hundred times the fee of a claim. */
const RICH = 20_000_000n

const sellers: TabSeller[] = []

afterEach(async () => {
  for (const seller of sellers.splice(0)) await seller.stop()
  await closeMarkets()
})

/** A seller with one tab, and a call on it that is due to be claimed. */
async function owed(diesAtClaim: TabSeller['diesAtClaim'] = null): Promise<{ seller: TabSeller; tab: TestTab }> {
  const seller = await TabSeller.open()
  sellers.push(seller)
  const tab = await seller.openTab()
  await seller.serve(tab, [{ charge: RICH }])
  await seller.ripen()
  seller.diesAtClaim = diesAtClaim
  await seller.check()
  return { seller, tab }
}

async function restarted(seller: TabSeller): Promise<TabSeller> {
  const next = await seller.restart()
  sellers.splice(sellers.indexOf(seller), 1, next)
  await next.check()
  return next
}

/** Replaces the last blocks by empty ones, one more than they were. */
async function unwind(seller: TabSeller, depth: number): Promise<void> {
  await overtake(
    seller.market.test,
    depth,
    Array.from({ length: depth + 1 }, () => []),
  )
  await seller.quiet()
}

const mined = (seller: TabSeller, tab: TestTab) => seller.tabOnChain(tab)?.claimed

describe('a seller that dies', () => {
  it('before its claim is on disk makes the claim at its next start', async () => {
    const { seller, tab } = await owed('before')
    expect(seller.waiting).toEqual([])
    const next = await restarted(seller)
    expect(next.waiting).toHaveLength(1)
    await next.mineWaiting()
    expect(mined(next, tab)).toBe(RICH)
  })

  it('after that, before it is sent, sends it as it is', async () => {
    const { seller, tab } = await owed('after')
    expect(seller.waiting).toEqual([])
    const next = await restarted(seller)
    const [row] = await next.store.claims()
    expect(next.waiting.map(({ txId }) => txId)).toEqual([row?.txId])
    await next.mineWaiting()
    expect(mined(next, tab)).toBe(RICH)
  })

  it('while its claim waits sends it again as it is, and makes no second one for the tab', async () => {
    const { seller, tab } = await owed()
    const [claim] = seller.waiting
    const next = await restarted(seller)
    expect(next.waiting.map(({ txId }) => txId)).toEqual([claim?.txId])
    await next.serve(tab, [{ charge: RICH }])
    await next.ripen()
    await next.check()
    expect(next.waiting).toHaveLength(1)
    await next.mineWaiting(2)
    expect(mined(next, tab)).toBe(2n * RICH)
  })

  it('while its claim waits, and comes back after it was mined, sends nothing', async () => {
    const { seller, tab } = await owed()
    await seller.market.mineWaiting()
    const next = await restarted(seller)
    expect([next.waiting, mined(next, tab)]).toEqual([[], RICH])
    await next.mineEmpty(FINAL)
    expect([(await next.row(tab))?.finalReceipts, await next.store.claims()]).toEqual([1, []])
  })

  it('and comes back when its claim has expired makes a new one at the present fee', async () => {
    const { seller, tab } = await owed()
    const [old] = seller.waiting
    await seller.stop()
    for (let i = 0; i < 31; i++) await seller.market.test.mine()
    const next = await restarted(seller)
    const [claim] = next.waiting
    expect(claim?.body.nonce).toBe(old?.body.nonce)
    expect(claim?.body.validUntil).toBeGreaterThan(old!.body.validUntil)
    expect((await next.store.claims()).map(({ txId }) => txId)).toEqual([claim?.txId])
    await next.mineWaiting()
    expect(mined(next, tab)).toBe(RICH)
  })

  it('for longer than the close delay loses what it had not claimed, and what it had claimed stays (attack 3)', async () => {
    const { seller, tab } = await owed()
    await seller.mineWaiting()
    await seller.serve(tab, [{ charge: 500_000n }])
    const close = await seller.closeTx(tab)
    await seller.stop()
    await seller.market.test.mine([close])
    await seller.market.test.mineTo(seller.market.test.height + 400)
    const next = await restarted(seller)
    expect([seller.tabOnChain(tab), next.waiting]).toEqual([undefined, []])
    await next.mineEmpty(FINAL)
    expect(await next.row(tab)).toMatchObject({ endedAtMs: next.market.time.nowMs, charged: RICH + 500_000n })
    expect(next.faults).toEqual([])
  })
})

describe('a claim that a reorganisation takes off the chain', () => {
  it('comes back from the mempool and is mined again', async () => {
    const { seller, tab } = await owed()
    const [claim] = seller.waiting
    await seller.mineWaiting()
    await unwind(seller, 1)
    expect(mined(seller, tab)).toBe(0n)
    expect(seller.waiting.map(({ txId }) => txId)).toEqual([claim?.txId])
    await seller.mineWaiting()
    expect(mined(seller, tab)).toBe(RICH)
  })

  it('is sent again as it is if the mempool lost it', async () => {
    const { seller, tab } = await owed()
    const [claim] = seller.waiting
    await seller.mineWaiting()
    const next = await restarted(seller)
    await overtake(next.market.test, 1, [[], []])
    next.market.mempool.drop(claim!.txId)
    await next.mine()
    expect(next.waiting.map(({ txId }) => txId)).toEqual([claim?.txId])
    await next.mineWaiting()
    expect(mined(next, tab)).toBe(RICH)
  })

  it('is made anew after forty blocks, when it has expired; nothing is lost', async () => {
    const { seller, tab } = await owed()
    await seller.mineWaiting()
    await seller.mineEmpty(FINAL - 1)
    expect((await seller.row(tab))?.finalReceipts).toBe(0)
    await unwind(seller, FINAL)
    expect(mined(seller, tab)).toBe(0n)
    await seller.mineWaiting(2)
    expect(mined(seller, tab)).toBe(RICH)
    await seller.mineEmpty(FINAL)
    expect((await seller.row(tab))?.finalReceipts).toBe(1)
  })

  it('together with a later one of the same tab is mined again before it', async () => {
    const { seller, tab } = await owed()
    await seller.mineWaiting()
    await seller.serve(tab, [{ charge: RICH }])
    await seller.ripen()
    await seller.mineWaiting(2)
    expect(mined(seller, tab)).toBe(2n * RICH)
    await unwind(seller, 3)
    expect([mined(seller, tab), seller.waiting.length]).toEqual([0n, 2])
    await seller.mineWaiting()
    expect(mined(seller, tab)).toBe(2n * RICH)
  })
})
