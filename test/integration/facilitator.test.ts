import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEVNET } from '../../config/networks/devnet.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { transactionFromJson } from '../../consensus/tx/json.ts'
import { signTransaction } from '../../consensus/tx/sign.ts'
import { wallet } from '../support/chain.ts'
import {
  ACME,
  addressOf,
  type Body,
  ECHO,
  FacilitatorStand,
  type Order,
  OTHER,
  type Paid,
  SECOND,
  WHO,
} from '../support/facilitator.ts'
import { twoOfThree } from '../support/signed-texts.ts'

let stand: FacilitatorStand
beforeAll(async () => {
  stand = await FacilitatorStand.open()
})
afterAll(() => stand.close())

const HASH = 'ab'.repeat(32)

/** Something done to a good body. */
type Change = (body: Body, paid: Paid) => void

const asked =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentRequirements, fields)
const extra =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentRequirements.extra as object, fields)
const payload =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentPayload.payload as object, fields)
const accepted =
  (fields: object): Change =>
  (body) =>
    void Object.assign(body.paymentPayload.accepted as object, fields)

const both =
  (fields: object): Change =>
  (body, paid) => {
    asked(fields)(body, paid)
    accepted(fields)(body, paid)
  }

/** Refusals of what is wrong with a call, whatever the chain holds. */
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
    'a service that nobody published',
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

/** Refusals of what is wrong with a payment. */
const MISPAID: readonly (readonly [string, Order, Change, string])[] = [
  ['a transaction that nobody knows', {}, payload({ txId: HASH }), 'payment_not_found'],
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
  it('takes a good payment in both generations, by agent id and by payout address', async () => {
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

  it('takes payments without a lock, and says where it could not check the request', async () => {
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

  it('waits for a payment that is on its way, and wants more confirmations where more is at stake', async () => {
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

  it('counts what one block holds for one agent together', async () => {
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

/** A body with a settlement in it. */
async function settling(
  paid: Paid,
  change: Parameters<FacilitatorStand['settlement']>[1] = {},
  version = 2,
): Promise<Body> {
  const body = stand.body(paid, version)
  extra({ settlement: await stand.settlement(paid, change) })(body, paid)
  return body
}

interface Unsigned {
  readonly txId: string
  readonly body: string
  readonly transaction: object
  readonly signing: { readonly message: string; readonly context: string }
}

/** Signs the receipt as a seller would: over the message that was handed out. */
async function signed(unsigned: Unsigned, by = wallet(WHO.settler)) {
  const signatures = await by.sign(
    Buffer.from(unsigned.signing.message, 'hex'),
    Buffer.from(unsigned.signing.context, 'hex'),
  )
  const json = unsigned.transaction as { readonly witness: object }
  const witness = {
    ...json.witness,
    signatures: signatures.map(({ keyIndex, bytes }) => ({ keyIndex, bytes: toHex(bytes) })),
  }
  const tx = transactionFromJson(DEVNET.addressPrefix, { ...json, witness })
  if (!tx.ok) throw new Error(JSON.stringify(tx.fault))
  return tx.value
}

describe('settle', () => {
  it('records, and hands out a receipt that pays the seller once it is signed', async () => {
    const paid = await stand.pay()
    const body = await settling(paid)
    const first = await stand.settle(body)
    const amount = paid.amount.toString()
    expect(first).toMatchObject({
      ...{ success: true, transaction: paid.txId, network: 'farthing:1', payer: addressOf(WHO.buyer), amount },
      extra: {
        replayed: false,
        receipt: { status: 'owed', txId: null },
        record: { outcome: 'delivered', settler: addressOf(WHO.settler) },
      },
    })
    const unsigned = first.extra?.receiptTransaction as Unsigned
    const tx = await signed(unsigned)
    expect(tx.txId).toBe(unsigned.txId)
    expect(toHex(tx.bodyBytes)).toBe(unsigned.body)
    const again = await signTransaction(tx.body, wallet(WHO.settler), stand.test.chain.network)
    expect(again.txId).toBe(unsigned.txId)
    expect((await stand.mempool.submit(tx)).ok).toBe(true)
    const waiting = await stand.settle(body)
    expect(waiting.extra).toMatchObject({
      replayed: true,
      receipt: { status: 'waiting', txId: tx.txId },
      receiptTransaction: null,
    })
    const before = stand.test.balance(wallet(WHO.payout).address)
    await stand.mine([tx])
    expect(stand.closure(paid.txId)).toMatchObject({
      how: 'delivered',
      receiptTxId: tx.txId,
      resultHash: 'cd'.repeat(32),
      durationMs: 12,
    })
    expect(stand.test.balance(wallet(WHO.payout).address) - before).toBe(paid.amount - (paid.amount + 99n) / 100n)
    const after = await stand.settle(body)
    expect(after).toMatchObject({
      success: true,
      extra: { receipt: { status: 'delivered', txId: tx.txId }, receiptTransaction: null },
    })
  })

  it('gives money back for a failure, without the secret and whatever was paid', async () => {
    const paid = await stand.pay({ amount: 123_456n })
    const body = await settling(paid, { outcome: 'failed', resultHash: undefined }, 1)
    payload({ secret: undefined })(body, paid)
    const said = await stand.settle(body)
    expect(said).toMatchObject({ success: true, network: 'mainnet', extra: { record: { outcome: 'failed' } } })
    const before = stand.test.balance(wallet(WHO.buyer).address)
    await stand.mine([await signed(said.extra?.receiptTransaction as Unsigned)])
    expect(stand.closure(paid.txId)).toMatchObject({ how: 'failed' })
    expect(stand.test.balance(wallet(WHO.buyer).address) - before).toBe(123_456n)
  })

  it('takes the word of the owner and of whoever comes without keys that the chain has seen', async () => {
    const paid = await stand.pay()
    const owner = await settling(paid, { by: wallet(WHO.owner), keyless: true })
    expect(await stand.settle(owner)).toMatchObject({
      success: true,
      extra: { record: { settler: addressOf(WHO.owner) } },
    })
  })

  it('keeps the first record of a payment: the same request gets it again, another one does not', async () => {
    const paid = await stand.pay({ lock: 'none' })
    const rival = { requestHash: HASH }
    const bodies = [
      await settling(paid),
      await settling(paid, { durationMs: 99, outcome: 'failed' }),
      await settling(paid, rival),
    ]
    extra({ request: undefined })(bodies[2] as Body, paid)
    const said = await Promise.all(bodies.map((body) => stand.settle(body)))
    expect(said.filter(({ success }) => success)).not.toEqual([])
    const kept = await stand.records.get(paid.txId)
    const winners = said.filter(({ success }) => success).map(({ extra: { record } = {} }) => record)
    expect(new Set(winners.map((record) => JSON.stringify(record))).size).toBe(1)
    for (const [i, body] of bodies.entries()) {
      const hash = ((body.paymentRequirements.extra as Body['paymentPayload']).settlement as { requestHash: string })
        .requestHash
      const verdict =
        hash === kept?.requestHash ? { success: true } : { success: false, errorReason: 'already_settled' }
      expect(said[i]).toMatchObject(verdict)
    }
  })

  it('keeps records over a restart, and forgets them when the deadline is long past', async () => {
    const paid = await stand.pay({ term: 100 })
    await stand.settle(await settling(paid))
    await stand.restart()
    expect((await stand.settle(await settling(paid, { durationMs: 99 }))).extra).toMatchObject({
      replayed: true,
      record: { durationMs: 12 },
    })
    const { deadline } = (await stand.records.get(paid.txId))!
    await stand.mineEmpty(deadline + 40 - stand.test.height)
    await stand.node.facilitator!.desk.expire()
    expect(await stand.records.get(paid.txId)).toBeDefined()
    await stand.mine()
    expect(await stand.node.facilitator!.desk.expire()).toBeGreaterThan(0)
    expect(await stand.records.get(paid.txId)).toBeUndefined()
    expect(await stand.settle(await settling(paid))).toMatchObject({ success: false, errorReason: 'payment_closed' })
  })

  it('takes no more records than it keeps', async () => {
    const kept = await stand.pay()
    await stand.settle(await settling(kept))
    await stand.restart(1)
    const paid = await stand.pay()
    expect(await stand.settle(await settling(paid))).toMatchObject({ success: false, errorReason: 'facilitator_full' })
    expect((await stand.settle(await settling(kept))).success).toBe(true)
    await stand.restart()
    expect((await stand.settle(await settling(paid))).success).toBe(true)
  })
})

/** Settlements that are refused; what is left out is good. */
const UNSETTLED: readonly (readonly [string, Parameters<FacilitatorStand['settlement']>[1], Change, string])[] = [
  ['no settlement', {}, extra({ settlement: undefined }), 'invalid_settlement'],
  ['an outcome that there is not', { outcome: 'maybe' }, () => {}, 'invalid_settlement'],
  ['a delivery without the hash of a result', { resultHash: undefined }, () => {}, 'invalid_settlement'],
  ['a duration that is none', { durationMs: -1 }, () => {}, 'invalid_settlement'],
  ['a settler that is no address', { settler: 'me' }, () => {}, 'invalid_settlement'],
  ['a signature that is none', { signature: 'zz' }, () => {}, 'invalid_settlement'],
  ["a stranger's signature", { by: wallet(WHO.stranger) }, () => {}, 'not_a_settler'],
  ["the payout's signature", { by: wallet(WHO.payout) }, () => {}, 'not_a_settler'],
  ["another agent's settler", { by: wallet(WHO.otherSettler) }, () => {}, 'not_a_settler'],
  [
    "a stranger's signature in the settler's name",
    { by: wallet(WHO.stranger), settler: addressOf(WHO.settler) },
    () => {},
    'bad_signature',
  ],
  [
    "a stranger's keys and signature without the keys",
    { by: wallet(WHO.stranger), settler: addressOf(WHO.owner), keyless: true },
    () => {},
    'bad_signature',
  ],
  ['a policy that is no settler', { by: twoOfThree(1, 2, 3) }, () => {}, 'not_a_settler'],
  ['a delivery without the secret', {}, payload({ secret: undefined }), 'secret_missing'],
  ['a delivery with another secret', {}, payload({ secret: HASH }), 'payment_mismatch'],
  ['another request than the one that was paid for', { requestHash: HASH }, () => {}, 'invalid_payment_requirements'],
  [
    'a hash that the requirements do not name',
    {},
    extra({ request: undefined, requestHash: HASH }),
    'invalid_settlement',
  ],
  [
    'another amount',
    {},
    (body, paid) => {
      asked({ amount: (paid.amount - 1n).toString() })(body, paid)
      accepted({ amount: (paid.amount - 1n).toString() })(body, paid)
    },
    'payment_mismatch',
  ],
  ['another service', {}, extra({ serviceId: SECOND, request: undefined }), 'payment_mismatch'],
  ['a payment that nobody knows', {}, payload({ txId: HASH }), 'bad_signature'],
]

describe('what settle refuses', () => {
  it.each(UNSETTLED)('%s', async (_, change, spoil, reason) => {
    const paid = await stand.pay()
    const body = await settling(paid, change)
    spoil(body, paid)
    expect(await stand.settle(body)).toMatchObject({ success: false, errorReason: reason })
    expect(await stand.records.get(paid.txId)).toBeUndefined()
    expect((await stand.settle(await settling(paid))).success).toBe(true)
  })

  it('a signature for another network, and one over another text', async () => {
    const paid = await stand.pay()
    const body = await settling(paid)
    const other = await stand.settlement(await stand.pay())
    const { settlement } = body.paymentRequirements.extra as { settlement: { signature: unknown } }
    settlement.signature = (other as { signature: unknown }).signature
    expect(await stand.settle(body)).toMatchObject({ success: false, errorReason: 'bad_signature' })
  })

  it('a payment of another agent, whose record it does not tell either', async () => {
    const paid = await stand.pay()
    const body = await settling(paid, { by: wallet(WHO.otherSettler) })
    Object.assign(body.paymentRequirements, { payTo: OTHER })
    accepted({ payTo: OTHER })(body, paid)
    expect(await stand.settle(body)).toMatchObject({ success: false, errorReason: 'payment_mismatch' })
    expect((await stand.settle(await settling(paid))).success).toBe(true)
    expect(await stand.settle(body)).toMatchObject({ success: false, errorReason: 'already_settled' })
  })

  it('a payment that is not mined yet, and one whose next block is its deadline', async () => {
    const early = await stand.order()
    await stand.mempool.submit(early.tx)
    expect(await stand.settle(await settling(early))).toMatchObject({
      errorReason: 'payment_unconfirmed',
      extra: { retry: true },
    })
    await stand.mine([early.tx])
    const late = await stand.pay({ term: 100 })
    await stand.mineEmpty(98)
    const body = await settling(late)
    const inTime = await stand.pay()
    expect((await stand.settle(await settling(inTime))).success).toBe(true)
    expect(await stand.settle(body)).toMatchObject({ success: false, errorReason: 'payment_expired' })
  })
})

describe('an offer', () => {
  it('is one that verify takes when it is paid', async () => {
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

  it('is not made for what nobody has published', async () => {
    expect(await stand.offer('nobody-there', ECHO)).toMatchObject({ code: 'rpc/agent-not-found' })
    expect(await stand.offer(ACME, 'acme-nothing')).toMatchObject({ code: 'facilitator/service' })
  })
})
