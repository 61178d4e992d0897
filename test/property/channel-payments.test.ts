import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Fields } from '../../consensus/primitives/fields.ts'
import { checkCeiling, refundable } from '../../marketplace/till/rails/dollar/channel/checks.ts'
import { readChannelPayment } from '../../marketplace/till/rails/dollar/channel/payment.ts'
import { paymentJson } from '../../marketplace/till/rails/dollar/channel/wire.ts'
import { AMOUNT, CHANNEL_TERMS, channelJson, channelPayment } from '../support/channel.ts'
import { newPayer } from '../support/dollar.ts'
import { runs } from '../support/runs.ts'

const RUNS = runs(300)
const KINDS = ['deposit', 'voucher', 'refund'] as const
const GOOD = KINDS.map((kind) => channelJson(newPayer(), kind))
const PATHS = GOOD.flatMap((json) => [...pathsOf(json)])
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    '0',
    '-1',
    '0x',
    0,
    -1,
    900,
    Number.POSITIVE_INFINITY,
    {},
    [],
    true,
    '0'.repeat(40),
  ),
  fc.jsonValue(),
  fc.bigInt().map(String),
)

function* pathsOf(value: unknown, at: readonly string[] = []): Generator<readonly string[]> {
  if (at.length > 0) yield at
  if (value !== null && typeof value === 'object')
    for (const [name, member] of Object.entries(value)) yield* pathsOf(member, [...at, name])
}

function changed(json: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  return { ...(json as Fields), [name]: changed((json as Fields | null)?.[name], rest, value) }
}

it('a payment with anything in the place of its members is refused with a fault, or read and written again the same', () => {
  const changes = fc.array(fc.tuple(fc.constantFrom(...PATHS), odd), { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(fc.constantFrom(...GOOD), changes, (good, some) => {
      const json = some.reduce<unknown>((was, [path, value]) => changed(was, path, value), good)
      const read = readChannelPayment(json, 'the header', CHANNEL_TERMS)
      if (!read.ok) {
        expect(['pay/unreadable', 'pay/no-offer']).toContain(read.fault.code)
        return
      }
      const again = { x402Version: 2, accepted: read.value.accepted, payload: paymentJson(read.value) }
      expect(readChannelPayment(again, 'the header', CHANNEL_TERMS)).toEqual(read)
    }),
    { numRuns: RUNS * 10 },
  )
})

it('what a channel pays for never exceeds what it holds, whatever comes in which order', () => {
  const payments = new Map<string, ReturnType<typeof pay>>()
  const payer = newPayer()
  const pay = (kind: (typeof KINDS)[number], maxClaimable: bigint) => channelPayment(kind, { maxClaimable }, payer)
  // A signature takes a millisecond, so equal payments are signed once.
  const paymentOf = (kind: (typeof KINDS)[number], maxClaimable: bigint) => {
    const name = `${kind} ${maxClaimable}`
    const payment = payments.get(name) ?? pay(kind, maxClaimable)
    payments.set(name, payment)
    return payment
  }
  const step = fc.record({
    kind: fc.constantFrom(...KINDS),
    signed: fc.integer({ min: 0, max: 30 }).map((calls) => BigInt(calls) * 500n),
    isExact: fc.boolean(),
    price: fc.constantFrom(0n, 500n, AMOUNT),
    claims: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let charged = 0n
      let ceiling = 0n
      let paidBack = 0n
      let deposited = 0n
      let state = { balance: 0n, totalClaimed: 0n, withdrawRequestedAt: 0, refundNonce: 0n }
      for (const { kind, signed, isExact, price, claims } of steps) {
        const total = isExact ? charged + (kind === 'refund' ? 0n : AMOUNT) : signed
        const payment = paymentOf(kind, total)
        if (claims) state = { ...state, totalClaimed: charged }
        if (checkCeiling(payment, { charged, amount: AMOUNT, state }) !== null) continue
        if (payment.kind === 'refund') {
          const left = refundable(payment, { charged, state })
          if (!left.ok) continue
          paidBack += left.value
          state = { ...state, totalClaimed: charged, balance: state.balance - left.value }
        } else {
          const more = payment.kind === 'deposit' ? payment.deposit.amount : 0n
          deposited += more
          state = { ...state, balance: state.balance + more }
          charged += price
          ceiling = payment.voucher.maxClaimable
        }
        expect(charged <= ceiling).toBe(true)
        expect(charged <= state.balance && state.totalClaimed <= charged).toBe(true)
        expect(state.balance + paidBack).toBe(deposited)
      }
    }),
    { numRuns: RUNS },
  )
})
