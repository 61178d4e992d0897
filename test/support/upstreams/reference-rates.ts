import type { UpstreamHandler } from './upstream.ts'

/** Rates of a day for every currency of the European Central Bank's list. Bulgaria has the euro, so its currency is absent. */
export const DAY_RATES = {
  USD: '1.0452',
  JPY: '161.86',
  CZK: '25.317',
  DKK: '7.4582',
  GBP: '0.83273',
  HUF: '409.48',
  PLN: '4.3288',
  RON: '4.9771',
  SEK: '11.5235',
  CHF: '0.9324',
  ISK: '145.3',
  NOK: '11.5595',
  TRY: '36.1612',
  AUD: '1.6111',
  BRL: '6.0784',
  CAD: '1.4596',
  CNY: '7.5757',
  HKD: '8.1345',
  IDR: '16605.4',
  ILS: '3.8724',
  INR: '88.136',
  KRW: '1465.1',
  MXN: '21.3117',
  MYR: '4.6728',
  NZD: '1.7856',
  PHP: '61.663',
  SGD: '1.4081',
  THB: '36.222',
  ZAR: '18.8742',
} as const

/** The day of these rates, a Friday. */
export const RATE_DATE = '2026-11-20'
/** A time later on that day, milliseconds since 1970. */
export const RATED_MS = Date.parse('2026-11-20T16:30:00Z')

/** The result that the adapters of the European Central Bank and of Frankfurter make of these rates. */
export const REFERENCE_RATES = { base: 'EUR', rates: DAY_RATES, rateDate: RATE_DATE }

/** The European Central Bank's file with these rates and day. */
export function ecbXml(rates: Readonly<Record<string, string>> = DAY_RATES, day = RATE_DATE): string {
  const cubes = Object.entries(rates).map(([currency, rate]) => `\t\t\t<Cube currency='${currency}' rate='${rate}'/>\n`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
\t\t<Cube time='${day}'>
${cubes.join('')}\t\t</Cube>
\t</Cube>
</gesmes:Envelope>`
}

/**
 * The European Central Bank's daily file, in the form that "For developers" describes:
 * https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html
 */
export const ecbUpstream: UpstreamHandler = ({ path }) =>
  path === '/stats/eurofxref/eurofxref-daily.xml'
    ? { headers: { 'content-type': 'text/xml' }, body: ecbXml() }
    : { status: 404, body: '<!doctype html><title>Not found</title>' }

/** Frankfurter's `latest`: https://frankfurter.dev/v1/ */
export const frankfurterUpstream: UpstreamHandler = ({ path, query }) => {
  if (path !== '/v1/latest' || query.get('base') !== 'EUR') return { status: 404, body: { message: 'not found' } }
  const rates = Object.entries(DAY_RATES).map(([currency, rate]) => [currency, Number(rate)])
  return { body: { amount: 1, base: 'EUR', date: RATE_DATE, rates: Object.fromEntries(rates) } }
}
