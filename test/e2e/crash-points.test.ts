import { cpSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { verdict } from '../support/api.ts'
import { Caller, marketOpen, type Payment, runsIn } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'

const workshop = new Workshop()
const PAYEE = new Caller('', 10)
const FLAGS = ['--market-payout', PAYEE.address] as const
let published: string

beforeAll(async () => {
  published = workshop.folder()
  const daemon = await workshop.start(published, { env: { TEST_FAST_BLOCKS: '1' }, flags: FLAGS })
  await marketOpen(daemon.url)
  await daemon.stop()
})

/** The expected answer for the caller and the number of runs, for the service that may be repeated and for the one that may not. */
interface Expected {
  readonly again: readonly [answer: string, runs: number]
  readonly once: readonly [answer: string, runs: number]
}

const PAID = '200 paid'
const FAILED = '502 upstream_failed'
const POINTS: Readonly<Record<string, Expected>> = {
  'before:claimed': { again: [PAID, 1], once: [PAID, 1] },
  'after:claimed': { again: [PAID, 1], once: [PAID, 1] },
  'before:executing': { again: [PAID, 1], once: [PAID, 1] },
  'after:executing': { again: [PAID, 1], once: [FAILED, 0] },
  'before:delivered': { again: [PAID, 2], once: [FAILED, 1] },
  'after:delivered': { again: [PAID, 1], once: [PAID, 1] },
  'before:failed': { again: [FAILED, 2], once: [FAILED, 1] },
  'after:failed': { again: [FAILED, 1], once: [FAILED, 1] },
}
const CASES = Object.entries(POINTS).flatMap(([point, { again, once }]) => [
  [point, 'node-test-again', ...again] as const,
  [point, 'node-test-once', ...once] as const,
])

/** A call whose node died at a crash point, with everything to continue it. */
interface Scene {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly caller: Caller
  readonly payment: Payment
  readonly before: { readonly caller: bigint; readonly payee: bigint }
}

/** Pays a call and sends it to a daemon that dies at the point. */
async function die(point: string, serviceId: string): Promise<Scene> {
  const folder = workshop.folder()
  cpSync(published, folder, { recursive: true })
  const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: workshop.path('runs') }
  const daemon = await workshop.start(folder, { env: { ...env, TEST_CRASH_AT: point }, flags: FLAGS })
  const caller = new Caller(daemon.url, 1)
  const before = { caller: await caller.balance(), payee: await payeeAt(daemon.url).balance() }
  const request = point.endsWith('failed') ? 'fail' : 'ok'
  const payment = await caller.payMined({ serviceId, request, lock: 'lock' })
  await expect(caller.settle(payment)).rejects.toThrow('fetch failed')
  expect(await daemon.program.exit).toEqual({ code: null, signal: 'SIGKILL' })
  return { folder, env, caller, payment, before }
}

function payeeAt(url: string): Caller {
  return new Caller(url, PAYEE.key)
}

/** Expects that either the caller has the result and the operator the price, or the caller has the money back. */
async function expectOneOutcome({ caller, payment, before }: Scene, answer: string): Promise<void> {
  const { status, receiptTxId, refund } = await caller.closed(payment.txId)
  await caller.mined(receiptTxId)
  const fee = BigInt((await caller.transaction(payment.txId)).receipt.fee)
  const [lost, won] = [before.caller - (await caller.balance()), (await payeeAt(caller.url).balance()) - before.payee]
  if (answer === PAID) {
    expect({ status, refund, lost, won }).toEqual({
      status: 'completed',
      refund: null,
      lost: payment.amount + fee,
      won: (payment.amount * 99n) / 100n,
    })
  } else {
    expect({ status, refund: refund?.status, lost, won }).toEqual({
      status: 'refunded',
      refund: 'confirmed',
      lost: fee,
      won: 0n,
    })
  }
}

describe.concurrent('a daemon killed', () => {
  it.each(CASES)('%s of a call of %s: the caller gets %s after %i runs', async (point, serviceId, answer, runs) => {
    const scene = await die(point, serviceId)
    const { folder, env, caller, payment } = scene
    const daemon = await workshop.start(folder, { env, flags: FLAGS })
    caller.url = daemon.url
    // Once the claim is written, the node settles the call without the caller.
    const first = point === 'before:claimed' ? await caller.settle(payment) : null
    await expectOneOutcome(scene, answer)
    const reply = first ?? (await caller.settle(payment))
    expect(verdict(reply)).toBe(answer)
    expect(reply.headers.get('idempotent-replay')).toBe(first === null ? 'true' : null)
    expect(reply.body.result).toEqual(answer === PAID ? { echo: 'ok' } : undefined)
    const other = await caller.offer(payment, { request: 'ok:other' })
    expect(verdict(other)).toBe('409 payment_already_redeemed')
    expect((await caller.offer(payment)).body.result).toEqual(reply.body.result)
    expect(Object.fromEntries(runsIn(env.TEST_RUNS_FILE!))).toEqual(
      runs === 0 ? {} : { [`${serviceId} ${payment.request}`]: runs },
    )
    await expectOneOutcome(scene, answer)
    expect((await daemon.stop()).code).toBe(0)
  })

  it.each([
    ['after:executing', 'node-test-again', PAID, 1],
    ['before:delivered', 'node-test-again', PAID, 3],
    ['before:failed', 'node-test-once', FAILED, 1],
  ] as const)(
    '%s of %s, and there again while it recovers, still ends well',
    async (point, serviceId, answer, runs) => {
      const scene = await die(point, serviceId)
      const { folder, env, caller, payment } = scene
      const second = workshop.begin(folder, { env: { ...env, TEST_CRASH_AT: point }, flags: FLAGS })
      expect(await second.exit).toEqual({ code: null, signal: 'SIGKILL' })
      const daemon = await workshop.start(folder, { env, flags: FLAGS })
      caller.url = daemon.url
      await expectOneOutcome(scene, answer)
      expect(verdict(await caller.settle(payment))).toBe(answer)
      expect(runsIn(env.TEST_RUNS_FILE!).get(`${serviceId} ${payment.request}`) ?? 0).toBe(runs)
      await daemon.stop()
    },
  )
})
