import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CallView, post, verdict } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { newPayer, PRICE, paymentOf, TERMS } from '../support/dollar.ts'
import { TestFacilitator } from '../support/dollar-facilitator.ts'
import { until } from '../support/processes.ts'
import { type Said, TestToken } from '../support/stable-token.ts'

const SERVICE = 'node-test-once'
const PAID_BY = `0x${'Ab'.repeat(32)}`

const workshop = new Workshop()
const token = new TestToken(TERMS)
const facilitator = new TestFacilitator(token)
const env = { TEST_FAST_BLOCKS: '1' }
const folder = workshop.folder()
let flags: readonly string[]
beforeAll(async () => {
  await facilitator.open()
  flags = [
    ...['--stable-enabled', 'true', '--stable-network', 'base-sepolia', '--stable-pay-to', TERMS.payTo],
    ...['--stable-facilitators', facilitator.url, '--stable-rpc-url', await token.listen()],
  ]
})
afterAll(async () => {
  await facilitator.close()
  await token.close()
})

const start = async (): Promise<RunningDaemon> => {
  const daemon = await workshop.start(folder, { env, flags })
  await marketOpen(daemon.url)
  return daemon
}
const refunds = (...words: readonly string[]) =>
  workshop.run(['refunds', ...words, '--data-dir', folder], { entry: WITH_TEST_SERVICES, env })

it('farthing refunds lists what is owed where an authorization is used after its call had failed, and marks it as paid', async () => {
  const payer = newPayer()
  token.mint(payer.address, PRICE)
  const { payload, authorization } = paymentOf(payer)
  const header = Buffer.from(JSON.stringify(payload)).toString('base64')
  const send = async ({ url }: RunningDaemon): Promise<string> =>
    verdict(await post<CallView>(url, `/api/x402/${SERVICE}`, { request: 'fail' }, { 'payment-signature': header }))
  const first = await start()
  expect(
    await until('an answer', async () => (await send(first).then((said) => !/^503/.test(said) && said)) || null),
  ).toBe('502 upstream_failed')
  await first.stop()
  expect((await refunds()).stdout).toBe('No refund is owed.\n')

  // Anyone who saw the authorization may use it while it is valid.
  const { payload: signed } = payload as { readonly payload: { readonly authorization: Said } }
  expect(token.transfer(signed.authorization, authorization.signature)).toHaveProperty('transaction')
  const second = await start()
  await until('the refund is owed', async () => (await send(second)) === '409 refund_owed')
  await second.stop()

  const listed = await refunds()
  const [, id] = /^([0-9a-f]{64}) {2}owed {2}/.exec(listed.stdout) ?? []
  const asset = TERMS.asset.contract.toLowerCase()
  expect(listed).toMatchObject({ code: 0, stdout: `${id}  owed  ${PRICE} units of ${asset} to ${payer.address}\n` })
  expect(await refunds(id as string)).toMatchObject({ code: 2, stdout: '' })
  expect(await refunds(id as string, '--paid', '0x12')).toMatchObject({ code: 2, stdout: '' })
  const unknown = await refunds('0'.repeat(64), '--paid', PAID_BY)
  expect(unknown.code).not.toBe(0)
  expect((await refunds()).stdout).toBe(listed.stdout)

  expect(await refunds(id as string, '--paid', PAID_BY)).toMatchObject({ code: 0, stdout: `${id} is paid\n` })
  expect((await refunds(id as string, '--paid', PAID_BY)).code).not.toBe(0)
  expect((await refunds()).stdout).toBe('No refund is owed.\n')
})
