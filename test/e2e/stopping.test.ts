import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { seeded } from '../sim/miners.ts'
import { ask, verdict } from '../support/api.ts'
import { Caller, marketOpen, type Payment, runsIn } from '../support/caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { Load } from '../support/load.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
const STOP_MS_MAX = 5_000
const runsFile = workshop.path('runs')
/** The compile cache is off: writing it at the end takes longer than the stop itself. */
const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile, NODE_DISABLE_COMPILE_CACHE: '1' }

async function open(folder: string): Promise<RunningDaemon> {
  const daemon = await workshop.start(folder, { env })
  await marketOpen(daemon.url)
  return daemon
}

/** Error lines of the log; a clean stop has none. */
const errorsIn = ({ log }: RunningDaemon) => log.filter(({ level }) => Number(level) >= 50)

let hanging = 0

/** Begins calls that hang, one after another, so that they end at different times during the stop. */
async function beginHanging(caller: Caller, count: number, everyMs: number): Promise<readonly Payment[]> {
  const payments: Payment[] = []
  for (let i = 0; i < count; i++) {
    const payment = await caller.payMined({ serviceId: 'node-test-once', request: `hang:${hanging++}` })
    payments.push(payment)
    caller.offer(payment).catch(() => {})
    await until('it hangs', () => runsIn(runsFile).has(`node-test-once ${payment.request}`))
    await setTimeout(everyMs)
  }
  return payments
}

describe('a node under load', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops cleanly within five seconds on %s', async (signal) => {
    const folder = workshop.folder()
    const daemon = await open(folder)
    const over = new AbortController()
    const load = new Load([1, 3, 4, 5, 6, 7], seeded(7))
    const work = load.run(daemon.url, over.signal)
    const payments = await beginHanging(new Caller(daemon.url, 9), 8, 380)
    const startedMs = performance.now()
    const exit = await daemon.stop(signal)
    const stopMs = performance.now() - startedMs
    over.abort()
    await work
    console.info(`${signal} under load: stopped after ${Math.round(stopMs)} ms`)
    expect(errorsIn(daemon)).toEqual([])
    expect(exit).toEqual({ code: 0, signal: null })
    expect(stopMs).toBeLessThan(STOP_MS_MAX)
    expect(load.unexpected).toEqual([])
    const audit = await workshop.run(['audit', '--data-dir', folder], { entry: WITH_TEST_SERVICES, env })
    expect(JSON.parse(audit.stdout)).toMatchObject({ sound: true })
    // Interrupted calls are refunded after the next start.
    const again = await open(folder)
    const caller = new Caller(again.url, 9)
    for (const payment of payments) {
      expect(await caller.closed(payment.txId)).toMatchObject({ status: 'refunded' })
      expect(verdict(await caller.offer(payment))).toMatch(/^(504 upstream_timeout|502 upstream_failed)$/)
      expect(runsIn(runsFile).get(`node-test-once ${payment.request}`)).toBeLessThanOrEqual(1)
    }
    expect((await again.stop()).code).toBe(0)
  })

  it('is not ready while it stops, sells nothing more, and leaves a payment offered then usable', async () => {
    const folder = workshop.folder()
    const daemon = await open(folder)
    const caller = new Caller(daemon.url, 1)
    const kept = await caller.payMined({ serviceId: 'node-test-once', request: 'ok:kept' })
    await beginHanging(caller, 1, 200)
    const stopped = daemon.stop()
    // The stop takes a second or two. All requests are sent at once, before the node is gone.
    const stopping = async () => {
      const reply = await ask(daemon.url, '/ready')
      return reply.status === 503 && reply
    }
    const ready = await until('it says that it stops', stopping, { everyMs: 5 })
    const [quote, refused] = await Promise.all([caller.quote('node-test-again', 'ok'), caller.offer(kept)])
    expect(ready.body).toEqual({ ready: false, reasons: ['stopping'] })
    expect(quote.status).toBe(402)
    expect(quote.body).toMatchObject({ available: false, unavailableReason: 'the node is stopping' })
    expect(verdict(refused)).toBe('503 service_unavailable')
    expect(refused.body.refund).toBeUndefined()
    expect((await stopped).code).toBe(0)
    expect(errorsIn(daemon)).toEqual([])
    const again = await open(folder)
    caller.url = again.url
    expect(verdict(await caller.settle(kept))).toBe('200 paid')
    expect(runsIn(runsFile).get('node-test-once ok:kept')).toBe(1)
    expect((await again.stop()).code).toBe(0)
  })

  it('stops cleanly also when it is told so at the moment at which it becomes ready', async () => {
    const programs = Array.from({ length: 5 }, () => workshop.begin(workshop.folder(), { env, mine: 0 }))
    const exits = programs.map(async (program) => {
      await until('it says that it is ready', () => program.stderr.includes('"msg":"ready"'), { everyMs: 1 })
      return program.end('SIGTERM')
    })
    expect(await Promise.all(exits)).toEqual(programs.map(() => ({ code: 0, signal: null })))
    for (const { stderr } of programs) expect(stderr).toContain('"msg":"stopped"')
  })

  it('goes at once on a second signal, and nothing is lost', async () => {
    const folder = workshop.folder()
    const daemon = await open(folder)
    const caller = new Caller(daemon.url, 1)
    const [payment] = await beginHanging(caller, 1, 200)
    daemon.program.signal('SIGTERM')
    await until('it stops', () => daemon.log.some(({ msg }) => msg === 'stopping'))
    expect(daemon.program.ended).toBeNull()
    const startedMs = performance.now()
    expect(await daemon.stop('SIGINT')).toEqual({ code: 1, signal: null })
    console.info(`forced stop: ${Math.round(performance.now() - startedMs)} ms`)
    expect(daemon.log.map(({ msg }) => msg)).toContain('forced to stop')
    const again = await open(folder)
    caller.url = again.url
    expect(await caller.closed(payment!.txId)).toMatchObject({ status: 'refunded' })
    expect((await again.stop()).code).toBe(0)
  })
})
