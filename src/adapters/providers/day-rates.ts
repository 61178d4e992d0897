import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ReferenceRates } from '../../../marketplace/ports/providers.ts'

const CURRENCIES_MAX = 200
const CURRENCY = /^[A-Z]{3}$/
const RATE = /^(0|[1-9][0-9]{0,11})(\.[0-9]{1,12})?$/
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/
/** The longest row of days without rates, at bank holidays, has five days. */
const AGE_DAYS_MAX = 10
const DAY_MS = 86_400_000

/**
 * Checks a provider's euro rates of one day. Fault `provider/answer` if the day is too old or more than a day ahead, a
 * currency appears twice, or a rate is not a decimal above 0.
 */
export function referenceRates(
  provider: string,
  rateDate: string,
  rates: readonly (readonly [currency: string, rate: string])[],
  nowMs: number,
): Result<ReferenceRates> {
  const wrong = (reason: string): Result<never> => fail(fault('provider/answer', { provider, reason }))
  const ageDays = DAY.test(rateDate) ? (nowMs - Date.parse(rateDate)) / DAY_MS : Number.NaN
  if (!(ageDays >= -1 && ageDays <= AGE_DAYS_MAX)) return wrong('it is not about the newest day')
  if (rates.length === 0 || rates.length > CURRENCIES_MAX) return wrong(`it has ${rates.length} currencies`)
  if (new Set(rates.map(([currency]) => currency)).size !== rates.length) return wrong('it has a currency twice')
  const isWell = rates.every(
    ([currency, rate]) => CURRENCY.test(currency) && currency !== 'EUR' && RATE.test(rate) && /[1-9]/.test(rate),
  )
  return isWell
    ? ok({ base: 'EUR', rates: Object.fromEntries(rates), rateDate })
    : wrong('a rate is not a number of a currency')
}
