import { expect, it } from 'vitest'
import { JsonAt, readJson } from '../../../../../src/adapters/providers/json-at.ts'
import { readDomain } from '../../../../../src/adapters/providers/rdap-domain.ts'
import { readHits } from '../../../../../src/adapters/providers/search-hits.ts'

/** The last day with a four-digit year, one hour west of UTC: in UTC it is the year 10000. */
const LATE = '9999-12-31T23:30:00-01:00'

it('a registration until the end of all years has no date of expiry that can be written, and is an answer', () => {
  const events = [{ eventAction: 'expiration', eventDate: LATE }]
  const domain = { objectClassName: 'domain', ldhName: 'example.com', events }
  expect(
    readJson('a registry', domain, (json) => readDomain(json, 'example.com', 'https://rdap.example/')),
  ).toMatchObject({
    ok: true,
    value: { registered: true, expiresAt: null },
  })
})

it('a page of that day is found without a date', () => {
  const found = new JsonAt({ url: 'https://a.example/', title: 'A', content: '', publishedDate: LATE }, 'it')
  expect(readHits([found], { snippet: 'content', date: 'publishedDate' })).toMatchObject([{ date: null }])
})
