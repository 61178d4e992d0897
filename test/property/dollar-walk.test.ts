import { afterAll, describe, expect, it } from 'vitest'
import { requestHash } from '../../consensus/tx/request-hash.ts'
import type { DollarClaim } from '../../marketplace/till/rails/dollar/claim.ts'
import { identify } from '../../marketplace/till/rails/dollar/identity.ts'
import { closeRails, PRICE, TERMS } from '../support/dollar.ts'
import { DollarWalk, type WalkAnswer, type WalkOrder } from '../support/dollar-walk.ts'
import { closeMarkets, ONCE } from '../support/market.ts'
import { walkSeeds } from '../support/walk.ts'

const STEPS = 70
/** Starting balance of payers and of the wallet that pays refunds. */
const DOLLAR = 1_000_000n
const { base, seeds } = walkSeeds([1, 2, 3, 4], 8)

afterAll(async () => {
  await closeRails()
  await closeMarkets()
})

/** Claims of all payments of a walk that are still stored. */
async function claimsOf({ rail, orders }: DollarWalk): Promise<readonly DollarClaim[]> {
  const ids = new Set(orders.map(({ call }) => identify(TERMS, call).id))
  const claims = await Promise.all([...ids].map((id) => rail.store.get(id)))
  return claims.filter((claim) => claim !== undefined)
}

/** Every used authorization counts once, as a sale or as a refund. No money is elsewhere. */
function expectMoney(walk: DollarWalk, claims: readonly DollarClaim[]): void {
  const { token, treasury } = walk.rail
  const [settled, owed] = (['settled', 'owed'] as const).map((state) => claims.filter((claim) => claim.state === state))
  const paid = token.uses.filter((use) => use.to === TERMS.payTo.toLowerCase())
  expect(new Set(paid.map(({ nonce }) => nonce))).toEqual(new Set([...settled!, ...owed!].map(({ nonce }) => nonce)))
  expect(walk.rail.income).toBe(PRICE * BigInt(settled!.length + owed!.length))
  expect(DOLLAR - token.balance(treasury.address)).toBe(PRICE * BigInt(owed!.length))
  for (const { address } of new Set(walk.orders.map(({ payer }) => payer))) {
    const bought = settled!.filter(({ payer }) => payer === address)
    expect(DOLLAR - token.balance(address)).toBe(PRICE * BigInt(bought.length))
  }
}

/** A claim's state must match the movement of its money. */
function expectEnded(walk: DollarWalk, claim: DollarClaim): void {
  const isPaid = walk.isPaid(claim.payer, claim.nonce)
  expect(['settled', 'owed', 'unpaid']).toContain(claim.state)
  expect(isPaid).toBe(claim.state !== 'unpaid')
  if (claim.state === 'settled') expect(claim.result).toMatch(/^\{"echo":/)
  if (claim.state === 'owed') expect(claim.refund.status).toBe('paid')
}

/** A service that may not be repeated runs at most once per payment, whichever of its requests was sent. */
function expectRuns(walk: DollarWalk, { call, otherRequest }: WalkOrder): void {
  const { serviceId, request } = call
  const sharing = walk.orders.filter((one) => one.call.serviceId === serviceId && one.call.request === request)
  const others = sharing.length === 1 ? [otherRequest] : []
  const runs = walk.runsOf(serviceId, [request, ...others])
  if (serviceId === ONCE) expect(runs).toBeLessThanOrEqual(sharing.length)
}

/** A result needs moved money and the same request. It is found by the payment or by its idempotency key. */
function expectAnswered({ order, request, settled: { claim }, wasPaid }: WalkAnswer): void {
  const { id, repeatKey } = identify(TERMS, order.call)
  expect(wasPaid).toBe(true)
  expect(claim.requestHash).toBe(requestHash(claim.serviceId, request))
  expect(claim.result).toBe(JSON.stringify({ echo: request }))
  if (claim.id !== id)
    expect({ payer: claim.payer, repeatKey: claim.repeatKey }).toEqual({ payer: order.payer.address, repeatKey })
}

/**
 * No two calls are sold under one idempotency key. An unpaid claim loses its key, so a second payment may settle under
 * it. If the first payment is carried out later after all, its payer gets that result too; such claims are excluded.
 */
function expectNames(walk: DollarWalk, claims: readonly DollarClaim[]): void {
  const straight = claims.filter(({ id, state }) => state === 'settled' && !walk.onceUnpaid.has(id))
  const names = straight.map(({ repeatKey }) => repeatKey).filter((name) => name !== null)
  expect(new Set(names).size).toBe(names.length)
}

async function walkThrough(seed: number): Promise<void> {
  const walk = await DollarWalk.open(seed)
  try {
    for (let i = 0; i < STEPS; i++) await walk.step()
    await walk.rest()
    const claims = await claimsOf(walk)
    for (const claim of claims) expectEnded(walk, claim)
    for (const order of walk.orders) expectRuns(walk, order)
    for (const answer of walk.answers) expectAnswered(answer)
    expectMoney(walk, claims)
    expectNames(walk, claims)
    const told = new Set(walk.answers.map(({ settled }) => settled.claim.id))
    const settledIds = new Set(claims.filter(({ state }) => state === 'settled').map(({ id }) => id))
    expect([...told].filter((id) => !settledIds.has(id))).toEqual([])
    expect(walk.rail.errors).toEqual([])
  } catch (error) {
    console.info(`seed ${seed}\n${walk.dice.story.join('\n')}`)
    throw error
  }
}

describe.concurrent(`a stablecoin market at random from seed ${base}`, () => {
  it.each(seeds)('counts every authorization once, and delivers nothing that is not paid: seed %i', walkThrough)
})
