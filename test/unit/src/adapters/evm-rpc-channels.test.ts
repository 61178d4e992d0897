import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { keccakText } from '../../../../consensus/external/eip712.ts'
import type { Fields } from '../../../../consensus/primitives/fields.ts'
import { CHANNEL_CONTRACT } from '../../../../marketplace/till/rails/dollar/channel/channel.ts'
import { EvmRpc } from '../../../../src/adapters/evm-rpc.ts'
import { textOf } from '../../../support/stable-token.ts'

const CHANNEL = `0x${'ab'.repeat(32)}`
const word = (number: number): string => number.toString(16).padStart(64, '0')
const selector = (name: string): string => keccakText(name).slice(0, 10)
const GOOD: Fields = {
  eth_chainId: '0x7',
  eth_blockNumber: '0x10',
  [selector('channels(bytes32)')]: `0x${word(9_000)}${word(700)}`,
  [selector('pendingWithdrawals(bytes32)')]: `0x${word(50)}${word(1_800_000_000)}`,
  [selector('refundNonce(bytes32)')]: `0x${word(3)}`,
}

interface Asked {
  readonly method: string
  readonly params: readonly [{ readonly to: string; readonly data: string }, string]
}

/** Results by method; of `eth_call` by the function that is called. */
let results = GOOD
const calls: Asked['params'][] = []
const server = createServer(async (request, response) => {
  const { method, params } = JSON.parse(await textOf(request)) as Asked
  if (method === 'eth_call') calls.push(params)
  const result = results[method === 'eth_call' ? params[0].data.slice(0, 10) : method]
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...(result === undefined ? { error: {} } : { result }) }))
})
const rpc = () => new EvmRpc(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 7, Date.now)

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
beforeEach(() => {
  results = GOOD
  calls.length = 0
})
afterAll(() => server.close())

it('reads a channel in one block', async () => {
  const state = { balance: 9_000n, totalClaimed: 700n, withdrawRequestedAt: 1_800_000_000, refundNonce: 3n }
  expect(await rpc().channel(CHANNEL)).toEqual({ state, height: 16 })
  expect(calls.map(([{ to, data }, block]) => [to, data.slice(10), block])).toEqual(
    Array.from({ length: 3 }, () => [CHANNEL_CONTRACT, 'ab'.repeat(32), '0x10']),
  )
})

it.each([
  ['of another chain', { eth_chainId: '0x8' }],
  ['that does not know its newest block', { eth_blockNumber: 'latest' }],
  ['without the contract', { [selector('channels(bytes32)')]: '0x' }],
  ['that answers half', { [selector('channels(bytes32)')]: `0x${word(1)}` }],
  ['that answers too much', { [selector('refundNonce(bytes32)')]: `0x${word(1).repeat(3)}` }],
  ['that answers no hex', { [selector('pendingWithdrawals(bytes32)')]: 5 }],
  ['that refuses', { [selector('refundNonce(bytes32)')]: undefined }],
])('tells nothing of a node %s', async (_, change) => {
  results = { ...GOOD, ...change }
  expect(await rpc().channel(CHANNEL)).toBeNull()
})
