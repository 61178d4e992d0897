import { Type } from 'typebox'
import { formatAmount, parseAmount } from '../../../consensus/primitives/amount.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ReferenceRates } from '../../ports/providers.ts'
import { type Ratio, ratio, significantText } from '../../queries/ratio.ts'
import { DECIMAL_AMOUNT } from '../amounts.ts'
import { fromSource, SOURCE_ENVELOPE } from '../envelope.ts'
import { refusal, unusable } from '../requests.ts'
import { defineService } from '../service.ts'

const ID = 'node-fx-rates' as ServiceId
const FORMAT = { requestFormat: '<amount> <CUR> to <CUR>, or <CUR>', example: '100 USD to EUR' }
const REQUEST_CHARS_MAX = 64
const CONVERSION = /^([0-9.]{1,40})\s*([A-Z]{3})\s+TO\s+([A-Z]{3})$/
const CURRENCY = /^[A-Z]{3}$/
const AMOUNT_MAX = 10n ** 15n
const AMOUNT_DECIMALS = 8
const RATE_DECIMALS = 12
/** Significant digits of a rate, and decimals of a result. */
const [RATE_DIGITS, RESULT_DECIMALS] = [10, 6]

const CODE = Type.String({ pattern: '^[A-Z]{3}$' })
const RATE = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,30})?$' })

const RESULT = Type.Object({
  ...SOURCE_ENVELOPE,
  conversion: Type.Optional(
    Type.Object({ amount: DECIMAL_AMOUNT, from: CODE, to: CODE, rate: RATE, result: DECIMAL_AMOUNT }),
  ),
  base: Type.Optional(CODE),
  rates: Type.Optional(Type.Record(CODE, RATE)),
  rateDate: Type.String({ format: 'date' }),
  published: Type.String(),
  note: Type.String(),
})

const WORDS = {
  published: 'on working days at about 16:00 in Frankfurt',
  note: 'Reference rates of the European Central Bank, not tradable. Rates have 10 significant digits, rounded half up; a result is the exact product, rounded half up to 6 decimals.',
}

type Wanted =
  | { readonly amount: string; readonly units: bigint; readonly from: string; readonly to: string }
  | { readonly base: string }

function parse(request: string): Result<Wanted> {
  const text = request.trim().toUpperCase()
  if (CURRENCY.test(text)) return ok({ base: text })
  const [, amount = '', from = '', to = ''] = CONVERSION.exec(text) ?? []
  if (amount === '') return unusable('neither an amount and two currencies nor a currency', FORMAT)
  const units = parseAmount(amount, AMOUNT_DECIMALS)
  if (!units.ok || units.value > AMOUNT_MAX * 10n ** BigInt(AMOUNT_DECIMALS))
    return unusable('the amount must be a decimal number of at most 8 decimals, from 0 to 1000000000000000', FORMAT)
  return ok({ amount: formatAmount(units.value, AMOUNT_DECIMALS), units: units.value, from, to })
}

/** Currencies in the request without a rate. */
function strangersIn(wanted: Wanted, { rates }: ReferenceRates): readonly string[] {
  const named = 'base' in wanted ? [wanted.base] : [wanted.from, wanted.to]
  return named.filter((currency) => currency !== 'EUR' && !Object.hasOwn(rates, currency))
}

/** Exact units of a currency per euro, times 10^12. */
function perEuro({ rates }: ReferenceRates, currency: string): bigint {
  if (currency === 'EUR') return 10n ** BigInt(RATE_DECIMALS)
  const rate = parseAmount(rates[currency] as string, RATE_DECIMALS)
  if (!rate.ok || rate.value === 0n) throw new Error(`the rate of ${currency} cannot be used`)
  return rate.value
}

function crossRate(rates: ReferenceRates, from: string, to: string): Ratio {
  return ratio(perEuro(rates, to), perEuro(rates, from))
}

function fields(wanted: Wanted, known: ReferenceRates) {
  const [stranger] = strangersIn(wanted, known)
  if (stranger !== undefined) throw new Error(`there is no reference rate of ${stranger}`)
  const rest = { rateDate: known.rateDate, ...WORDS }
  if ('base' in wanted) {
    const others = ['EUR', ...Object.keys(known.rates)].filter((currency) => currency !== wanted.base).sort()
    const rates = others.map((to) => [to, significantText(crossRate(known, wanted.base, to), RATE_DIGITS)])
    return { base: wanted.base, rates: Object.fromEntries(rates) as Record<string, string>, ...rest }
  }
  const { amount, units, from, to } = wanted
  const rate = crossRate(known, from, to)
  const result = formatAmount(roundedResult(units, rate), RESULT_DECIMALS)
  return { conversion: { amount, from, to, rate: significantText(rate, RATE_DIGITS), result }, ...rest }
}

/** Amount x rate in units of the result's last decimal, rounded half up. */
function roundedResult(units: bigint, { numerator, denominator }: Ratio): bigint {
  const whole = denominator * 10n ** BigInt(AMOUNT_DECIMALS - RESULT_DECIMALS)
  return (units * numerator * 2n + whole) / (whole * 2n)
}

/** Converts an amount between currencies, or lists all rates of one currency. */
export const fxRates = defineService<Wanted, typeof RESULT>({
  serviceId: ID,
  name: 'Exchange rates',
  description:
    'Converts between 30 currencies, named by ISO 4217 codes, or lists the rates against one, from the reference rates of the European Central Bank: exact decimals, not tradable.',
  brief: 'Converts between 30 currencies at the reference rates of the European Central Bank.',
  words: 'exchange convert euro dollar pound yen franc money forex eur usd gbp jpy chf',
  capability: 'oracle',
  priceUsdMicros: 2_000n,
  ...FORMAT,
  sample: {
    service: ID as string,
    asOf: '2026-11-20T16:30:00.000Z',
    source: {
      name: 'ecb',
      url: 'https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/',
      fetchedAt: '2026-11-20T16:15:02.000Z',
      stale: false,
      attribution: 'European Central Bank: euro foreign exchange reference rates',
    },
    conversion: { amount: '100', from: 'USD', to: 'EUR', rate: '0.956754688', result: '95.675469' },
    rateDate: '2026-11-20',
    ...WORDS,
  },
  timeoutMs: 6_000,
  resultBytesMax: 16_384,
  repeatable: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  check: (wanted, { outside }) => {
    const known = outside.rates.known()
    const [stranger] = known === null ? [] : strangersIn(wanted, known)
    return stranger === undefined ? null : refusal(`there is no reference rate of ${stranger}`, FORMAT)
  },
  ready: ({ outside }) => outside.rates.readiness(),
  resultSchema: RESULT,
  execute: async (wanted, context, signal) =>
    fromSource(ID, await context.outside.rates.ask(null, signal), context, (known) => fields(wanted, known)),
})
