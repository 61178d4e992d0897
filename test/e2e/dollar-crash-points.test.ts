import { cpSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallView, post } from '../support/api.ts'
import { marketOpen, runsIn } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'
import { newPayer, PRICE, paymentOf, TERMS } from '../support/dollar.ts'
import { TestFacilitator } from '../support/dollar-facilitator.ts'
import { until } from '../support/processes.ts'
import { TestToken } from '../support/stable-token.ts'

const workshop = new Workshop()
const token = new TestToken(TERMS)
let facilitator: TestFacilitator
let flags: readonly string[]
let published: string

beforeAll(async () => {
  facilitator = await new TestFacilitator(token).open()
  const rpcUrl = await token.listen()
  flags = [
    ...['--stable-enabled', 'true', '--stable-network', 'base-sepolia', '--stable-pay-to', TERMS.payTo],
    ...['--stable-facilitators', facilitator.url, '--stable-rpc-url', rpcUrl],
  ]
  published = workshop.folder()
  const daemon = await workshop.start(published, { env: { TEST_FAST_BLOCKS: '1' }, flags })
  await marketOpen(daemon.url)
  await daemon.stop()
})
afterAll(async () => {
  await facilitator.close()
  await token.close()
})

/** Crash point and service, with the expected status of the answer and number of runs. */
const POINTS = [
  ['before:claimed', 'node-test-once', 200, 1],
  ['after:claimed', 'node-test-once', 200, 1],
  ['before:executing', 'node-test-once', 200, 1],
  ['after:executing', 'node-test-again', 200, 1],
  ['after:executing', 'node-test-once', 502, 0],
  ['before:settling', 'node-test-again', 200, 2],
  ['before:settling', 'node-test-once', 502, 1],
  ['after:settling', 'node-test-once', 200, 1],
  ['before:settled', 'node-test-once', 200, 1],
  ['after:settled', 'node-test-once', 200, 1],
] as const

describe('a daemon killed', () => {
  it.each(POINTS)(
    '%s of a call to %s paid in dollars answers %i after %i runs',
    async (point, serviceId, status, runs) => {
      const folder = workshop.folder()
      cpSync(published, folder, { recursive: true })
      const env = { TEST_FAST_BLOCKS: '1', TEST_RUNS_FILE: workshop.path('runs') }
      const payer = newPayer()
      token.mint(payer.address, 10n * PRICE)
      const header = Buffer.from(JSON.stringify(paymentOf(payer).payload)).toString('base64')
      const send = (url: string) =>
        post<CallView>(url, `/api/x402/${serviceId}`, { request: 'ok' }, { 'payment-signature': header })
      const isSelling = (url: string) =>
        until('it sells for dollars', async () => {
          const { body } = await post<CallView>(url, `/api/x402/${serviceId}?rail=stable`, { request: 'ok' })
          return body.available
        })
      const dying = await workshop.start(folder, { env: { ...env, TEST_CRASH_AT: point }, flags })
      await isSelling(dying.url)
      await expect(send(dying.url)).rejects.toThrow('fetch failed')
      expect(await dying.program.exit).toEqual({ code: null, signal: 'SIGKILL' })
      const daemon = await workshop.start(folder, { env, flags })
      await isSelling(daemon.url)
      const reply = await until('the call is over', async () => {
        const said = await send(daemon.url)
        return said.status === 503 ? null : said
      })
      expect(reply.status).toBe(status)
      const spent = 10n * PRICE - token.balance(payer.address)
      expect([spent, reply.body.result]).toEqual(status === 200 ? [PRICE, { echo: 'ok' }] : [0n, undefined])
      expect(runsIn(env.TEST_RUNS_FILE).get(`${serviceId} ok`) ?? 0).toBe(runs)
      expect((await daemon.stop()).code).toBe(0)
    },
  )
})
