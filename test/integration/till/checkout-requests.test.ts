import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, describe, expect, it } from 'vitest'
import { closeMarkets, TestMarket } from '../../support/market.ts'

/** Longest request text of the test services. */
const CHARS_MAX = 10_000

afterEach(closeMarkets)

/** A request text that is unlike anything else in a store. */
const longRequest = (number: number): string => `ok:needle-${number}-${'n'.repeat(9_000)}`

/** What a market has on disk: keys with their values. */
async function dump(market: TestMarket): Promise<ReadonlyMap<string, string>> {
  await market.stop()
  await market.store.close()
  const database = new Level<string, string>(join(market.folder, 'market'))
  const entries = new Map(await database.iterator().all())
  await database.close()
  return entries
}

describe('a finished call', () => {
  for (const [request, state] of [
    [longRequest(1), 'delivered'],
    [longRequest(1).replace('ok', 'fail'), 'failed'],
  ] as const) {
    it(`that was ${state} leaves nothing of its request text in the store`, async () => {
      const market = await TestMarket.open()
      const { payment } = await market.buy(request)
      expect(await market.store.get(payment.txId)).toMatchObject({ state })
      expect(await market.store.get(payment.txId)).not.toHaveProperty('request')
      const values = [...(await dump(market))].filter(([key]) => !key.startsWith('text/')).map(([, value]) => value)
      expect(values.filter((value) => value.includes('needle'))).toEqual([])
      expect(values.length).toBeGreaterThan(0)
    })
  }

  it('still recognises its request: the same one is answered again, another one refused', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy(longRequest(1), { lock: 'none' })
    expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: true } })
    const other = await market.settle(payment, { request: longRequest(2) })
    expect(other).toMatchObject({ ok: false, fault: { code: 'pay/already-redeemed' } })
  })

  it('kept its request while it was under way, so that it could be resumed', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay(longRequest(1))
    market.workbench.hold()
    const answer = market.settle(payment)
    await market.quiet()
    expect(await market.store.get(payment.txId)).toMatchObject({ state: 'executing', request: longRequest(1) })
    market.workbench.release()
    await answer
  })
})

describe('listing calls', () => {
  it('reads no results: the record of a call is short, however long its result is', async () => {
    const market = await TestMarket.open()
    for (let i = 0; i < 5; i++) await market.buy(longRequest(i))
    const { claims } = await market.store.recent(10, null)
    expect(claims.map((claim) => claim.state === 'delivered' && claim.result)).toEqual([null, null, null, null, null])
    const onDisk = await dump(market)
    const listed = claims.map(({ txId }) => onDisk.get(`claim/${txId}`)?.length ?? Number.POSITIVE_INFINITY)
    expect(Math.max(...listed)).toBeLessThan(1_000)
    // The results are stored under other keys.
    expect(claims.map(({ txId }) => (onDisk.get(`text/${txId}`)?.length ?? 0) > 9_000)).toEqual(claims.map(() => true))
  })
})

describe('a request text that no service reads', () => {
  const refusal = (reason: string) => ({
    ok: false,
    fault: {
      code: 'service/invalid-request',
      detail: { reason, example: 'ok', requestFormat: expect.any(String) as unknown },
    },
  })

  it('because it is ill-formed is refused before anything is looked at', async () => {
    const market = await TestMarket.open()
    const { payment } = await market.buy('ok')
    market.store.calls.length = 0
    const reason = 'the request is not well-formed Unicode'
    expect(await market.settle(payment, { request: 'ok:\ud800' })).toEqual(refusal(reason))
    expect(market.store.calls).toEqual([])
  })

  for (const [name, request, reason] of [
    ['too long', 'x'.repeat(CHARS_MAX + 1), `the request is limited to ${CHARS_MAX} characters`],
    ['unusable', 'refuse', 'nothing to do'],
  ] as const) {
    it(`because it is ${name} is refused whatever it is paid with, and consumes nothing`, async () => {
      const market = await TestMarket.open()
      const payment = await market.order('ok')
      // The call does not wait for its payment, whether that is unknown, waiting or mined.
      expect(await market.settle(payment, { request })).toEqual(refusal(reason))
      await market.submit(payment.tx)
      expect(await market.settle(payment, { request })).toEqual(refusal(reason))
      await market.mineWaiting()
      expect(await market.settle(payment, { request })).toEqual(refusal(reason))
      expect(await market.store.get(payment.txId)).toBeUndefined()
      expect(await market.settle(payment)).toMatchObject({ ok: true, value: { replayed: false } })
    })

    it(`because it is ${name} is another request where the payment was redeemed`, async () => {
      const market = await TestMarket.open()
      const { payment } = await market.buy('ok')
      const answer = await market.settle(payment, { request })
      expect(answer).toMatchObject({ ok: false, fault: { code: 'pay/already-redeemed' } })
    })
  }

  it('is read up to its limit', async () => {
    const market = await TestMarket.open()
    const { answer } = await market.buy(`fail:${'x'.repeat(CHARS_MAX - 5)}`)
    expect(answer).toMatchObject({ ok: true, value: { claim: { state: 'failed', reason: 'service/failed' } } })
  })
})
