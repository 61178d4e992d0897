import { afterEach, describe, expect, it } from 'vitest'
import { callTool, MCP, optionsIn, sendMessage, type Task, type ToolResult } from '../../support/agent-calls.ts'
import { ask, type JsonBody, post } from '../../support/api.ts'
import { shownRail } from '../../support/discovery-node.ts'
import { AGAIN } from '../../support/market.ts'
import { closeDoors, paymentOf, TabDoor } from '../../support/tab-door.ts'

afterEach(closeDoors)

const tool = (door: TabDoor, request: string, payload?: object): Promise<ToolResult> =>
  callTool(door.url, request, payload && paymentOf(payload))
const say = (door: TabDoor, data: object, payload?: object, taskId?: string): Promise<Task> =>
  sendMessage(door.url, data, payload && paymentOf(payload), taskId)

describe('over MCP', () => {
  it('the terms of a tool have the tab beside the other rails, and a voucher pays for a call', async () => {
    const door = await TabDoor.open({ stable: shownRail() })
    const payer = await door.payer()
    const terms = await tool(door, 'ok')
    const schemes = optionsIn(terms.structuredContent).map(({ scheme }) => scheme)
    expect(schemes).toEqual(['exact', 'native-x402', 'batch-settlement'])
    const paid = await tool(door, 'ok', payer.voucher('ok'))
    expect(paid.isError).toBeUndefined()
    expect(paid.structuredContent).toMatchObject({ paid: true, receipt: { rail: 'tab', txId: payer.tabId } })
    expect(paid._meta?.['x402/payment-response']).toMatchObject({
      ...{ success: true, transaction: '', network: 'farthing:1', amount: '' },
      extra: { commitmentId: `${payer.tabId}:1`, channelState: { nextSeq: 2 }, receipt: { n: 1 }, next: {} },
    })
  })

  it('a refused voucher gets the corrective offer, a failed service its receipt', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    await tool(door, 'ok', payer.voucher('ok'))
    const refused = await tool(door, 'ok', payer.voucher('ok', { seq: 1 }))
    expect(refused.isError).toBe(true)
    expect(refused.structuredContent).toMatchObject({ x402Version: 2, code: 'tab_seq_used' })
    expect(optionsIn(refused.structuredContent)).toMatchObject([
      {
        scheme: 'batch-settlement',
        extra: { channelState: { nextSeq: 2 }, voucherState: { seq: 1 }, lastReceipt: { n: 1 } },
      },
    ])
    const failed = await tool(door, 'fail', payer.voucher('fail', { seq: 2, ceiling: 2n * door.price }))
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { code: 'upstream_failed', receipt: { tab: { outcome: 1, charged: '0' } } },
      _meta: { 'x402/payment-response': { success: false, extra: { chargedAmount: '0' } } },
    })
  })

  it('a refund payment ends the tab', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const ended = await tool(door, '', payer.refund())
    expect(ended.structuredContent).toMatchObject({ closing: true, tabId: payer.tabId })
    expect(ended._meta?.['x402/payment-response']).toMatchObject({ success: true, extra: { channelState: {} } })
    expect((await door.shop.store.tab(payer.tabId))?.refundAskedAtMs).toBe(door.market.time.now())
  })

  it('the argument `payment` stays native: a voucher in it is refused with its place', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const params = { name: AGAIN, arguments: { request: 'ok', payment: payer.voucher('ok') } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { result } = (await post<{ result: ToolResult }>(door.url, '/api/mcp', message, MCP)).body
    expect(result.isError).toBe(true)
    expect(door.market.workbench.begun).toEqual([])
  })
})

describe('over A2A', () => {
  it('a voucher in the metadata pays, also for a task that waits', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    const data = { serviceId: AGAIN, request: 'ok' }
    const waiting = await say(door, data)
    const required = waiting.status.message.metadata['x402.payment.required'] as JsonBody
    expect(optionsIn(required).map(({ scheme }) => scheme)).toEqual(['native-x402', 'batch-settlement'])
    for (const task of [
      await say(door, data, payer.voucher('ok'), waiting.id),
      await say(door, data, payer.voucher('ok')),
    ]) {
      expect(task.status.state).toBe('TASK_STATE_COMPLETED')
      expect(task.artifacts?.[0]?.parts[0]?.data).toMatchObject({ paid: true, receipt: { rail: 'tab' } })
      expect(task.status.message.metadata['x402.payment.receipts']).toMatchObject([
        { success: true, transaction: '', extra: { chargedAmount: `${door.price}`, channelState: {} } },
      ])
    }
  })

  it('a refused voucher gets the corrective offer, a failed service its receipt, a refund its end', async () => {
    const door = await TabDoor.open()
    const payer = await door.payer()
    await say(door, { serviceId: AGAIN, request: 'ok' }, payer.voucher('ok'))
    const refused = await say(door, { serviceId: AGAIN, request: 'ok' }, payer.voucher('ok', { seq: 1 }))
    const { metadata } = refused.status.message
    expect([metadata['x402.payment.status'], metadata['x402.payment.error']]).toEqual([
      'payment-required',
      'tab_seq_used',
    ])
    expect(optionsIn(metadata['x402.payment.required'] as JsonBody)).toMatchObject([
      { scheme: 'batch-settlement', extra: { voucherState: { seq: 1 } } },
    ])
    const failing = payer.voucher('fail', { seq: 2, ceiling: 2n * door.price })
    const failed = await say(door, { serviceId: AGAIN, request: 'fail' }, failing)
    expect(failed.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { metadata: { receipt: { tab: { outcome: 1 } }, 'x402.payment.receipts': [{ success: false }] } },
    })
    const ended = await say(door, { serviceId: AGAIN, request: '' }, payer.refund())
    expect(ended.status).toMatchObject({ state: 'TASK_STATE_COMPLETED', message: { metadata: { closing: true } } })
  })
})

it('one voucher runs one call, whichever door it comes through', async () => {
  const door = await TabDoor.open()
  const payer = await door.payer()
  const payload = payer.voucher('ok')
  const overHttp = await door.call('ok', payload)
  const overMcp = await tool(door, 'ok', payload)
  const overA2a = await say(door, { serviceId: AGAIN, request: 'ok' }, payload)
  expect(overMcp.structuredContent).toEqual(overHttp.body)
  expect(overA2a.artifacts?.[0]?.parts[0]?.data).toEqual(overHttp.body)
  expect(door.market.workbench.begun).toHaveLength(1)
})

describe('the documents', () => {
  it('say that services take tabs, and how', async () => {
    const door = await TabDoor.open()
    const entries = async (): Promise<readonly JsonBody[]> =>
      (await ask<{ services: readonly JsonBody[] }>(door.url, '/services.json')).body.services
    expect((await entries()).map(({ takesTabs }) => takesTabs)).toEqual([true, true, false])
    const { body } = await ask<{ tabs: JsonBody; channels: JsonBody }>(door.url, '/.well-known/x402')
    expect(body.channels).toMatchObject({ mode: 'disabled', network: '', asset: '', minDeposit: '' })
    expect(body.tabs).toMatchObject({
      ...{ mode: 'live', scheme: 'batch-settlement', network: 'farthing:1', asset: 'FAR', minDeposit: '1000000' },
      open: `${door.url}/api/tabs`,
    })
    for (const path of ['/llms.txt', '/llms-full.txt'])
      expect((await ask(door.url, path)).text).toContain('batch-settlement')
    Object.assign(door.node.market!, { tabs: null })
    await door.market.mine()
    expect((await entries()).map(({ takesTabs }) => takesTabs)).toEqual([false, false, false])
  })
})
