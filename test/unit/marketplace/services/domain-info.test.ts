import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { checkRequest, readRequest } from '../../../../marketplace/services/service.ts'
import { domainInfo as service } from '../../../../marketplace/services/web/domain-info.ts'
import { RdapDomains } from '../../../../src/adapters/providers/rdap.ts'
import { systemClock, systemTimers } from '../../../../src/daemon/runtime.ts'
import { outsideOf } from '../../../support/outside.ts'
import { plainWeb } from '../../../support/plain-web.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { describeService } from '../../../support/upstreams/provider-suite.ts'
import { RDAP_HOST, rdapUpstream } from '../../../support/upstreams/rdap.ts'

let context: ServiceContext
beforeAll(async () => {
  context = (await emptyServiceChain(2)).context
})

async function openWith(url: string) {
  const web = plainWeb({ [RDAP_HOST]: url })
  const domains = new RdapDomains({ lists: [url], web, clock: systemClock, timers: systemTimers })
  await domains.start()
  return { context: { ...context, outside: outsideOf({ domains }) }, stop: () => domains.stop() }
}

describeService({
  service,
  request: 'www.EXAMPLE.com',
  handler: rdapUpstream(),
  open: openWith,
  verify: (result) => {
    expect(result).toMatchObject({
      service: 'node-domain-info',
      source: { name: RDAP_HOST, stale: false },
      domain: 'example.com',
      registered: true,
      registrar: { name: 'Registrar & Sons', ianaId: '376' },
      expiresAt: '2027-08-13T04:00:00.000Z',
      dnssec: true,
      unknown: ['updatedAt'],
    })
  },
})

describeService({
  service,
  request: 'free.com',
  handler: rdapUpstream(),
  open: openWith,
  verify: (result) => {
    expect(result).toMatchObject({
      domain: 'free.com',
      registered: false,
      registrar: null,
      unknown: ['registrar', 'createdAt', 'expiresAt', 'updatedAt', 'dnssec'],
    })
  },
})

describe('a domain', () => {
  it.each([
    ['example.com', 'example.com'],
    [' Example.COM. ', 'example.com'],
    ['a.b.example.co.uk', 'example.co.uk'],
    ['user.github.io', 'github.io'],
    ['b\u00fccher.example', 'xn--bcher-kva.example'],
    ['\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444', 'xn--e1afmkfd.xn--p1ai'],
    ['_dmarc.example.com', null],
  ])('%j is read as %j', (request, domain) => {
    const read = readRequest(service, request)
    expect(read.ok ? read.value : null).toBe(domain)
  })

  it.each([
    '',
    'com',
    'co.uk',
    'localhost',
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '::1',
    '[::1]',
    'https://example.com',
    'example.com/path',
    'example.com:443',
    'me@example.com',
    'exa mple.com',
    '-example.com',
    `${'x'.repeat(64)}.com`,
    `${'x.'.repeat(140)}com`,
    'example..com',
    'xn--\u0000.com',
  ])('%j is refused', (request) => {
    expect(readRequest(service, request)).toMatchObject({ ok: false, fault: { code: 'service/invalid-request' } })
  })

  it('under an ending without RDAP is refused before the caller pays, once that is known', () => {
    const known = (covers: boolean | null) => {
      const { domains } = outsideOf()
      return { ...context, outside: outsideOf({ domains: { ...domains, covers: () => covers } }) }
    }
    expect(checkRequest(service, 'example.nowhere', known(false))).toMatchObject({
      ok: false,
      fault: { code: 'service/invalid-request', detail: { reason: 'no RDAP for this TLD: .nowhere' } },
    })
    expect(checkRequest(service, 'example.nowhere', known(null))).toMatchObject({ ok: true })
    expect(checkRequest(service, 'example.nowhere', known(true))).toMatchObject({ ok: true })
  })
})
