import { request } from 'undici'
import { expect, it, vi } from 'vitest'
import { decodeReceipt } from '../../../consensus/ledger/receipt.ts'
import type { Amount } from '../../../consensus/primitives/amount.ts'
import { ApiServer } from '../../support/api-server.ts'
import { wallet } from '../../support/chain.ts'

vi.mock('../../../consensus/ledger/receipt.ts', async (original) => {
  const actual = await original<typeof import('../../../consensus/ledger/receipt.ts')>()
  return { ...actual, decodeReceipt: vi.fn(actual.decodeReceipt) }
})

it('decodes one receipt for one transaction, however many its block has', async () => {
  const server = await ApiServer.open()
  const { test, url } = server
  const payload = { to: wallet(9).address, amount: 1n as Amount, create: false }
  const txs = []
  for (let i = 0; i < 40; i++) txs.push(await test.tx(wallet(1 + (i % 8)), 'transfer', payload))
  await test.mine(txs)
  for (const { txId } of [txs[0], txs[17], txs[39]] as { txId: string }[]) {
    vi.mocked(decodeReceipt).mockClear()
    const { body } = await request(`${url}/api/v1/tx/${txId}`)
    expect(await body.json()).toMatchObject({ txId, status: 'mined', receipt: { txId } })
    expect(vi.mocked(decodeReceipt)).toHaveBeenCalledTimes(1)
  }
  await server.close()
})
