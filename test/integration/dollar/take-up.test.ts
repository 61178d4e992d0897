import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { closeRails, storeWith, TERMS, TestRail } from '../../support/dollar.ts'
import { closeMarkets } from '../../support/market.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

it('a call is served that comes while its claim, left by a crash, is being released', async () => {
  const gate = Promise.withResolvers<void>()
  const rail = await TestRail.open({
    wrapStore: (store) =>
      storeWith(store, {
        release: async (from, id) => {
          await gate.promise
          return store.release(from, id)
        },
      }),
  })
  const call = rail.order()
  const { authorization, payload } = call.payment
  await rail.store.claim({
    ...rail.dollar.identify(call),
    state: 'claimed',
    network: TERMS.network.caip2,
    asset: TERMS.asset.contract.toLowerCase(),
    payer: authorization.from,
    nonce: authorization.nonce,
    amount: '2000',
    priceUsdMicros: '2000',
    validBefore: Number(authorization.validBefore),
    version: 2,
    claimedAtMs: Date.now(),
    request: call.request,
    payload,
    unsent: true,
  })
  await rail.till.takeUp()
  const told = rail.codeOf(call)
  await setTimeout(50)
  gate.resolve()
  expect(await told).toBe('settled')
})
