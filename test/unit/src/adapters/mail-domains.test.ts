import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DnsMailDomains } from '../../../../src/adapters/mail-domains.ts'
import { NameSystem } from '../../../../src/adapters/name-system.ts'
import { type DnsName, DnsServer } from '../../../support/dns-server.ts'

const IPV6 = '2001:0db8:0000:0000:0000:0000:0000:0001'
const NAMES: Readonly<Record<string, DnsName>> = {
  'mail.com': {
    mx: [
      [20, 'mx-b.mail.com'],
      [10, 'MX.mail.com'],
      [20, 'mx-a.mail.com'],
    ],
  },
  'mx.mail.com': { aaaa: [IPV6] },
  'one.com': { mx: [[5, 'gone.one.com']] },
  'flaky.com': { mx: [[5, 'ill.flaky.com']] },
  'ill.flaky.com': { does: 'servfail' },
  'null.com': { mx: [[0, '']], a: ['192.0.2.1'] },
  'both.com': {
    mx: [
      [0, ''],
      [10, 'mx.mail.com'],
    ],
  },
  'odd.com': { mx: [[10, 'not a host!']] },
  'implicit.com': { a: ['192.0.2.1'] },
  'implicit6.com': { aaaa: [IPV6] },
  'nothing.com': {},
  'servfail.com': { does: 'servfail' },
  'refused.com': { does: 'refused' },
  'silence.com': { does: 'silence' },
  'garbage.com': { does: 'garbage' },
  'truncated.com': { does: 'truncated', mx: [[10, 'mx.mail.com']] },
  'cut.com': { does: 'cut', mx: [[10, 'mx.mail.com']] },
  'many.com': { mx: Array.from({ length: 25 }, (_, i) => [i, `mx${i}.many.com`] as const) },
}
const NOTHING = { exists: true, mx: [], nullMx: false, implicitMx: false, mxHasAddress: null }

let server: DnsServer
let names: NameSystem
let mail: DnsMailDomains
let nowMs = 1_795_000_000_000
beforeAll(async () => {
  server = await DnsServer.open(NAMES)
  names = new NameSystem([server.address])
})
beforeEach(() => {
  mail = new DnsMailDomains(names, { now: () => nowMs })
  server.questions.length = 0
})
afterAll(async () => {
  names.stop()
  await server.close()
})

async function of(domain: string) {
  const found = await mail.lookUp(domain, AbortSignal.timeout(10_000))
  return found.ok ? found.value.value : found.fault.code
}

describe('what a real name server says about mail', () => {
  it('is its exchangers by priority, then name, and whether one has an address', async () => {
    expect(await of('mail.com')).toEqual({
      ...NOTHING,
      mx: [
        { host: 'mx.mail.com', priority: 10 },
        { host: 'mx-a.mail.com', priority: 20 },
        { host: 'mx-b.mail.com', priority: 20 },
      ],
      mxHasAddress: true,
    })
    expect(await of('one.com')).toMatchObject({ mx: [{ host: 'gone.one.com', priority: 5 }], mxHasAddress: false })
    expect(await of('flaky.com')).toMatchObject({ mx: [{ host: 'ill.flaky.com' }], mxHasAddress: null })
    expect(await of('many.com')).toMatchObject({ mx: { length: 20 }, mxHasAddress: null })
  })

  it('may be that the domain takes none, which another exchanger beside it outweighs', async () => {
    expect(await of('null.com')).toEqual({ ...NOTHING, nullMx: true })
    expect(await of('both.com')).toMatchObject({ nullMx: false, mx: [{ host: 'mx.mail.com' }] })
    expect(await of('odd.com')).toEqual(NOTHING)
  })

  it('may be that it goes to the domain itself, that there is nowhere to go, or no such domain', async () => {
    expect(await of('implicit.com')).toEqual({ ...NOTHING, implicitMx: true })
    expect(await of('implicit6.com')).toEqual({ ...NOTHING, implicitMx: true })
    expect(await of('nothing.com')).toEqual(NOTHING)
    expect(await of('absent.com')).toEqual({ ...NOTHING, exists: false })
  })

  it('comes over TCP where it does not fit into a packet', async () => {
    expect(await of('truncated.com')).toMatchObject({ mx: [{ host: 'mx.mail.com' }], mxHasAddress: true })
  })

  it.each([
    ['servfail.com', 'web/unreachable'],
    ['refused.com', 'web/unreachable'],
    ['silence.com', 'web/timeout'],
    ['garbage.com', 'web/unreachable'],
    ['cut.com', 'web/unreachable'],
  ])('is a failure, not a no, for %s', async (domain, code) => {
    expect(await of(domain)).toBe(code)
  })

  it('is asked for once in ten minutes, and once by callers at the same time', async () => {
    await Promise.all([of('implicit.com'), of('implicit.com'), of('implicit.com')])
    nowMs += 599_000
    await of('implicit.com')
    expect(server.questions).toEqual(['mx implicit.com', 'a implicit.com', 'aaaa implicit.com'])
    nowMs += 1_000
    await of('implicit.com')
    expect(server.questions).toHaveLength(6)
  })

  it('is not kept where it is a failure', async () => {
    await of('servfail.com')
    await of('servfail.com')
    expect(server.questions.length).toBeGreaterThanOrEqual(2)
  })

  it('is asked for of 256 domains at a time, and of more when those are done', async () => {
    const waiting = Array.from({ length: 256 }, (_, i) => of(`d${i}.com`))
    expect(await of('late.com')).toBe('web/unreachable')
    await Promise.all(waiting)
    expect(await of('late.com')).toMatchObject({ exists: false })
  })

  it('leaves a caller who gives up, and goes on for the others', async () => {
    const early = new AbortController()
    const first = mail.lookUp('silence.com', early.signal)
    const second = mail.lookUp('mail.com', AbortSignal.timeout(10_000))
    early.abort()
    expect(await first).toMatchObject({ ok: false, fault: { code: 'web/timeout' } })
    expect((await second).ok).toBe(true)
  })
})

describe('providers of disposable addresses', () => {
  it('are known with all that lies below them, and nothing above or beside', () => {
    expect(mail.isDisposable('mailinator.com')).toBe(true)
    expect(mail.isDisposable('a.b.mailinator.com')).toBe(true)
    expect(mail.isDisposable('mailinatorish.com')).toBe(false)
    expect(mail.isDisposable('gmail.com')).toBe(false)
    expect(mail.isDisposable('com')).toBe(false)
    expect(mail.isDisposable('co.uk')).toBe(false)
  })
})
