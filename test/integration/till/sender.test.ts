import { afterEach, describe, expect, it } from 'vitest'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { Sender } from '../../../marketplace/till/rails/native/sender.ts'
import { wallet } from '../../support/chain.ts'
import { mineFlooded, smallBlocks } from '../../support/flood.ts'
import { closeMarkets, ONCE, TestMarket } from '../../support/market.ts'
import { units } from '../../support/unsigned.ts'

const FREE = (): bigint => 0n
const DEAR = (): bigint => 1n << 100n
const PAYLOAD = { to: wallet(9).address, amount: units(1), create: false }

afterEach(closeMarkets)

/** A sender on a market's chain and mempool, with its own wallet. */
async function sending(parts: Parameters<typeof TestMarket.open>[0] = {}) {
  const market = await TestMarket.open(parts)
  const sender = new Sender(market.test.chain, market.mempool, wallet(10))
  const send = () => sender.send('transfer', PAYLOAD)
  return { market, sender, send }
}

/** Mines blocks without the sender's transactions and calls `hurry` before each. Returns its results, by the number of blocks waited. */
async function hurried(
  { market, sender }: Awaited<ReturnType<typeof sending>>,
  blocks: number,
  worth: (tx: Transaction) => bigint,
): Promise<ReadonlyMap<number, readonly Result<Transaction>[]>> {
  const raised = new Map<number, readonly Result<Transaction>[]>()
  for (let waited = 0; waited <= blocks; waited++) {
    const results = await sender.hurry(worth)
    if (results.length > 0) raised.set(waited, results)
    if (waited < blocks) await market.mine()
  }
  return raised
}

describe('a sent transaction', () => {
  it('takes the next nonce, even when many are sent at once', async () => {
    const { market, sender, send } = await sending()
    const sent = await Promise.all(Array.from({ length: 10 }, send))
    expect(sent.map((one) => one.ok && one.value.body.nonce)).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(i)))
    await market.mineWaiting()
    expect(market.test.chain.head.header.height).toBe(2)
    expect(sender.waiting).toEqual([])
    const next = await send()
    expect(next.ok && next.value.body.nonce).toBe(10n)
  })

  it('has a small tip, room for a fourfold base fee, and a lifetime of thirty-one blocks', async () => {
    const { market, send } = await sending()
    const sent = await send()
    expect(sent).toMatchObject({ ok: true, value: { body: { tip: 1n, maxFeeRate: 4n * 32n + 1n } } })
    expect(sent.ok && sent.value.body.validUntil).toBe(market.test.height + 31)
  })

  it('can follow one that was refused', async () => {
    const { send, sender } = await sending()
    const unpayable = await sender.send('transfer', { ...PAYLOAD, amount: units(1n << 100n) })
    expect(unpayable).toMatchObject({ ok: false, fault: { code: 'mempool/balance-exceeded' } })
    expect(await send()).toMatchObject({ ok: true, value: { body: { nonce: 0n } } })
  })
})

describe('a transaction that waits too long', () => {
  it('is left alone for three blocks', async () => {
    const context = await sending()
    await context.send()
    const raised = await hurried(context, 3, DEAR)
    expect([...raised.keys()]).toEqual([3])
  })

  it('is replaced at a higher fee, with a longer lifetime', async () => {
    const context = await sending()
    const first = await context.send()
    const second = await context.send()
    if (!first.ok || !second.ok) throw new Error('not admitted')
    const raised = (await hurried(context, 3, DEAR)).get(3) ?? []
    const { waiting } = context.sender
    expect(waiting.map(({ txId }) => txId)).toEqual(raised.map((one) => one.ok && one.value.txId))
    expect(waiting.map(({ body }) => body)).toMatchObject([
      { kind: 'transfer', nonce: 0n, payload: PAYLOAD, validUntil: first.value.body.validUntil + 3 },
      { kind: 'transfer', nonce: 1n, payload: PAYLOAD, validUntil: second.value.body.validUntil + 3 },
    ])
    for (const { body } of waiting) {
      expect(body.tip).toBeGreaterThanOrEqual(2n * first.value.body.tip)
      expect(body.maxFeeRate).toBeGreaterThan(first.value.body.maxFeeRate)
    }
  })

  it('is raised again and again, each time to at least twice the tip', async () => {
    const context = await sending()
    await context.send()
    const raised = await hurried(context, 16, DEAR)
    const tips = [...raised.values()].flat().map((one) => (one.ok ? one.value.body.tip : -1n))
    expect(tips.length).toBeGreaterThanOrEqual(4)
    expect(tips.every((tip, i) => tip >= 2n * (tips[i - 1] ?? 1n))).toBe(true)
  })

  it('is raised while its whole fee is at most its worth, to the unit', async () => {
    const context = await sending()
    const sent = await context.send()
    if (!sent.ok) throw new Error('not admitted')
    // The next tip is six: the rate of 33 plus an eighth, rounded up, less the base fee of 32.
    const cost = BigInt(weightOf(sent.value, context.market.test.chain.ruleBook.at(1).tx)) * (32n + 6n)
    expect((await hurried(context, 6, () => cost - 1n)).size).toBe(0)
    const results = await context.sender.hurry(() => cost)
    expect(results).toMatchObject([{ ok: true, value: { body: { tip: 6n } } }])
  })

  it('is left alone if it is worth nothing and can be mined as it is', async () => {
    const context = await sending()
    const sent = await context.send()
    expect((await hurried(context, 10, FREE)).size).toBe(0)
    expect(context.sender.waiting).toEqual([sent.ok && sent.value])
  })

  it('is kept minable if the base fee has risen above it, whatever it is worth', async () => {
    const { market, sender } = await sending({ ruleBook: smallBlocks() })
    const late = await market.test.tx(wallet(10), 'transfer', PAYLOAD, { maxFeeRate: 34n, tip: 0n })
    await market.submit(late)
    await sender.hurry(FREE)
    await mineFlooded(market, 8, 5n)
    expect(market.mempool.minFeeRate).toBeGreaterThan(34n)
    const results = await sender.hurry(FREE)
    expect(results).toMatchObject([{ ok: true }])
    const [raised] = sender.waiting
    expect(raised?.body).toMatchObject({ nonce: 0n, payload: PAYLOAD, validUntil: 0 })
    expect(raised!.body.maxFeeRate).toBeGreaterThanOrEqual(market.mempool.minFeeRate)
  })

  it('is not raised beyond the balance, and the refusal is reported', async () => {
    const context = await sending()
    const { market } = context
    const amount = units(market.test.balance(wallet(10).address) - 1_000_000n)
    const sent = await context.sender.send('transfer', { ...PAYLOAD, amount })
    expect(sent.ok).toBe(true)
    const results = [...(await hurried(context, 24, DEAR)).values()].flat()
    expect(results.at(-1)).toMatchObject({ ok: false, fault: { code: 'mempool/balance-exceeded' } })
    expect(context.sender.waiting.length).toBe(1)
  })

  it('is forgotten when it is mined: the next one gets its own three blocks', async () => {
    const context = await sending()
    await context.send()
    await hurried(context, 2, DEAR)
    await context.market.mineWaiting()
    await context.send()
    expect([...(await hurried(context, 3, DEAR)).keys()]).toEqual([3])
  })
})

it('a receipt behind a missing nonce is not raised; another one is sent in its place', async () => {
  const market = await TestMarket.open({ prices: { [ONCE]: 90_000n } })
  const payment = await market.pay('ok', { term: 100 })
  const short = { validUntil: market.test.height + 2, maxFeeRate: 200n }
  const payload = { to: wallet(3).address, amount: units(5_000), create: false }
  await market.submit(await market.test.tx(wallet(2), 'transfer', payload, short))
  await market.settle(payment)
  await market.pass(600)
  // The transfer in front expires unmined. The new receipt takes its nonce.
  for (let i = 0; i < 3; i++) await market.mine()
  expect(market.sender.minable.map(({ body }) => body.kind)).toEqual(['agent_receipt', 'agent_receipt'])
  await market.mineWaiting()
  expect(market.closure(payment)).toMatchObject({ how: 'delivered' })
  expect(market.sender.waiting.every(({ body }) => body.tip < 10n)).toBe(true)
})
