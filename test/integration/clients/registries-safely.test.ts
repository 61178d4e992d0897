import type { RequestListener } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { RdapDomains } from '../../../src/adapters/providers/rdap.ts'
import { systemClock, systemTimers } from '../../../src/daemon/runtime.ts'
import { RDAP_DOMAIN } from '../../support/upstreams/rdap.ts'
import { Upstream } from '../../support/upstreams/upstream.ts'
import { WebWorld } from '../../support/web-world.ts'

const signal = AbortSignal.timeout(60_000)
const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

const asRdap: RequestListener = ({ url = '' }, response) => {
  const ldhName = url.slice(url.lastIndexOf('/') + 1)
  response.writeHead(200, { 'content-type': 'application/rdap+json' }).end(JSON.stringify({ ...RDAP_DOMAIN, ldhName }))
}
const sendingTo =
  (target: string): RequestListener =>
  ({ url = '' }, response) => {
    response.writeHead(302, { location: `${target}${url}` }).end()
  }

/** Domain registrations with this registry for `com`, read through the product's guarded fetcher. */
async function registrations(registry: RequestListener) {
  const list = { version: '1.0', services: [[['com'], ['http://rdap.registry.example/']]] }
  const iana = await Upstream.open(() => ({ body: list }))
  const world = await WebWorld.open({
    'rdap.registry.example': { pages: registry },
    'other.registry.example': { pages: asRdap },
    'inside.example': { pages: asRdap, addresses: ['10.0.0.7'] },
  })
  closing.push(iana, world)
  const domains = new RdapDomains({ lists: [iana.url], web: world.fetcher(), clock: systemClock, timers: systemTimers })
  return { iana, world, domains }
}

it('a registry may redirect to another one', async () => {
  const { domains, world } = await registrations(sendingTo('http://other.registry.example'))
  expect(await domains.ask('example.com', signal)).toMatchObject({
    ok: true,
    value: { value: { registered: true, registrar: { ianaId: '376' } }, source: { name: 'rdap.registry.example' } },
  })
  expect(world.visits).toMatchObject({ 'rdap.registry.example': 1, 'other.registry.example': 1 })
})

it('odd answers to callers’ questions do not open a registry’s breaker', async () => {
  const odd: RequestListener = (request, response) => {
    if (!/odd-\d/.test(request.url ?? '')) return asRdap(request, response)
    response.writeHead(200, { 'content-type': 'application/rdap+json' }).end('{"objectClassName":"odd"}')
  }
  const { domains } = await registrations(odd)
  for (let i = 0; i < 8; i++) expect(await domains.ask(`odd-${i}.com`, signal)).toMatchObject({ ok: false })
  expect(await domains.ask('example.com', signal)).toMatchObject({ ok: true })
})

it.each(['http://127.0.0.1', 'http://inside.example', 'http://169.254.169.254', 'file://'])(
  'a registry cannot send this node to %s',
  async (target) => {
    const { domains, iana, world } = await registrations(sendingTo(target))
    const said = await domains.ask('example.com', signal)
    expect(said).toMatchObject({ ok: false, fault: { code: 'provider/answer' } })
    expect(world.visits).toMatchObject({ 'rdap.registry.example': 1, 'inside.example': 0 })
    expect(iana.count()).toBe(1)
  },
)
