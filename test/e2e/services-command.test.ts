import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invoicePdf } from '../../marketplace/services/documents/invoice-pdf.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { post } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { ApiChecker, type ApiDocument } from '../support/openapi-check.ts'
import { type Finished, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { searxngUpstream } from '../support/upstreams/searxng.ts'
import { Upstream } from '../support/upstreams/upstream.ts'

const workshop = new Workshop()
const checker = new ApiChecker(JSON.parse(readFileSync(join(ROOT, 'rpc/openapi.json'), 'utf8')) as ApiDocument)
/** Without the web, since the test machine may have no DNS. */
const DOCTOR = ['doctor', 'providers', '--json', '--web-enabled', 'false']
const IDS = SERVICE_TABLE.map(({ serviceId }) => serviceId as string)
let searxng: Upstream

interface Listed {
  readonly serviceId: string
  readonly priceUsd: number | null
  readonly available: boolean
  readonly reason: string
  readonly requires: readonly string[]
}

beforeAll(async () => {
  searxng = await Upstream.open(searxngUpstream())
})

afterAll(() => searxng.close())

/** Runs a command with the folder of a node that is not running. */
function farthing(folder: string, ...words: string[]): Promise<Finished> {
  // No node answers at this port.
  return workshop.run([...words, '--data-dir', folder, '--rpc-port', '1'])
}

function listIn({ stdout }: Finished): readonly Listed[] {
  return JSON.parse(stdout) as readonly Listed[]
}

describe('the services of a node that is not running', () => {
  it('are listed by the configuration, with what each of them waits for', async () => {
    const listed = listIn(await farthing(workshop.folder(), 'services', '--json'))
    expect(listed.map(({ serviceId }) => serviceId)).toEqual(IDS)
    const search = listed.find(({ serviceId }) => serviceId === 'node-web-search')
    expect(search).toMatchObject({ available: false, requires: ['providers.search'] })
    expect(listed.filter(({ available }) => available).length).toBeGreaterThanOrEqual(34)
    for (const { available, reason } of listed) expect(reason === '').toBe(available)
    const dollars = SERVICE_TABLE.map(({ priceUsdMicros }) => Number(priceUsdMicros) / 1_000_000)
    expect(listed.map(({ priceUsd }) => priceUsd)).toEqual(dollars)
    const dear = await farthing(workshop.folder(), 'services', '--json', '--market-prices', 'node-weather=0.5')
    expect(listIn(dear).find(({ serviceId }) => serviceId === 'node-weather')?.priceUsd).toBe(0.5)
  })

  it('count a provider that answers, and not one that does not', async () => {
    const configured = ['services', '--json', '--providers-search', `searxng=${searxng.url}`]
    const isOpen = (finished: Finished): boolean =>
      listIn(finished).some(({ serviceId, available }) => serviceId === 'node-web-search' && available)
    expect(isOpen(await farthing(workshop.folder(), ...configured))).toBe(true)
    searxng.profile = '500'
    expect(isOpen(await farthing(workshop.folder(), ...configured))).toBe(false)
    searxng.profile = 'ok'
  })

  it('are shown to people as a table with a sum', async () => {
    const { stdout, stderr, code } = await farthing(workshop.folder(), 'services')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^SERVICE +PRICE +AVAILABLE +SETTINGS +WHY NOT\n/)
    expect(stdout).toMatch(/^node-world-clock +\$0\.002 +yes$/m)
    expect(stderr).toMatch(new RegExp(`^\\d+ of ${IDS.length} services are available\\.$`, 'm'))
  })

  it('can be tried, with or without a chain, and leave nothing behind', async () => {
    const folder = workshop.folder()
    const clock = await farthing(folder, 'services', 'test', 'world-clock', 'Europe/Berlin', '--json')
    expect(clock).toMatchObject({ code: 0 })
    expect(JSON.parse(clock.stdout)).toMatchObject({ service: 'node-world-clock', timezone: 'Europe/Berlin' })
    const stats = await farthing(folder, 'services', 'test', 'node-network-stats')
    expect(stats.stdout).toMatch(/^service +node-network-stats$/m)
    expect(stats.stdout).toMatch(/^height +0$/m)
    expect(stats.stderr).toContain('no chain in the data folder')
  })

  it('take their request from a file and save the file of the result, as a call does', async () => {
    const [request, saved] = [workshop.path('request'), workshop.path('saved.pdf')]
    writeFileSync(request, `${invoicePdf.example}\n`)
    const tried = ['services', 'test', 'node-invoice-pdf', '--request-file', request, '--save', saved]
    const { code, stderr } = await farthing(workshop.folder(), ...tried)
    expect(code, stderr).toBe(0)
    const pdf = readFileSync(saved)
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    expect(stderr).toContain(`${pdf.length} bytes written to ${saved}`)
    const again = await farthing(workshop.folder(), ...tried)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('there is such a file')])
  })

  it('say what is wrong as a caller would be told', async () => {
    const folder = workshop.folder()
    const unusable = await farthing(folder, 'services', 'test', 'world-clock', 'Nowhere/Town')
    expect([unusable.code, unusable.stdout]).toEqual([1, ''])
    expect(unusable.stderr).toContain('invalid_request')
    const waiting = await farthing(folder, 'services', 'test', 'web-search', 'farthings')
    expect([waiting.code, waiting.stderr]).toEqual([1, expect.stringContaining('service_unavailable')])
    const stranger = await farthing(folder, 'services', 'test', 'umbrella')
    expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining('node-umbrella')])
    expect((await farthing(folder, 'services', 'test')).code).toBe(2)
  })
})

describe('the services of a node that runs', () => {
  let daemon: RunningDaemon
  let folder: string

  beforeAll(async () => {
    folder = workshop.folder()
    const flags = ['--providers-search', `searxng=${searxng.url}`]
    daemon = await workshop.start(folder, { env: { TEST_FAST_BLOCKS: '1' }, flags })
    await marketOpen(daemon.url)
  })

  const ofNode = (...words: string[]): Promise<Finished> =>
    workshop.run([...words, '--data-dir', folder, '--rpc', daemon.url])

  it('are listed as the node sells them', async () => {
    const listed = listIn(await ofNode('services', '--json'))
    expect(listed.map(({ serviceId }) => serviceId)).toEqual(expect.arrayContaining(IDS))
    const standing = (id: string) => listed.find(({ serviceId }) => serviceId === id)
    expect(standing('node-web-search')).toMatchObject({ available: true, priceUsd: 0.008 })
    expect(standing('node-weather')).toMatchObject({ available: false, requires: ['providers.weather'] })
  })

  it('are run by the node for its operator only', async () => {
    const found = await ofNode('services', 'test', 'web-search', 'farthings', '--json')
    expect(found).toMatchObject({ code: 0 })
    expect(JSON.parse(found.stdout)).toMatchObject({ service: 'node-web-search', query: 'farthings' })
    const path = '/api/v1/services/node-world-clock/trial'
    const refused = await post(daemon.url, path, {})
    expect([refused.status, refused.body.code]).toEqual([401, 'unauthorized'])
    expect(checker.misfits('tryService', refused)).toEqual([])
    const authorization = `Bearer ${readFileSync(join(folder, 'operator.token'), 'utf8').trim()}`
    const bodies = [{}, { request: 'UTC' }, { request: 'Nowhere/Town' }, { request: 7 }, { more: 1 }]
    const replies = await Promise.all(bodies.map((body) => post(daemon.url, path, body, { authorization })))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 400, 400])
    expect(replies.map(({ body }) => body.ok)).toEqual([true, true, false, undefined, undefined])
    for (const reply of replies) expect(checker.misfits('tryService', reply)).toEqual([])
    const missing = await post(daemon.url, '/api/v1/services/node-nothing/trial', {}, { authorization })
    expect(missing.status).toBe(404)
    expect(checker.misfits('tryService', missing)).toEqual([])
  })
})

describe('a provider that a node was given and that does not answer', () => {
  it('is told in the log, with the reason', async () => {
    const daemon = await workshop.start(workshop.folder(), {
      flags: ['--providers-search', 'searxng=http://127.0.0.1:1'],
    })
    const line = await until('the log tells it', () => daemon.log.find(({ provider }) => provider === 'searxng'))
    expect(line).toMatchObject({ level: 40, what: 'web search', reason: expect.stringContaining('cannot be reached') })
  })
})

describe('the doctor of providers', () => {
  it('says of each whether it answers, and fails where one does not', async () => {
    const folder = workshop.folder()
    const asked = [...DOCTOR, '--providers-search', `searxng=${searxng.url}`]
    const healthy = await farthing(folder, ...asked)
    expect(healthy.code).toBe(0)
    expect(JSON.parse(healthy.stdout)).toContainEqual(expect.objectContaining({ name: 'searxng', ok: true }))
    searxng.profile = 'html'
    const ill = await farthing(folder, ...asked)
    expect(ill.code).toBe(1)
    expect(JSON.parse(ill.stdout)).toContainEqual(
      expect.objectContaining({ name: 'searxng', ok: false, detail: expect.stringContaining('JSON') }),
    )
    searxng.profile = 'ok'
  })

  it('says so where no provider is configured', async () => {
    const { code, stderr } = await farthing(workshop.folder(), 'doctor', 'providers', '--web-enabled', 'false')
    expect([code, stderr]).toEqual([0, expect.stringContaining('No provider is configured')])
  })
})
