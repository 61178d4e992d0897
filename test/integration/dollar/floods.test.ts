import { afterEach, describe, expect, it } from 'vitest'
import type { DollarClaimStore, DollarPayment } from '../../../marketplace/till/rails/dollar/claim.ts'
import { NEWCOMERS } from '../../../marketplace/till/rails/dollar/newcomers.ts'
import { FAILED_ANY } from '../../../marketplace/till/rails/dollar/payers.ts'
import { readDollarPayment } from '../../../marketplace/till/rails/dollar/payment.ts'
import {
  closeRails,
  newPayer,
  OWN_WORDS,
  type Payer,
  PRICE,
  paymentOf,
  storeWith,
  TERMS,
  TestRail,
} from '../../support/dollar.ts'
import { AGAIN, closeMarkets, ONCE } from '../../support/market.ts'
import { until } from '../../support/processes.ts'

afterEach(async () => {
  await closeRails()
  await closeMarkets()
})

const ATTACKER = 'attacker'
const HOUR_MS = 3_600_000

/** A valid payment of a new key that has no money. */
function unfunded(): DollarPayment {
  return paymentOf(newPayer())
}

function codeOf(rail: TestRail, payment: DollarPayment, client: string): Promise<string> {
  return rail.codeOf(rail.order('ok', { payment, client }))
}

/** Answers to buyers that come one after another, each from its own address. */
async function bought(rail: TestRail, count: number): Promise<Set<string>> {
  const codes = new Set<string>()
  for (let i = 0; i < count; i++) codes.add(await codeOf(rail, paymentOf(rail.payer()), `buyer ${i}`))
  return codes
}

/** A rail whose timers end when the test moves its clock by an hour. */
async function heldRail() {
  const ends: (() => void)[] = []
  const after = (_: number, end: () => void) => {
    ends.push(end)
    return () => {}
  }
  let aheadMs = 0
  const rail = await TestRail.open({ clock: { now: () => Date.now() + aheadMs }, timers: { after } })
  const passHour = (): void => {
    aheadMs += HOUR_MS
    for (const end of ends.splice(0)) end()
  }
  return { rail, passHour }
}

/** Payers whose payments a facilitator was asked to verify. */
function verified({ facilitator }: TestRail): Set<string> {
  const asked = facilitator.asked.filter(({ path }) => path === '/verify')
  return new Set(asked.map(({ body }) => body?.paymentPayload.payload.authorization.from ?? ''))
}

describe('payments of new keys that make a facilitator fail', () => {
  it.each([
    [400, 'stable/refused'],
    [413, 'stable/refused'],
    [422, 'stable/refused'],
    [401, 'stable/facilitator'],
    [402, 'stable/facilitator'],
    [403, 'stable/facilitator'],
    [404, 'stable/facilitator'],
    [405, 'stable/facilitator'],
    [408, 'stable/facilitator'],
    [500, 'stable/facilitator'],
    [502, 'stable/facilitator'],
  ])('close it to no other client (status %d)', async (status, code) => {
    const rail = await TestRail.open()
    const payers = Array.from({ length: 8 }, () => rail.payer())
    for (const { address } of payers) rail.facilitator.failsAt.set(address, status)
    const codes = new Set<string>()
    for (const payer of payers) codes.add(await codeOf(rail, paymentOf(payer), ATTACKER))
    expect(codes).toEqual(new Set([code]))
    expect(rail.dollar.closedBecause).toBeNull()
    expect(await bought(rail, 2)).toEqual(new Set(['settled']))
    expect(rail.income).toBe(2n * PRICE)
  })

  it.each([401, 402, 403, 405, 500])('close it if they come from several clients (status %d)', async (status) => {
    const rail = await TestRail.open()
    for (let i = 0; i < 3; i++) {
      const payer = rail.payer()
      rail.facilitator.failsAt.set(payer.address, status)
      expect(await codeOf(rail, paymentOf(payer), `buyer ${i}`)).toBe('stable/facilitator')
    }
    expect(rail.dollar.closedBecause).not.toBeNull()
  })

  it('do not close it to other clients if their payer has paid before', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    expect(await codeOf(rail, paymentOf(payer), ATTACKER)).toBe('settled')
    rail.facilitator.failsAt.set(payer.address, 500)
    for (let i = 0; i < 8; i++) expect(await codeOf(rail, paymentOf(payer), ATTACKER)).toBe('stable/facilitator')
    expect(rail.dollar.closedBecause).toBeNull()
  })

  it.each([400, 403, 500])('are checked for one client no more often than refused ones (status %d)', async (status) => {
    const rail = await TestRail.open({ hasLedger: false })
    const payers = Array.from({ length: 2 * NEWCOMERS.failed }, newPayer)
    for (const payer of payers) {
      rail.facilitator.failsAt.set(payer.address, status)
      await codeOf(rail, paymentOf(payer), ATTACKER)
    }
    expect(await codeOf(rail, paymentOf(newPayer()), ATTACKER)).toBe('stable/crowded')
    expect(verified(rail).size).toBe(NEWCOMERS.failed)
    expect(await bought(rail, 1)).toEqual(new Set(['settled']))
  })

  it('do not close it to other clients if it fails to settle them', async () => {
    const rail = await TestRail.open()
    rail.facilitator.settleProfile = '500'
    for (let i = 0; i < 5; i++) expect(await codeOf(rail, paymentOf(rail.payer()), ATTACKER)).toBe('stable/unsettled')
    expect(rail.dollar.closedBecause).toBeNull()
  })
})

describe('extra data in a payment', () => {
  const WORDS = "' UNION SELECT 1 --"
  // Firewalls block such names, too.
  const id = 'information_schema'
  const bazaar = { info: { input: { type: WORDS }, id: WORDS }, schema: { [WORDS]: WORDS } }
  const extensions = { bazaar, 'payment-identifier': { info: { id, [WORDS]: WORDS }, schema: { [WORDS]: WORDS } } }
  const resource = { url: `https://shop.example/?${WORDS}`, description: WORDS, serviceName: WORDS, tags: [WORDS] }

  it.each([1, 2] as const)('reaches no facilitator (generation %d)', async (version) => {
    const rail = await TestRail.open()
    const payment = paymentOf(rail.payer(), {}, version)
    const { payload } = payment.payload as { payload: { authorization: object } }
    const authorization = { ...payload.authorization, memo: 5 }
    const more = { [`x${'y'.repeat(100)}`]: [[[]]], payload: { ...payload, authorization } }
    const sent = { ...payment.payload, ...more, extensions: { ...extensions, other: 5 }, resource }
    const read = readDollarPayment(sent, 'the header', TERMS)
    if (!read.ok) throw new Error(JSON.stringify(read.fault))
    expect(await codeOf(rail, read.value, 'buyer')).toBe('settled')
    for (const path of ['/verify', '/settle']) {
      const asked = rail.facilitator.asked.find((one) => one.path === path)
      const echoed = { ...OWN_WORDS, resource: { url: `http://127.0.0.1/api/x402/${AGAIN}?rail=stable` } }
      expect(asked?.body?.paymentPayload).toEqual({ ...payment.payload, ...(version === 2 && echoed) })
      expect(JSON.stringify(asked?.body)).not.toContain('UNION')
      expect(JSON.stringify(asked?.body)).not.toContain(id)
    }
  })
})

describe('a flood of payments of new keys without money', () => {
  const [JUNK, BUYERS, PER_MINUTE] = [60, 10, 60]

  it('reaches no facilitator if a node of the chain can be asked, and does not flood that node', async () => {
    const rail = await TestRail.open()
    Object.assign(rail.facilitator, { windowMs: 60_000, perSecond: PER_MINUTE })
    const junk = Array.from({ length: JUNK }, unfunded)
    const codes = Promise.all(junk.map((payment) => codeOf(rail, payment, ATTACKER)))
    expect(await bought(rail, BUYERS)).toEqual(new Set(['settled']))
    expect(new Set(await codes)).toEqual(new Set(['stable/refused', 'stable/crowded']))
    expect(junk.filter(({ authorization }) => verified(rail).has(authorization.from))).toEqual([])
    const asked = rail.token.asked.filter((method) => method === 'balanceOf').length
    expect(asked).toBeLessThan(NEWCOMERS.short + NEWCOMERS.atOnce + BUYERS + 1)
  })

  it('of one client leaves a facilitator time for others', async () => {
    const rail = await TestRail.open({ hasLedger: false })
    Object.assign(rail.facilitator, { windowMs: 60_000, perSecond: PER_MINUTE })
    const junk = Array.from({ length: JUNK }, unfunded)
    const codes = Promise.all(junk.map((payment) => codeOf(rail, payment, ATTACKER)))
    expect(await bought(rail, BUYERS)).toEqual(new Set(['settled']))
    expect(new Set(await codes)).toEqual(new Set(['stable/refused', 'stable/crowded']))
    expect(verified(rail).size).toBeLessThan(NEWCOMERS.refused + NEWCOMERS.atOnce + BUYERS + 1)
  })

  it('includes payments that are valid when checked but then expire too soon for the work', async () => {
    let nowMs = Date.now()
    // Claiming a payment takes a second here.
    const wrapStore = (store: DollarClaimStore): DollarClaimStore => {
      const claim: DollarClaimStore['claim'] = async (one) => {
        nowMs += 1_000
        return store.claim(one)
      }
      return storeWith(store, { claim })
    }
    const rail = await TestRail.open({ clock: { now: () => nowMs }, wrapStore })
    const payer = rail.payer()
    expect(await codeOf(rail, paymentOf(payer), ATTACKER)).toBe('settled')
    const workSeconds = Math.ceil((rail.market.shop.offer(AGAIN)?.definition.timeoutMs ?? 0) / 1_000)
    const late = (): Promise<string> => {
      const validBefore = BigInt(Math.floor(nowMs / 1_000) + workSeconds + 6)
      return codeOf(rail, paymentOf(payer, { validBefore }), ATTACKER)
    }
    const codes: string[] = []
    for (let i = 0; i < NEWCOMERS.refused + 3; i++) codes.push(await late())
    const checked = NEWCOMERS.refused + 1
    expect(codes).toEqual(codes.map((_, i) => (i < checked ? 'stable/refused' : 'stable/crowded')))
    expect([rail.facilitator.count('/verify'), rail.runs]).toEqual([checked + 1, 1])
  })

  it('does not affect a payer of the same client who has paid lately', async () => {
    const rail = await TestRail.open()
    const payer = rail.payer()
    expect(await codeOf(rail, paymentOf(payer), ATTACKER)).toBe('settled')
    await Promise.all(Array.from({ length: JUNK }, () => codeOf(rail, unfunded(), ATTACKER)))
    expect(await codeOf(rail, paymentOf(rail.payer()), ATTACKER)).toBe('stable/crowded')
    expect(await codeOf(rail, paymentOf(payer), ATTACKER)).toBe('settled')
  })
})

describe('calls that fail and are never paid', () => {
  async function failing(rail: TestRail, payer: Payer, calls: number): Promise<string[]> {
    const codes: string[] = []
    for (let i = 0; i < calls; i++)
      codes.push(await rail.codeOf(rail.order('fail', { payment: paymentOf(payer), client: ATTACKER })))
    return codes
  }

  it('are bounded for a payer, and for a client with many of them, whatever the service', async () => {
    const rail = await TestRail.open()
    const { ofPayer, ofClient } = FAILED_ANY
    const codes = await failing(rail, rail.payer(), ofPayer + 1)
    expect([codes.at(-2), codes.at(-1), rail.runs]).toEqual(['service/failed', 'stable/failing', ofPayer])
    for (let runs = ofPayer; runs < ofClient; runs += 10) await failing(rail, rail.payer(), 10)
    expect(await failing(rail, rail.payer(), 1)).toEqual(['stable/failing'])
    expect([rail.runs, rail.income]).toEqual([ofClient, 0n])
    expect(await bought(rail, 1)).toEqual(new Set(['settled']))
  })

  it('are limited for one authorization', async () => {
    const rail = await TestRail.open()
    const call = rail.order('fail')
    for (let i = 0; i < 15; i++) expect(await rail.codeOf(call)).toBe('service/failed')
    expect([rail.runs, rail.income]).toEqual([10, 0n])
  })

  it('leave nothing behind once their authorization has expired, and then cost one question to the chain', async () => {
    const { rail, passHour } = await heldRail()
    const payer = rail.payer()
    const codes = await failing(rail, payer, 3)
    const once = rail.order('fail', { serviceId: ONCE, payment: paymentOf(payer), client: ATTACKER })
    codes.push(await rail.codeOf(once))
    expect(codes).toEqual(new Array(4).fill('service/failed'))
    expect((await rail.store.recent(10, null)).claims.length).toBe(4)
    passHour()
    await until('nothing is kept', async () => (await rail.store.recent(10, null)).claims.length === 0)
    expect(rail.token.asked.filter((method) => method === 'eth_call').length).toBe(4)
    // The payment is refused, so nothing runs for it a second time.
    expect([await rail.codeOf(once), rail.runs]).toEqual(['stable/refused', 4])
  })

  it('stay until the chain has passed the end of their authorization', async () => {
    const { rail, passHour } = await heldRail()
    await failing(rail, rail.payer(), 1)
    rail.token.headSeconds = Math.floor(Date.now() / 1_000)
    const looks = (): number => rail.token.asked.filter((method) => method === 'eth_getBlockByNumber').length
    passHour()
    await until('the chain was asked', () => looks() === 1)
    await until('it is looked at again', () => {
      passHour()
      return looks() > 1
    })
    expect((await rail.store.recent(10, null)).claims.length).toBe(1)
    rail.token.headSeconds = 2 ** 33
    await until('nothing is kept', async () => {
      passHour()
      return (await rail.store.recent(10, null)).claims.length === 0
    })
  })

  it('do not bound a payer who pays, whatever fails for others behind the same address', async () => {
    const rail = await TestRail.open()
    const honest = rail.payer()
    const call = () => rail.order('ok', { payment: paymentOf(honest), client: ATTACKER })
    expect(await rail.codeOf(call())).toBe('settled')
    for (let failed = 0; failed < FAILED_ANY.ofClient + 10; failed += 10) await failing(rail, rail.payer(), 10)
    expect(await failing(rail, rail.payer(), 1)).toEqual(['stable/failing'])
    expect(await rail.codeOf(call())).toBe('settled')
  })

  it('are owed back if their authorization was carried out after all', async () => {
    const { rail, passHour } = await heldRail()
    const call = rail.order('fail', { serviceId: AGAIN })
    expect(await rail.codeOf(call)).toBe('service/failed')
    const { from, to, value, validAfter, validBefore, nonce, signature } = call.payment.authorization
    const said = { from, to, nonce, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
    expect(rail.token.transfer(said, signature)).toHaveProperty('transaction')
    passHour()
    await rail.reaches('owed')
  })
})
