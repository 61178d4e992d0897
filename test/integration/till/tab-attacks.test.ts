import { afterEach, describe, expect, it, vi } from 'vitest'
import { verifyTabSignature } from '../../../consensus/crypto/tab-signing.ts'
import { fromHex, ZERO_HEX_32 } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { encodeTabReceipt, tabReceiptMessage, voucherMessage } from '../../../consensus/tx/tab-messages.ts'
import type { Settled } from '../../../marketplace/till/rail.ts'
import { WRONG_SIGNATURES } from '../../../marketplace/till/rails/tab/bad-vouchers.ts'
import { TAB_IN_FLIGHT_MAX, UNCHARGED } from '../../../marketplace/till/rails/tab/settings.ts'
import type { SignedTabReceipt, TabPaidCall } from '../../../marketplace/till/rails/tab/tab-call.ts'
import type { AnsweredTabRow } from '../../../marketplace/till/rails/tab/tab-store.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, ONCE, SHOP } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { closeTabShops, TabShop, TEST_SIGNER } from '../../support/tabs.ts'
import { units } from '../../support/unsigned.ts'

afterEach(async () => {
  await closeTabShops()
  await closeMarkets()
})

const codeOf = (outcome: Result<Settled<AnsweredTabRow>>): string => {
  if (!outcome.ok) return outcome.fault.code
  return outcome.value.replayed ? 'replayed' : 'answered'
}
const settle = async (shop: TabShop, call: TabPaidCall): Promise<string> => codeOf(await shop.till.settle(call))
const withVoucher = (call: TabPaidCall, change: Partial<TabPaidCall['payment']['voucher']>): TabPaidCall => {
  const voucher = { ...call.payment.voucher, ...change }
  return { ...call, payment: { ...call.payment, voucher } }
}
const receiptOf = (outcome: Result<Settled<AnsweredTabRow>>): SignedTabReceipt => {
  if (!outcome.ok) throw new Error(outcome.fault.code)
  return outcome.value.claim.receipt
}

describe('attacks on tabs', () => {
  it('6: the state that a client goes on from proves itself by its own signature, and charges no more than it signed', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    await shop.settle(tab, 'ok:1')
    await shop.settle(tab, 'ok:2')
    const state = await shop.rail.stateOf(tab.tabId)
    const { signature, ...voucher } = state?.voucher ?? {
      signature: '',
      seq: 0,
      ceiling: units(0),
      context: '' as Hash,
    }
    const message = voucherMessage(shop.market.test.chain.network, tab.tabId, voucher)
    const key = NATIVE_BACKEND.publicKeyEd25519(tab.seed)
    expect(verifyTabSignature(NATIVE_BACKEND, { key, message, signature: fromHex(signature) })).toBe(true)
    expect(state?.charged).toBeLessThanOrEqual(voucher.ceiling)
  })

  it('8: a voucher is worth nothing for another tab, service or request', async () => {
    const shop = await TabShop.open()
    const [tab, other] = [await shop.openTab(), await shop.openTab()]
    const call = shop.order(tab, 'ok')
    const moved = { ...call, payment: { ...call.payment, tabId: other.tabId } }
    expect(await settle(shop, moved)).toBe('tabcall/signature')
    expect(await settle(shop, { ...call, serviceId: ONCE })).toBe('tabcall/signature')
    expect(await settle(shop, { ...call, request: 'ok:other' })).toBe('tabcall/signature')
    expect(await settle(shop, call)).toBe('answered')
  })

  it('9: an old voucher is worth nothing once its tab has ended, nor on a new tab with the same key', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const old = shop.order(tab, 'ok', { ceiling: 50_000_000n })
    const entry = {
      tabId: tab.tabId,
      voucher: [],
      claimed: units(0),
      receipts: 0,
      failed: 0,
      services: [],
      close: true,
    }
    const { test } = shop.market
    const close = await test.tx(wallet(2), 'tab_claim', { entries: [{ ...entry, root: ZERO_HEX_32 as Hash }] })
    await shop.market.mine([close])
    expect(await settle(shop, old)).toBe('tabcall/unknown')
    const voucherKey = Buffer.from(NATIVE_BACKEND.publicKeyEd25519(tab.seed)).toString('hex') as Hash
    const again = await shop.openTab({ voucherKey })
    expect(await settle(shop, { ...old, payment: { ...old.payment, tabId: again.tabId } })).toBe('tabcall/signature')
  })

  it('11: the header of a call reads its result only together with its body', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const call = shop.order(tab, 'ok:mine')
    expect(await settle(shop, call)).toBe('answered')
    expect(await settle(shop, { ...call, request: 'ok:guess' })).toBe('tabcall/signature')
    expect(await settle(shop, { ...call, serviceId: ONCE })).toBe('tabcall/signature')
    expect(await settle(shop, call)).toBe('replayed')
    await shop.level.mark(tab.tabId, { finalReceipts: 1 })
    await shop.level.prune(shop.market.time.now() + 1, 1_000_000)
    expect(await settle(shop, call)).toBe('tabcall/result-expired')
  })

  it('12: a known voucher with another signature, ceiling or secret reads nothing', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const call = shop.order(tab, 'ok')
    expect(await settle(shop, call)).toBe('answered')
    const others = [{ signature: new Uint8Array(64) }, { ceiling: units(99_000_000) }, { secret: new Uint8Array(32) }]
    for (const change of others) expect(await settle(shop, withVoucher(call, change))).toBe('tabcall/signature')
  })

  it('13: a hundred parallel calls with one voucher are worked for once, and charged once', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const price = shop.market.priceOf(AGAIN)
    const call = shop.order(tab, 'ok:crowd')
    const told = await Promise.all(Array.from({ length: 100 }, () => settle(shop, call)))
    expect(told.filter((code) => code === 'answered')).toHaveLength(1)
    expect(new Set(told)).toEqual(new Set(['answered', 'replayed', 'tabcall/under-way']))
    expect(shop.market.workbench.begun).toEqual([`${AGAIN} ok:crowd`])
    expect(await shop.rail.stateOf(tab.tabId)).toMatchObject({ charged: price, receipts: 1 })
  })

  it('13: parallel calls with numbers of their own never exceed the ceiling that covers some of them', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const price = shop.market.priceOf(AGAIN)
    const calls = Array.from({ length: 20 }, (_, i) => shop.order(tab, `ok:${i}`, { ceiling: price * 3n }))
    const told = await Promise.all(calls.map((call) => settle(shop, call)))
    expect(told.filter((code) => code === 'answered')).toHaveLength(3)
    expect(told.filter((code) => code === 'tabcall/ceiling-low')).toHaveLength(17)
    expect(await shop.rail.stateOf(tab.tabId)).toMatchObject({ charged: price * 3n, receipts: 3 })
  })

  it('13: a tab has only so many calls under way, and takes more when they have ended', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    shop.market.workbench.hold()
    const held = Array.from({ length: TAB_IN_FLIGHT_MAX }, (_, i) => settle(shop, shop.order(tab, `ok:${i}`)))
    const price = shop.market.priceOf(AGAIN)
    const all = price * BigInt(TAB_IN_FLIGHT_MAX)
    await until('all are taken', () => shop.store.peek(tab.tabId)?.reserved === all)
    const late = await shop.settle(tab, 'ok:late')
    expect(late).toMatchObject({ fault: { code: 'tabcall/in-flight', detail: { most: TAB_IN_FLIGHT_MAX } } })
    shop.market.workbench.release()
    expect(new Set(await Promise.all(held))).toEqual(new Set(['answered']))
    expect(await settle(shop, shop.order(tab, 'ok:later'))).toBe('answered')
  })

  it('13: calls that waited for one block are no more than that either', async () => {
    const confirmationSteps = [{ belowUsdMicros: 10_000_000n, confirmations: 1 }]
    const shop = await TabShop.open({ settings: { confirmationSteps } })
    const tab = await shop.opening()
    await shop.market.submit(tab.opening)
    shop.market.workbench.hold()
    const ceiling = 100_000_000n
    const calls = Array.from({ length: TAB_IN_FLIGHT_MAX + 6 }, (_, i) =>
      shop.order(tab, `ok:${i}`, { ceiling, transaction: tab.tabId }),
    )
    const told = calls.map((call, i) => settle(shop, { ...call, from: { address: `${i}`, network: `${i}` } }))
    await shop.market.mine([tab.opening])
    await vi.waitFor(() => expect(shop.market.workbench.begun.length).toBeGreaterThan(0))
    shop.market.workbench.release()
    const codes = await Promise.all(told)
    expect(codes.filter((code) => code === 'answered').length).toBeLessThanOrEqual(TAB_IN_FLIGHT_MAX)
    expect(codes.filter((code) => code === 'tabcall/in-flight').length).toBeGreaterThanOrEqual(6)
  })

  it('14: holes in the numbers end at a window of 256, and can be filled', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const price = shop.market.priceOf(AGAIN)
    expect(await settle(shop, shop.order(tab, 'ok:far', { seq: 256, ceiling: price }))).toBe('answered')
    const beyond = shop.order(tab, 'ok:beyond', { seq: 257, ceiling: price * 2n })
    expect(await shop.till.settle(beyond)).toMatchObject({
      fault: { code: 'tabcall/seq-window', detail: { nextSeq: 1 } },
    })
    expect(await settle(shop, shop.order(tab, 'ok:fill', { seq: 1, ceiling: price * 2n }))).toBe('answered')
    expect(await settle(shop, shop.order(tab, 'ok:next', { seq: 257, ceiling: price * 3n }))).toBe('answered')
  })

  it('15: wrong signatures are checked only so often, and do not keep the payer out of its tab', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const payer = { address: '192.0.2.1', network: '192.0.2.1' }
    expect(await settle(shop, { ...shop.order(tab, 'ok:1'), from: payer })).toBe('answered')
    const bad = { ...shop.order(tab, 'ok:bad', { seq: 2, ceiling: 9_000_000n, seed: new Uint8Array(32) }) }
    const codes: string[] = []
    for (let i = 0; i < WRONG_SIGNATURES.ofTab + 10; i++) {
      const address = `198.51.100.${Math.floor(i / 20)}`
      codes.push(await settle(shop, { ...bad, from: { address, network: address } }))
    }
    expect(codes.filter((code) => code === 'tabcall/signature')).toHaveLength(
      WRONG_SIGNATURES.ofTab + WRONG_SIGNATURES.spared,
    )
    expect(codes.at(-1)).toBe('tabcall/failing')
    expect(await settle(shop, { ...shop.order(tab, 'ok:2'), from: payer })).toBe('answered')
    const one = { address: '203.0.113.9', network: '203.0.113.9' }
    const other = await shop.openTab()
    const wrong = shop.order(other, 'ok', { seq: 1, ceiling: 9_000_000n, seed: new Uint8Array(32) })
    for (let i = 0; i < WRONG_SIGNATURES.ofClient; i++) await settle(shop, { ...wrong, from: one })
    expect(await settle(shop, { ...wrong, from: one })).toBe('tabcall/failing')
    await shop.market.pass(WRONG_SIGNATURES.withinMs)
    expect(await settle(shop, { ...wrong, from: one })).toBe('tabcall/signature')
  })

  it('15: wrong signatures of others do not keep a payer from its first call, nor from one at a new address', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const wrong = shop.order(tab, 'ok', { seq: 9, ceiling: 9_000_000n, seed: new Uint8Array(32) })
    const at = (address: string) => ({ address, network: address })
    for (let i = 0; i < WRONG_SIGNATURES.ofTab; i++) await settle(shop, { ...wrong, from: at(`198.51.${i >> 4}.1`) })
    expect(await settle(shop, { ...wrong, from: at('198.51.0.1') })).toBe('tabcall/failing')
    expect(await settle(shop, { ...shop.order(tab, 'ok:1'), from: at('192.0.2.1') })).toBe('answered')
    expect(await settle(shop, { ...shop.order(tab, 'ok:2'), from: at('203.0.113.1') })).toBe('answered')
    // A new attacker has no more than its few checks.
    const codes: string[] = []
    for (let i = 0; i < 10; i++) codes.push(await settle(shop, { ...wrong, from: at('198.18.0.1') }))
    expect(codes.filter((code) => code === 'tabcall/signature')).toHaveLength(WRONG_SIGNATURES.spared)
  })

  it('15: another client at the address of a payer does not keep it from calls that it goes on with', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const from = { address: '192.0.2.1', network: '192.0.2.1' }
    for (let i = 0; i < 5; i++) expect(await settle(shop, { ...shop.order(tab, `ok:${i}`), from })).toBe('answered')
    const wrong = shop.order(tab, 'ok', { seq: 99, ceiling: 9_000_000n, seed: new Uint8Array(32) })
    for (let i = 0; i < WRONG_SIGNATURES.ofClient; i++) await settle(shop, { ...wrong, from })
    expect(await settle(shop, { ...shop.order(tab, 'ok:on'), from })).toBe('answered')
    for (let i = 0; i < 6; i++) await settle(shop, { ...wrong, from })
    expect(await settle(shop, { ...wrong, from })).toBe('tabcall/failing')
  })

  it('15: the request of a stranger is not read before its signature', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const parts = { seq: 9, ceiling: 9_000_000n }
    expect(await settle(shop, shop.order(tab, 'refuse', { ...parts, seed: new Uint8Array(32) }))).toBe(
      'tabcall/signature',
    )
    expect(await settle(shop, shop.order(tab, 'refuse', parts))).toBe('service/invalid-request')
  })

  it('16: a tab that was never paid from leaves nothing with the seller, and an ended one nothing after a while', async () => {
    const shop = await TabShop.open()
    const dust = await shop.openTab({ deposit: units(1_000_000) })
    expect(await settle(shop, shop.order(dust, 'ok', { ceiling: 1n }))).toBe('tabcall/ceiling-low')
    expect(await shop.level.tab(dust.tabId)).toBeUndefined()
    const tab = await shop.openTab()
    await shop.settle(tab, 'ok')
    const endedAtMs = shop.market.time.now()
    await shop.level.mark(tab.tabId, { endedAtMs })
    await shop.level.prune(endedAtMs, 1_000_000)
    expect(await shop.level.tab(tab.tabId)).toMatchObject({ receipts: 1 })
    await shop.level.prune(endedAtMs + 1, 1_000_000)
    expect([await shop.level.tab(tab.tabId), await shop.level.call(tab.tabId, 1)]).toEqual([undefined, undefined])
    expect(await shop.level.receiptsFrom(tab.tabId, 1, 10)).toEqual([])
  })

  it('17: calls that fail are free, and so a tab has only so many of them', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const { atFirst, perCharged, blocksEach } = UNCHARGED
    const ceiling = shop.market.priceOf(AGAIN) * 2n
    const call = (request: string) => settle(shop, shop.order(tab, request, { ceiling }))
    const failing = async (count: number) => {
      const codes = new Set<string>()
      for (let i = 0; i < count; i++) codes.add(await call('fail'))
      return [...codes]
    }
    expect(await failing(atFirst + 1)).toEqual(['answered'])
    expect(await call('ok')).toBe('tabcall/too-many-failed')
    await shop.restart()
    expect(await call('fail')).toBe('tabcall/too-many-failed')
    for (let i = 0; i < blocksEach; i++) await shop.market.mine()
    expect(await call('ok')).toBe('answered')
    expect(await failing(perCharged + 1)).toEqual(['answered'])
    expect(await call('ok')).toBe('tabcall/too-many-failed')
    expect(await shop.store.tab(tab.tabId)).toMatchObject({ receipts: atFirst + perCharged + 3 })
  })

  it('18: a voucher that is one unit higher buys no call of a full price', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab()
    const price = shop.market.priceOf(AGAIN)
    expect(await settle(shop, shop.order(tab, 'ok:1', { ceiling: price }))).toBe('answered')
    expect(await settle(shop, shop.order(tab, 'ok:2', { ceiling: price + 1n }))).toBe('tabcall/ceiling-low')
    expect(await settle(shop, shop.order(tab, 'ok:3', { ceiling: 2n * price - 1n }))).toBe('tabcall/ceiling-low')
    expect(await settle(shop, shop.order(tab, 'ok:4', { ceiling: 2n * price }))).toBe('answered')
  })

  it('20: an old price is honoured for two epochs at most', async () => {
    const shop = await TabShop.open()
    const { market } = shop
    const { epochBlocks } = market.test.chain.ruleBook.at(0).market
    const offer = market.shop.offer(AGAIN)
    if (offer === undefined) throw new Error('no offer')
    const tab = await shop.openTab({}, 6)
    const low = market.priceOf(AGAIN)
    await market.mine([await market.publication(offer, offer.priceUsdMicros * 2n)])
    const changedAt = market.test.height
    const epoch = Math.floor(changedAt / epochBlocks)
    await market.test.mineTo((epoch + 2) * epochBlocks - 1)
    const ceiling = (charged: bigint): bigint => charged + low
    expect(await settle(shop, shop.order(tab, 'ok:old', { ceiling: ceiling(0n) }))).toBe('answered')
    await market.mine()
    const late = shop.order(tab, 'ok:late', { ceiling: ceiling(low) })
    expect(await settle(shop, late)).toBe('tabcall/ceiling-low')
    const quoted = shop.rail.priceOf(AGAIN)
    expect('reason' in quoted ? 0n : quoted.amount).toBe(2n * low)
  })

  it('23: no two calls ever have receipts of one number, and each receipt is signed', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const calls = Array.from({ length: 40 }, (_, i) => shop.order(tab, i % 5 === 0 ? 'fail' : `ok:${i}`))
    const outcomes = await Promise.all(calls.map((call) => shop.till.settle(call)))
    const given = outcomes.map(receiptOf).sort((a, b) => a.receipt.n - b.receipt.n)
    expect(given.map(({ receipt }) => receipt.n)).toEqual(given.map((_, i) => i + 1))
    expect(await shop.rail.receiptsFrom(tab.tabId, 1, 100)).toEqual(given)
    let sum = 0n
    for (const { receipt, signature } of given) {
      sum += receipt.charged
      expect(receipt.cumulative).toBe(sum)
      const message = tabReceiptMessage(shop.market.test.chain.network, encodeTabReceipt(receipt))
      const part = { key: fromHex(TEST_SIGNER.key), message, signature: fromHex(signature) }
      expect(verifyTabSignature(NATIVE_BACKEND, part)).toBe(true)
    }
  })

  it('25: a seller that fell back to an old backup takes no more calls, once a client shows a newer receipt', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const first = receiptOf(await shop.settle(tab, 'ok:1'))
    const backup = await TabShop.open({ test: shop.market.test, published: false })
    const newer = receiptOf(await shop.settle(tab, 'ok:2'))
    const call = shop.order(tab, 'ok:3')
    const showing = (lastReceipt: SignedTabReceipt): TabPaidCall => ({
      ...call,
      payment: { ...call.payment, lastReceipt },
    })
    const forged = { ...newer, receipt: { ...newer.receipt, n: 1_000_000 } }
    expect(await settle(shop, showing(forged))).toBe('answered')
    expect(await settle(backup, showing(forged))).toBe('answered')
    expect(await settle(backup, showing(first))).toBe('replayed')
    expect(await settle(backup, showing(newer))).toBe('tabcall/rolled-back')
    const next = shop.order(tab, 'ok:4')
    expect(await settle(backup, next)).toBe('tabcall/rolled-back')
    await backup.restart()
    expect(await settle(backup, next)).toBe('tabcall/rolled-back')
    expect(await settle(shop, next)).toBe('answered')
  })

  it('25: a seller that lost its store goes on from what it claimed on chain', async () => {
    const shop = await TabShop.open()
    const tab = await shop.openTab({}, 6)
    const price = shop.market.priceOf(AGAIN)
    await shop.settle(tab, 'ok:1')
    const { voucher } = (await shop.rail.stateOf(tab.tabId)) ?? {}
    if (voucher == null) throw new Error('no voucher')
    const held = { ...voucher, signature: fromHex(voucher.signature) }
    const services = [{ serviceId: AGAIN, calls: 1, amount: units(price) }]
    const entry = { tabId: tab.tabId, voucher: [held], claimed: units(price), receipts: 1, failed: 0, services }
    const { test } = shop.market
    const claim = { entries: [{ ...entry, close: false, root: 'ab'.repeat(32) as Hash }] }
    await shop.market.mine([await test.tx(wallet(2), 'tab_claim', claim)])
    const lost = await TabShop.open({ test, published: false })
    expect(await lost.rail.stateOf(tab.tabId)).toMatchObject({ charged: price, receipts: 1, voucher: null })
    const told = await lost.till.settle(lost.order(tab, 'ok:2'))
    expect(receiptOf(told).receipt).toMatchObject({ n: 2, cumulative: 2n * price })
  })
})

it('the tabs of these tests are with the shop', async () => {
  const shop = await TabShop.open()
  expect(shop.record(await shop.openTab())?.agentId).toBe(SHOP)
})
