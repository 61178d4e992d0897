import { afterEach, describe, expect, it } from 'vitest'
import type { DollarPayment } from '../../../marketplace/till/rails/dollar/claim.ts'
import { NEWCOMERS } from '../../../marketplace/till/rails/dollar/newcomers.ts'
import { closeRails, newPayer, type Payer, PRICE, paymentOf, type RailParts, TestRail } from '../../support/dollar.ts'
import { closeMarkets } from '../../support/market.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

/** Numbers of forged payments and of honest buyers. */
const [JUNK, BUYERS] = [120, 60]
/** Payments come in waves, because facilitator and chain run in this process and need its time to answer. */
const WAVES = 6
/** Requests that a public facilitator allows a seller in a second. */
const PER_SECOND = 50
/** Most questions about one contract's signatures in a minute. */
const ASKED_OF_ONE = 10

/** A rail with a stopped clock, so that no allowance refills on a slow machine. */
function stillRail(parts: RailParts = {}): Promise<TestRail> {
  const nowMs = Date.now()
  return TestRail.open({ ...parts, clock: { now: () => nowMs } })
}

/** A payment of a caller who does not know the payer's key. */
function madeUp(payer: string): DollarPayment {
  return paymentOf({ key: newPayer().key, address: payer })
}

/** A contract wallet with dollars. Its owner's key signs its payments. */
function contractOf(rail: TestRail): Payer {
  const { key, address: owner } = newPayer()
  const { address } = newPayer()
  rail.token.deploy(address, owner)
  rail.token.mint(address, 1_000_000n)
  return { key, address }
}

/** Payers whose payments a facilitator was asked to verify. */
function verifiedPayers({ facilitator }: TestRail): readonly string[] {
  return facilitator.asked
    .filter(({ path }) => path === '/verify')
    .map(({ body }) => body?.paymentPayload.payload.authorization.from ?? '')
}

describe('a flood of forged authorizations', () => {
  it.each([true, false])(
    'does not close the rail to honest buyers (with a node of the chain: %s)',
    async (hasLedger) => {
      const rail = await TestRail.open({ hasLedger })
      rail.facilitator.perSecond = PER_SECOND
      const junk = Array.from({ length: JUNK }, () => madeUp(rail.payer().address))
      const honest = Array.from({ length: BUYERS }, () => paymentOf(rail.payer()))
      const codes = (payments: readonly DollarPayment[]) =>
        payments.map((payment) => rail.codeOf(rail.order('ok', { payment })))
      const [refused, served]: [string[], Promise<string>[]] = [[], []]
      for (let wave = 0; wave < WAVES; wave++) {
        served.push(...codes(honest.splice(0, BUYERS / WAVES)))
        refused.push(...(await Promise.all(codes(junk.splice(0, JUNK / WAVES)))))
      }
      expect(await Promise.all(served)).toEqual(new Array(BUYERS).fill('settled'))
      expect(refused.filter((code) => code !== 'stable/refused' && code !== 'stable/unproven')).toEqual([])
      expect([rail.runs, rail.income]).toEqual([BUYERS, BigInt(BUYERS) * PRICE])
      expect(rail.dollar.closedBecause).toBeNull()
    },
  )

  it('of payers that are not contracts reaches no facilitator if a node of the chain can be asked', async () => {
    const rail = await TestRail.open()
    const forged = madeUp(rail.payer().address)
    const answer = await rail.settle(rail.order('ok', { payment: forged }))
    const reason = 'invalid_exact_evm_signature'
    expect(answer).toMatchObject({ ok: false, fault: { code: 'stable/refused', detail: { reason } } })
    expect(verifiedPayers(rail)).toEqual([])
    expect(rail.token.asked.filter((method) => method === 'eth_getCode').length).toBe(1)
  })

  it('in the name of an honest payer does not affect that payer', async () => {
    const rail = await stillRail({ hasLedger: false })
    const payer = rail.payer()
    const junk = await Promise.all(
      Array.from({ length: JUNK }, () => rail.codeOf(rail.order('ok', { payment: madeUp(payer.address) }))),
    )
    expect(junk).not.toContain('settled')
    expect(verifiedPayers(rail).length).toBe(ASKED_OF_ONE)
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(payer) }))).toBe('settled')
  })

  it.each([true, false])(
    'of one client has few of them checked, whatever payers it names (with a node of the chain: %s)',
    async (hasLedger) => {
      const rail = await stillRail({ hasLedger })
      const from = { client: 'attacker' }
      const junk = Array.from({ length: JUNK / 2 }, () => madeUp(contractOf(rail).address))
      const codes = await Promise.all(junk.map((payment) => rail.codeOf(rail.order('ok', { payment, ...from }))))
      expect(new Set(codes)).toEqual(new Set(['stable/refused', 'stable/unproven']))
      expect(verifiedPayers(rail).length).toBeLessThan(NEWCOMERS.refused + NEWCOMERS.atOnce)
      // This affects neither payers with keys behind the same address nor contracts behind other addresses.
      expect(await rail.codeOf(rail.order('ok', from))).toBe('settled')
      const payment = paymentOf(contractOf(rail))
      expect(await rail.codeOf(rail.order('ok', { payment, client: 'buyer' }))).toBe('settled')
    },
  )

  it('that makes a facilitator fail does not make it count as broken', async () => {
    const rail = await stillRail({ hasLedger: false })
    rail.facilitator.profile = '500'
    for (let i = 0; i < ASKED_OF_ONE; i++) await rail.settle(rail.order('ok', { payment: madeUp(newPayer().address) }))
    expect(verifiedPayers(rail).length).toBe(ASKED_OF_ONE)
    expect(rail.dollar.closedBecause).toBeNull()
    rail.facilitator.profile = 'good'
    expect(await rail.codeOf(rail.order())).toBe('settled')
  })
})

describe('a contract whose signature has 65 bytes', () => {
  it.each([true, false])('pays like any other (with a node of the chain: %s)', async (hasLedger) => {
    const rail = await TestRail.open({ hasLedger })
    const contract = contractOf(rail)
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(contract) }))).toBe('settled')
    expect([rail.runs, rail.income]).toEqual([1, PRICE])
  })

  it('gets a time to come again if it was asked about too often, and nothing is charged', async () => {
    const rail = await stillRail()
    const contract = contractOf(rail)
    for (let i = 0; i < ASKED_OF_ONE; i++) await rail.settle(rail.order('ok', { payment: madeUp(contract.address) }))
    const call = rail.order('ok', { payment: paymentOf(contract) })
    const answer = await rail.settle(call)
    expect(answer).toMatchObject({ ok: false, fault: { code: 'stable/unproven' } })
    const seconds = answer.ok ? 0 : Number(answer.fault.detail.seconds)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    expect([rail.runs, rail.income, verifiedPayers(rail).length]).toEqual([0, 0n, ASKED_OF_ONE])
    const again = await rail.restart()
    expect(await again.codeOf(call)).toBe('settled')
  })

  it('that has paid before is served while others forge signatures', async () => {
    const rail = await stillRail()
    const contract = contractOf(rail)
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(contract) }))).toBe('settled')
    const junk = Array.from({ length: JUNK }, () => madeUp(contractOf(rail).address))
    const codes = await Promise.all(junk.map((payment) => rail.codeOf(rail.order('ok', { payment }))))
    expect(codes).toContain('stable/unproven')
    expect(await rail.codeOf(rail.order('ok', { payment: paymentOf(contract) }))).toBe('settled')
  })

  it.each([true, false])(
    'pays while others make up signatures in its name (with a node of the chain: %s)',
    async (hasLedger) => {
      const rail = await TestRail.open({ hasLedger })
      const contract = contractOf(rail)
      const others = Array.from({ length: JUNK }, () => madeUp(contract.address))
      const codes = others.map((payment) => rail.codeOf(rail.order('ok', { payment, client: 'attacker' })))
      const call = rail.order('ok', { payment: paymentOf(contract), client: 'buyer' })
      expect(await rail.codeOf(call)).toBe('settled')
      expect(await Promise.all(codes)).not.toContain('settled')
    },
  )

  it.each([true, false])(
    'pays at first while one client makes up signatures of many (with a node of the chain: %s)',
    async (hasLedger) => {
      const rail = await TestRail.open({ hasLedger })
      const contract = contractOf(rail)
      const others = Array.from({ length: JUNK }, () => madeUp(contractOf(rail).address))
      const codes = others.map((payment) => rail.codeOf(rail.order('ok', { payment, client: 'attacker' })))
      const call = rail.order('ok', { payment: paymentOf(contract), client: 'buyer' })
      expect(await Promise.all(codes)).toContain('stable/unproven')
      expect(await rail.codeOf(call)).toBe('settled')
    },
  )
})
