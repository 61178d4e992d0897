import { afterEach, describe, expect, it } from 'vitest'
import { verifyTabSignature } from '../../../consensus/crypto/tab-signing.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { encodeTabReceipt, type TabReceipt, tabReceiptMessage } from '../../../consensus/tx/tab-messages.ts'
import { TABS } from '../../../marketplace/ledger/tab-records.ts'
import { ClaimsAway } from '../../../marketplace/till/claim-store.ts'
import type { TabStore } from '../../../marketplace/till/rails/tab/tab-store.ts'
import type { JsonOf } from '../../../rpc/contract/route.ts'
import type { ROUTES } from '../../../rpc/contract/table.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import type { JsonBody, Reply } from '../../support/api.ts'
import { verdict } from '../../support/api.ts'
import { shownRail } from '../../support/discovery-node.ts'
import { ONCE } from '../../support/market.ts'
import { base64, closeDoors, decoded, headerOf, paymentOf, TabDoor } from '../../support/tab-door.ts'
import { units } from '../../support/unsigned.ts'

afterEach(closeDoors)

type Receipt = JsonOf<(typeof ROUTES)['listTabReceipts']>['receipts'][number]

const told = (reply: Reply<object>): JsonBody => reply.body as JsonBody
const offersIn = (reply: Reply<object>): readonly JsonBody[] => (told(reply).accepts ?? []) as readonly JsonBody[]
const extraOf = (offer: JsonBody | undefined): JsonBody => (offer?.extra ?? {}) as JsonBody

describe('a call that is paid from a tab', () => {
  it('is answered with result, signed receipt and the state of the tab', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const reply = await door.call('ok', payer.voucher('ok'))
    expect(verdict(reply)).toBe('200 paid')
    const receipt = told(reply).receipt as JsonBody
    const { price } = door
    expect(receipt).toMatchObject({
      ...{ serviceId: 'node-test-again', txId: payer.tabId, rail: 'tab', asset: 'FAR', amountBaseUnits: `${price}` },
      tab: { tabId: payer.tabId, seq: 1, n: 1, outcome: 0, charged: `${price}`, cumulative: `${price}` },
    })
    expect(decoded(reply, 'payment-response')).toEqual({
      ...{ success: true, transaction: '', network: 'farthing:1', amount: '', payer: receipt.caller },
      extra: {
        commitmentId: `${payer.tabId}:1`,
        chargedAmount: `${price}`,
        channelState: {
          ...{ channelId: payer.tabId, balance: `${payer.deposit}`, totalClaimed: '0' },
          ...{ chargedCumulativeAmount: `${price}`, receipts: 1, nextSeq: 2, withdrawRequestedAt: 0 },
          expiresAt: expect.any(Number),
        },
        receipt: receipt.tab,
        next: { amount: `${price}`, validUntil: expect.any(Number) },
      },
    })
    expect(reply.headers.get('x-payment-response')).toBeNull()
    expect(reply.headers.get('cache-control')).toBe('private, no-store')
    const tab = door.market.test.chain.database.get(TABS, payer.tabId)!
    expect(isSigned(door, receipt.tab as Receipt, tab.receiptKey)).toBe(true)
  })

  it('is answered again, free, with the same bytes; then the sum goes on', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const payload = payer.voucher('ok')
    const first = await door.call('ok', payload)
    const again = await door.call('ok', payload)
    expect([again.text, again.headers.get('idempotent-replay')]).toEqual([first.text, 'true'])
    const next = await door.call('ok:2', payer.voucher('ok:2'))
    expect((told(next).receipt as { tab: JsonBody }).tab).toMatchObject({ n: 2, cumulative: `${2n * door.price}` })
    expect(door.market.workbench.begun).toHaveLength(2)
  })

  it('runs beside others of the same tab: each has its number, its receipt and its part of the sum', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const requests = Array.from({ length: 8 }, (_, i) => `ok:${i}`)
    const payloads = requests.map((request) => payer.voucher(request))
    // The last voucher allows most, and comes first.
    const calls = requests.map((request, i) => [request, payloads[i]] as const).reverse()
    const replies = await Promise.all(calls.map(([request, payload]) => door.call(request, payload as object)))
    expect(replies.map(verdict)).toEqual(calls.map(() => '200 paid'))
    const receipts = replies.map((reply) => (told(reply).receipt as { tab: Receipt }).tab).sort((a, b) => a.n - b.n)
    expect(receipts.map(({ n, cumulative }) => [n, cumulative])).toEqual(
      calls.map((_, i) => [i + 1, `${BigInt(i + 1) * door.price}`]),
    )
    expect(new Set(receipts.map(({ seq }) => seq))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]))
  })

  it('takes scheme and network alone, a full echo of the offer, and generation 1', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const quote = await door.call('ok', null, { query: '?rail=tab' })
    const { accepts, resource } = decoded(quote, 'payment-required') as { accepts: JsonBody[]; resource: JsonBody }
    const echo = { x402Version: 2, resource, accepted: accepts[0], payload: payer.voucher('ok') }
    const first = { x402Version: 1, scheme: 'batch-settlement', network: 'mainnet', payload: payer.voucher('ok') }
    for (const payment of [paymentOf(payer.voucher('ok')), echo, first])
      for (const name of ['payment-signature', 'x-payment'])
        expect(verdict(await door.call('ok', null, { [name]: base64(payment) }))).toBe('200 paid')
  })

  it('waits for its deposit, which can be handed over here too', async () => {
    const door = await TabDoor.open()
    const payer = await door.newPayer()
    const deposit = { ...payer.voucher('ok'), type: 'deposit', transaction: payer.tabId }
    const early = await door.call('ok', deposit)
    expect([verdict(early), early.body.accepts, early.headers.get('retry-after')]).toEqual([
      ...['402 payment_not_found', []],
      '1',
    ])
    expect((await door.handOver(payer.opening)).body).toMatchObject({ tabId: payer.tabId, status: 'mempool' })
    const paid = door.call('ok', deposit)
    await door.market.mineWaiting()
    expect(verdict(await paid)).toBe('200 paid')
  })

  it('is answered without the state of its tab while the store is away: it is charged by then', async () => {
    const away = { isAway: false }
    const wrapTabs = (store: TabStore): TabStore =>
      new Proxy(store, {
        get: (target, name) => {
          if (name === 'tab' && away.isAway)
            return () => Promise.reject(new ClaimsAway(fault('market/claims-away', { reason: 'gone' })))
          const member = Reflect.get(target, name, target) as unknown
          return typeof member === 'function' ? member.bind(target) : member
        },
      })
    const door = await TabDoor.open({ wrapTabs })
    const payer = await door.payer()
    away.isAway = true
    const reply = await door.call('ok', payer.voucher('ok'))
    expect(verdict(reply)).toBe('200 paid')
    const { extra } = decoded(reply, 'payment-response') as { extra: JsonBody }
    expect([extra.channelState, extra.chargedAmount]).toEqual([undefined, `${door.price}`])
    expect(verdict(await door.call('ok', payer.voucher('ok', { seq: 1 })))).toBe('402 tab_seq_used')
  })

  it('costs nothing if the service fails, and the receipt says so', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const reply = await door.call('fail', payer.voucher('fail'))
    expect(verdict(reply)).toBe('502 upstream_failed')
    expect(told(reply)).toMatchObject({
      error: 'node-test-again failed: it was told to fail. Nothing was charged to the tab.',
      receipt: { amount: 0, amountBaseUnits: '0', tab: { n: 1, outcome: 1, charged: '0', cumulative: '0' } },
    })
    expect(told(reply)).not.toHaveProperty('refund')
    expect(decoded(reply, 'payment-response')).toMatchObject({
      success: false,
      extra: { chargedAmount: '0', channelState: { chargedCumulativeAmount: '0', nextSeq: 2 } },
    })
    const { ceiling } = payer
    expect(verdict(await door.call('ok', payer.voucher('ok', { ceiling })))).toBe('200 paid')
  })

  it('of a request that cannot be used charges nothing, and says how to go on', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const reply = await door.call('refuse', payer.voucher('refuse'))
    expect(verdict(reply)).toBe('400 invalid_request')
    expect(reply.body.details).toMatchObject({ payment: `${payer.tabId}:1` })
    expect(reply.body.error).toContain(
      'Nothing was charged to the tab. A voucher with the same ceiling pays for a corrected',
    )
  })
})

describe('a refusal', () => {
  it('carries what the payer needs to go on: state, highest voucher, last receipt', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const payload = payer.voucher('ok')
    const paid = await door.call('ok', payload)
    const { receipt } = told(paid) as { receipt: { tab: JsonBody } }
    const changes = {
      '402 tab_seq_used': { seq: 1 },
      '402 tab_ceiling_low': { seq: 2, ceiling: door.price + 1n },
      '402 tab_deposit_exceeded': { seq: 2, ceiling: payer.deposit + 1n },
    }
    for (const [expected, change] of Object.entries(changes)) {
      const reply = await door.call('ok', payer.voucher('ok', change))
      expect(verdict(reply)).toBe(expected)
      const { accepts } = decoded(reply, 'payment-required') as { accepts: JsonBody[] }
      expect(accepts.map(({ scheme }) => scheme)).toEqual(['batch-settlement'])
      const { signature, maxClaimableAmount } = payload.voucher
      const corrective = {
        channelState: { channelId: payer.tabId, chargedCumulativeAmount: `${door.price}`, receipts: 1, nextSeq: 2 },
        voucherState: { seq: 1, maxClaimableAmount, signature, context: expect.stringMatching(/^[0-9a-f]{64}$/) },
        lastReceipt: receipt.tab,
      }
      expect(extraOf(accepts[0])).toMatchObject(corrective)
      expect(extraOf(offersIn(reply)[0])).toMatchObject(corrective)
      expect(reply.headers.get('payment-required')!.length).toBeLessThan(6_000)
    }
    expect(verdict(await door.call('ok', payer.voucher('ok', { seq: 2, ceiling: 2n * door.price })))).toBe('200 paid')
  })

  it('shows a stranger nothing of a tab: with a voucher that the payer did not sign for this request', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    await door.call('ok', payer.voucher('ok'))
    const good = payer.voucher('ok', { seq: 1 })
    const strangers = [
      payer.voucher('other', { boundTo: 'ok', seq: 2, ceiling: 2n * door.price }),
      { ...good, voucher: { ...good.voucher, signature: 'ab'.repeat(64) } },
      { ...good, voucher: { ...good.voucher, secret: 'ab'.repeat(32) } },
    ]
    for (const payload of strangers) {
      const reply = await door.call('other', payload)
      expect(reply.status).toBe(402)
      const [offer] = offersIn(reply)
      expect(offer).toMatchObject({ scheme: 'batch-settlement' })
      for (const name of ['channelState', 'voucherState', 'lastReceipt'])
        expect(extraOf(offer)).not.toHaveProperty(name)
    }
  })

  it('tells a stranger neither what was charged nor how many calls there were, whatever it tries', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    for (let i = 0; i < 3; i++) await door.call('ok', payer.voucher('ok'))
    const tries = [
      { seq: 1 },
      { seq: 4, ceiling: 1n },
      { seq: 4, ceiling: 10n ** 12n },
      { seq: 1_000, ceiling: 90_000_000n },
      { seq: 4, ceiling: 90_000_000n },
    ]
    for (const change of tries) {
      const { voucher, ...rest } = payer.voucher('ok', change)
      const reply = await door.call('ok', { ...rest, voucher: { ...voucher, signature: 'ab'.repeat(64) } })
      expect(verdict(reply)).toBe('402 tab_voucher_signature')
      expect(Object.keys((told(reply).details ?? {}) as object)).toEqual(['tabId'])
    }
  })

  it('of an unknown tab has the offer alone', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const reply = await door.call('ok', { ...payer.voucher('ok'), channelId: 'cd'.repeat(32) })
    expect(verdict(reply)).toBe('402 tab_unknown')
    expect(Object.keys(extraOf(offersIn(reply)[0]))).not.toContain('channelState')
  })

  it('names the place of every member that cannot be read, and asks for no other payment', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const good = payer.voucher('ok')
    const voucher = (change: object): object => ({ ...good, voucher: { ...good.voucher, ...change } })
    const refund = payer.refund()
    const bad: readonly (readonly [object | string | null, string])[] = [
      [null, 'payload must be an object'],
      ['x', 'payload must be an object'],
      [{ ...good, type: 'other' }, 'payload.type must be voucher, deposit or refund'],
      [{ ...good, channelId: payer.tabId.toUpperCase() }, 'payload.channelId must be 64 lower-case hex digits'],
      [{ ...good, channelId: `0x${payer.tabId}` }, 'payload.channelId must be 64 lower-case hex digits'],
      [{ ...good, channel: 1 }, 'payload: there is no member channel'],
      [{ ...good, voucher: [] }, 'payload.voucher must be an object'],
      [voucher({ seq: '1' }), 'payload.voucher.seq must be a whole number from 0 to 4294967295'],
      [voucher({ seq: -1 }), 'payload.voucher.seq must be'],
      [voucher({ seq: 1.5 }), 'payload.voucher.seq must be'],
      [voucher({ seq: 4_294_967_296 }), 'payload.voucher.seq must be'],
      [voucher({ maxClaimableAmount: 5 }), 'payload.voucher.maxClaimableAmount must be base units as decimal text'],
      [voucher({ maxClaimableAmount: '01' }), 'payload.voucher.maxClaimableAmount must be'],
      [voucher({ maxClaimableAmount: `${1n << 128n}` }), 'payload.voucher.maxClaimableAmount must be'],
      [voucher({ maxClaimableAmount: '9'.repeat(5_000) }), 'payload.voucher.maxClaimableAmount must be'],
      [voucher({ secret: 'ab' }), 'payload.voucher.secret must be 64 lower-case hex digits'],
      [voucher({ signature: 'AB'.repeat(64) }), 'payload.voucher.signature must be 128 lower-case hex digits'],
      [voucher({ ceiling: '1' }), 'payload.voucher: there is no member ceiling'],
      [{ ...good, type: 'deposit' }, 'payload.transaction must be 64 lower-case hex digits'],
      [{ ...refund, timeMs: '5' }, 'payload.timeMs must be a time in whole milliseconds'],
      [{ ...refund, signature: 'ab' }, 'payload.signature must be 128 lower-case hex digits'],
    ]
    for (const [payload, reason] of bad) {
      const reply = await door.call('ok', null, { 'payment-signature': base64(paymentOf(payload as object)) })
      expect([verdict(reply), reply.body.accepts]).toEqual(['402 invalid_payment', []])
      expect(reply.body.error).toContain(`the payment in payment-signature cannot be read: ${reason}`)
    }
    expect(door.checks.count).toBe(0)
    expect(verdict(await door.call('ok', good))).toBe('200 paid')
  })

  it('reads the newest receipt of the payer, which it may add: only one that the seller signed says anything', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const first = told(await door.call('ok', payer.voucher('ok'))) as { receipt: { tab: JsonBody } }
    const newest = first.receipt.tab
    const forged = { ...newest, n: 9 }
    for (const lastReceipt of [newest, forged])
      expect(verdict(await door.call('ok', { ...payer.voucher('ok'), lastReceipt }))).toBe('200 paid')
    const { signature: _, ...unsigned } = newest
    const odd = [
      ...[null, 'x', [], {}, unsigned, { ...newest, n: 0 }, { ...newest, seq: 2 ** 32 }, { ...newest, outcome: 2 }],
      ...[
        { ...newest, charged: `${1n << 128n}` },
        { ...newest, serviceId: 'x'.repeat(400) },
        { ...newest, timeMs: 2 ** 60 },
      ],
      // No service can have such an id: what the seller signs cannot be made of it.
      ...['----', '1abc', 'abc-'].map((serviceId) => ({ ...forged, serviceId })),
    ]
    for (const lastReceipt of odd) {
      const reply = await door.call('ok', { ...payer.voucher('ok'), lastReceipt })
      expect([verdict(reply), reply.body.accepts]).toEqual(['402 invalid_payment', []])
      expect(reply.body.error).toContain('cannot be read: payload.lastReceipt')
    }
  })

  it('compares what a payment repeats of an offer', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const accepted = { scheme: 'batch-settlement', network: 'farthing:1' }
    const other = 'cd'.repeat(32)
    for (const [change, field] of [
      [{ network: 'eip155:8453' }, 'network'],
      [{ asset: 'USDC' }, 'accepted.asset'],
      [{ payTo: other }, 'accepted.payTo'],
      [{ extra: { genesis: other } }, 'accepted.extra.genesis'],
      [{ extra: { agentId: 'other' } }, 'accepted.extra.agentId'],
    ] as const) {
      const payment = { x402Version: 2, accepted: { ...accepted, ...change }, payload: payer.voucher('ok') }
      const reply = await door.call('ok', null, { 'payment-signature': base64(payment) })
      expect([verdict(reply), reply.body.details?.field]).toEqual(['402 payment_mismatch', field])
    }
    expect(door.market.workbench.begun).toEqual([])
  })

  it('of a node without tabs names the scheme that it takes', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    Object.assign(door.node.market!, { tabs: null })
    const reply = await door.call('ok', payer.voucher('ok'))
    expect([verdict(reply), reply.body.details?.expected]).toEqual(['402 payment_mismatch', 'native-x402'])
    const quote = await door.call('ok', null, { query: '?rail=tab' })
    expect(quote.body.error).toContain('this node takes no tabs: each call is paid by itself')
    expect(offersIn(quote).map(({ scheme }) => scheme)).toEqual(['native-x402'])
  })
})

describe('the offer of a tab', () => {
  it('stands under ?rail=tab alone, in both generations', async () => {
    const door = await TabDoor.open({ stable: shownRail() })
    const schemes = async (query: string): Promise<readonly unknown[]> =>
      offersIn(await door.call('ok', null, { query })).map(({ scheme }) => scheme)
    expect(await schemes('')).toEqual(['exact', 'native-x402'])
    expect(await schemes('?rail=native')).toEqual(['native-x402'])
    expect(await schemes('?rail=tab')).toEqual(['batch-settlement'])
    const reply = await door.call('ok', null, { query: '?rail=tab' })
    const { params } = door.market.test.chain.ruleBook
    const { accepts, resource } = decoded(reply, 'payment-required') as { accepts: JsonBody[]; resource: JsonBody }
    expect(resource.url).toBe(`${door.url}/api/x402/node-test-again?rail=tab`)
    const terms = { minDeposit: `${10n * door.price}`, closeDelay: 400 }
    expect(accepts[0]).toEqual({
      ...{ scheme: 'batch-settlement', network: 'farthing:1', amount: `${door.price}`, asset: 'FAR' },
      ...{ payTo: expect.stringMatching(/^dfar1/), maxTimeoutSeconds: expect.any(Number) },
      extra: {
        ...{ genesis: door.network.genesis, networkName: params.name, decimals: 8, agentId: 'shop' },
        ...{ serviceId: 'node-test-again', receiverAuthorizer: expect.stringMatching(/^[0-9a-f]{64}$/) },
        ...{ withdrawDelay: 1_200, ...terms, terms: [1_200, 28_800, 201_600, 864_000] },
        ...{ validUntil: expect.any(Number), inFlight: 8, priceUsd: 0.002 },
      },
    })
    const { extra, ...v1 } = offersIn(reply)[0]!
    expect(extra).toEqual(accepts[0]!.extra)
    expect(v1).toMatchObject({ network: 'mainnet', maxAmountRequired: `${door.price}`, resource: resource.url })
  })

  it('is gone while the seller takes no calls on tabs, and says why', async () => {
    const door = await TabDoor.open()
    expect(offersIn(await door.call('ok', null, { query: '?rail=tab' }))).toHaveLength(1)
    door.market.shop.closeWhile(() => 'the claims cannot be written')
    const reply = await door.call('ok', null, { query: '?rail=tab' })
    expect([offersIn(reply), reply.body.offers?.length]).toEqual([[], 1])
    expect(reply.body.unavailableReason).toContain('the claims cannot be written')
  })
})

describe('GET of the paid address', () => {
  it('answers 402 as a POST without a body does', async () => {
    const door = await TabDoor.open()
    for (const query of ['', '?rail=tab']) {
      const got = await door.get(null, query)
      const posted = await door.call(undefined, null, { query })
      expect(got.status).toBe(402)
      expect({ ...got.body, requestId: '' }).toEqual({ ...posted.body, requestId: '' })
      expect(got.headers.get('payment-required')).toBe(posted.headers.get('payment-required'))
    }
    expect(verdict(await door.get(null, '?net=other'))).toBe('400 unsupported_network')
  })

  it('ends a tab for its payer alone', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    await door.call('ok', payer.voucher('ok'))
    const other = await door.payer(3)
    const forged = { ...payer.refund(), signature: other.refund().signature }
    expect(verdict(await door.get(forged))).toBe('401 tab_query_signature')
    const late = { type: 'refund', channelId: payer.tabId, ...payer.query('refund', door.market.time.now() - 300_001) }
    expect(verdict(await door.get(late))).toBe('400 tab_query_time')
    const asState = { type: 'refund', channelId: payer.tabId, ...payer.query('state') }
    expect(verdict(await door.get(asState))).toBe('401 tab_query_signature')
    expect((await door.shop.store.tab(payer.tabId))?.refundAskedAtMs).toBeNull()
    const reply = await door.get(payer.refund())
    expect(reply.status).toBe(200)
    expect(told(reply)).toMatchObject({ closing: true, tabId: payer.tabId })
    const response = decoded(reply, 'payment-response')
    expect(response).toMatchObject({ success: true, transaction: '', amount: '', network: 'farthing:1' })
    expect(response.extra).toEqual({ channelState: told(reply).channelState })
    expect((await door.shop.store.tab(payer.tabId))?.refundAskedAtMs).toBe(door.market.time.now())
    expect(verdict(await door.call('ok', payer.voucher('ok')))).toBe('402 tab_is_closing')
  })

  it('never runs a service', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const reply = await door.get(payer.voucher(''))
    expect([verdict(reply), reply.body.accepts]).toEqual(['402 invalid_payment', []])
    expect(reply.body.error).toContain('it takes a refund alone; send a call with POST')
    const native = { x402Version: 2, accepted: { scheme: 'native-x402' }, payload: { txId: 'ab'.repeat(32) } }
    const other = await fetch(`${door.url}/api/x402/${ONCE}`, { headers: { 'payment-signature': base64(native) } })
    expect(other.status).toBe(402)
    expect(door.market.workbench.begun).toEqual([])
  })
})

it('the header of a payment stays small', async () => {
  const door = await TabDoor.open()
  const payer = await door.payer()
  expect(headerOf(payer.voucher('ok')).length).toBeLessThan(800)
})

function isSigned(door: TabDoor, { signature, ...receipt }: Receipt, key: string): boolean {
  const { charged, cumulative, ...rest } = receipt
  const values = {
    ...rest,
    charged: units(BigInt(charged)),
    cumulative: units(BigInt(cumulative)),
  }
  const message = tabReceiptMessage(door.network, encodeTabReceipt(values as TabReceipt))
  return verifyTabSignature(NATIVE_BACKEND, { key: fromHex(key), message, signature: fromHex(signature) })
}
