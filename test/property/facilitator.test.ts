import { afterAll, beforeAll, expect, it } from 'vitest'
import { taggedHashHex } from '../../consensus/crypto/hash.ts'
import { fromHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { OUTCOME_DELIVERED } from '../../consensus/tx/payloads.ts'
import { openerOf } from '../../consensus/tx/redeem-lock.ts'
import { requestCommitment } from '../../consensus/tx/request-hash.ts'
import { ESCROWS } from '../../marketplace/ledger/escrow.ts'
import { seeded } from '../sim/miners.ts'
import { wallet } from '../support/chain.ts'
import { ACME, ECHO, FacilitatorStand, type Order, OTHER, type Paid, SECOND, WHO } from '../support/facilitator.ts'

let stand: FacilitatorStand
beforeAll(async () => {
  stand = await FacilitatorStand.open()
})
afterAll(() => stand.close())

const ROUNDS = 150
const random = seeded(8402)
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
/** The good value most of the time. */
const mostly = <T>(good: T, ...bad: readonly T[]): T => (random() < 0.75 ? good : pick(bad))

/** A server's request to the facilitator, in which some parts may be wrong. */
function offered(paid: Paid) {
  const call = {
    agentId: mostly(ACME, OTHER),
    serviceId: mostly(paid.serviceId, ECHO, SECOND),
    request: mostly(paid.request, 'other', ''),
    secret: mostly(paid.secret, 'ab'.repeat(32), null),
    amount: mostly(paid.amount, paid.amount + 1n),
    seconds: mostly(60, 600, 86_400),
  }
  const body = stand.body({ ...paid, serviceId: call.serviceId, request: call.request, amount: call.amount }, 1)
  Object.assign(body.paymentRequirements, { payTo: call.agentId, maxTimeoutSeconds: call.seconds })
  body.paymentPayload.payload = { txId: paid.txId, ...(call.secret === null ? {} : { secret: call.secret }) }
  return { body, call }
}

it('says valid only where the agent can settle the escrow for this very request', { timeout: 240_000 }, async () => {
  const counts = { valid: 0, invalid: 0, settled: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const order: Order = {
      serviceId: pick([ECHO, SECOND]),
      term: pick([100, 400]),
      lock: pick(['lock', 'lock', 'commitment', 'none']),
      request: pick(['hello', 'other', '']),
    }
    const paid = await stand.pay(random() < 0.2 ? { ...order, amount: 100_000n + BigInt(round) } : order)
    await stand.mineEmpty(pick([0, 0, 1, 5, 45]))
    const { body, call } = offered(paid)
    const said = await stand.verify(body)
    const escrow = stand.test.chain.database.get(ESCROWS, paid.txId)
    if (said.isValid !== true) {
      counts.invalid += 1
      expect(said.invalidReason).toMatch(/^[a-z_]+$/)
      continue
    }
    counts.valid += 1
    expect(escrow).toMatchObject({ agentId: call.agentId, serviceId: call.serviceId, amount: call.amount })
    const { requestCommitment: committed, redeemLock, deadline } = escrow!
    const secret = call.secret === null ? null : fromHex(call.secret)
    if (committed !== ZERO_HEX_32) expect(requestCommitment(secret!, call)).toBe(committed)
    const opener = secret === null ? (ZERO_HEX_32 as Hash) : openerOf(secret)
    if (redeemLock !== ZERO_HEX_32) expect(taggedHashHex('redeemLock', fromHex(opener))).toBe(redeemLock)
    // The escrow's deadline must lie beyond the requested time, so that the settler can be paid until its end.
    const blocks = Math.ceil(call.seconds / 3)
    expect(deadline - stand.test.height).toBeGreaterThan(blocks)
    if (round % 5 !== 0) continue
    counts.settled += 1
    await stand.mineEmpty(blocks)
    const entry = {
      txId: paid.txId,
      outcome: OUTCOME_DELIVERED,
      resultHash: 'cd'.repeat(32) as Hash,
      opener,
      durationMs: 1,
    }
    await stand.mine([await stand.test.tx(wallet(WHO.settler), 'agent_receipt', { entries: [entry] })])
    expect(stand.closure(paid.txId)).toMatchObject({ how: 'delivered' })
  }
  expect(counts.valid).toBeGreaterThan(10)
  expect(counts.settled).toBeGreaterThan(2)
  expect(counts.invalid).toBeGreaterThan(30)
})
