import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeRails } from '../support/dollar.ts'
import { AGAIN, closeMarkets, ONCE } from '../support/market.ts'
import { until } from '../support/processes.ts'
import type { TestedRail, TillBench } from '../support/till-benches.ts'

/** Services of one kind that may run at once. */
const PLACES = 16
/** More writes than a call of any rail has. */
const WRITES = 5
const DEATHS = Array.from({ length: WRITES }, (_, i) => i + 1).flatMap((write) =>
  [ONCE, AGAIN].flatMap((serviceId) =>
    (['before', 'after'] as const).map((when) => ({ when, write, serviceId: serviceId as string })),
  ),
)

/** Tests of the till with a paid call, for every rail. */
export function tillSuite({ name, open }: TestedRail): void {
  describe(`the till with the ${name} rail`, () => {
    const opened: TillBench[] = []
    const start: TestedRail['open'] = async (death) => {
      const bench = await open(death)
      opened.push(bench)
      return bench
    }
    afterEach(async () => {
      for (const bench of opened.splice(0)) await bench.close()
      await closeRails()
      await closeMarkets()
      vi.restoreAllMocks()
    })
    const codes = async (bench: TillBench, ...calls: ReturnType<TillBench['till']['settle']>[]): Promise<string[]> =>
      (await Promise.all(calls)).map((outcome) => bench.codeOf(outcome))
    const runsOf = ({ begun }: TillBench, request: string): number =>
      begun.filter((work) => work.endsWith(` ${request}`)).length
    const runs = (bench: TillBench, count: number): Promise<unknown> =>
      until(`${count} works are begun`, () => bench.begun.length === count)

    it('works once for a call, and returns the result of its own request', async () => {
      const bench = await start()
      const call = await bench.order('ok:mine', ONCE)
      const outcome = await bench.till.settle(call)
      expect(outcome).toMatchObject({ ok: true, value: { claim: { result: '{"echo":"ok:mine"}' }, replayed: false } })
      await bench.rest()
      expect([bench.begun, bench.isEarned(call)]).toEqual([[`${ONCE} ok:mine`], true])
    })

    it('runs the service once for a thousand calls at the same moment, and answers them or asks them to come again', async () => {
      const bench = await start()
      const call = await bench.order('ok:crowd', ONCE)
      const told = await codes(bench, ...Array.from({ length: 1_000 }, () => bench.till.settle(call)))
      const answers = told.filter((code) => code === 'answered' || code === 'replayed')
      expect(told.filter((code) => code === 'answered')).toHaveLength(1)
      expect(answers.length).toBeGreaterThan(32)
      expect(new Set(told).size).toBeLessThanOrEqual(3)
      expect(runsOf(bench, 'ok:crowd')).toBe(1)
      expect(await codes(bench, bench.till.settle(call))).toEqual(['replayed'])
    })

    it('lets the same call join work under way, and refuses another one at once', async () => {
      const bench = await start()
      bench.market.workbench.hold()
      const call = await bench.order('ok:held', AGAIN)
      const first = bench.till.settle(call)
      await runs(bench, 1)
      const joined = bench.till.settle(call)
      expect(await codes(bench, bench.till.settle({ ...call, request: 'ok:other' }))).toEqual([bench.otherCode])
      expect(bench.till.runningCount).toBe(1)
      bench.market.workbench.release()
      expect(await codes(bench, first, joined)).toEqual(['answered', 'replayed'])
      expect([bench.begun.length, bench.till.runningCount]).toEqual([1, 0])
    })

    it('refuses another request under a payment whose work is done', async () => {
      const bench = await start()
      const call = await bench.order('ok', AGAIN)
      await bench.till.settle(call)
      expect(await codes(bench, bench.till.settle({ ...call, request: 'ok:other' }))).toEqual([bench.otherCode])
      expect(bench.begun).toHaveLength(1)
    })

    it('repeats an answer from its store after a start', async () => {
      const bench = await start()
      const call = await bench.order('ok', ONCE)
      await bench.till.settle(call)
      await bench.restart()
      expect(await codes(bench, bench.till.settle(call))).toEqual(['replayed'])
      expect(bench.begun).toHaveLength(1)
    })

    it('gives a payment back whose service failed, and tells the same again', async () => {
      const bench = await start()
      const call = await bench.order('fail', ONCE)
      expect(await codes(bench, bench.till.settle(call))).toEqual(['service/failed'])
      await bench.rest()
      expect(await codes(bench, bench.till.settle(call))).toEqual(['service/failed'])
      expect([bench.begun.length, bench.isEarned(call)]).toEqual([1, false])
    })

    it.each(DEATHS)('resumes a process that died $when write $write, $serviceId', async ({ serviceId, ...death }) => {
      const bench = await start(death)
      const call = await bench.order('ok:death', serviceId)
      await Promise.race([bench.till.settle(call), bench.claims.died])
      await bench.restart()
      await bench.rest()
      const [told] = await codes(bench, bench.till.settle(call))
      await bench.rest()
      expect(runsOf(bench, 'ok:death')).toBeLessThanOrEqual(serviceId === ONCE ? 1 : 2)
      expect(['answered', 'replayed', 'service/interrupted']).toContain(told)
      if (serviceId === AGAIN) expect(told).not.toBe('service/interrupted')
      expect(bench.isEarned(call)).toBe(told !== 'service/interrupted')
    })

    it('begins no work on a head that is passed through', async () => {
      const bench = await start()
      const call = await bench.order('ok', ONCE)
      const moving = vi.spyOn(bench.market.test.chain, 'moving', 'get').mockReturnValue(true)
      const answer = bench.till.settle(call)
      await bench.market.quiet()
      expect(bench.begun).toEqual([])
      moving.mockRestore()
      await bench.market.mine()
      expect(await codes(bench, answer)).toEqual(['answered'])
    })

    it('has work wait for a place', async () => {
      const bench = await start()
      bench.market.workbench.hold()
      const calls = []
      for (let i = 0; i <= PLACES; i++) calls.push(await bench.order(`ok:${i}`, AGAIN))
      const told = Promise.all(calls.map(async (call) => bench.codeOf(await bench.till.settle(call))))
      await runs(bench, PLACES).catch(() => {})
      await bench.market.quiet()
      expect(bench.begun.length).toBeLessThanOrEqual(PLACES)
      bench.market.workbench.release()
      expect(await told).toEqual(calls.map(() => 'answered'))
    })

    it('refuses new calls once it stops, and waits for those under way', async () => {
      const bench = await start()
      bench.market.workbench.hold()
      const [call, late] = [await bench.order('ok:first', AGAIN), await bench.order('ok:late', AGAIN)]
      const answer = bench.till.settle(call)
      await runs(bench, 1)
      const stopped = bench.till.stop()
      expect(await codes(bench, bench.till.settle(late))).toEqual(['service/unavailable'])
      bench.market.workbench.release()
      await stopped
      expect(await codes(bench, answer)).toEqual(['answered'])
      expect(bench.begun).toHaveLength(1)
    })

    it('writes nothing once it is abandoned, and the next start does the work', async () => {
      const bench = await start()
      bench.market.workbench.hold()
      const call = await bench.order('ok', AGAIN)
      void bench.till.settle(call)
      await runs(bench, 1)
      bench.till.abandon()
      bench.market.workbench.release()
      await bench.market.quiet()
      expect((await bench.claims.open()).map(({ state }) => state)).toEqual(['executing'])
      await bench.restart()
      expect(await codes(bench, bench.till.settle(call))).toEqual([expect.stringMatching(/answered|replayed/)])
      expect(bench.begun).toHaveLength(2)
    })

    it('takes nothing up that it has in hand, also after it was told to forget', async () => {
      const bench = await start()
      bench.market.workbench.hold()
      const call = await bench.order('ok', AGAIN)
      const answer = bench.till.settle(call)
      await runs(bench, 1)
      bench.till.forget()
      await bench.till.takeUp()
      await bench.market.quiet()
      bench.market.workbench.release()
      expect(await codes(bench, answer)).toEqual(['answered'])
      expect(bench.begun).toHaveLength(1)
    })

    it('earns once what two replicas have worked on', async () => {
      const bench = await start()
      bench.market.workbench.hold()
      const call = await bench.order('ok', AGAIN)
      const answer = bench.till.settle(call)
      await runs(bench, 1)
      const other = await bench.replica()
      await runs(bench, 2)
      bench.market.workbench.release()
      const told = codes(bench, answer, other.settle(call))
      await bench.rest()
      expect((await told).every((code) => code === 'answered' || code === 'replayed')).toBe(true)
      expect(bench.isEarned(call)).toBe(true)
    })

    it('says so while its store is away, and uses nothing', async () => {
      const bench = await start()
      const call = await bench.order('ok', ONCE)
      bench.claims.isAway = true
      expect(await codes(bench, bench.till.settle(call))).toEqual(['market/claims-away'])
      bench.claims.isAway = false
      expect(bench.begun).toEqual([])
      expect(await codes(bench, bench.till.settle(call))).toEqual(['answered'])
    })

    it('asks its store nothing about a request that has no bytes, or a service that is not sold', async () => {
      const bench = await start()
      const call = await bench.order('ok', ONCE)
      const { asked } = bench.claims
      const told = await codes(
        bench,
        bench.till.settle({ ...call, request: 'ok \ud800' }),
        bench.till.settle({ ...call, serviceId: 'node-none' }),
      )
      expect(told).toEqual(['service/invalid-request', 'service/not-found'])
      expect(bench.claims.asked).toBe(asked)
    })
  })
}
