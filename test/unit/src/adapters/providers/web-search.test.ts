import { afterEach, describe, expect, it } from 'vitest'
import type { ProviderChoice } from '../../../../../config/outside-settings.ts'
import { ProviderKeys } from '../../../../../src/adapters/provider-keys.ts'
import { brave } from '../../../../../src/adapters/providers/brave.ts'
import { searxng } from '../../../../../src/adapters/providers/searxng.ts'
import { webSearch } from '../../../../../src/adapters/providers/web-search.ts'
import { systemClock, systemTimers } from '../../../../../src/daemon/runtime.ts'
import { TestTime } from '../../../../support/market-parts.ts'
import { BRAVE_KEY, BRAVE_RESULTS, braveUpstream } from '../../../../support/upstreams/brave.ts'
import { describeProvider } from '../../../../support/upstreams/provider-suite.ts'
import { searxngUpstream } from '../../../../support/upstreams/searxng.ts'
import { Upstream, type UpstreamHandler } from '../../../../support/upstreams/upstream.ts'

const QUERY = 'post-quantum signatures'
const signal = AbortSignal.timeout(60_000)

const OF_SEARXNG = [
  {
    title: 'FIPS 204, ML-DSA',
    url: 'https://csrc.nist.gov/pubs/fips/204/final',
    snippet: 'Signatures & keys that last',
    date: '2024-08-13',
  },
  { title: 'Elsewhere', url: 'https://example.org/a?b=c#d', snippet: 'More of it', date: null },
]
const OF_BRAVE = [
  { title: 'ML-DSA explained', url: 'https://example.com/ml-dsa', snippet: 'How ML-DSA works', date: '2025-02-03' },
  { title: 'Lattices', url: 'http://lattices.example/', snippet: '1 < 2 & 3', date: null },
]

describeProvider({
  name: 'searxng',
  handler: searxngUpstream(),
  open: (url) => ({ ask: (asked) => searxng(url).ask(QUERY, asked) }),
  answer: OF_SEARXNG,
})

describeProvider({
  name: 'brave',
  handler: braveUpstream(),
  open: (url) => ({ ask: (asked) => brave({ url, key: BRAVE_KEY, clock: systemClock }).ask(QUERY, asked) }),
  answer: OF_BRAVE,
})

const opened: Upstream[] = []
afterEach(async () => {
  for (const upstream of opened.splice(0)) await upstream.close()
})

async function upstreamOf(handler: UpstreamHandler): Promise<Upstream> {
  const upstream = await Upstream.open(handler)
  opened.push(upstream)
  return upstream
}

describe('searxng', () => {
  it('says in words that its JSON format is off', async () => {
    const upstream = await upstreamOf(searxngUpstream({ formats: ['html'] }))
    const refused = { code: 'provider/refused', detail: { reason: expect.stringContaining('search.formats') } }
    expect(await searxng(upstream.url).check(signal)).toMatchObject({ ok: false, fault: refused })
    expect(await searxng(upstream.url).ask(QUERY, signal)).toMatchObject({ ok: false, fault: refused })
  })

  it('is checked without a search', async () => {
    const upstream = await upstreamOf(searxngUpstream())
    expect(await searxng(upstream.url).check(signal)).toMatchObject({ ok: true })
    expect(upstream.requests.map(({ query }) => query.get('q'))).toEqual([null])
  })

  it('that finds nothing has answered', async () => {
    const upstream = await upstreamOf(searxngUpstream({ results: [] }))
    expect(await searxng(upstream.url).ask(QUERY, signal)).toEqual({ ok: true, value: [] })
  })

  it('whose engines did not answer has not found nothing', async () => {
    const upstream = await upstreamOf(searxngUpstream({ results: [], unresponsive: [['duckduckgo', 'timeout']] }))
    const fault = { code: 'provider/answer', detail: { reason: expect.stringContaining('duckduckgo') } }
    expect(await searxng(upstream.url).ask(QUERY, signal)).toMatchObject({ ok: false, fault })
  })

  it('is asked for words alone, whatever commands are among them', async () => {
    const upstream = await upstreamOf(searxngUpstream())
    const asked = async (query: string) => {
      const said = await searxng(upstream.url).ask(query, signal)
      return said.ok ? upstream.requests.at(-1)?.query.get('q') : said.fault.detail
    }
    expect(await asked('!!g cats')).toBe('g cats')
    expect(await asked('!private :de ?map <3 rust !! c++ is != a?b http://x:80/ 2<3')).toBe(
      'private de map 3 rust c++ is = a?b http://x:80/ 2<3',
    )
    expect(await asked('!! ?! :')).toMatchObject({ ofQuestion: true })
  })

  it('gives ten pages at most, each once, cut to their bounds', async () => {
    const long = { url: 'https://example.org/', title: 'T'.repeat(5_000), content: 'S'.repeat(5_000) }
    const twice = { url: 'https://example.org', title: 'again' }
    const many = Array.from({ length: 20 }, (_, i) => ({ url: `https://example.org/${i}`, title: '<i></i>' }))
    const far = { url: `https://example.org/${'x'.repeat(3_000)}`, title: 'too far' }
    // Different Chinese characters: converting so many to ASCII takes longer than a test may.
    const letters = String.fromCodePoint(...Array.from({ length: 20_000 }, (_, i) => 0x4e00 + i)).repeat(8)
    const host = { url: `https://${letters}.example/`, title: 'nowhere' }
    const upstream = await upstreamOf(searxngUpstream({ results: [far, host, long, twice, ...many] }))
    const found = await searxng(upstream.url).ask(QUERY, signal)
    if (!found.ok) throw new Error(found.fault.code)
    expect(found.value.map(({ url }) => url)).toEqual([
      'https://example.org/',
      ...Array.from({ length: 9 }, (_, i) => `https://example.org/${i}`),
    ])
    expect(found.value[0]).toMatchObject({ title: `${'T'.repeat(199)}\u2026`, snippet: `${'S'.repeat(499)}\u2026` })
    expect(found.value[1]).toMatchObject({ title: 'example.org', snippet: '' })
  })
})

describe('brave', () => {
  it('sends its token, and is not asked again to see whether it answers', async () => {
    const upstream = await upstreamOf(braveUpstream())
    const time = new TestTime()
    const provider = brave({ url: upstream.url, key: BRAVE_KEY, clock: time })
    expect(await provider.check(signal)).toMatchObject({ ok: true })
    expect(await provider.check(signal)).toMatchObject({ ok: true })
    expect(upstream.count()).toBe(1)
    time.pass(7 * 3_600_000)
    expect(await provider.check(signal)).toMatchObject({ ok: true })
    expect(upstream.count()).toBe(2)
  })

  it('with a wrong token is of no use', async () => {
    const upstream = await upstreamOf(braveUpstream())
    const provider = brave({ url: upstream.url, key: 'another', clock: systemClock })
    expect(await provider.check(signal)).toMatchObject({ ok: false, fault: { code: 'provider/refused' } })
  })

  it('that finds nothing has answered', async () => {
    const upstream = await upstreamOf(braveUpstream([]))
    const provider = brave({ url: upstream.url, key: BRAVE_KEY, clock: systemClock })
    expect(await provider.ask(QUERY, signal)).toEqual({ ok: true, value: [] })
  })
})

describe('web search', () => {
  const chainOf = (choices: readonly ProviderChoice[], keys: Readonly<Record<string, string>> = {}) =>
    webSearch({ choices, keys: new ProviderKeys(keys), clock: systemClock, timers: systemTimers })

  it('asks the second provider where the first fails', async () => {
    const [first, second] = [await upstreamOf(searxngUpstream()), await upstreamOf(braveUpstream(BRAVE_RESULTS))]
    const choices = [
      { name: 'searxng', url: first.url },
      { name: 'brave', url: second.url },
    ]
    const chain = chainOf(choices, { brave: BRAVE_KEY })
    first.profile = '429'
    expect(await chain.ask(QUERY, signal)).toMatchObject({
      ok: true,
      value: { value: OF_BRAVE, source: { name: 'brave' } },
    })
    expect(chain.facts).toMatchObject([
      { name: 'searxng', usable: false },
      { name: 'brave', usable: true },
    ])
  })

  it('goes on for the others where one query leads elsewhere', async () => {
    const upstream = await upstreamOf((request) =>
      request.query.get('q')?.startsWith('odd') ? { status: 302, body: '' } : searxngUpstream()(request),
    )
    const chain = chainOf([{ name: 'searxng', url: upstream.url }])
    for (let i = 0; i < 6; i++) expect(await chain.ask(`odd ${i}`, signal)).toMatchObject({ ok: false })
    expect(await chain.ask(QUERY, signal)).toMatchObject({ ok: true })
  })

  it('answers the same question from memory', async () => {
    const upstream = await upstreamOf(searxngUpstream())
    const chain = chainOf([{ name: 'searxng', url: upstream.url }])
    await Promise.all([chain.ask(QUERY, signal), chain.ask(QUERY, signal)])
    expect(await chain.ask(QUERY, signal)).toMatchObject({ ok: true, value: { value: OF_SEARXNG } })
    expect(upstream.count()).toBe(1)
  })

  it('says what a provider lacks', async () => {
    const chain = chainOf([
      { name: 'searxng', url: null },
      { name: 'brave', url: null },
    ])
    await chain.checkAll()
    expect(chain.readiness()).toMatchObject({
      available: false,
      reason: expect.stringMatching(/searxng: it needs.*searxng=https:.*brave: .*"brave" in providers\.keys-file/),
      requires: ['providers.search', 'providers.keys-file'],
    })
    expect(chainOf([]).readiness()).toMatchObject({ available: false, requires: ['providers.search'] })
  })
})
