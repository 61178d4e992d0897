import { describe, expect, it } from 'vitest'
import { type Holder, NETWORK_CLIENTS } from '../../../../../../consensus/primitives/fair-share.ts'
import type { FacilitatorVerdict, StableLedger } from '../../../../../../marketplace/till/rails/dollar/facilitator.ts'
import { RANKS } from '../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { NEWCOMERS, Newcomers } from '../../../../../../marketplace/till/rails/dollar/newcomers.ts'
import { TestTime } from '../../../../../support/market-parts.ts'

const GOOD: FacilitatorVerdict = { is: 'good', payer: null, transaction: null }
const REFUSED: FacilitatorVerdict = { is: 'refused', reason: 'invalid_exact_evm_nonce_already_used' }
const AMOUNT = 5n

/** A client by its address. The part before the slash is its network. */
function clientOf(address: string): Holder {
  return { address, network: address.split('/')[0] as string }
}

/**
 * Newcomers over a chain that knows these balances, and does not answer about other payers. Null: there is no chain to
 * ask.
 */
function stand(balances: Record<string, bigint | null> | null) {
  const time = new TestTime()
  const state = { isScarce: false, paid: 0, asked: [] as string[] }
  const balance = async (_: string, payer: string): Promise<bigint | null> => {
    state.asked.push(payer)
    return balances?.[payer] ?? null
  }
  const ledger = balances === null ? null : ({ balance } as unknown as StableLedger)
  const parts = { clock: time, ledger, asset: '0x1', paidOf: () => state.paid, isScarce: () => state.isScarce }
  const newcomers = new Newcomers(parts)
  const ask = (payer: string, client = 'one') => newcomers.leave({ payer, amount: AMOUNT, client: clientOf(client) })
  const judge = async (verdict: FacilitatorVerdict, payer: string, client = 'one'): Promise<string> => {
    const leave = await ask(payer, client)
    if (!leave.ok) return leave.fault.code
    leave.value.done(verdict)
    return verdict.is
  }
  return { time, state, newcomers, ask, judge }
}

describe('a payer who has not paid lately', () => {
  it('is refused where its chain says that it has not the money, and asked about once in a while', async () => {
    const { time, state, judge } = stand({ poor: AMOUNT - 1n, rich: AMOUNT })
    const codes = [await judge(GOOD, 'poor'), await judge(GOOD, 'poor'), await judge(GOOD, 'rich')]
    expect(codes).toEqual(['stable/refused', 'stable/refused', 'good'])
    expect(state.asked).toEqual(['poor', 'rich'])
    time.pass(3_000)
    await judge(GOOD, 'poor')
    expect(state.asked).toEqual(['poor', 'rich', 'poor'])
  })

  it('is asked about anew where a facilitator refused it: it may have spent what it had', async () => {
    const { state, judge } = stand({ rich: AMOUNT })
    await judge(REFUSED, 'rich')
    await judge(GOOD, 'rich')
    expect(state.asked).toEqual(['rich', 'rich'])
  })

  it('goes on to the facilitator where the chain gives no answer, which is left alone for a while', async () => {
    const { time, state, judge } = stand({})
    expect([await judge(GOOD, 'a'), await judge(GOOD, 'b')]).toEqual(['good', 'good'])
    expect(state.asked).toEqual(['a'])
    time.pass(10_000)
    await judge(GOOD, 'c')
    expect(state.asked).toEqual(['a', 'c'])
  })
})

describe('a client whose payers have not the money, as the chain says', () => {
  const POOR = Object.fromEntries(Array.from({ length: 2 * NEWCOMERS.short }, (_, i) => [`poor ${i}`, 0n]))

  it.each([false, true])('has others checked, and after no one else (scarce: %s)', async (isScarce) => {
    const { state, ask, judge } = stand({ ...POOR, rich: AMOUNT })
    state.isScarce = isScarce
    for (let i = 0; i <= NEWCOMERS.refused; i++) expect(await judge(GOOD, `poor ${i}`)).toBe('stable/refused')
    const leave = await ask('rich')
    expect(leave.ok && leave.value.rank).toBe(2)
  })

  it('has a larger share of such questions within a minute', async () => {
    const { time, state, judge } = stand({ ...POOR, rich: AMOUNT })
    for (let i = 0; i < NEWCOMERS.short; i++) expect(await judge(GOOD, `poor ${i}`)).toBe('stable/refused')
    expect([await judge(GOOD, 'rich'), await judge(GOOD, 'rich', 'other')]).toEqual(['stable/crowded', 'good'])
    expect(state.asked.length).toBe(NEWCOMERS.short + 1)
    time.pass(60_000)
    expect(await judge(GOOD, 'rich')).toBe('good')
  })

  it('has a payer who comes again and again counted as often as the chain is asked', async () => {
    const { time, judge } = stand({ poor: 0n, rich: AMOUNT })
    for (let i = 0; i < 60; i++) {
      expect(await judge(GOOD, 'poor')).toBe('stable/refused')
      time.pass(1_000)
    }
    expect(await judge(GOOD, 'rich')).toBe('good')
  })
})

describe('a client whose payments are refused', () => {
  it.each([
    [false, NEWCOMERS.refused],
    [true, NEWCOMERS.refusedWhileScarce],
  ])('has a share of checks within a minute (scarce: %s), beside what it pays', async (isScarce, share) => {
    const { time, state, newcomers, judge } = stand(null)
    state.isScarce = isScarce
    for (let i = 0; i < share; i++) expect(await judge(REFUSED, `payer ${i}`)).toBe('refused')
    expect([await judge(GOOD, 'next'), await judge(GOOD, 'next', 'other')]).toEqual(['stable/crowded', 'good'])
    newcomers.paid(clientOf('one'))
    expect(await judge(GOOD, 'next')).toBe('good')
    expect(await judge(REFUSED, 'next')).toBe('refused')
    expect(await judge(GOOD, 'next')).toBe('stable/crowded')
    state.paid = 2
    expect(await judge(GOOD, 'next')).toBe('good')
    state.paid = 0
    time.pass(60_000)
    expect(await judge(GOOD, 'next')).toBe('good')
  })

  it.each([
    ...[400, 413, 422].map((status) => ['unknown', status, NEWCOMERS.refused] as const),
    ...[500, 502, undefined].map((status) => ['unknown', status, NEWCOMERS.failed] as const),
    ...[401, 403, 404].map((status) => ['unreachable', status, NEWCOMERS.failed] as const),
  ])('or failed at has a share of checks within a minute (%s, status %s)', async (is, status, share) => {
    const { time, newcomers, judge } = stand(null)
    const verdict = { is, detail: '', transaction: null, ...(status !== undefined && { status }) } as FacilitatorVerdict
    for (let i = 0; i < share; i++) expect(await judge(verdict, `payer ${i}`)).toBe(is)
    expect([await judge(GOOD, 'next'), await judge(GOOD, 'next', 'other')]).toEqual(['stable/crowded', 'good'])
    newcomers.paid(clientOf('one'))
    expect(await judge(GOOD, 'next')).toBe('good')
    time.pass(60_000)
    expect(await judge(verdict, 'next')).toBe(is)
  })

  it('is not held back where no facilitator was asked, or it wants to be asked later', async () => {
    const { judge } = stand(null)
    for (let i = 0; i < 2 * NEWCOMERS.failed; i++) {
      expect(await judge({ is: 'unreachable', detail: '' }, 'payer')).toBe('unreachable')
      expect(await judge({ is: 'busy', detail: '', waitMs: 5 }, 'payer')).toBe('busy')
    }
  })

  it.each([400, 500])('goes no longer first where its payer has paid once and it is answered %d', async (status) => {
    const { state, ask, judge } = stand(null)
    state.paid = 1
    await judge({ is: 'unknown', detail: '', transaction: null, status }, 'a')
    expect(await ask('a')).toMatchObject({ ok: true, value: { rank: RANKS.newcomer + 1 } })
  })

  it('has others of its network come after clients of other networks', async () => {
    const { ask, judge } = stand(null)
    for (let i = 0; i < NETWORK_CLIENTS + 1; i++) await judge(REFUSED, `payer ${i}`, `net/${i}`)
    const ranks = [await ask('b', 'net/new'), await ask('c', 'other/new')].map((leave) => leave.ok && leave.value.rank)
    expect(ranks).toEqual([RANKS.newcomer + 2, RANKS.newcomer])
  })

  it('comes after clients without refusals, and these after payers who have paid', async () => {
    const { state, ask, judge } = stand(null)
    await judge(REFUSED, 'a')
    const ranks = [await ask('b'), await ask('c', 'other')].map((leave) => leave.ok && leave.value.rank)
    state.paid = 2
    const paid = await ask('a')
    ranks.push(paid.ok && paid.value.rank)
    expect(ranks).toEqual([3, 2, 1])
  })

  it('is who sends more at once than it has paid', async () => {
    const { state, ask } = stand({ poor: 0n })
    state.paid = 2
    const both = [await ask('poor'), await ask('poor')]
    expect(both.map((leave) => leave.ok && leave.value.rank)).toEqual([RANKS.payer, RANKS.payer])
    expect(await ask('poor')).toMatchObject({ ok: false, fault: { code: 'stable/refused' } })
    for (const leave of both) if (leave.ok) leave.value.done(GOOD)
    expect(await ask('poor')).toMatchObject({ ok: true, value: { rank: RANKS.payer } })
  })

  it('has a few checks open at once; others wait for them, and are refused with them', async () => {
    const { ask } = stand(null)
    const open = await Promise.all(Array.from({ length: NEWCOMERS.atOnce }, (_, i) => ask(`payer ${i}`)))
    const late = Array.from({ length: NEWCOMERS.refused }, (_, i) => ask(`late ${i}`))
    for (const leave of open) if (leave.ok) leave.value.done(REFUSED)
    const codes: string[] = []
    for (const waiting of late) {
      const leave = await waiting
      codes.push(leave.ok ? 'asked' : leave.fault.code)
      if (leave.ok) leave.value.done(REFUSED)
    }
    const asked = codes.filter((code) => code === 'asked').length
    expect(new Set(codes)).toEqual(new Set(['asked', 'stable/crowded']))
    expect(open.length + asked).toBeLessThan(NEWCOMERS.refused + NEWCOMERS.atOnce)
    expect((await ask('guest', 'other')).ok).toBe(true)
  })
})

describe('clients whose payments fill the lines', () => {
  it('make room for another that has fewer', async () => {
    const { ask } = stand(null)
    const crowd = Array.from({ length: 4 }, (_, of) =>
      Array.from({ length: 100 }, (_, i) => ask(`payer ${of} ${i}`, `net${of}/1`)),
    )
    const places = Array.from({ length: NEWCOMERS.atOnce }, (_, i) => ask(`own ${i}`, 'quiet/1'))
    const own = await Promise.all(places)
    expect(own.every(({ ok }) => ok)).toBe(true)
    const next = ask('next', 'quiet/1')
    for (const leave of own) if (leave.ok) leave.value.done(GOOD)
    expect((await next).ok).toBe(true)
    const turnedAway = await Promise.race(crowd.flat().toReversed())
    expect(turnedAway).toMatchObject({ ok: false, fault: { code: 'stable/crowded' } })
  })
})

describe('a network of many addresses', () => {
  it('has no more refused than a few of its addresses, beside what they pay', async () => {
    const { newcomers, judge } = stand(null)
    for (let i = 0; i < NETWORK_CLIENTS * NEWCOMERS.refused; i++)
      expect(await judge(REFUSED, `payer ${i}`, `net/${i}`)).toBe('refused')
    expect([await judge(GOOD, 'next', 'net/new'), await judge(GOOD, 'next', 'other/1')]).toEqual([
      'stable/crowded',
      'good',
    ])
    newcomers.paid(clientOf('net/7'))
    expect(await judge(GOOD, 'next', 'net/new')).toBe('good')
  })

  it('has no more checks open than a few of its addresses, and the others go on as those end', async () => {
    const { ask } = stand(null)
    const open: string[] = []
    const places = NETWORK_CLIENTS * NEWCOMERS.atOnce
    const leaves = Array.from({ length: places + 1 }, async (_, i) => {
      const leave = await ask(`payer ${i}`, `net/${i}`)
      open.push(`${i}`)
      return leave
    })
    const guest = await ask('guest', 'other/1')
    expect([open.length, guest.ok]).toEqual([places, true])
    const first = await (leaves[0] as (typeof leaves)[0])
    if (first.ok) first.value.done(GOOD)
    const last = await (leaves[places] as (typeof leaves)[0])
    expect([last.ok, open.length]).toEqual([true, places + 1])
  })
})
