import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { OUTSIDE_SETTINGS, readOutside } from '../../../config/outside-settings.ts'
import { openOutside, type RunningOutside } from '../../../src/adapters/open-outside.ts'
import type { Stop } from '../../../src/daemon/open-core.ts'
import { systemClock, systemTimers } from '../../../src/daemon/runtime.ts'
import { internetOf } from '../../support/internet.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { BRAVE_KEY, braveUpstream } from '../../support/upstreams/brave.ts'
import { metNorwayUpstream } from '../../support/upstreams/met-norway.ts'
import { openMeteoUpstream } from '../../support/upstreams/open-meteo.ts'
import { RDAP_DOMAIN } from '../../support/upstreams/rdap.ts'
import { searxngUpstream } from '../../support/upstreams/searxng.ts'
import { Upstream, type UpstreamHandler } from '../../support/upstreams/upstream.ts'
import { WebWorld } from '../../support/web-world.ts'

type Settings = Partial<Record<keyof typeof OUTSIDE_SETTINGS, string>>

const signal = AbortSignal.timeout(60_000)
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function urlOf(handler: UpstreamHandler): Promise<string> {
  const upstream = await Upstream.open(handler)
  closing.push(() => upstream.close())
  return upstream.url
}

/** The upstreams of services, set up from settings as the daemon does it. */
async function outsideWith(settings: Settings, world?: WebWorld): Promise<RunningOutside> {
  const config = readOutside((name) => settings[name] ?? OUTSIDE_SETTINGS[name].default)
  const stops: Stop[] = []
  closing.push(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  const internet = internetOf(world?.plan ?? { names: {}, ports: {} })
  const opened = await openOutside(
    { config, publicUrl: null, internet, clock: systemClock, timers: systemTimers },
    stops,
  )
  if (!opened.ok) throw new Error(opened.fault.code)
  await opened.value.looked()
  return opened.value
}

it('nothing is searched without a configured provider', async () => {
  const { search, domains, weather } = await outsideWith({})
  expect([search, domains, weather].map(({ readiness }) => readiness())).toMatchObject([
    { available: false, requires: ['providers.search'] },
    { available: false, requires: ['providers.domains'] },
    { available: false, requires: ['providers.weather'] },
  ])
  expect(weather.names()).toMatchObject({ available: false, requires: ['providers.geocoder'] })
})

it('every request goes to the configured providers, with their keys', async () => {
  const [search, hits] = [await urlOf(searxngUpstream({ formats: ['html'] })), await urlOf(braveUpstream())]
  const [met, places] = [await urlOf(metNorwayUpstream({ nowMs: () => Date.now() })), await urlOf(openMeteoUpstream())]
  const list = { version: '1.0', services: [[['com'], ['http://rdap.registry.example/']]] }
  const iana = await urlOf(() => ({ body: list }))
  const world = await WebWorld.open({
    'rdap.registry.example': {
      pages: (_, response) =>
        response.writeHead(200, { 'content-type': 'application/rdap+json' }).end(JSON.stringify(RDAP_DOMAIN)),
    },
  })
  closing.push(() => world.close())
  const folder = await temporaryFolder()
  closing.push(() => removeFolder(folder))
  const keysFile = join(folder, 'keys.json')
  await writeFile(keysFile, JSON.stringify({ brave: BRAVE_KEY }))
  const outside = await outsideWith(
    {
      'providers.search': `searxng=${search},brave=${hits}`,
      'providers.domains': `iana=${iana}`,
      'providers.weather': `met-norway=${met}`,
      'providers.geocoder': `open-meteo=${places}`,
      'providers.keys-file': keysFile,
      'web.contact': 'mailto:operator@example.org',
    },
    world,
  )
  expect(
    outside.checkable.flatMap(({ facts }) => facts.filter(({ usable }) => usable).map(({ name }) => name)),
  ).toEqual(expect.arrayContaining(['brave', 'iana', 'met-norway', 'open-meteo']))
  const searxng = outside.checkable.flatMap(({ facts }) => facts).find(({ name }) => name === 'searxng')
  expect(searxng).toMatchObject({ usable: false, trouble: expect.stringContaining('search.formats') })
  expect(await outside.search.ask('signatures', signal)).toMatchObject({
    ok: true,
    value: { source: { name: 'brave' } },
  })
  expect(outside.domains.covers('example.nowhere')).toBe(false)
  expect(await outside.domains.ask('example.com', signal)).toMatchObject({
    ok: true,
    value: { value: { registered: true }, source: { name: 'rdap.registry.example' } },
  })
  expect(await outside.weather.ask({ name: 'Berlin' }, signal)).toMatchObject({
    ok: true,
    value: { value: { place: { name: 'Berlin' }, daysIn: 'Europe/Berlin' }, source: { name: 'met-norway' } },
  })
})

it('no registry is asked if the web is off', async () => {
  const iana = await urlOf(() => ({
    body: { version: '1.0', services: [[['com'], ['http://rdap.registry.example/']]] },
  }))
  const { domains } = await outsideWith({ 'providers.domains': `iana=${iana}`, 'web.enabled': 'false' })
  expect(domains.readiness()).toMatchObject({ available: false, requires: ['web.enabled'] })
})
