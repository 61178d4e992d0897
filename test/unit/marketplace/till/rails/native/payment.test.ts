import { describe, expect, it } from 'vitest'
import { ValueAtRisk } from '../../../../../../marketplace/till/rails/native/payment.ts'
import type { NativePriceSource } from '../../../../../../marketplace/till/rails/native/price.ts'
import { TestChain } from '../../../../../support/chain.ts'
import { coinAt } from '../../../../../support/price.ts'
import { filled } from '../../../../../support/unsigned.ts'

const [FIRST, SECOND, THIRD] = [filled(1), filled(2), filled(3)]
/** A price of a quarter of a dollar a coin. */
const QUARTER = coinAt(() => 250_000n)
const COIN = 100_000_000n

async function atRisk(price: NativePriceSource = QUARTER) {
  const test = await TestChain.open()
  return { test, risk: new ValueAtRisk(test.chain, price) }
}

describe('the value at risk in a block', () => {
  it('is that of the payment itself where none was taken', async () => {
    const { risk } = await atRisk()
    expect(risk.withOneMore(FIRST, 5, 4n * COIN)).toBe(1_000_000n)
  })

  it('is the sum of what was taken in that block, and of one more', async () => {
    const { risk } = await atRisk()
    risk.take(FIRST, 5, 4n * COIN)
    risk.take(SECOND, 5, 8n * COIN)
    risk.take(THIRD, 6, 400n * COIN)
    expect(risk.withOneMore(filled(9), 5, COIN)).toBe(3_250_000n)
    expect(risk.withOneMore(filled(9), 6, COIN)).toBe(100_250_000n)
    expect(risk.withOneMore(filled(9), 7, COIN)).toBe(250_000n)
  })

  it('counts a payment once, taken or asked about', async () => {
    const { risk } = await atRisk()
    for (let i = 0; i < 3; i++) risk.take(FIRST, 5, 4n * COIN)
    expect(risk.withOneMore(FIRST, 5, 4n * COIN)).toBe(1_000_000n)
    expect(risk.withOneMore(SECOND, 5, 4n * COIN)).toBe(2_000_000n)
  })

  it('is rounded up, each payment by itself', async () => {
    const { risk } = await atRisk()
    risk.take(FIRST, 5, 1n)
    expect(risk.withOneMore(SECOND, 5, 1n)).toBe(2n)
    expect(risk.withOneMore(SECOND, 5, 401n)).toBe(3n)
  })

  it('is worked out at the price of the block’s epoch', async () => {
    const { risk } = await atRisk(coinAt((epoch) => BigInt(1 + epoch) * 100_000n))
    expect([19, 20, 40].map((height) => risk.withOneMore(FIRST, height, COIN))).toEqual([100_000n, 200_000n, 300_000n])
  })

  it('is nothing where the coin has no price', async () => {
    const { risk } = await atRisk(coinAt(() => undefined))
    risk.take(FIRST, 5, COIN)
    expect(risk.withOneMore(SECOND, 5, COIN)).toBe(0n)
  })

  it('is forgotten when a thousand blocks lie above it, and not before', async () => {
    const { risk, test } = await atRisk()
    risk.take(FIRST, 1, 4n * COIN)
    await test.mineTo(1_001)
    risk.take(SECOND, 1_001, COIN)
    expect(risk.withOneMore(THIRD, 1, COIN)).toBe(1_250_000n)
    await test.mineTo(1_002)
    risk.take(THIRD, 1_002, COIN)
    expect(risk.withOneMore(filled(9), 1, COIN)).toBe(250_000n)
    expect(risk.withOneMore(filled(9), 1_001, COIN)).toBe(500_000n)
  })
})
