import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notNow } from '../../../../../marketplace/ports/readiness.ts'
import type { ServiceContext } from '../../../../../marketplace/services/context.ts'
import { checkRequest } from '../../../../../marketplace/services/service.ts'
import { emailValidate } from '../../../../../marketplace/services/web/email-validate.ts'
import { runService } from '../../../../../marketplace/till/workshop.ts'
import { DnsMailDomains } from '../../../../../src/adapters/mail-domains.ts'
import { NameSystem } from '../../../../../src/adapters/name-system.ts'
import { DnsServer } from '../../../../support/dns-server.ts'
import { outsideOf } from '../../../../support/outside.ts'
import { emptyServiceChain } from '../../../../support/service-chain.ts'
import { ask, resultOf } from '../../../../support/service-results.ts'

const ID = 'node-email-validate'

let server: DnsServer
let names: NameSystem
let context: ServiceContext
beforeAll(async () => {
  server = await DnsServer.open({
    'gmail.com': { mx: [[5, 'mx.gmail.com']] },
    'mx.gmail.com': { a: ['192.0.2.1'] },
    'mailinator.com': { mx: [[5, 'mx.gmail.com']] },
    'null.com': { mx: [[0, '']] },
    'implicit.com': { a: ['192.0.2.1'] },
    'nothing.com': {},
    'dead.com': { mx: [[5, 'gone.dead.com']] },
    'xn--bcher-kva.de': { mx: [[5, 'mx.gmail.com']] },
    'servfail.com': { does: 'servfail' },
    'garbage.com': { does: 'garbage' },
  })
  names = new NameSystem([server.address])
  await names.check()
  const { context: bare } = await emptyServiceChain()
  context = { ...bare, outside: outsideOf({ mail: new DnsMailDomains(names, { now: () => 1_795_000_000_000 }) }) }
})
afterAll(async () => {
  names.stop()
  await server.close()
})

const of = (request: string) => resultOf<Record<string, unknown>>(ID, request, context)

describe('node-email-validate', () => {
  it('tells all that it knows of an address that takes mail', async () => {
    expect(await of(' Ada.L+news@GMail.com ')).toEqual({
      service: ID,
      asOf: expect.any(String),
      source: { name: 'dns', fetchedAt: '2026-11-18T11:06:40.000Z', stale: false },
      email: 'Ada.L+news@GMail.com',
      normalised: 'Ada.L+news@gmail.com',
      syntax: { valid: true },
      domain: 'gmail.com',
      domainExists: true,
      mx: [{ host: 'mx.gmail.com', priority: 5 }],
      hasMx: true,
      nullMx: false,
      implicitMx: false,
      disposable: false,
      roleAccount: false,
      freeProvider: true,
      deliverable: 'yes',
      checks: [
        { check: 'syntax', passed: true, detail: 'plain' },
        { check: 'domain', passed: true, detail: 'it exists' },
        { check: 'mx', passed: true, detail: 'mail servers: 1' },
        { check: 'mx-address', passed: true, detail: 'a mail server has an address' },
        { check: 'disposable', passed: true, detail: 'not on the list' },
      ],
      unknown: [],
    })
  })

  it.each([
    ['ada@null.com', { deliverable: 'no', nullMx: true, hasMx: false }],
    ['ada@implicit.com', { deliverable: 'unknown', implicitMx: true, hasMx: false }],
    ['ada@nothing.com', { deliverable: 'no', implicitMx: false, domainExists: true }],
    ['ada@absent.com', { deliverable: 'no', domainExists: false }],
    ['ada@dead.com', { deliverable: 'no', hasMx: true }],
    ['"a b"@gmail.com', { deliverable: 'unknown', syntax: { valid: true } }],
    ['jürgen@gmail.com', { deliverable: 'unknown', normalised: 'jürgen@gmail.com' }],
    ['Support+42@gmail.com', { roleAccount: true, deliverable: 'yes' }],
    ['ada@x.mailinator.com', { disposable: true, deliverable: 'no' }],
    ['ada@mailinator.com', { disposable: true, deliverable: 'yes' }],
    ['ada@bücher.de', { domain: 'xn--bcher-kva.de', normalised: 'ada@xn--bcher-kva.de', deliverable: 'yes' }],
  ])('answers %s', async (request, expected) => {
    expect(await of(request)).toMatchObject(expected)
  })

  it('answers what is no address without asking a server', async () => {
    server.questions.length = 0
    expect(await of('ada@@example.org')).toMatchObject({
      source: { name: 'syntax' },
      email: 'ada@@example.org',
      normalised: null,
      syntax: { valid: false, reason: expect.stringContaining('must be quoted') },
      deliverable: 'no',
      unknown: expect.arrayContaining(['normalised', 'domain', 'hasMx', 'disposable']),
    })
    expect(await of(`${'x'.repeat(300)}@example.org`)).toMatchObject({ syntax: { valid: false } })
    expect(server.questions).toEqual([])
  })

  it.each(['', '   ', 'a@b.com\nc@d.com', 'x'.repeat(401)])('refuses %j before it is paid', async (request) => {
    expect(await ask(ID, request, context)).toHaveProperty('refused')
  })

  it.each(['ada@servfail.com', 'ada@garbage.com'])('fails for %s, so that it is refunded', async (request) => {
    const input = checkRequest(emailValidate, request, context)
    if (!input.ok) throw new Error(input.fault.code)
    expect(await runService(emailValidate, input.value, context)).toMatchObject({
      ok: false,
      fault: { code: 'service/failed' },
    })
  })

  it('is unavailable while the name system is', async () => {
    const { mail } = context.outside
    const readiness = () => notNow('the name system cannot be asked: ETIMEOUT')
    const without = { ...context, outside: outsideOf({ mail: { ...mail, readiness } }) }
    expect(await ask(ID, 'a@b.com', without)).toMatchObject({
      unavailable: 'the name system cannot be asked: ETIMEOUT',
    })
  })
})
