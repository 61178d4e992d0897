import { afterAll, describe, expect, test } from 'vitest'
import type { OutsideConfig } from '../../../../config/outside-settings.ts'
import { AddressGuard } from '../../../../src/adapters/address-guard.ts'
import { NameSystem } from '../../../../src/adapters/name-system.ts'
import { openWeb } from '../../../../src/adapters/open-web.ts'
import { OwnHosts } from '../../../../src/adapters/own-hosts.ts'
import { systemClock, systemTimers } from '../../../../src/daemon/runtime.ts'
import { internetOf } from '../../../support/internet.ts'
import { WebWorld } from '../../../support/web-world.ts'

const NEVER = new AbortController().signal
const CONFIG: OutsideConfig['web'] = {
  enabled: true,
  robots: true,
  ports: [80],
  deny: [],
  contact: null,
  resolvers: [],
}
const agents: unknown[] = []
const world = await WebWorld.open({
  'news.example': { pages: (request, response) => response.end(String(agents.push(request.headers['user-agent']))) },
  'node.example': { pages: (_request, response) => response.end('ours') },
  'alias.example': { pages: (_request, response) => response.end('ours'), addresses: ['93.184.216.2'] },
})
afterAll(() => world.close())

function open(
  config: Partial<OutsideConfig['web']> = {},
  publicUrl: string | null = null,
  announced: string | null = null,
  peers: readonly string[] = [],
) {
  return openWeb({
    config: { ...CONFIG, ...config },
    publicUrl,
    announced,
    peerAddresses: () => peers,
    clock: systemClock,
    timers: systemTimers,
    internet: internetOf(world.plan),
  })
}

async function readAt(text: string, opened: ReturnType<typeof open>): Promise<string> {
  if (!opened.ok) throw new Error('it did not open')
  const url = opened.value.web.check(text)
  if (!url.ok) return String(url.fault.detail.reason)
  const page = await opened.value.web.read(url.value, { accept: '*/*', bytesMax: 100, tooLong: 'cut' }, NEVER)
  return page.ok ? 'read' : String(page.fault.detail.reason)
}

describe('peers of the node', () => {
  test('are not read from for callers, as long as they are peers', async () => {
    const peers: string[] = []
    const opened = open({}, null, null, peers)
    expect(await readAt('http://alias.example/', opened)).toBe('read')
    peers.push('93.184.216.2')
    expect(await readAt('http://alias.example/again', opened)).not.toBe('read')
    expect(await readAt('http://news.example/', opened)).toBe('read')
  })
})

describe('settings', () => {
  test.each([
    ['web.deny', { deny: ['203.0.113.0/24', '999.1.1.1/8'] }],
    ['web.resolvers', { resolvers: ['127.0.0.1:5353', '1.2.3'] }],
    ['web.resolvers', { resolvers: ['127.0.0.1:99999'] }],
    ['web.resolvers', { resolvers: ['[127.0.0.1]:53'] }],
  ])('%s that cannot be used is told', (key, config) => {
    expect(open(config)).toMatchObject({ ok: false, fault: { code: 'config/value', detail: { key } } })
  })

  test.each([['127.0.0.1'], ['127.0.0.1:5353'], ['::1'], ['[::1]:5353']])('%s is a name server', (server) => {
    expect(open({ resolvers: [server] }).ok).toBe(true)
  })

  test('the User-Agent names product, version and contact', async () => {
    agents.length = 0
    await readAt('http://news.example/', open({ contact: 'mailto:operator@example.com' }))
    await readAt('http://news.example/', open({}, 'https://node.example'))
    await readAt('http://news.example/', open())
    expect(agents).toEqual([
      expect.stringMatching(/^Farthing\/\d+\.\d+\.\d+ \(\+mailto:operator@example\.com\)$/),
      expect.stringMatching(/^Farthing\/\S+ \(\+https:\/\/node\.example\)$/),
      expect.stringMatching(/^Farthing\/[\d.]+$/),
    ])
  })

  test('networks that the operator denies are not read', async () => {
    expect(await readAt('http://news.example/', open({ deny: ['93.184.216.0/24'] }))).toBe('its network is never read')
  })
})

describe('this node', () => {
  test('is not read under its public name, nor under another that leads there', async () => {
    const opened = open({}, 'https://Node.example/base')
    expect(await readAt('http://node.example/', opened)).toBe('its host is this node')
    expect(await readAt('http://alias.example/', opened)).toBe('its address is that of this node')
    expect(await readAt('http://news.example/', opened)).toBe('read')
  })

  test('is not read at the address that it tells its peers', async () => {
    const opened = open({}, null, '/ip4/93.184.216.2/tcp/8421')
    expect(await readAt('http://alias.example/', opened)).toBe('its address is that of this node')
    expect(await readAt('http://93.184.216.2/', opened)).toBe('its host is this node')
  })

  test('is looked up again later, and known as before where that fails', async () => {
    let nowMs = 0
    let isDown = false
    const names = new NameSystem([], { ask: () => internetOf({ ...world.plan, isDown }).ask() })
    const own = new OwnHosts(
      { publicUrl: 'http://node.example', announced: null },
      { names, clock: { now: () => nowMs } },
    )
    expect(await own.addresses(NEVER)).toEqual(['93.184.216.2'])
    isDown = true
    expect(await own.addresses(NEVER)).toEqual(['93.184.216.2'])
    nowMs = 400_000
    expect(await own.addresses(NEVER)).toEqual(['93.184.216.2'])
  })
})

test('the interfaces of this machine are its own', () => {
  const guard = new AddressGuard([], () => ['8.8.8.8'])
  expect(guard.refusal(['8.8.8.8'])).toBe('its address is that of this node')
})
