import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { BackendEntry, ChatAnswer, ModelBackend, ModelFacts } from '../../marketplace/chat/models/backend.ts'
import { ModelPool } from '../../marketplace/chat/models/pool.ts'
import { TokenBucket } from '../../marketplace/chat/models/token-bucket.ts'
import { ManualTime } from '../support/manual-time.ts'

const MODEL: ModelFacts = {
  id: 'm',
  roles: ['general'],
  context: 4_096,
  supports: new Set(),
  declaredParameters: null,
}
const ANSWER: ChatAnswer = {
  message: {},
  text: 'Hi',
  model: 'm',
  finishReason: 'stop',
  usage: null,
  skipped: 0,
}
const MINUTE_MS = 60_000

/** Outcomes of successive calls. After the last outcome the list starts again. */
type Plan = readonly { readonly ms: number; readonly outcome: 'well' | 'fails' | 'refused' }[]

/** A backend with delayed calls that succeed or fail. It records how it is used. */
class Watched implements ModelBackend {
  readonly id: string
  readonly starts: number[] = []
  inside = 0
  insideMax = 0
  #next = 0
  readonly #time: ManualTime
  readonly #plan: Plan

  constructor(id: string, time: ManualTime, plan: Plan) {
    this.id = id
    this.#time = time
    this.#plan = plan
  }

  readonly complete = (_: unknown, signal: AbortSignal): Promise<Result<ChatAnswer>> => {
    const { ms, outcome } = this.#plan[this.#next++ % this.#plan.length] ?? { ms: 0, outcome: 'well' }
    this.starts.push(this.#time.now())
    this.inside += 1
    this.insideMax = Math.max(this.insideMax, this.inside)
    return new Promise((resolve) => {
      const end = (result: Result<ChatAnswer>): void => {
        cancel()
        signal.removeEventListener('abort', onAbort)
        this.inside -= 1
        resolve(result)
      }
      const onAbort = (): void => end(fail(fault('model/timeout', { backend: this.id })))
      const cancel = this.#time.after(ms, () => {
        if (outcome === 'well') return end(ok(ANSWER))
        const reason = outcome === 'fails' ? { reason: 'ECONNREFUSED' } : { reason: 'status 400', status: 400 }
        end(fail(fault(outcome === 'fails' ? 'model/unreachable' : 'model/refused', { backend: this.id, ...reason })))
      })
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
  readonly stream = (request: unknown, _: unknown, signal: AbortSignal) => this.complete(request, signal)
  readonly picture = async () => fail(fault('model/cut', { backend: this.id }))
  readonly check = async (): Promise<Result<null>> => ok(null)
}

const call = fc.record({
  ms: fc.integer({ min: 0, max: 5_000 }),
  outcome: fc.constantFrom('well' as const, 'well' as const, 'fails' as const, 'refused' as const),
})
const backend = fc.record({
  concurrency: fc.integer({ min: 1, max: 4 }),
  rpm: fc.option(fc.integer({ min: 1, max: 30 })),
  tpm: fc.option(fc.integer({ min: 100, max: 5_000 })),
  plan: fc.array(call, { minLength: 1, maxLength: 6 }),
})
/** Delay of a request after the one before, and its caller's patience. */
const arrival = fc.record({
  afterMs: fc.integer({ min: 0, max: 3_000 }),
  patienceMs: fc.integer({ min: 1, max: 90_000 }),
})

/** The largest number of moments within any 60 seconds. */
function mostInAMinute(moments: readonly number[]): number {
  return Math.max(0, ...moments.map((from) => moments.filter((at) => at >= from && at < from + MINUTE_MS).length))
}

describe('a pool of models under any load', () => {
  it('keeps every limit, and answers every request once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(backend, { minLength: 1, maxLength: 3 }),
        fc.array(arrival, { minLength: 1, maxLength: 40 }),
        async (backends, arrivals) => {
          const time = new ManualTime()
          const watched = backends.map(({ plan }, i) => new Watched(`b${i}`, time, plan))
          const entries = backends.map(({ concurrency, rpm, tpm }, i): BackendEntry => {
            const limits = { concurrency, rpm, tpm, priority: i, timeoutMs: 4_000 }
            return { backend: watched[i] as Watched, models: [MODEL], limits }
          })
          const pool = new ModelPool({ entries, clock: time, timers: time, random: () => 0.5 })
          let answers = 0
          const asked: Promise<void>[] = []
          for (const { afterMs, patienceMs } of arrivals) {
            await time.passAll(afterMs)
            const caller = new AbortController()
            time.after(patienceMs, () => caller.abort())
            const request = { role: 'general', messages: [{ role: 'user', content: 'Hello' }], maxTokens: 50 } as const
            asked.push(
              pool.complete(request, caller.signal).then(() => {
                answers += 1
              }),
            )
            // Lets calls begin at this time, not at the next arrival.
            await time.passAll(0)
          }
          await time.runUntil(Promise.all(asked))
          expect(answers).toBe(arrivals.length)
          watched.forEach(({ insideMax, inside, starts }, i) => {
            const { concurrency, rpm } = backends[i] as (typeof backends)[0]
            expect(insideMax).toBeLessThanOrEqual(concurrency)
            expect(inside).toBe(0)
            if (rpm !== null) expect(mostInAMinute(starts)).toBeLessThanOrEqual(rpm)
          })
          for (const facts of pool.facts) expect(facts).toMatchObject({ inside: 0, waiting: 0 })
        },
      ),
      { numRuns: 150 },
    )
  })

  it('never takes more units than the allowance within a minute, and all of it in the long run', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 300 }),
        (perMinute, gaps) => {
          const bucket = new TokenBucket(perMinute, 0)
          const taken: number[] = []
          let nowMs = 0
          for (const gap of gaps) {
            nowMs += gap
            if (bucket.waitMs(1, nowMs) > 0) continue
            bucket.take(1, nowMs)
            taken.push(nowMs)
          }
          expect(mostInAMinute(taken)).toBeLessThanOrEqual(perMinute)
          // After the stated wait the bucket grants the call.
          const waitMs = bucket.waitMs(1, nowMs)
          expect(waitMs).toBeLessThanOrEqual(MINUTE_MS + 1)
          expect(bucket.waitMs(1, nowMs + waitMs + 1)).toBe(0)
        },
      ),
    )
  })
})
