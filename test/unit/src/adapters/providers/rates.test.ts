import { describe, expect, it } from 'vitest'
import { ecb, type RateDependencies, type RateProvider } from '../../../../../src/adapters/providers/ecb.ts'
import { ecbRates } from '../../../../../src/adapters/providers/ecb-xml.ts'
import { frankfurter } from '../../../../../src/adapters/providers/frankfurter.ts'
import { describeProvider } from '../../../../support/upstreams/provider-suite.ts'
import {
  DAY_RATES,
  ecbUpstream,
  ecbXml,
  frankfurterUpstream,
  RATED_MS,
  REFERENCE_RATES,
} from '../../../../support/upstreams/reference-rates.ts'
import { Upstream, type UpstreamHandler } from '../../../../support/upstreams/upstream.ts'

const clock = { now: () => RATED_MS }

function suite(name: string, adapter: (parts: RateDependencies) => RateProvider, handler: UpstreamHandler): void {
  const common = { handler, answer: REFERENCE_RATES }
  describeProvider({ name, ...common, open: (url) => ({ ask: (signal) => adapter({ url, clock }).ask(null, signal) }) })
  const open = (url: string) => ({ ask: (signal: AbortSignal) => adapter({ url, clock }).check(signal) })
  describeProvider({ name: `${name}, being checked`, ...common, open })
}

suite('ecb', ecb, ecbUpstream)
suite('frankfurter', frankfurter, frankfurterUpstream)

const read = (xml: string) => ecbRates('ecb', xml, RATED_MS)
const WRONG = { ok: false, fault: { code: 'provider/answer' } }

describe("the central bank's file", () => {
  it('has 29 currencies beside the euro', () => {
    const rates = read(ecbXml())
    expect(rates.ok && Object.keys(rates.value.rates)).toHaveLength(29)
    expect(rates).toEqual({ ok: true, value: REFERENCE_RATES })
  })

  it('is read without a declaration, with double quotes and in one line', () => {
    const plain = ecbXml()
      .replace(/<\?xml[^>]*>/, '')
      .replaceAll("'", '"')
      .replaceAll(/\s*\n\s*/g, '')
    expect(read(plain)).toEqual({ ok: true, value: REFERENCE_RATES })
  })

  it('is refused wherever it is cut off', () => {
    const xml = ecbXml()
    const read_ = Array.from({ length: xml.length }, (_, length) => read(xml.slice(0, length)))
    expect(read_.filter(({ ok }) => ok)).toEqual([])
  })

  const xml = ecbXml()
  it.each([
    ['nothing', ''],
    ['text', 'rates'],
    ['text before it', `x${xml}`],
    ['text after it', `${xml}x`],
    ['two files', xml + xml.replace(/<\?xml[^>]*>/, '')],
    ['a document type', xml.replace('<gesmes:Envelope', '<!DOCTYPE r [<!ENTITY a "b">]><gesmes:Envelope')],
    ['an entity', xml.replace('Reference rates', '&lol;')],
    ['an entity in an attribute', xml.replace("'USD'", "'&lol;'")],
    ['a comment', xml.replace('<Cube>', '<!-- --><Cube>')],
    ['raw characters', xml.replace('Reference rates', '<![CDATA[x]]>')],
    ['an instruction', xml.replace('<Cube>', '<?php ?><Cube>')],
    ['a wrong order of ends', xml.replace('</gesmes:name>', '</gesmes:Sender>')],
    ['an attribute twice', xml.replace("rate='1.0452'", "rate='1.0452' rate='2'")],
    ['an attribute without quotes', xml.replace("rate='1.0452'", 'rate=1.0452')],
    ['too many levels', xml.replace('<Cube>', '<a>'.repeat(20)).replace('</gesmes:Envelope>', '</a>'.repeat(20))],
    ['two days', xml.replace('<Cube>', "<Cube time='2026-11-19'>")],
    ['no day', xml.replace(/ time='[^']*'/, '')],
    ['a currency twice', xml.replace("'JPY'", "'USD'")],
    ['a currency without a rate', xml.replace(" rate='1.0452'", '')],
    ['a rate of 0', ecbXml({ ...DAY_RATES, USD: '0.000' })],
    ['a rate below 0', ecbXml({ ...DAY_RATES, USD: '-1.04' })],
    ['a rate with an exponent', ecbXml({ ...DAY_RATES, USD: '1e3' })],
    ['a rate that is no number', ecbXml({ ...DAY_RATES, USD: 'N/A' })],
    ['a name that is no currency', ecbXml({ ...DAY_RATES, usd: '1' })],
    ['the euro itself', ecbXml({ ...DAY_RATES, EUR: '1' })],
    ['no currency', ecbXml({})],
    ['a day long ago', ecbXml(DAY_RATES, '2026-11-09')],
    ['a day to come', ecbXml(DAY_RATES, '2026-11-22')],
    ['a day that there is not', ecbXml(DAY_RATES, '2026-13-40')],
  ])('is refused with %s', (_, text) => {
    expect(text).not.toBe(xml)
    expect(read(text)).toMatchObject(WRONG)
  })

  it('costs time in proportion to its length, whatever it is', () => {
    const hostile = [
      `<a ${'b="c" '.repeat(9_000)}`,
      '<a>'.repeat(20_000),
      `<a${' '.repeat(60_000)}`,
      '<'.repeat(60_000),
    ]
    for (const text of hostile) expect(read(text)).toMatchObject(WRONG)
  })
})

describe('frankfurter', () => {
  it.each([
    ['another base', { base: 'USD' }],
    ['another amount', { amount: 2 }],
    ['a rate of 0', { rates: { USD: 0 } }],
    ['a rate that is tiny', { rates: { USD: 1e-9 } }],
    ['a rate that is a text', { rates: { USD: '1.2' } }],
    ['rates in a list', { rates: [1.2] }],
    ['no rates', { rates: {} }],
    ['a day long ago', { date: '2020-01-01' }],
  ])('is not believed with %s', async (_, change) => {
    const right = { amount: 1, base: 'EUR', date: REFERENCE_RATES.rateDate, rates: { USD: 1.0452 } }
    const upstream = await Upstream.open(() => ({ body: { ...right, ...change } }))
    try {
      const said = await frankfurter({ url: upstream.url, clock }).ask(null, AbortSignal.timeout(9_000))
      expect(said).toMatchObject(WRONG)
    } finally {
      await upstream.close()
    }
  })
})
