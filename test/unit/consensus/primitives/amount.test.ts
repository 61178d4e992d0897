import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AMOUNT_MAX,
  type Amount,
  add,
  amount,
  formatAmount,
  mulDivDown,
  mulDivUp,
  parseAmount,
  SUPPLY_BOUND,
  subtract,
  subtractProven,
  ZERO,
} from '../../../../consensus/primitives/amount.ts'
import { AssertionError } from '../../../../consensus/primitives/assert.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { loadVectors } from '../../../support/vectors.ts'

interface TextVector {
  readonly units: string
  readonly decimals: number
  readonly text: string
}
interface AmountVectors {
  readonly roundTrips: readonly TextVector[]
  readonly longerTexts: readonly TextVector[]
  readonly refusals: readonly {
    readonly text: string
    readonly decimals: number
    readonly code: 'amount/not-decimal' | 'amount/too-many-decimals' | 'amount/too-large'
  }[]
  readonly products: readonly Record<'a' | 'b' | 'divisor' | 'down' | 'up', string>[]
  readonly misuses: readonly Record<'a' | 'b' | 'divisor' | 'message', string>[]
}

const vectors = loadVectors<AmountVectors>('amounts.json', {
  roundTrips: 140,
  longerTexts: 7,
  refusals: 56,
  products: 72,
  misuses: 6,
})

describe('the decimal text of an amount', () => {
  it('is that of the vectors and reads back', () => {
    for (const { units, decimals, text } of vectors.roundTrips) {
      expect(formatAmount(BigInt(units), decimals)).toBe(text)
      expect(parseAmount(text, decimals)).toEqual({ ok: true, value: BigInt(units) })
    }
  })

  it('may have zeros at its end as far as the decimals go', () => {
    for (const { units, decimals, text } of vectors.longerTexts)
      expect(parseAmount(text, decimals)).toEqual({ ok: true, value: BigInt(units) })
  })

  it('reads back whatever the amount and the decimals are', () => {
    const units = fc.bigInt({ min: 0n, max: SUPPLY_BOUND - 1n })
    fc.assert(
      fc.property(units, fc.nat({ max: 38 }), (value, decimals) => {
        const text = formatAmount(value, decimals)
        expect(text).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/)
        expect(parseAmount(text, decimals)).toEqual({ ok: true, value })
      }),
      { numRuns: 500 },
    )
  })
})

describe('text that is no amount', () => {
  it('is refused with the code of the vectors and the facts of the case', () => {
    for (const { text, decimals, code } of vectors.refusals) {
      const detail = code === 'amount/too-many-decimals' ? { text, decimals } : { text }
      expect(parseAmount(text, decimals)).toEqual({ ok: false, fault: fault(code, detail) })
    }
  })

  it('is quoted with 64 characters at most', () => {
    const long = 'x'.repeat(1_000_000)
    expect(parseAmount(long, 8)).toEqual({ ok: false, fault: fault('amount/not-decimal', { text: 'x'.repeat(64) }) })
    expect(parseAmount(`1${'0'.repeat(1_000_000)}`, 8)).toEqual({
      ok: false,
      fault: fault('amount/not-decimal', { text: `1${'0'.repeat(63)}` }),
    })
  })

  it('never passes for a number that means something else', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789.-+eE, \n') }),
        fc.nat({ max: 20 }),
        (text, decimals) => {
          const parsed = parseAmount(text, decimals)
          if (!parsed.ok) return
          const [whole = '', fraction = ''] = text.split('.')
          expect(BigInt(whole) * 10n ** BigInt(decimals) + BigInt(fraction.padEnd(decimals, '0') || '0')).toBe(
            parsed.value,
          )
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('arithmetic of amounts', () => {
  const [one, two] = [1n as Amount, 2n as Amount]

  it('marks what lies from 0 to 2^128 - 1 and takes anything else for a bug', () => {
    expect(amount(0n)).toBe(0n)
    expect(amount(AMOUNT_MAX)).toBe(AMOUNT_MAX)
    expect(() => amount(-1n)).toThrow(new AssertionError('amount out of range: -1'))
    expect(() => amount(AMOUNT_MAX + 1n)).toThrow(new AssertionError(`amount out of range: ${2n ** 128n}`))
  })

  it('adds, and takes an overflow for a bug', () => {
    expect(add(one, two)).toBe(3n)
    expect(add(AMOUNT_MAX as Amount, ZERO)).toBe(AMOUNT_MAX)
    expect(() => add(AMOUNT_MAX as Amount, one)).toThrow(AssertionError)
  })

  it('subtracts down to 0 and says when there is too little', () => {
    expect(subtract(two, one)).toBe(1n)
    expect(subtract(two, two)).toBe(0n)
    expect(subtract(one, two)).toBeUndefined()
    expect(subtractProven(two, two)).toBe(0n)
    expect(() => subtractProven(one, two)).toThrow(new AssertionError('amount below zero: 1 - 2'))
  })

  it('divides products as in the vectors: the receiver loses the fraction, the payer pays it', () => {
    for (const { a, b, divisor, down, up } of vectors.products) {
      expect(mulDivDown(BigInt(a), BigInt(b), BigInt(divisor)).toString()).toBe(down)
      expect(mulDivUp(BigInt(a), BigInt(b), BigInt(divisor)).toString()).toBe(up)
    }
  })

  it('takes signs, a zero divisor and products of more than 256 bits for bugs', () => {
    for (const { a, b, divisor, message } of vectors.misuses) {
      for (const mulDiv of [mulDivDown, mulDivUp])
        expect(() => mulDiv(BigInt(a), BigInt(b), BigInt(divisor))).toThrow(new AssertionError(message))
    }
  })
})
