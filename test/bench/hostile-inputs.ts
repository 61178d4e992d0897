import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { AddressGuard } from '../../src/adapters/address-guard.ts'
import { FetchGate } from '../../src/adapters/fetch-gate.ts'
import { NameSystem } from '../../src/adapters/name-system.ts'
import { SafeFetcher } from '../../src/adapters/safe-fetch.ts'
import { EnginePool } from '../../src/workers/engine-pool.ts'
import { type InternetPlan, internetOf } from '../support/internet.ts'
import { KINDS, PER_KIND } from './hostile-kinds.ts'
import { type BenchRow, factRow, round, valueRow } from './report.ts'

const RESOLUTION_MS = 1
const MIB = 1_048_576
const BYTES_MAX = 2 * MIB
const NEVER = new AbortController().signal

/** Delay of the event loop and memory while fifty hostile pages are fetched and read at once, as node-web-fetch does. */
export async function benchHostileInputs(): Promise<readonly BenchRow[]> {
  const servers = spawn(process.execPath, [new URL('./hostile-world-entry.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(servers.stdout), 'line')) as [string]
  const engines = new EnginePool(1)
  try {
    return await measure(fetcherIn(JSON.parse(line) as InternetPlan), engines)
  } finally {
    servers.kill('SIGKILL')
    await engines.close()
  }
}

async function measure(fetcher: SafeFetcher, engines: EnginePool): Promise<readonly BenchRow[]> {
  const readings = KINDS.flatMap((kind) =>
    Array.from({ length: PER_KIND }, (_, index) => new URL(`http://${kind}-${index}.example/0`)),
  )
  let rssMost = process.memoryUsage.rss()
  const watch = setInterval(() => {
    rssMost = Math.max(rssMost, process.memoryUsage.rss())
  }, 20)
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const startedMs = performance.now()
  const ends = await Promise.all(readings.map((url) => endOf(url, fetcher, engines)))
  const tookMs = performance.now() - startedMs
  await setTimeout(100)
  delay.disable()
  clearInterval(watch)
  const ms = (percentile: number): number => Math.max(0, delay.percentile(percentile) / 1e6 - RESOLUTION_MS)
  const counts = [...new Set(ends)].sort().map((end) => `${ends.filter((one) => one === end).length} ${end}`)
  return [
    valueRow('event-loop delay p99, 50 hostile pages at once', ms(99), 'ms', { most: 30 }),
    factRow('event-loop delay most, the same', `${round(ms(100))} ms`),
    factRow('memory most, threads included, the same', `${Math.round(rssMost / MIB)} MiB`),
    factRow('all fifty ended after', `${round(tookMs / 1_000)} s: ${counts.join(', ')}`),
  ]
}

function fetcherIn(plan: InternetPlan): SafeFetcher {
  const internet = internetOf(plan)
  const guard = new AddressGuard([])
  return new SafeFetcher({
    names: new NameSystem([], { ask: internet.ask }),
    guard,
    gate: new FetchGate(),
    urls: { ports: [80], guard, ownHosts: new Set() },
    ownAddresses: async () => [],
    product: 'Farthing',
    userAgent: 'Farthing/0',
    robots: true,
    dial: internet.dial,
  })
}

/** How the reading of a page ended: `read`, or the fault code of the fetcher or the engine. */
async function endOf(url: URL, fetcher: SafeFetcher, engines: EnginePool): Promise<string> {
  const page = await fetcher.read(
    url,
    { accept: 'text/html', bytesMax: BYTES_MAX, tooLong: 'cut', robots: true },
    NEVER,
  )
  if (!page.ok) return page.fault.code
  const { body, mediaType, charset, finalUrl } = page.value
  const article = await engines.run('page/article', { bytes: body, mediaType, charset, url: finalUrl }, NEVER)
  return article.ok ? 'read' : article.fault.code
}
