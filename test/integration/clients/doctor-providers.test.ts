import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resolveConfig } from '../../../config/load.ts'
import type { ProviderCheck } from '../../../src/adapters/providers/provider.ts'
import { checkProviders } from '../../../src/cli/provider-checks.ts'
import { DnsServer } from '../../support/dns-server.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { BRAVE_KEY, braveUpstream } from '../../support/upstreams/brave.ts'
import { FakeOpenAi, HOUSE_MODEL } from '../../support/upstreams/openai.ts'
import { Upstream } from '../../support/upstreams/upstream.ts'

/** Tests that `farthing doctor providers` does not call working servers broken. */
let folder: string
const opened: { close(): Promise<void> }[] = []
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
  removeFolder(folder)
})

async function checked(settings: Readonly<Record<string, string>>): Promise<readonly ProviderCheck[]> {
  const values = { 'data-dir': folder, 'web.enabled': 'false', ...settings }
  const resolved = resolveConfig([{ origin: 'flag', values, callsIt: (name) => name }], folder)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.fault))
  const checks = await checkProviders(resolved.value.config)
  if (!checks.ok) throw new Error(JSON.stringify(checks.fault))
  return checks.value
}

function file(name: string, json: object): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(json), { mode: 0o600 })
  return path
}

describe('the doctor of providers', () => {
  it('asks one that allows a question a second only once', async () => {
    let asked = 0
    const answer = braveUpstream()
    const brave = await Upstream.open((request) => (++asked > 1 ? { status: 429, body: {} } : answer(request)))
    opened.push(brave)
    const keys = file('keys.json', { brave: BRAVE_KEY })
    const checks = await checked({ 'providers.search': `brave=${brave.url}`, 'providers.keys-file': keys })
    expect(checks).toMatchObject([{ name: 'brave', ok: true, detail: 'answers' }])
    expect(brave.requests).toHaveLength(1)
  })

  it('says of a provider that is asked too often (perhaps by a node) that it works', async () => {
    const frankfurter = await Upstream.open(() => ({ status: 429, headers: { 'retry-after': '60' }, body: {} }))
    opened.push(frankfurter)
    const checks = await checked({ 'providers.rates': `frankfurter=${frankfurter.url}` })
    const detail = expect.stringMatching(/^answers, but takes no more questions now: .*status 429/)
    expect(checks).toMatchObject([{ name: 'frankfurter', ok: true, doubtful: true, detail }])
  })

  it('says of a provider that refuses this node that it does not work', async () => {
    const brave = await Upstream.open(braveUpstream())
    opened.push(brave)
    const keys = file('keys.json', { brave: 'another' })
    const checks = await checked({ 'providers.search': `brave=${brave.url}`, 'providers.keys-file': keys })
    expect(checks).toMatchObject([{ name: 'brave', ok: false, detail: expect.stringContaining('status 401') }])
  })

  /** Settings of a model server that also translates. */
  async function house(listing: { status: number; text: string }): Promise<Readonly<Record<string, string>>> {
    const server = await FakeOpenAi.open()
    opened.push(server)
    server.listing = listing
    const model = { id: HOUSE_MODEL, roles: ['general', 'translate'], context: 8_192 }
    const backends = [{ id: 'house', baseUrl: server.url, keyRef: 'model:house', models: [model] }]
    const keys = file('keys.json', { 'model:house': server.key })
    return { 'models.file': file('models.json', { backends }), 'providers.keys-file': keys }
  }

  it('checks models before the translations that they make', async () => {
    const list = JSON.stringify({ object: 'list', data: [{ id: HOUSE_MODEL }] })
    expect(await checked(await house({ status: 200, text: list }))).toMatchObject([
      { what: 'models', name: 'house', ok: true, detail: 'answers' },
      { what: 'translations', name: 'model', ok: true, detail: 'answers' },
    ])
  })

  it.each([404, 405, 501])(
    'takes a server of models without a list of them (%d) for one that is there',
    async (status) => {
      const checks = await checked(await house({ status, text: '{}' }))
      expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
        ['house', true],
        ['model', true],
      ])
    },
  )

  it('says of name servers that refuse the root but resolve names that they work', async () => {
    for (const does of ['refused', 'servfail'] as const) {
      const router = await DnsServer.open({ '': { does }, 'example.com': { a: ['192.0.2.1'] } })
      const lost = await DnsServer.open({ '': { does }, 'example.com': { does } })
      opened.push(router, lost)
      const states = [router, lost].map(async ({ address }) => {
        const [check] = await checked({ 'web.enabled': 'true', 'web.resolvers': address })
        return [check?.name, check?.ok]
      })
      expect(await Promise.all(states)).toEqual([
        ['dns', true],
        ['dns', false],
      ])
    }
  })
})
