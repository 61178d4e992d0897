import { afterEach, describe, expect, it } from 'vitest'
import { type KeyValueStore, MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { prefixKey } from '../../../consensus/chain/layout.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { ClaimsAway } from '../../../marketplace/till/claim-store.ts'
import type { Settled } from '../../../marketplace/till/rail.ts'
import type { FinishedClaim } from '../../../marketplace/till/rails/native/claim.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { FragileClaims } from '../../support/fragile-claims.ts'
import { AGAIN, closeMarkets, ONCE, TestMarket, type TestPayment } from '../../support/market.ts'
import { units } from '../../support/unsigned.ts'

const NOTHING_CONSUMED = 'Nothing was consumed.'

afterEach(closeMarkets)

type Answer = Result<Settled<FinishedClaim>>

/** Answers in the order of the calls. Null: no answer yet. */
class Answers {
  readonly all: (Answer | null)[] = []

  add(call: Promise<Answer>): void {
    const place = this.all.push(null) - 1
    void call.then((answer) => {
      this.all[place] = answer
    })
  }

  /** How many have not come yet. */
  get waiting(): number {
    return this.all.filter((answer) => answer === null).length
  }

  /** Faults that have come. */
  get faults(): readonly Fault[] {
    return this.all.flatMap((answer) => (answer === null || answer.ok ? [] : [answer.fault]))
  }
}

/** A payment that waits in the mempool. */
async function pending(market: TestMarket, request: string, from = 1): Promise<TestPayment> {
  const payment = await market.order(request, { from })
  await market.submit(payment.tx)
  return payment
}

async function offerAll(market: TestMarket, payments: readonly TestPayment[], times: number): Promise<Answers> {
  const answers = new Answers()
  for (const payment of payments) for (let i = 0; i < times; i++) answers.add(market.settle(payment))
  await market.quiet()
  return answers
}

const unconfirmed = ({ txId }: TestPayment, confirmations = 0, needed = 1): Fault => ({
  code: 'pay/unconfirmed',
  detail: { txId, confirmations, needed },
})

describe('calls that wait for their payment', () => {
  it('are 64 for one payment; the next ones are told at once to come back', async () => {
    const market = await TestMarket.open()
    const payment = await pending(market, 'ok')
    const answers = await offerAll(market, [payment], 70)
    expect(answers.waiting).toBe(64)
    expect(answers.faults).toEqual(Array.from({ length: 6 }, () => unconfirmed(payment)))
    // Another payment is not affected.
    const other = await offerAll(market, [await pending(market, 'ok:2', 3)], 1)
    expect(other.waiting).toBe(1)
  })

  it('are 256 in all; further calls are told at once to come back', async () => {
    const market = await TestMarket.open()
    const payments: TestPayment[] = []
    for (let i = 0; i < 4; i++) payments.push(await pending(market, `ok:${i}`))
    const full = await offerAll(market, payments, 64)
    expect([full.waiting, full.faults]).toEqual([256, []])
    const late = await pending(market, 'ok:late', 3)
    expect(await market.settle(late)).toEqual({ ok: false, fault: unconfirmed(late) })
    // Calls that need not wait are served as usual.
    const mined = await market.order('ok:mined', { from: 4 })
    await market.mine([mined.tx])
    expect(full.waiting).toBe(256)
    expect(await market.settle(mined)).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
  })

  it('make room for others when their wait is over', async () => {
    const market = await TestMarket.open({ settings: { settleWaitMs: 30_000 } })
    const payment = await pending(market, 'ok')
    const first = await offerAll(market, [payment], 65)
    await market.pass(29_999)
    expect([first.waiting, first.faults.length]).toEqual([64, 1])
    await market.pass(1)
    expect(first.all.map((answer) => answer?.ok)).toEqual(Array.from({ length: 65 }, () => false))
    expect(first.faults).toEqual(Array.from({ length: 65 }, () => unconfirmed(payment)))
    expect(market.time.waiting).toBe(0)
    const second = await offerAll(market, [payment], 65)
    expect(second.waiting).toBe(64)
  })

  it('end at once when the node stops', async () => {
    const market = await TestMarket.open()
    const payment = await pending(market, 'ok')
    const answers = await offerAll(market, [payment], 3)
    await market.till.stop()
    await market.quiet()
    expect(answers.faults).toEqual(Array.from({ length: 3 }, () => unconfirmed(payment)))
    expect(market.workbench.begun).toEqual([])
  })
})

describe('calls that wait for the work of another call', () => {
  it('count as well: 64 repeats of one payment wait, the next ones come back later', async () => {
    const market = await TestMarket.open()
    const payment = await market.pay('ok')
    market.workbench.hold()
    const first = await offerAll(market, [payment], 1)
    const repeats = await offerAll(market, [payment], 66)
    expect([first.waiting, repeats.waiting]).toEqual([1, 64])
    expect(repeats.faults).toEqual([unconfirmed(payment, 1, 1), unconfirmed(payment, 1, 1)])
    market.workbench.release()
    await market.quiet()
    expect(first.all).toMatchObject([{ ok: true, value: { replayed: false } }])
    const answered = repeats.all.filter((answer) => answer?.ok)
    expect(answered).toEqual(
      answered.map(() => ({
        ok: true,
        value: { replayed: true, claim: first.all[0]?.ok && first.all[0].value.claim },
      })),
    )
    expect([answered.length, market.workbench.begun.length]).toEqual([64, 1])
  })

  it('give up after their wait, and the work goes on', async () => {
    const market = await TestMarket.open({ settings: { settleWaitMs: 1_000 } })
    const payment = await market.pay('ok')
    const other = await market.replica()
    market.workbench.hold()
    const first = await offerAll(market, [payment], 1)
    // The other replica cannot wait for the work itself. It polls the claim.
    const elsewhere = await offerAll(other, [payment], 1)
    for (let i = 0; i < 9; i++) await other.pass(100)
    expect(elsewhere.waiting).toBe(1)
    await other.pass(100)
    expect(elsewhere.faults).toEqual([unconfirmed(payment, 1, 1)])
    const again = await offerAll(other, [payment], 1)
    market.workbench.release()
    await market.quiet()
    await other.pass(100)
    expect(first.all).toMatchObject([{ ok: true, value: { replayed: false } }])
    expect(again.all).toMatchObject([{ ok: true, value: { replayed: true, claim: { result: '{"echo":"ok"}' } } }])
    expect([market.workbench.begun.length, other.workbench.begun.length]).toEqual([1, 0])
  })
})

describe('a transaction in the mempool that will never pay this call', () => {
  const mismatch = (
    payment: { txId: string },
    [field, got, expected]: readonly [string, string, string],
    refund: unknown = NOTHING_CONSUMED,
  ) => ({
    ok: false,
    fault: {
      code: 'pay/mismatch',
      detail: { txId: payment.txId, field, got, expected, refund },
    },
  })

  it('is refused at once if it is not an agent_invoke', async () => {
    const market = await TestMarket.open()
    const tx = await market.test.tx(wallet(1), 'transfer', { to: wallet(3).address, amount: units(5), create: false })
    await market.submit(tx)
    const payment = { ...(await market.order('ok', { from: 3 })), txId: tx.txId }
    expect(await market.settle(payment)).toEqual(
      mismatch(payment, ['the transaction type', 'transfer', 'agent_invoke']),
    )
  })

  it('is refused at once if it pays for another service', async () => {
    const market = await TestMarket.open()
    const payment = await market.order('ok', { serviceId: AGAIN })
    await market.submit(payment.tx)
    const still = /^Nothing was consumed\. The payment still buys node-test-again of .* [0-9]+ blocks after its own\.$/
    expect(await market.settle(payment, { serviceId: ONCE })).toEqual(
      mismatch(payment, ['the service', AGAIN, ONCE], expect.stringMatching(still)),
    )
    const right = await offerAll(market, [payment], 1)
    expect(right.waiting).toBe(1)
  })

  it('is refused at once if it pays another agent', async () => {
    const market = await TestMarket.open()
    const payment = await market.order('ok', { agentId: 'elsewhere' })
    await market.submit(payment.tx)
    const still = expect.stringContaining('The payment still buys node-test-once of elsewhere.')
    expect(await market.settle(payment)).toEqual(mismatch(payment, ['the agent', 'elsewhere', 'shop'], still))
  })

  it('is refused at once if it is unknown', async () => {
    const market = await TestMarket.open()
    const payment = await market.order('ok')
    expect(await market.settle(payment)).toEqual({
      ok: false,
      fault: { code: 'pay/not-found', detail: { txId: payment.txId } },
    })
    expect(market.time.waiting).toBe(0)
  })
})

describe('many calls with one payment when its block comes', () => {
  /** Lets `calls` calls wait for one payment, mines it, and counts the reads of receipts. */
  async function receiptsRead(calls: number): Promise<{ reads: number; answers: Answers; market: TestMarket }> {
    const memory = new MemoryKeyValueStore()
    const seen: number[] = []
    const store: KeyValueStore = {
      get: (key) => {
        seen.push(key[0] as number)
        return memory.get(key)
      },
      entries: (prefix) => memory.entries(prefix),
      range: (range) => memory.range(range),
      batch: (writes, onDurable) => memory.batch(writes, onDurable),
    }
    const market = await TestMarket.open({ test: await TestChain.open(undefined, store) })
    const payment = await pending(market, 'ok')
    const answers = await offerAll(market, [payment], calls)
    expect(answers.waiting).toBe(calls)
    seen.length = 0
    await market.mineWaiting()
    return { reads: seen.filter((prefix) => prefix === prefixKey('receipts')[0]).length, answers, market }
  }
  it('reads the receipts of the block no more often than for one call', async () => {
    const one = await receiptsRead(1)
    const many = await receiptsRead(64)
    expect(one.reads).toBeGreaterThan(0)
    expect(many.reads).toBe(one.reads)
  })

  it('gives all of them the same answer, and does the work once', async () => {
    const { answers, market } = await receiptsRead(64)
    const claims = answers.all.map((answer) => (answer?.ok === true ? answer.value.claim : answer))
    expect(claims[0]).toMatchObject({ state: 'delivered', result: '{"echo":"ok"}' })
    expect(claims).toEqual(claims.map(() => claims[0]))
    expect(answers.all.filter((answer) => answer?.ok === true && !answer.value.replayed).length).toBe(1)
    expect(market.workbench.begun).toEqual([`${ONCE} ok`])
  })
})

describe('calls that join one whose claim cannot be written', () => {
  it('are told to come again: only the call itself hears that the store is away', async () => {
    const away = fault('market/claims-away', { reason: 'a test has taken it away' })
    const written = Promise.withResolvers<null>()
    const market = await TestMarket.open({
      wrapNativeStore: (store) => {
        const claims = new FragileClaims(store)
        claims.claim = () => written.promise
        return claims
      },
    })
    const payment = await market.pay('ok', { serviceId: ONCE })
    const [first, repeat] = [market.settle(payment), market.settle(payment)]
    await market.quiet()
    written.reject(new ClaimsAway(away))
    expect(await first).toEqual({ ok: false, fault: away })
    expect(await repeat).toEqual({ ok: false, fault: unconfirmed(payment, 1, 1) })
    expect(market.till.runningCount).toBe(0)
  })
})
