import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../support/api.ts'
import { SOLD_ALONE } from '../support/bare-node.ts'
import { marketOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { PINNED_NODE, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'

const workshop = new Workshop()
const env = { TEST_FAST_BLOCKS: '1' }
const folder = workshop.folder()
let daemon: RunningDaemon

beforeAll(async () => {
  daemon = await workshop.start(folder, { env })
  await marketOpen(daemon.url)
})

/** A sample of the Prometheus text format. */
interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Parses the text format strictly: every line is a known comment or a sample of an announced metric. */
function parseMetrics(text: string): {
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
} {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line)
    if (type !== null) types.set(type[1]!, type[2]!)
    if (line.startsWith('# ')) {
      expect(line).toMatch(/^# (HELP [a-z_]+ \S.*|TYPE [a-z_]+ \w+)$/)
      continue
    }
    const sample = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line)
    expect(sample, line).not.toBeNull()
    const [, name, inner = '', value] = sample as unknown as [string, string, string | undefined, string]
    const pairs = [...inner.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)].map(([, key, text]) => [key, text])
    samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value.replace('+Inf', 'Infinity')) })
    expect(types.has(name.replace(/_(bucket|sum|count)$/, '')) || types.has(name), name).toBe(true)
  }
  return { types, samples }
}

async function metrics(url: string) {
  const { status, headers, text } = await ask(url, '/metrics')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const { types, samples } = parseMetrics(text)
  const gauge = (name: string): number => {
    const found = samples.filter((sample) => sample.name === name)
    expect(found.length, name).toBe(1)
    return found[0]!.value
  }
  return { types, samples, gauge }
}

describe('what operators look at', () => {
  it('says that it lives and that it is ready', async () => {
    expect(await ask(daemon.url, '/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await ask(daemon.url, '/ready')).toMatchObject({ status: 200, body: { ready: true, reasons: [] } })
  })

  it('gives metrics that a scraper can read and that say what the API says', async () => {
    for (let i = 0; i < 5; i++) await ask(daemon.url, `/nowhere/${i}`)
    const { types, samples, gauge } = await metrics(daemon.url)
    const { body } = await ask<{ height: number }>(daemon.url, '/api/v1/status')
    expect(gauge('farthing_height')).toBeGreaterThan(0)
    expect(gauge('farthing_height')).toBeLessThanOrEqual(body.height)
    expect(gauge('farthing_blocks_mined_total')).toBeGreaterThan(0)
    expect(gauge('farthing_ready')).toBe(1)
    expect(gauge('farthing_market_services_available')).toBe(SOLD_ALONE.length + 2)
    expect(gauge('farthing_market_closed')).toBe(0)
    for (const name of ['farthing_memory_bytes', 'farthing_base_fee', 'farthing_head_age_seconds']) {
      expect(gauge(name)).toBeGreaterThan(0)
    }
    expect(types.get('farthing_http_request_seconds')).toBe('histogram')
    expect(samples.every(({ value }) => !Number.isNaN(value))).toBe(true)
    const routes = new Set(samples.flatMap(({ labels }) => labels.route ?? []))
    expect([...routes].filter((route) => route.includes('nowhere'))).toEqual([])
    expect(routes).toContain('/services.json')
  })

  it('counts the answers in a histogram whose buckets never fall', async () => {
    const { samples } = await metrics(daemon.url)
    const buckets = samples.filter(
      ({ name, labels }) => name === 'farthing_http_request_seconds_bucket' && labels.route === '/services.json',
    )
    const values = buckets.map(({ value }) => value)
    expect(values.length).toBeGreaterThan(5)
    expect(values).toEqual([...values].sort((a, b) => a - b))
    expect(buckets.at(-1)?.labels.le).toBe('+Inf')
  })

  it('shows people a page and programs JSON at the same address', async () => {
    const html = await ask(daemon.url, '/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
    expect(html.status).toBe(200)
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = html.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/default-src 'none'/)
    expect(policy).toMatch(/frame-ancestors 'none'/)
    expect(html.headers.get('x-content-type-options')).toBe('nosniff')
    expect(html.text).toMatch(/^<!doctype html>/)
    expect(html.text).toContain('node-network-stats')
    expect(html.text).not.toMatch(/<script|onload=|src="http/)
    for (const accept of ['application/json', '*/*', '']) {
      const json = await ask<{ links: object }>(daemon.url, '/', { headers: { accept } })
      expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(Object.keys(json.body.links)).toEqual([
        ...['status', 'services', 'catalogue', 'llms', 'protocol', 'openapi', 'metrics'],
      ])
      for (const link of Object.values(json.body.links) as string[]) {
        expect((await ask(link, '')).status, link).toBe(200)
      }
    }
  })
})

describe('a start on a folder with a chain', () => {
  it('is measured to the first answer', async () => {
    await until('a few hundred blocks', async () => {
      return (await ask<{ height: number }>(daemon.url, '/api/v1/status')).body.height > 300
    })
    const { body } = await ask<{ height: number; blockId: string }>(daemon.url, '/api/v1/blocks/300')
    expect((await daemon.stop()).code).toBe(0)
    const startedMs = performance.now()
    daemon = await workshop.start(folder, { env })
    expect((await ask(daemon.url, '/ready')).status).toBe(200)
    const ms = Math.round(performance.now() - startedMs)
    console.info(`start to ready on a folder with a chain: ${ms} ms`)
    expect(ms).toBeLessThan(30_000)
    expect((await ask(daemon.url, '/api/v1/blocks/300')).body.id).toBe((body as { id?: string }).id)
  })
})

/** The system's Node if it is old; otherwise the pinned one, which claims to be old. */
function oldNode(launcher: string): { node: string; entry: string; args: readonly string[] } {
  const system = '/usr/bin/node'
  const version = existsSync(system) ? systemVersion(system) : 99
  if (version < 26) return { node: system, entry: launcher, args: [] }
  const pretend = workshop.path('pretend-old.cjs')
  const facts = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' })\n`
  writeFileSync(pretend, `${facts}Object.defineProperty(process, 'version', { value: 'v20.1.0' })\n`)
  return { node: PINNED_NODE, entry: '--require', args: [pretend, launcher] }
}

function systemVersion(node: string): number {
  return Number.parseInt(execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1), 10)
}

describe('the launcher under an old Node', () => {
  const SOURCES = ['amm', 'config', 'consensus', 'marketplace', 'mempool', 'miner', 'rpc', 'src', 'package.json']

  it('says in one line what is missing where the dependencies are not installed', async () => {
    const copy = mkdtempSync(join(workshop.root, 'copy-'))
    for (const name of SOURCES.filter((each) => existsSync(join(ROOT, each))))
      cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    const { node, entry, args } = oldNode(join(copy, 'src/farthing.cjs'))
    const program = workshop.launch([...args, 'start', '--data-dir', workshop.folder()], { node, entry })
    const { code, stdout, stderr } = await program.finished()
    expect(stderr).toMatch(/^farthing needs Node 26, this is v20\.\d+\.\d+\. Run "npm ci" in .*\n$/)
    expect(stderr).toContain(copy)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    // With the dependencies installed, the launcher finds the Node that is one of them.
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const installed = workshop.launch([...args, 'config', 'print', '--json'], { node, entry })
    const printed = await installed.finished()
    expect(printed.code, printed.stderr).toBe(0)
    expect(JSON.parse(printed.stdout)).toHaveProperty(['rpc.port'])
  })

  it('runs the pinned one, through a link to it too, passes on its exit code and its signals', async () => {
    const link = join(workshop.folder(), 'farthing')
    symlinkSync(join(ROOT, 'src/farthing.cjs'), link)
    const { node, entry, args } = oldNode(link)
    const refused = workshop.launch([...args, 'strat'], { node, entry })
    expect(await refused.finished()).toMatchObject({ code: 2, stdout: '' })
    const flags = ['start', '--data-dir', workshop.folder(), '--rpc-port', '0']
    const relayed = workshop.launch([...args, ...flags], { node, entry })
    const url = await until('it is ready', () => /API at (http:\S+)/.exec(relayed.stderr)?.[1])
    const [child] = readFileSync(`/proc/${relayed.pid}/task/${relayed.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number)
    try {
      expect((await ask(url, '/health')).status).toBe(200)
      expect(await relayed.end('SIGTERM')).toEqual({ code: 0, signal: null })
      await expect(ask(url, '/health')).rejects.toThrow('fetch failed')
      expect(existsSync(`/proc/${child}`)).toBe(false)
    } finally {
      if (child !== undefined && existsSync(`/proc/${child}`)) process.kill(child, 'SIGKILL')
    }
  })
})
