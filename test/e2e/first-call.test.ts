import { expect, it } from 'vitest'
import { marketOpen } from '../support/caller.ts'
import { SHIPPED, Workshop } from '../support/daemon.ts'

const workshop = new Workshop()

it('a call on the devnet as shipped, whose blocks take the time that a user sees, is paid, served and verified', async () => {
  const daemon = await workshop.start(workshop.folder(), { entry: SHIPPED })
  await marketOpen(daemon.url)
  const buyer = ['--rpc', daemon.url, '--data-dir', workshop.folder(), '--dev-key', '1']
  const { code, stdout, stderr } = await workshop.run(['call', 'node-network-stats', '--json', ...buyer])
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    result: { height: expect.any(Number) },
    receipt: { serviceId: 'node-network-stats' },
    verified: { paymentInBlock: true, headerWork: true, resultHash: true, receiptMatches: true, requestHash: true },
  })
})
