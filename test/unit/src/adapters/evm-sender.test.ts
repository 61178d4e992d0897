import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JsonRpcNode } from '../../../../src/adapters/evm/json-rpc-node.ts'
import { EvmKeySender } from '../../../../src/adapters/evm-sender.ts'
import { textOf } from '../../../support/stable-token.ts'

/** What the node answers to a method: a result, or the code of an error. */
type Said = { readonly result: unknown } | { readonly error: number }

const CONTRACT = `0x${'11'.repeat(20)}`
const DATA = Uint8Array.of(1, 2, 3, 4)
const log = { address: CONTRACT, topics: [], data: '0x' }
const GOOD: Readonly<Record<string, Said>> = {
  eth_chainId: { result: '0x7' },
  eth_call: { result: '0x' },
  eth_estimateGas: { result: '0x5208' },
  eth_getTransactionCount: { result: '0x3' },
  eth_maxPriorityFeePerGas: { result: '0x1' },
  eth_getBlockByNumber: { result: { baseFeePerGas: '0x10' } },
  eth_sendRawTransaction: { result: '0x' },
  eth_getTransactionReceipt: { result: { status: '0x1', blockNumber: '0x9', logs: [log] } },
}
let said = GOOD
const asked: { readonly method: string; readonly params: readonly unknown[] }[] = []
const server = createServer(async (request, response) => {
  const { id, method, params } = JSON.parse(await textOf(request)) as (typeof asked)[number] & { readonly id: number }
  asked.push({ method, params })
  const answer = said[method] ?? { error: -32_601 }
  const body = 'error' in answer ? { error: { code: answer.error, message: '' } } : answer
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
})

function sender(chainId = 7): EvmKeySender {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const key = new Uint8Array(32).fill(7)
  return new EvmKeySender({ node: new JsonRpcNode(url, 'the node', chainId), chainId, key, patienceMs: 0 })
}

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
beforeEach(() => {
  said = GOOD
  asked.length = 0
})
afterAll(() => server.close())

describe('a call', () => {
  it('is sent from the account of the key, and is mined with its logs', async () => {
    const sent = await sender().send(CONTRACT, DATA)
    expect(sent).toMatchObject({ is: 'mined', height: 9, logs: [log] })
    const estimate = asked.find(({ method }) => method === 'eth_estimateGas')
    expect(estimate?.params).toEqual([
      { from: '0x4a62316623ad457f02cdc5d997ded67a383ec569', to: CONTRACT, data: '0x01020304' },
    ])
    const receipt = asked.find(({ method }) => method === 'eth_getTransactionReceipt')
    expect(receipt?.params).toEqual([sent.is === 'mined' && sent.transaction])
  })

  it.each([
    ['reverts in the estimate', { eth_estimateGas: { error: 3 } }, { is: 'refused' }],
    [
      'reverts in its block',
      { eth_getTransactionReceipt: { result: { status: '0x0', blockNumber: '0x9', logs: [] } } },
      { is: 'reverted' },
    ],
    ['needs more gas than any call should', { eth_estimateGas: { result: '0x1e8481' } }, { is: 'refused' }],
    ['is estimated by a node that is asked too often', { eth_estimateGas: { error: -32_005 } }, { is: 'unsent' }],
    ['has no fees', { eth_getBlockByNumber: { result: {} } }, { is: 'unsent' }],
    ['has no nonce', { eth_getTransactionCount: { error: -32_000 } }, { is: 'unsent' }],
    ['is not taken', { eth_sendRawTransaction: { error: -32_000 } }, { is: 'unsent' }],
    ['is not seen', { eth_getTransactionReceipt: { result: null } }, { is: 'unknown', detail: 'it is not mined yet' }],
    ['has half a receipt', { eth_getTransactionReceipt: { result: { status: '0x1' } } }, { is: 'unknown' }],
  ])('that %s says so', async (_, change, expected) => {
    said = { ...GOOD, ...(change as typeof GOOD) }
    expect(await sender().send(CONTRACT, DATA)).toMatchObject(expected)
  })

  it('never reaches another chain', async () => {
    expect(await sender(8).send(CONTRACT, DATA)).toMatchObject({ is: 'unsent' })
    expect(new Set(asked.map(({ method }) => method))).toEqual(new Set(['eth_chainId']))
  })

  it('is tried without sending it', async () => {
    expect(await sender().wouldSucceed(CONTRACT, DATA)).toBe(true)
    said = { ...GOOD, eth_call: { error: 3 } }
    expect(await sender().wouldSucceed(CONTRACT, DATA)).toBe(false)
    said = { ...GOOD, eth_call: { error: 429 } }
    expect(await sender().wouldSucceed(CONTRACT, DATA)).toBeNull()
    expect(asked.some(({ method }) => method === 'eth_sendRawTransaction')).toBe(false)
  })
})

it('takes no key that is none', () => {
  const node = new JsonRpcNode(new URL('http://127.0.0.1:1'), 'the node', 7)
  expect(() => new EvmKeySender({ node, chainId: 7, key: new Uint8Array(32) })).toThrow('not a key')
})
