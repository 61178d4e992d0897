import { afterEach, describe, expect, it } from 'vitest'
import { callTool, optionsIn, sendMessage } from '../../support/agent-calls.ts'
import type { JsonBody } from '../../support/api.ts'
import { ChannelDoor, closeChannelDoors } from '../../support/channel-door.ts'
import { ModelPayer } from '../../support/channel-seller.ts'
import { PRICE } from '../../support/dollar.ts'
import { AGAIN } from '../../support/market.ts'
import { decoded } from '../../support/tab-door.ts'

afterEach(closeChannelDoors)

/** What a deposit of these payers holds, in units. */
const DEPOSIT = 10_000n
const ask = { serviceId: AGAIN, request: 'ok' }

async function depositing() {
  const door = await ChannelDoor.open()
  return { door, payer: new ModelPayer() }
}

describe('over MCP', () => {
  it('the terms have the channel beside the other rails, and a deposit and a voucher pay for calls', async () => {
    const { door, payer } = await depositing()
    const schemes = optionsIn((await callTool(door.url, 'ok')).structuredContent).map(({ scheme }) => scheme)
    expect(schemes).toEqual(['exact', 'native-x402', 'batch-settlement'])
    const first = await callTool(door.url, 'ok', payer.json('deposit'))
    expect(first.structuredContent).toMatchObject({ paid: true, receipt: { rail: 'channel', txId: payer.channelId } })
    expect(first._meta?.['x402/payment-response']).toMatchObject({ success: true, amount: `${DEPOSIT}` })
    payer.charged = PRICE
    const second = await callTool(door.url, 'ok:2', payer.json('voucher'))
    expect(second.isError).toBeUndefined()
    expect(second._meta?.['x402/payment-response']).toMatchObject({
      ...{ success: true, transaction: '', network: 'eip155:84532', amount: '' },
      extra: { chargedAmount: `${PRICE}`, channelState: { chargedCumulativeAmount: `${2n * PRICE}` } },
    })
  })

  it('a refused voucher gets the corrective offer, a failed service costs nothing, a refund brings back the rest', async () => {
    const { door, payer } = await depositing()
    await door.served(payer, 'deposit')
    const refused = await callTool(door.url, 'ok:2', payer.json('voucher', { maxClaimable: PRICE }))
    expect(refused).toMatchObject({ isError: true, structuredContent: { x402Version: 2, code: 'voucher_mismatch' } })
    expect(optionsIn(refused.structuredContent)).toMatchObject([
      {
        scheme: 'batch-settlement',
        extra: {
          channelState: { chargedCumulativeAmount: `${PRICE}` },
          voucherState: { signedMaxClaimable: `${PRICE}` },
        },
      },
    ])
    const failed = await callTool(door.url, 'fail', payer.json('voucher'))
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { code: 'upstream_failed', receipt: { rail: 'channel', amountBaseUnits: '0' } },
      _meta: { 'x402/payment-response': { extra: { chargedAmount: '0' } } },
    })
    const refund = await callTool(door.url, '', payer.json('refund'))
    expect(refund.structuredContent).toMatchObject({ refunded: `${DEPOSIT - PRICE}`, channelId: payer.channelId })
    expect(refund._meta?.['x402/payment-response']).toMatchObject({ success: true, amount: `${DEPOSIT - PRICE}` })
    expect(door.seller.channels.of(payer.channelId)).toMatchObject({ balance: PRICE, totalClaimed: PRICE })
  })
})

describe('over A2A', () => {
  it('a deposit and a voucher in the metadata pay, also for a task that waits', async () => {
    const { door, payer } = await depositing()
    const waiting = await sendMessage(door.url, ask)
    const required = waiting.status.message.metadata['x402.payment.required'] as JsonBody
    expect(optionsIn(required).map(({ scheme }) => scheme)).toContain('batch-settlement')
    for (const kind of ['deposit', 'voucher'] as const) {
      const task = await sendMessage(door.url, ask, payer.json(kind), kind === 'deposit' ? waiting.id : undefined)
      payer.charged += PRICE
      expect(task.status.state).toBe('TASK_STATE_COMPLETED')
      expect(task.artifacts?.[0]?.parts[0]?.data).toMatchObject({ paid: true, receipt: { rail: 'channel' } })
      expect(task.status.message.metadata['x402.payment.receipts']).toMatchObject([
        { success: true, extra: { channelState: { chargedCumulativeAmount: `${payer.charged}` } } },
      ])
    }
  })

  it('a refused voucher gets the corrective offer, a failed service costs nothing, a refund brings back the rest', async () => {
    const { door, payer } = await depositing()
    await door.served(payer, 'deposit')
    const refused = await sendMessage(door.url, ask, payer.json('voucher', { maxClaimable: 3n * PRICE }))
    const { metadata } = refused.status.message
    expect([metadata['x402.payment.status'], metadata['x402.payment.error']]).toEqual([
      'payment-required',
      'voucher_mismatch',
    ])
    expect(optionsIn(metadata['x402.payment.required'] as JsonBody)).toMatchObject([
      { scheme: 'batch-settlement', extra: { voucherState: { signedMaxClaimable: `${PRICE}` } } },
    ])
    const failed = await sendMessage(door.url, { ...ask, request: 'fail' }, payer.json('voucher'))
    expect(failed.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { metadata: { receipt: { amountBaseUnits: '0' } } },
    })
    const refund = await sendMessage(door.url, { ...ask, request: '' }, payer.json('refund'))
    expect(refund.status).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      message: { metadata: { refunded: `${DEPOSIT - PRICE}` } },
    })
  })
})

it('one voucher runs one call, whichever door it comes through', async () => {
  const { door, payer } = await depositing()
  await door.served(payer, 'deposit')
  const payment = payer.json('voucher')
  const overHttp = await door.call('ok:2', payment)
  const overMcp = await callTool(door.url, 'ok:2', payment)
  const overA2a = await sendMessage(door.url, { ...ask, request: 'ok:2' }, payment)
  expect(overMcp.structuredContent).toEqual(overHttp.body)
  expect(overA2a.artifacts?.[0]?.parts[0]?.data).toEqual(overHttp.body)
  expect(door.seller.market.workbench.begun).toHaveLength(2)
})

it('a call that was charged is answered also while the chain is away', async () => {
  const { door, payer } = await depositing()
  const payment = payer.json('deposit')
  const first = await door.call('ok', payment)
  expect(decoded(first, 'payment-response')).toMatchObject({ extra: { channelState: {} } })
  await door.restart()
  door.seller.channels.isAway = true
  const again = await door.call('ok', payment)
  expect(again).toMatchObject({ status: 200, body: first.body })
  expect(decoded(again, 'payment-response').extra).toEqual({ chargedAmount: `${PRICE}` })
})
