import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { seeded } from '../sim/miners.ts'
import { ask } from '../support/api.ts'
import { Caller, marketOpen, runsIn } from '../support/caller.ts'
import { escrowHistory } from '../support/closings.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { Load, TERM_MIN } from '../support/load.ts'
import { mineBlocks, mineOne, mineWhile } from '../support/mine-by-hand.ts'

const workshop = new Workshop()
/** Kills at least: on a busy machine a life sees few blocks, and more lives are needed to meet each end of a call. */
const KILLS = 50
const DELIVERED_MIN = 11
const FAILED_MIN = 6
/** Pause between two blocks that the test mines. */
const BLOCK_MS = 50
const SEED = Number(process.env.TEST_KILL_SEED ?? Date.now() % 1_000_000)
const random = seeded(SEED)

const folder = workshop.folder()
const runsFile = workshop.path('runs')
const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: runsFile }
const load = new Load([1, 3, 4, 5, 6, 7], random)

const heightOf = async (url: string): Promise<number> =>
  (await ask<{ height: number }>(url, '/api/v1/status')).body.height

/** Whether enough calls were delivered and enough failed, and one waits to expire. */
function metEachEnd(): boolean {
  const told = (answer: string): number => load.bought.filter(({ answers }) => answers.has(answer)).length
  const expires = load.bought.some(
    ({ abandoned, term, payment }) => abandoned && term === TERM_MIN && load.acknowledged.has(payment.txId),
  )
  return expires && told('200 paid') >= DELIVERED_MIN && told('502 upstream_failed') >= FAILED_MIN
}

/** Expects that acknowledged transactions survived the kill in their blocks. */
async function expectKept(url: string, txIds: readonly string[]): Promise<void> {
  const caller = new Caller(url, 1)
  for (const txId of txIds) {
    const { status, height, blockId } = await caller.transaction(txId)
    expect({ txId, status, height, blockId }).toEqual({ txId, status: 'mined', ...load.acknowledged.get(txId) })
  }
}

/**
 * Mines until the daemon is killed. The daemon mines too, but at the lowest priority: on a busy machine its short lives would end before any
 * payment of theirs is in a block.
 */
async function mineUntil(url: string, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await mineOne(url)
    await setTimeout(BLOCK_MS)
  }
}

/** One life of the daemon: it starts, usually becomes ready, and is killed. */
async function liveAndDie(first: boolean): Promise<void> {
  const program = workshop.begin(folder, { env })
  if (!first && random() < 0.2) {
    await setTimeout(100 + random() * 900)
    await program.end('SIGKILL')
    return
  }
  const daemon = await workshop.ready(program, folder)
  if (first) await mineWhile(daemon.url, marketOpen(daemon.url))
  const known = [...load.acknowledged.keys()]
  await expectKept(daemon.url, [...known.slice(-10), ...known.filter(() => random() < 5 / known.length)])
  const over = new AbortController()
  const untilDeath = [load.takeUp(daemon.url, 3), mineUntil(daemon.url, over.signal)].map((work) =>
    work.catch(() => {}),
  )
  const work = [load.run(daemon.url, over.signal), ...untilDeath]
  await setTimeout(50 + random() * 1_200)
  await daemon.kill()
  over.abort()
  await Promise.all(work)
}

/** Expects that every paid call that got an answer is closed on chain. */
async function settleAll(daemon: RunningDaemon): Promise<void> {
  await marketOpen(daemon.url)
  await load.takeUp(daemon.url, Number.POSITIVE_INFINITY)
  const caller = new Caller(daemon.url, 1)
  for (const { payment, answers } of load.bought) {
    if (answers.size > 0) await caller.closed(payment.txId)
  }
}

describe(`a daemon under load, killed ${KILLS} times or more at moments of seed ${SEED}`, () => {
  let daemon: RunningDaemon
  let head = 0

  it('starts again every time with everything that it had acknowledged', { timeout: 1_200_000 }, async () => {
    for (let i = 0; i < KILLS || !metEachEnd(); i++) await liveAndDie(i === 0)
    daemon = await workshop.start(folder, { env })
    await expectKept(daemon.url, [...load.acknowledged.keys()])
    expect(load.unexpected).toEqual([])
  })

  it('has every payment delivered once, refunded once, or still in escrow, as its caller was told', async () => {
    await mineWhile(daemon.url, settleAll(daemon))
    await mineBlocks(daemon.url, TERM_MIN + 1)
    head = await heightOf(daemon.url)
    const { opened, closings, transactions } = await escrowHistory(daemon.url, head)
    const counts: Record<string, number> = {}
    const count = (what: string): number => (counts[what] = (counts[what] ?? 0) + 1)
    expect([...closings].filter(([txId]) => !opened.has(txId))).toEqual([])
    expect([...closings].filter(([, ends]) => ends.length !== 1)).toEqual([])
    for (const { payment, answers, abandoned } of load.bought) {
      if (!opened.has(payment.txId)) {
        count('lost before mining')
        expect([...answers]).toEqual([])
        continue
      }
      const end = closings.get(payment.txId)?.[0]
      count(end?.how ?? 'open')
      const told = [...answers].join(', ')
      if (abandoned) expect([undefined, 'expired']).toContain(end?.how)
      else expect({ [told]: end?.how }).toEqual({ [told]: told === '200 paid' ? 'delivered' : 'failed' })
      expect(told).toMatch(abandoned ? /^$/ : /^(200 paid|502 upstream_failed)$/)
    }
    console.info(
      `seed ${SEED}: height ${head}, ${transactions} transactions, ${load.acknowledged.size} acknowledged, calls ${JSON.stringify(counts)}`,
    )
    expect(counts.delivered).toBeGreaterThanOrEqual(DELIVERED_MIN)
    expect(counts.failed).toBeGreaterThanOrEqual(FAILED_MIN)
    expect(counts.expired).toBeGreaterThan(0)
  })

  it('ran no call of the service that is not safe to repeat twice', () => {
    const twice = [...runsIn(runsFile)].filter(([call, runs]) => call.startsWith('node-test-once') && runs > 1)
    expect(twice).toEqual([])
    expect([...runsIn(runsFile).keys()].filter((call) => call.startsWith('node-test-once')).length).toBeGreaterThan(10)
  })

  it('stops cleanly, audits as sound, and a twin made of its blocks has the same state', async () => {
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    const options = { entry: WITH_TEST_SERVICES, env }
    const audit = async (dataDir: string) => {
      const { code, stdout, stderr } = await workshop.run(['audit', '--data-dir', dataDir], options)
      expect(code, stderr).toBe(0)
      return JSON.parse(stdout) as Readonly<Record<string, unknown>>
    }
    const report = await audit(folder)
    expect(report).toMatchObject({ sound: true, brokenAssets: [], computedStateRoot: report.headerStateRoot })
    expect(report.height).toBeGreaterThanOrEqual(head)
    const file = workshop.path('blocks')
    const exported = await workshop.run(['export', file, '--data-dir', folder], options)
    expect(exported.code, exported.stderr).toBe(0)
    expect(exported.stdout).toContain(`${String(report.height)} blocks written`)
    const twin = workshop.folder()
    const imported = await workshop.run(['import', file, '--data-dir', twin], options)
    expect(imported.code, imported.stderr).toBe(0)
    expect(imported.stdout).toContain(`state root ${String(report.headerStateRoot)}`)
    expect(await audit(twin)).toEqual(report)
  })
})
