import { afterEach, beforeEach, expect, it } from 'vitest'
import { DEVNET } from '../../../../../config/networks/devnet.ts'
import { checkReceipt } from '../../../../../rpc/client/sdk/receipts.ts'
import { networkFacts } from '../../../../../src/market/network-facts.ts'
import { LyingNode } from '../../../../support/lying-node.ts'

const node = new LyingNode()
beforeEach(() => node.open())
afterEach(() => node.close())

const ID = 'ab'.repeat(32)
const receipt = {
  ...{ serviceId: 'node-x', caller: 'dfar1', amount: 1, txId: ID, amountBaseUnits: '1', blockHeight: 7, blockHash: ID },
  ...{ resultHash: ID, requestHash: ID, durationMs: 1, completedAt: '2026-01-01T00:00:00.000Z' },
}
const expected = { txId: ID, serviceId: 'node-x', caller: 'dfar1', amountBaseUnits: '1', request: null }

async function secondSays(): Promise<boolean | null> {
  const basis = { facts: networkFacts(DEVNET), secondNode: node.url, transport: {} }
  return (await checkReceipt({ result: {}, receipt }, expected, basis)).checks.secondNode
}

it('a second node that is a block behind is waited for', async () => {
  let asked = 0
  node.answers('/api/v1/blocks', () => {
    asked++
    return { status: 200, json: { blocks: [{ height: asked < 3 ? 6 : 7, id: ID }] } }
  })
  expect(await secondSays()).toBe(true)
  expect(asked).toBe(3)
})

it('one that has another block there is believed at once', async () => {
  let asked = 0
  node.answers('/api/v1/blocks', () => {
    asked++
    return { status: 200, json: { blocks: [{ height: 7, id: 'cd'.repeat(32) }] } }
  })
  expect(await secondSays()).toBe(false)
  expect(asked).toBe(1)
})

it('answers that are only behind count for nothing against one that is lost', async () => {
  const told = [[], [], [], null, [{ height: 7, id: ID }]]
  node.answers('/api/v1/blocks', () => {
    const blocks = told.shift() ?? null
    return blocks === null ? { status: 503, json: {} } : { status: 200, json: { blocks } }
  })
  expect(await secondSays()).toBe(true)
})

it('one answer that is lost is asked for again', async () => {
  let asked = 0
  node.answers('/api/v1/blocks', () => {
    asked++
    return asked < 3 ? { status: 429, json: {} } : { status: 200, json: { blocks: [{ height: 7, id: ID }] } }
  })
  expect(await secondSays()).toBe(true)
})
