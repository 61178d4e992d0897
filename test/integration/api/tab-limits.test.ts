import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import type { Reply } from '../../support/api.ts'
import { ask, verdict } from '../../support/api.ts'
import { until } from '../../support/processes.ts'
import { askRaw } from '../../support/raw-http.ts'
import { base64, closeDoors, headerOf, paymentOf, TabDoor, type TabPayer } from '../../support/tab-door.ts'

afterEach(closeDoors)

const { ratesPerMinute } = DEFAULT_HTTP_LIMITS

/** A voucher with another signature. */
function garbled(payer: TabPayer, change: object = {}) {
  const { voucher, ...rest } = payer.voucher('ok', change)
  return { ...rest, voucher: { ...voucher, signature: 'ab'.repeat(64) } }
}

function tally(replies: readonly Reply<object>[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const reply of replies) counts[verdict(reply)] = (counts[verdict(reply)] ?? 0) + 1
  return counts
}

describe('at the gates', () => {
  it('a voucher of a tab that this node knows counts as a call on a tab once one was good, any other as a quote', async () => {
    const door = await TabDoor.open({ limits: { ratesPerMinute: { ...ratesPerMinute, quote: 2, tab: 2, settle: 1 } } })
    const payer = await door.payer()
    const unknown = { ...payer.voucher('ok'), channelId: 'cd'.repeat(32) }
    const strangers = []
    for (let i = 0; i < 3; i++) strangers.push(verdict(await door.call('ok', unknown)))
    expect(strangers).toEqual(['402 tab_unknown', '402 tab_unknown', '429 rate_limited'])
    payer.ceiling = 0n
    payer.seq = 0
    for (let i = 0; i < 3; i++) expect(verdict(await door.call('ok', payer.voucher('ok')))).toBe('200 paid')
    expect(verdict(await door.call('ok', payer.voucher('ok')))).toBe('429 rate_limited')
  })

  it('the id of a tab alone gives nothing of the rate of its payer', async () => {
    const door = await TabDoor.open({ limits: { ratesPerMinute: { ...ratesPerMinute, settle: 2 } } })
    const payer = await door.payer()
    const bad = garbled(payer)
    const codes = []
    for (let i = 0; i < 3; i++) codes.push(verdict(await door.call('ok', bad)))
    expect(codes).toEqual(['402 tab_voucher_signature', '402 tab_voucher_signature', '429 rate_limited'])
  })

  it('the voucher of a call that failed is not answered beyond the limit: such vouchers cost nothing', async () => {
    const door = await TabDoor.open({ limits: { ratesPerMinute: { ...ratesPerMinute, settle: 1, tab: 0 } } })
    const payer = await door.payer()
    const failed = payer.voucher('fail')
    expect((await door.call('fail', failed)).headers.get('payment-response')).not.toBeNull()
    expect(verdict(await door.call('fail', failed))).toBe('429 rate_limited')
  })

  it('a voucher that was taken is answered again beyond the limit; one with another secret is looked up in vain', async () => {
    const door = await TabDoor.open({ limits: { ratesPerMinute: { ...ratesPerMinute, settle: 1, tab: 0 } } })
    const payer = await door.payer()
    const first = payer.voucher('ok')
    expect(verdict(await door.call('ok', first))).toBe('200 paid')
    expect(verdict(await door.call('ok', payer.voucher('ok')))).toBe('429 rate_limited')
    const again = await door.call('ok', first)
    expect([verdict(again), again.headers.get('idempotent-replay')]).toEqual(['200 paid', 'true'])
    expect(verdict(await door.call('ok', garbled(payer, { seq: 1 })))).toBe('429 rate_limited')
  })

  it('a refund of an unknown tab is no payment', async () => {
    const door = await TabDoor.open({ limits: { ratesPerMinute: { ...ratesPerMinute, quote: 0 } } })
    const payer = await door.newPayer()
    expect(verdict(await door.get(payer.refund()))).toBe('429 rate_limited')
  })
})

it('nothing of a payment or a query gets into what the server reports for its log', async () => {
  const door = await TabDoor.open()
  const payer = await door.payer()
  const payload = payer.voucher('ok')
  const { timeMs, signature } = payer.query('state')
  await door.call('ok', payload)
  await door.call('fail', payer.voucher('fail'))
  await door.call('ok', { ...payload, channelId: 'x' })
  await ask(door.url, `/api/tabs/${payer.tabId}?timeMs=${timeMs}&signature=${signature}`)
  await door.get(payer.refund())
  await until('the requests are reported', () => door.reports.length === 5)
  const told = JSON.stringify(door.reports)
  for (const secret of [payload.voucher.secret, payload.voucher.signature, signature, payer.tabId, 'eyJ'])
    expect(told).not.toContain(String(secret))
})

describe('hostile sockets', () => {
  it('thousands of wrong signatures of one address cost a few checks, and no other payer its calls', async () => {
    const door = await TabDoor.open()
    const [payer, other] = [await door.payer(), await door.payer(3)]
    await door.call('ok', other.voucher('ok'))
    const before = door.checks.count
    const bad = garbled(payer, { seq: 1, ceiling: door.price })
    const replies: Reply<object>[] = []
    for (let wave = 0; wave < 40; wave++)
      replies.push(...(await Promise.all(Array.from({ length: 50 }, () => door.call('ok', bad)))))
    const counts = tally(replies)
    expect(Object.keys(counts).sort()).toEqual(['402 tab_voucher_signature', '429 rate_limited'])
    expect(counts['429 rate_limited']).toBeGreaterThan(1_900)
    const refused = replies.find(({ status }) => status === 429)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(door.checks.count - before).toBeLessThan(150)
    expect(door.market.workbench.begun).toHaveLength(1)
    // Another client, at another address.
    const fromElsewhere = await askRaw(door.url, {
      method: 'POST',
      path: '/api/x402/node-test-again',
      headers: { 'content-type': 'application/json', 'payment-signature': headerOf(other.voucher('ok')) },
      body: JSON.stringify({ request: 'ok' }),
      from: '127.0.0.9',
    })
    expect(verdict(fromElsewhere)).toBe('200 paid')
  })

  it('wrong signatures of calls that are refused for another reason soon cost no check', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const before = door.checks.count
    const bad = garbled(payer, { seq: 1, ceiling: 1n })
    const replies: Reply<object>[] = []
    for (let wave = 0; wave < 10; wave++)
      replies.push(...(await Promise.all(Array.from({ length: 50 }, () => door.call('ok', bad)))))
    for (const { text } of replies) expect(text).not.toContain('channelState')
    expect(door.checks.count - before).toBeLessThan(150)
  })

  it('a number that is used, with wrong signatures, tells nothing and soon costs no check', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    await door.call('ok', payer.voucher('ok'))
    const before = door.checks.count
    const bad = garbled(payer, { seq: 1 })
    const replies: Reply<object>[] = []
    for (let wave = 0; wave < 10; wave++)
      replies.push(...(await Promise.all(Array.from({ length: 50 }, () => door.call('ok', bad)))))
    expect(Object.keys(tally(replies)).sort()).toEqual(['402 tab_voucher_signature', '429 rate_limited'])
    for (const { text } of replies) expect(text).not.toMatch(/channelState|nextSeq/)
    expect(door.checks.count - before).toBeLessThan(60)
  })

  it('wrong signatures of receipts soon cost no check', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    await door.call('ok', payer.voucher('ok'))
    const [mined] = await door.shop.store.receiptsFrom(payer.tabId, 1, 1)
    const { receipt, signature } = mined as NonNullable<typeof mined>
    const json = { ...receipt, charged: `${receipt.charged}`, cumulative: `${receipt.cumulative}`, n: 9, signature }
    const before = door.checks.count
    const payload = { ...garbled(payer, { seq: 1 }), lastReceipt: json }
    for (let wave = 0; wave < 4; wave++) await Promise.all(Array.from({ length: 50 }, () => door.call('ok', payload)))
    expect(door.checks.count - before).toBeLessThan(150)
  })

  it('payments of any size and shape are refused before a signature is checked', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const deep = `${'['.repeat(4_000)}${']'.repeat(4_000)}`
    const long = base64({ ...paymentOf(payer.voucher('ok')), filler: 'x'.repeat(13_000) })
    const huge = 'A'.repeat(16_388)
    const values = [
      long,
      huge,
      Buffer.from(deep).toString('base64'),
      Buffer.from('null').toString('base64'),
      'AAA',
      '{}',
    ]
    for (const value of values) {
      const reply = await door.call('ok', null, { 'payment-signature': value })
      expect([402, 431]).toContain(reply.status)
    }
    const beyond = await askRaw(door.url, {
      path: '/api/x402/node-test-again',
      headers: { 'payment-signature': 'A'.repeat(70_000) },
    })
    expect(beyond.status).toBe(431)
    expect(door.checks.count).toBe(0)
    expect((await ask(door.url, '/api/tabs/'.concat(payer.tabId))).status).toBe(200)
  })
})
