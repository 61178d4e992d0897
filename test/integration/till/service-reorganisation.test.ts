import { afterEach, describe, expect, it } from 'vitest'
import type { Result } from '../../../consensus/primitives/result.ts'
import { blockInspect } from '../../../marketplace/services/chain/block-inspect.ts'
import type { Settled } from '../../../marketplace/till/rail.ts'
import type { FinishedClaim } from '../../../marketplace/till/rails/native/claim.ts'
import { blocksFrom } from '../../support/branches.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { closeMarkets, TestMarket } from '../../support/market.ts'

afterEach(closeMarkets)

interface Inspected {
  readonly asOf: string
  readonly height: number
  readonly blockHash: string
  readonly block: { readonly hash: string; readonly confirmations: number }
}

function inspected(settled: Result<Settled<FinishedClaim>>): Inspected {
  if (!settled.ok || settled.value.claim.state !== 'delivered') throw new Error(JSON.stringify(settled))
  return JSON.parse(settled.value.claim.result as string) as Inspected
}

/** A chain with the same blocks up to `height`, and other blocks after it. */
async function branch(from: TestChain, height: number, more: number): Promise<TestChain> {
  const other = await TestChain.open(from.ruleBook)
  other.nowMs = from.nowMs
  for (const block of blocksFrom(from, 1).slice(0, height)) await other.import(block)
  for (let i = 0; i < more; i++) await other.mine([], { miner: wallet(8).address })
  return other
}

describe('a service that reads the chain', () => {
  it('is computed once for a head, and again after a reorganisation', async () => {
    const market = await TestMarket.open({ services: [blockInspect] })
    const serviceId = blockInspect.serviceId
    const payments = []
    for (const from of [1, 3, 4, 5]) payments.push(await market.order('latest', { from, serviceId, lock: 'none' }))
    const paid = await market.mine(payments.map(({ tx }) => tx))
    const gone = await market.mine()
    const [first, second, third, fourth] = payments as [
      (typeof payments)[0],
      (typeof payments)[0],
      (typeof payments)[0],
      (typeof payments)[0],
    ]

    const before = inspected(await market.settle(first))
    expect(before.block).toMatchObject({ hash: gone.id, confirmations: 1 })
    await market.pass(5_000)
    // The service did not run again: the answer is the same, its time included.
    expect(inspected(await market.settle(second))).toEqual(before)

    const other = await branch(market.test, paid.header.height, 2)
    for (const block of blocksFrom(other, paid.header.height + 1)) await market.test.import(block)
    await market.quiet()
    const after = inspected(await market.settle(third))
    expect(after).toMatchObject({ blockHash: other.chain.head.id, block: { hash: other.chain.head.id } })
    expect(after.height).toBe(before.height + 1)
    expect(Date.parse(after.asOf) - Date.parse(before.asOf)).toBe(5_000)

    const refused = await market.settle(fourth, { request: gone.id })
    expect(refused).toMatchObject({
      ok: false,
      fault: { code: 'service/invalid-request', detail: { reason: 'no such block on the best chain' } },
    })
    const parent = inspected(await market.settle(fourth, { request: paid.id }))
    expect(parent.block).toMatchObject({ hash: paid.id, confirmations: 3 })
  })
})
