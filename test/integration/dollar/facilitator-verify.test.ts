import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, addressOf, ECHO, FacilitatorStand, type Order, OTHER, SECOND, WHO } from '../../support/facilitator.ts'
import { accepted, asked, both, type Change, extra, HASH, payload } from '../../support/facilitator-changes.ts'

let stand: FacilitatorStand
beforeAll(async () => {
  stand = await FacilitatorStand.open()
})
afterAll(() => stand.close())

/** Calls that are refused without a look at the chain. */
const MALFORMED: readonly (readonly [string, Change, string, string?])[] = [
  ['a generation that there is not', (body) => void Object.assign(body, { x402Version: 3 }), 'invalid_x402_version'],
  [
    'a payload of the other generation',
    (body) => void Object.assign(body.paymentPayload, { x402Version: 1 }),
    'invalid_x402_version',
  ],
  ['another scheme that is asked for', asked({ scheme: 'exact' }), 'unsupported_scheme'],
  ['another scheme that is paid with', accepted({ scheme: 'exact' }), 'unsupported_scheme'],
  ['another network that is asked for', asked({ network: 'mainnet' }), 'invalid_network'],
  ['another network that is paid on', accepted({ network: 'eip155:8453' }), 'invalid_network'],
  ['another asset', asked({ asset: 'USDC' }), 'invalid_payment_requirements'],
  ['an amount that is none', asked({ amount: '0.5' }), 'invalid_payment_requirements'],
  ['an amount of nothing', asked({ amount: '0' }), 'invalid_payment_requirements'],
  ['no amount', asked({ amount: undefined }), 'invalid_payment_requirements'],
  ['an amount that the payer did not accept', accepted({ amount: '1' }), 'payment_mismatch'],
  ['a payee that the payer did not accept', accepted({ payTo: OTHER }), 'payment_mismatch'],
  ['no time', asked({ maxTimeoutSeconds: 0 }), 'invalid_payment_requirements'],
  ['too much time', asked({ maxTimeoutSeconds: 86_401 }), 'invalid_payment_requirements'],
  ['no service', extra({ serviceId: undefined }), 'invalid_payment_requirements'],
  [
    'a service that no seller published',
    extra({ serviceId: 'acme-nothing' }),
    'service_not_found',
    'invalid_payment_requirements',
  ],
  ['a payee that is no agent', asked({ payTo: 'no agent' }), 'invalid_payment_requirements'],
  ['an agent that there is not', asked({ payTo: 'nobody-there' }), 'agent_not_found'],
  [
    'an agent and a payout that are not one',
    (body, paid) => {
      asked({ payTo: addressOf(WHO.stranger) })(body, paid)
      extra({ agentId: ACME })(body, paid)
    },
    'invalid_payment_requirements',
  ],
  ['a request that is no text', extra({ request: 7 }), 'invalid_payment_requirements'],
  ['a request that is not well-formed', extra({ request: '\ud800' }), 'invalid_payment_requirements'],
  ['a hash that is none', extra({ requestHash: 'x' }), 'invalid_payment_requirements'],
  ['a hash of another request', extra({ requestHash: HASH }), 'invalid_payment_requirements', 'invalid_settlement'],
  ['no transaction', payload({ txId: undefined }), 'invalid_payment'],
  ['a secret that is none', payload({ secret: 'short' }), 'invalid_payment'],
  ['a payload that is none', (body) => void Object.assign(body.paymentPayload, { payload: null }), 'invalid_payment'],
]

/** Payments that are refused. */
const MISPAID: readonly (readonly [string, Order, Change, string])[] = [
  ['an unknown transaction', {}, payload({ txId: HASH }), 'payment_not_found'],
  ['another agent', {}, both({ payTo: OTHER }), 'service_not_found'],
  ['another service', {}, extra({ serviceId: SECOND }), 'payment_mismatch'],
  [
    'more than was paid',
    {},
    (body, paid) => {
      asked({ amount: (paid.amount + 1n).toString() })(body, paid)
      accepted({ amount: (paid.amount + 1n).toString() })(body, paid)
    },
    'payment_mismatch',
  ],
  ['an amount that was never quoted', { amount: 123_456n }, () => {}, 'payment_mismatch'],
  ['no secret', {}, payload({ secret: undefined }), 'secret_missing'],
  ['no secret for a commitment alone', { lock: 'commitment' }, payload({ secret: undefined }), 'secret_missing'],
  ['another secret', {}, payload({ secret: HASH }), 'payment_mismatch'],
  ['another request', {}, extra({ request: 'other' }), 'payment_mismatch'],
  ['neither request nor hash', {}, extra({ request: undefined }), 'request_missing'],
  ['more time than the escrow has', { term: 100 }, asked({ maxTimeoutSeconds: 600 }), 'payment_expired'],
  ['fewer confirmations than the price wants', { serviceId: SECOND }, () => {}, 'payment_unconfirmed'],
]

describe('verify', () => {
  it('accepts a valid payment in both generations, by agent id and by payout address', async () => {
    const paid = await stand.pay()
    const facts = {
      txId: paid.txId,
      agentId: ACME,
      serviceId: ECHO,
      amount: paid.amount.toString(),
      commitment: 'opened',
    }
    for (const version of [1, 2]) {
      const said = await stand.verify(stand.body(paid, version))
      expect(said).toMatchObject({ isValid: true, payer: addressOf(WHO.buyer), extra: { ...facts, confirmations: 1 } })
      const byAddress = stand.body(paid, version)
      Object.assign(byAddress.paymentRequirements, { payTo: addressOf(WHO.payout) })
      if (version === 2) accepted({ payTo: addressOf(WHO.payout) })(byAddress, paid)
      extra({ agentId: ACME })(byAddress, paid)
      expect(await stand.verify(byAddress)).toMatchObject({ isValid: true, extra: facts })
    }
  })

  it('accepts payments without a lock, and says if it could not check the request', async () => {
    const open = await stand.pay({ lock: 'none' })
    expect(await stand.verify(stand.body(open))).toMatchObject({ isValid: true, extra: { commitment: 'none' } })
    const paid = await stand.pay()
    const body = stand.body(paid)
    extra({ request: undefined, requestHash: HASH })(body, paid)
    expect(await stand.verify(body)).toMatchObject({ isValid: true, extra: { commitment: 'unchecked' } })
  })

  for (const [what, change, reason, settleReason = reason] of MALFORMED) {
    it(`refuses ${what}, as settle does`, async () => {
      const paid = await stand.pay()
      const body = stand.body(paid)
      change(body, paid)
      expect(await stand.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
      const settling = stand.body(paid)
      extra({ settlement: await stand.settlement(paid) })(settling, paid)
      change(settling, paid)
      expect(await stand.settle(settling)).toMatchObject({ success: false, errorReason: settleReason })
      expect(await stand.records.get(paid.txId)).toBeUndefined()
    })
  }

  it.each(MISPAID)('refuses %s', async (_, order, change, reason) => {
    const paid = await stand.pay(order)
    const body = stand.body(paid)
    change(body, paid)
    const said = await stand.verify(body)
    expect(said).toMatchObject({ isValid: false, invalidReason: reason })
    expect(said.payer).toBeUndefined()
  })

  it('asks to wait for an unmined payment, and wants more confirmations for more value at risk', async () => {
    const paid = await stand.order({ serviceId: SECOND })
    await stand.mempool.submit(paid.tx)
    const early = await stand.verify(stand.body(paid))
    expect(early).toMatchObject({ invalidReason: 'payment_unconfirmed', extra: { retry: true, confirmations: 0 } })
    await stand.mine([paid.tx])
    const shallow = await stand.verify(stand.body(paid))
    expect(shallow).toMatchObject({ isValid: false, extra: { retry: true, confirmations: 1, needed: 6 } })
    await stand.mineEmpty(5)
    expect(await stand.verify(stand.body(paid))).toMatchObject({ isValid: true, extra: { confirmations: 6 } })
  })

  it('counts all payments to one agent in one block together', async () => {
    await stand.publish(ECHO, 60_000n)
    await stand.mineEmpty(20)
    const [first, second] = [await stand.order(), await stand.order()]
    await stand.mine([first.tx, second.tx])
    expect(await stand.verify(stand.body(first))).toMatchObject({ isValid: true })
    expect(await stand.verify(stand.body(second))).toMatchObject({ isValid: false, extra: { needed: 6 } })
    expect(await stand.verify(stand.body(first))).toMatchObject({ isValid: true })
    await stand.mineEmpty(5)
    expect(await stand.verify(stand.body(second))).toMatchObject({ isValid: true })
  })

  it('refuses a payment whose transaction failed, and one whose escrow is closed', async () => {
    const failing = await stand.order({ serviceId: 'acme-nothing' as typeof ECHO, amount: 800_000n })
    await stand.mine([failing.tx])
    const body = stand.body({ ...failing, serviceId: ECHO })
    expect(await stand.verify(body)).toMatchObject({ isValid: false, invalidReason: 'payment_failed' })
    const closed = await stand.pay({ term: 100 })
    await stand.mineEmpty(100)
    expect(stand.closure(closed.txId)).toMatchObject({ how: 'expired' })
    expect(await stand.verify(stand.body(closed))).toMatchObject({ isValid: false, invalidReason: 'payment_closed' })
  })
})

describe('an offer', () => {
  it('is accepted by verify when it is paid', async () => {
    const offer = (await stand.offer(ACME, ECHO)) as {
      available: boolean
      v2: { amount: string; extra: { term: number } }
      v1: { maxAmountRequired: string }
    }
    expect(offer).toMatchObject({
      available: true,
      v2: { payTo: addressOf(WHO.payout), extra: { agentId: ACME, serviceId: ECHO } },
    })
    expect(offer.v1.maxAmountRequired).toBe(offer.v2.amount)
    const paid = await stand.pay({ amount: BigInt(offer.v2.amount), term: offer.v2.extra.term })
    const body = stand.body(paid)
    const { extra: terms, ...rest } = offer.v2
    body.paymentRequirements = { ...rest, extra: { ...terms, request: paid.request } }
    body.paymentPayload.accepted = offer.v2
    expect(await stand.verify(body)).toMatchObject({ isValid: true })
  })

  it('is not made for an unpublished service', async () => {
    expect(await stand.offer('nobody-there', ECHO)).toMatchObject({ code: 'rpc/agent-not-found' })
    expect(await stand.offer(ACME, 'acme-nothing')).toMatchObject({ code: 'facilitator/service' })
  })
})
