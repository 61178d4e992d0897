import { afterEach, beforeEach, expect, it } from 'vitest'
import { facilitatorRequest } from '../../../../marketplace/till/rails/dollar/requirements.ts'
import { HttpFacilitator } from '../../../../src/adapters/facilitator-http.ts'
import { newPayer, PRICE, paymentOf, TERMS } from '../../../support/dollar.ts'
import { TestFacilitator } from '../../../support/dollar-facilitator.ts'
import { TestToken } from '../../../support/stable-token.ts'

const token = new TestToken(TERMS)
let server: TestFacilitator
let facilitator: HttpFacilitator

beforeEach(async () => {
  server = await new TestFacilitator(token).open()
  facilitator = new HttpFacilitator(server.url)
})
afterEach(() => server.close())

function request() {
  const payer = newPayer()
  token.mint(payer.address, PRICE)
  const { version, payload } = paymentOf(payer)
  const seller = { terms: TERMS, offerOf: () => ({ resource: { url: 'http://127.0.0.1/' }, extensions: {} }) }
  return facilitatorRequest(seller, { serviceId: 'x' as never, amount: `${PRICE}`, version, payload })
}

it('hears an answer that came while this process could not run for longer than the time limit', async () => {
  const limitMs = 1_000
  const answer = facilitator.verify(request(), limitMs)
  const untilMs = performance.now() + 2 * limitMs
  while (performance.now() < untilMs);
  expect((await answer).is).toBe('good')
})

it('gives up on one that never answers, and may have been heard', async () => {
  server.profile = 'mute'
  const answer = await facilitator.verify(request(), 100)
  expect(answer).toEqual({ is: 'unknown', detail: 'no answer within 100 ms', transaction: null })
})

it.each(['verify', 'settle'] as const)(
  'that has too much to do is busy at %s, for as long as it says',
  async (what) => {
    server.perSecond = 0
    const answer = await facilitator[what](request(), 60_000)
    expect(answer).toEqual({ is: 'busy', detail: 'it answered 429: it is asked too often', waitMs: 1_000 })
    expect(await facilitator.supports(TERMS.network, 60_000)).toMatchObject({
      ok: false,
      answered: false,
      isBusy: true,
    })
  },
)

it.each([
  ['execution reverted: FiatTokenV2: authorization is used or canceled', 'authorization_used_or_canceled'],
  ['Authorization was already used', 'authorization_used_or_canceled'],
  ['AuthorizationUsed', 'authorization_used_or_canceled'],
  ['nonce too low: already used', 'duplicate_nonce'],
  ['already known', 'duplicate_nonce'],
  ['INSUFFICIENT_FUNDS', 'insufficient_funds'],
  ['the account org-4711 is paused', 'refused'],
  ['settlement was refused: owner caused it', 'refused'],
  ['insufficient_funds', 'insufficient_funds'],
])('keeps of words whether they may say that a payment was used: %s', async (words, reason) => {
  Object.assign(server, { profile: 'refuses', words })
  expect(await facilitator.settle(request(), 60_000)).toEqual({ is: 'refused', reason })
  expect(await facilitator.verify(request(), 60_000)).toEqual({ is: 'refused', reason })
})
