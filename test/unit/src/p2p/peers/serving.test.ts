import { expect, it } from 'vitest'
import { UNPACED } from '../../../../../consensus/chain/ports.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { SERVING, Serving } from '../../../../../src/p2p/peers/serving.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

const COST_MS = 10
const STEP_MS = 20
const SECONDS = 40
/** An honest peer asks half as often as each of 48 peers is served. */
const HONEST_SECONDS = 2
/** Cost of each request, with what the transport adds. */
const EACH_MS = COST_MS + SERVING.requestMs

/** Peers that send requests on a clock of the test. Each answer takes `COST_MS`. */
class Crowd {
  readonly time = new ManualTime()
  readonly answered = new Map<string, number>()
  readonly refused = new Map<string, number>()
  readonly #serving: Serving
  workMs = 0

  constructor() {
    const { time } = this
    this.#serving = new Serving({ clock: time, timers: time, stopwatch: () => this.workMs, pacer: () => UNPACED })
  }

  async ask(name: string): Promise<boolean> {
    const peer = name as PeerId
    const turn = this.#serving.begin()
    turn.stop()
    const isIn = await this.#serving.enter(peer, 'bodies', turn, false)
    turn.start()
    const counts = isIn ? this.answered : this.refused
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (!isIn) return false
    this.workMs += COST_MS
    this.#serving.settle(peer, 'bodies', turn, 0)
    return true
  }

  /** Sends requests without end, `atOnce` at a time, until the time is over. */
  async flood(name: string, atOnce: number): Promise<void> {
    const endMs = this.time.now() + SECONDS * 1_000
    const one = async (): Promise<void> => {
      while (this.time.now() < endMs) await this.ask(name)
    }
    await Promise.all(Array.from({ length: atOnce }, one))
  }

  /** Lets a peer make the node check its headers, piece after piece, until the time is over. Returns how many pieces were begun. */
  async lead(name: string): Promise<number> {
    const endMs = this.time.now() + SECONDS * 1_000
    let count = 0
    let goesOn = true
    while (goesOn && this.time.now() < endMs) {
      const done = await this.#serving.work(name as PeerId, 'claimedHeaders', 0, async () => {
        this.workMs += COST_MS
        return ++count
      })
      goesOn = done !== null
    }
    return count
  }

  stop(): void {
    this.#serving.stop()
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) await this.time.passAll(STEP_MS)
  }

  get spentMs(): number {
    return [...this.answered.values()].reduce((sum, count) => sum + count * EACH_MS, 0)
  }
}

it('gives one peer its share of the main thread, once what it may have at once is gone', async () => {
  const crowd = new Crowd()
  void crowd.flood('stranger', 4)
  await crowd.pass(SECONDS * 1_000)
  const share = SERVING.peerShare * (SECONDS * 1_000 + SERVING.peerWindowMs)
  expect(crowd.spentMs).toBeLessThanOrEqual(share + 4 * EACH_MS)
  expect(crowd.spentMs).toBeGreaterThan(0.8 * SERVING.peerShare * SECONDS * 1_000)
})

it('gives 48 strangers theirs together, alike, and always has time for a peer who asks now and then', async () => {
  const crowd = new Crowd()
  const names = Array.from({ length: 48 }, (_, i) => `stranger ${i}`)
  for (const name of names) void crowd.flood(name, 4)
  for (let second = 0; second < SECONDS; second += HONEST_SECONDS) {
    // In the first round the honest peer does not ask, because the crowd has only begun.
    const honest = second === 0 ? Promise.resolve(true) : crowd.ask('honest')
    await crowd.pass(HONEST_SECONDS * 1_000)
    expect(await honest, `second ${second}`).toBe(true)
  }
  expect(crowd.spentMs).toBeLessThanOrEqual(SERVING.allShare * SECONDS * 1_000 + SERVING.allBurstMs + 49 * EACH_MS)
  expect(crowd.spentMs).toBeGreaterThan(0.8 * SERVING.allShare * SECONDS * 1_000)
  const counts = names.map((name) => crowd.answered.get(name) ?? 0)
  expect(Math.max(...counts)).toBeLessThanOrEqual(2 * Math.min(...counts))
  expect([...crowd.refused.keys()]).not.toContain('honest')
  expect([...crowd.refused.keys()].length).toBe(names.length)
})

it('has no wait for a peer that is alone and modest', async () => {
  const crowd = new Crowd()
  for (let i = 0; i < 100; i++) {
    expect(await crowd.ask('quiet')).toBe(true)
    await crowd.pass(60)
  }
  expect(crowd.time.waits).toEqual([])
})

it('checks the headers of a peer that leads us at once, however many strangers ask, and answers these none the less', async () => {
  const crowd = new Crowd()
  for (let i = 0; i < 48; i++) void crowd.flood(`stranger ${i}`, 4)
  const led = crowd.lead('leader')
  await crowd.pass((SECONDS + 1) * 1_000)
  expect((await led) * EACH_MS).toBeGreaterThan(0.8 * SERVING.peerShare * SECONDS * 1_000)
  expect(crowd.spentMs).toBeGreaterThan(0.8 * SERVING.allShare * SECONDS * 1_000)
})

it('gives liars who have us check headers their share together, and nothing of what answers may take', async () => {
  const crowd = new Crowd()
  const led = Array.from({ length: 8 }, (_, i) => crowd.lead(`liar ${i}`))
  void crowd.flood('honest', 4)
  await crowd.pass((SECONDS + 1) * 1_000)
  const count = (await Promise.all(led)).reduce((sum, each) => sum + each, 0)
  const most = SERVING.checksShare * SECONDS * 1_000 + SERVING.allBurstMs + 9 * EACH_MS
  expect(count * EACH_MS).toBeLessThanOrEqual(most)
  expect(crowd.spentMs).toBeGreaterThan(0.8 * SERVING.peerShare * SECONDS * 1_000)
})

it('begins no work that waits when it stops, and none behind it', async () => {
  const crowd = new Crowd()
  const led = Array.from({ length: 50 }, () => crowd.lead('leader'))
  await crowd.pass(100)
  const before = crowd.workMs
  crowd.stop()
  await crowd.pass(SECONDS * 1_000)
  await Promise.all(led)
  expect(crowd.workMs).toBe(before)
})
