import { afterEach, describe, expect, it } from 'vitest'
import { RdapDomains, registry } from '../../../../../src/adapters/providers/rdap.ts'
import { RdapList } from '../../../../../src/adapters/providers/rdap-list.ts'
import { systemClock, systemTimers } from '../../../../../src/daemon/runtime.ts'
import { TestTime } from '../../../../support/market-parts.ts'
import { plainWeb } from '../../../../support/plain-web.ts'
import { describeProvider } from '../../../../support/upstreams/provider-suite.ts'
import {
  OLD_RDAP_HOST,
  RDAP_DOMAIN,
  RDAP_HOST,
  type RdapAnswers,
  rdapUpstream,
} from '../../../../support/upstreams/rdap.ts'
import { Upstream } from '../../../../support/upstreams/upstream.ts'

const ADDRESS = `https://${RDAP_HOST}/com/v1/`
const signal = AbortSignal.timeout(60_000)

const FACTS = {
  registered: true,
  registrar: { name: 'Registrar & Sons', ianaId: '376', url: 'https://registrar.example/' },
  createdAt: '1995-08-14T04:00:00.000Z',
  expiresAt: '2027-08-13T04:00:00.000Z',
  updatedAt: null,
  nameservers: ['a.iana-servers.net', 'b.iana-servers.net'],
  status: ['client delete prohibited', 'active'],
  dnssec: true,
  rdapServer: ADDRESS,
}
const UNREGISTERED = {
  registered: false,
  registrar: null,
  createdAt: null,
  expiresAt: null,
  updatedAt: null,
  nameservers: [],
  status: [],
  dnssec: null,
}

describeProvider({
  name: 'a registry',
  handler: rdapUpstream(),
  open: (url) => ({ ask: (asked) => registry(ADDRESS, plainWeb({ [RDAP_HOST]: url })).ask('example.com', asked) }),
  answer: FACTS,
})

describeProvider({
  name: 'a registry without the domain',
  handler: rdapUpstream(),
  open: (url) => ({ ask: (asked) => registry(ADDRESS, plainWeb({ [RDAP_HOST]: url })).ask('free.com', asked) }),
  answer: { ...UNREGISTERED, rdapServer: ADDRESS },
})

describeProvider({
  name: 'the list of registries',
  handler: rdapUpstream(),
  open: (url) => ({ ask: (asked) => new RdapList(url, systemClock).ask(null, asked) }),
  answer: new Map([
    ['com', ADDRESS],
    ['net', ADDRESS],
    ['old', `https://${OLD_RDAP_HOST}/`],
    ['xn--p1ai', `https://${RDAP_HOST}/rf/`],
    ['jp', `https://${RDAP_HOST}/jp/`],
    ['co.jp', `https://${RDAP_HOST}/jp/`],
  ]),
})

const opened: Upstream[] = []
afterEach(async () => {
  for (const upstream of opened.splice(0)) await upstream.close()
})

async function registrations(answers?: RdapAnswers, time: Partial<ConstructorParameters<typeof RdapDomains>[0]> = {}) {
  const upstream = await Upstream.open(rdapUpstream(answers))
  opened.push(upstream)
  const web = plainWeb({ [RDAP_HOST]: upstream.url, [OLD_RDAP_HOST]: upstream.url })
  const lists = [upstream.url]
  const domains = new RdapDomains({ lists, web, clock: systemClock, timers: systemTimers, ...time })
  return { upstream, domains }
}

describe('registrations of domains', () => {
  it('come from the registry of the longest ending, under its name', async () => {
    const { domains, upstream } = await registrations()
    expect(domains.readiness()).toMatchObject({ available: false })
    expect(domains.covers('example.com')).toBe(null)
    await domains.chain.checkAll()
    expect(domains.readiness()).toMatchObject({ available: true, engine: 'iana' })
    expect(await domains.ask('example.com', signal)).toMatchObject({
      ok: true,
      value: { value: FACTS, source: { name: RDAP_HOST, url: ADDRESS, stale: false } },
    })
    await domains.ask('example.com', signal)
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/rdap/dns.json', '/com/v1/domain/example.com'])
    expect([domains.covers('example.net'), domains.covers('a.co.jp'), domains.covers('example.nowhere')]).toEqual([
      true,
      true,
      false,
    ])
    expect(await domains.ask('example.nowhere', signal)).toMatchObject({
      ok: false,
      fault: { code: 'provider/not-found' },
    })
  })

  it('of a domain that is free say so', async () => {
    const { domains } = await registrations({ 'quiet.com': { status: 404, body: '' } })
    for (const free of ['free.com', 'quiet.com']) {
      const said = await domains.ask(free, signal)
      expect(said).toMatchObject({ ok: true, value: { value: { ...UNREGISTERED, rdapServer: ADDRESS } } })
    }
  })

  it('are not told by a page that says 404, nor by the answer for another domain', async () => {
    const { domains } = await registrations({
      'page.com': { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>404</h1>' },
      'json.com': { status: 404, body: { message: 'no such route' } },
      'other.com': RDAP_DOMAIN,
      'nameless.com': { ...RDAP_DOMAIN, ldhName: undefined },
    })
    for (const domain of ['page.com', 'json.com', 'other.com', 'nameless.com']) {
      expect(await domains.ask(domain, signal)).toMatchObject({ ok: false, fault: { code: 'provider/answer' } })
    }
  })

  it('are found where a registry sends its callers', async () => {
    const moved = { status: 302, headers: { location: `https://${RDAP_HOST}/com/v1/domain/moved.old` }, body: '' }
    let isMoved = false
    const upstream = await Upstream.open((request) => {
      if (request.path !== '/domain/moved.old') {
        return rdapUpstream({ 'moved.old': { ...RDAP_DOMAIN, ldhName: 'moved.old' } })(request)
      }
      isMoved = true
      return moved
    })
    opened.push(upstream)
    const web = plainWeb({ [RDAP_HOST]: upstream.url, [OLD_RDAP_HOST]: upstream.url })
    const domains = new RdapDomains({ lists: [upstream.url], web, clock: systemClock, timers: systemTimers })
    expect(await domains.ask('moved.old', signal)).toMatchObject({ ok: true, value: { value: { registered: true } } })
    expect(isMoved).toBe(true)
  })

  it('with little in them leave the rest unknown', async () => {
    const bare = { objectClassName: 'domain', unicodeName: 'b\u00fccher.com', events: [] }
    const odd = {
      ...RDAP_DOMAIN,
      ldhName: 'odd.com',
      entities: [
        {
          roles: ['registrar'],
          publicIds: [{ type: 'IANA Registrar ID', identifier: 'not applicable' }],
          vcardArray: ['vcard', [['fn', {}, 'text', '']]],
        },
      ],
      events: [{ eventAction: 'registration', eventDate: 'long ago' }],
      secureDNS: { zoneSigned: true },
    }
    const { domains } = await registrations({ 'xn--bcher-kva.com': bare, 'odd.com': odd })
    expect(await domains.ask('xn--bcher-kva.com', signal)).toMatchObject({
      ok: true,
      value: { value: { ...UNREGISTERED, registered: true } },
    })
    expect(await domains.ask('odd.com', signal)).toMatchObject({
      ok: true,
      value: { value: { registrar: { name: null, ianaId: null, url: null }, createdAt: null, dnssec: null } },
    })
  })

  it('with impossible names are not read to their end', async () => {
    // Different Chinese characters: converting so many to ASCII takes longer than a test may.
    const name = String.fromCodePoint(...Array.from({ length: 20_000 }, (_, i) => 0x4e00 + i)).repeat(8)
    const { domains } = await registrations({
      'names.com': { ...RDAP_DOMAIN, ldhName: 'names.com', nameservers: [{ unicodeName: name }] },
      'called.com': { ...RDAP_DOMAIN, ldhName: undefined, unicodeName: name },
    })
    for (const domain of ['names.com', 'called.com'])
      expect(await domains.ask(domain, signal)).toMatchObject({ ok: false, fault: { code: 'provider/answer' } })
  })

  it('of one registry that refuses do not stop those of the others', async () => {
    const time = new TestTime()
    const { domains, upstream } = await registrations({}, { clock: time })
    upstream.profile = ({ path }) => (path.startsWith('/com/') ? '429' : 'ok')
    expect(await domains.ask('first.com', signal)).toMatchObject({ ok: false, fault: { code: 'provider/refused' } })
    const asked = upstream.count()
    expect(await domains.ask('second.com', signal)).toMatchObject({ ok: false, fault: { code: 'provider/none' } })
    expect(upstream.count()).toBe(asked)
    expect(await domains.ask('example.jp', signal)).toMatchObject({ ok: true, value: { value: { registered: false } } })
    expect(domains.readiness()).toMatchObject({ available: true })
    upstream.profile = 'ok'
    time.pass(31_000)
    expect(await domains.ask('second.com', signal)).toMatchObject({ ok: true })
  })

  it('go on for a week without the list, and read it again after a day', async () => {
    const time = new TestTime()
    const { domains, upstream } = await registrations({}, { clock: time })
    await domains.chain.checkAll()
    time.pass(25 * 3_600_000)
    upstream.profile = ({ path }) => (path === '/rdap/dns.json' ? '500' : 'ok')
    expect(await domains.ask('a.com', signal)).toMatchObject({ ok: false })
    upstream.profile = 'ok'
    expect(await domains.ask('a.com', signal)).toMatchObject({ ok: true })
    expect(upstream.count('/rdap/dns.json')).toBe(3)
    time.pass(48 * 3_600_000)
    upstream.profile = ({ path }) => (path === '/rdap/dns.json' ? '500' : 'ok')
    expect(await domains.ask('b.com', signal)).toMatchObject({ ok: true, value: { source: { stale: false } } })
  })

  it('cannot be asked where the web cannot be read', async () => {
    const upstream = await Upstream.open(rdapUpstream())
    opened.push(upstream)
    const off = { available: false as const, reason: 'reading the web is off', requires: ['web.enabled'] }
    const web = { ...plainWeb({}), readiness: () => off }
    const domains = new RdapDomains({ lists: [upstream.url], web, clock: systemClock, timers: systemTimers })
    await domains.chain.checkAll()
    expect(domains.readiness()).toEqual(off)
  })
})
