import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { transactionFromJson } from '../../../consensus/tx/json.ts'
import { signTransaction } from '../../../consensus/tx/sign.ts'
import { wallet } from '../../support/chain.ts'
import { addressOf, type Body, FacilitatorStand, OTHER, type Paid, SECOND, WHO } from '../../support/facilitator.ts'
import { accepted, asked, type Change, extra, HASH, payload } from '../../support/facilitator-changes.ts'
import { twoOfThree } from '../../support/signed-texts.ts'

let stand: FacilitatorStand
beforeAll(async () => {
  stand = await FacilitatorStand.open()
})
afterAll(() => stand.close())

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

/** Signs the receipt as a seller would, over the message that settle returned. */
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
  it('records, and returns a receipt that pays the seller once it is signed', async () => {
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

  it('gives money back for a failure, without the secret and for any payment', async () => {
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

  it('accepts a settlement signed by the owner, also without the keys if the chain has them', async () => {
    const paid = await stand.pay()
    const owner = await settling(paid, { by: wallet(WHO.owner), keyless: true })
    expect(await stand.settle(owner)).toMatchObject({
      success: true,
      extra: { record: { settler: addressOf(WHO.owner) } },
    })
  })

  it('keeps the first record of a payment: the same request gets it again, another one is refused', async () => {
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

  it('keeps records across a restart, and forgets them long after the deadline', async () => {
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

  it('accepts no more records than its limit', async () => {
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

/** Settlements that are refused. Everything not given is valid. */
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
  ['an unknown payment', {}, payload({ txId: HASH }), 'bad_signature'],
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

  it('a payment of another agent, and does not reveal its record', async () => {
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
