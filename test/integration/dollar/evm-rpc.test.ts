import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { EvmRpc } from '../../../src/adapters/evm-rpc.ts'
import { newPayer, type Payer, PRICE, paymentOf, TERMS } from '../../support/dollar.ts'
import { TestToken, textOf } from '../../support/stable-token.ts'

let token: TestToken
let rpc: EvmRpc
let payer: Payer

beforeEach(async () => {
  token = new TestToken(TERMS)
  rpc = new EvmRpc(await token.listen(), TERMS.network.chainId, Date.now)
  payer = newPayer()
  token.mint(payer.address, 1_000_000n)
})
afterEach(() => token.close())

function sought(nonce: string) {
  const sinceSeconds = Math.floor(Date.now() / 1_000) - 86_400
  const paid = { from: payer.address, to: TERMS.payTo.toLowerCase(), value: PRICE }
  return { asset: TERMS.asset.contract, ...paid, nonce, sinceSeconds }
}

function pay(change: { readonly to?: string } = {}): { readonly nonce: string; readonly transaction: string } {
  const { authorization } = paymentOf(payer, change)
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization
  const said = { from, to, nonce, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` }
  const done = token.transfer(said, signature)
  if ('reason' in done) throw new Error(done.reason)
  return { nonce, transaction: done.transaction }
}

it('distinguishes an unused authorization from one that paid us, even many blocks ago', async () => {
  expect(await rpc.authorization(sought(`0x${'12'.repeat(32)}`))).toEqual({ is: 'unused' })
  const { nonce, transaction } = pay()
  expect(await rpc.authorization(sought(nonce))).toEqual({ is: 'transferred', transaction })
  const { address: other } = newPayer()
  for (let i = 0; i < 5_000; i++) token.cancel(other, `0x${'34'.repeat(32)}`)
  token.asked.length = 0
  expect(await rpc.authorization(sought(nonce))).toEqual({ is: 'transferred', transaction })
  expect(token.asked.filter((method) => method === 'eth_getLogs').length).toBe(3)
})

it('asks one question if the transaction is named, and searches if that shows nothing', async () => {
  const paid = pay()
  const elsewhere = pay({ to: newPayer().address })
  const { nonce, transaction } = paid
  await rpc.wrongChain()
  token.asked.length = 0
  expect(await rpc.authorization({ ...sought(nonce), transaction })).toEqual({ is: 'transferred', transaction })
  expect(token.asked).toEqual(['eth_getTransactionReceipt'])
  for (const named of [`0x${'00'.repeat(32)}`, elsewhere.transaction])
    expect(await rpc.authorization({ ...sought(nonce), transaction: named })).toEqual({
      is: 'transferred',
      transaction,
    })
  const bad = { ...sought(elsewhere.nonce), transaction: elsewhere.transaction }
  expect(await rpc.authorization(bad)).toEqual({ is: 'cancelled' })
  expect(await rpc.authorization({ ...sought(`0x${'78'.repeat(32)}`), transaction })).toEqual({ is: 'unused' })
})

it('does not say that an authorization is unused at a time that the node has not reached', async () => {
  const until = { untilSeconds: 2_000_000_000 }
  const unused = sought(`0x${'9a'.repeat(32)}`)
  token.headSeconds = until.untilSeconds
  expect((await rpc.authorization({ ...unused, ...until })).is).toBe('unknown')
  const { nonce, transaction } = pay()
  expect(await rpc.authorization({ ...sought(nonce), ...until })).toEqual({ is: 'transferred', transaction })
  token.headSeconds += 1
  const seen = { is: 'unused', atSeconds: token.headSeconds }
  expect(await rpc.authorization({ ...unused, ...until })).toEqual(seen)
})

it('does not say so either if a stuck node answers beside one that has come so far', async () => {
  const untilSeconds = Math.floor(Date.now() / 1_000) - 60
  token.standStill()
  const { nonce, transaction } = pay()
  token.turns = true
  expect((await rpc.authorization({ ...sought(nonce), untilSeconds })).is).toBe('unknown')
  token.turns = false
  token.catchUp()
  expect(await rpc.authorization({ ...sought(nonce), untilSeconds })).toEqual({ is: 'transferred', transaction })
})

it('calls an authorization used up if it was cancelled or paid another address', async () => {
  const nonce = `0x${'56'.repeat(32)}`
  token.cancel(payer.address, nonce)
  expect(await rpc.authorization(sought(nonce))).toEqual({ is: 'cancelled' })
  expect(await rpc.authorization(sought(pay({ to: newPayer().address }).nonce))).toEqual({ is: 'cancelled' })
})

it('asks again if the node had closed the kept-alive connection', async () => {
  const { nonce, transaction } = pay()
  token.endsIdle = true
  expect(await rpc.authorization(sought(nonce))).toEqual({ is: 'transferred', transaction })
  expect(token.asked).toEqual([
    'eth_chainId',
    'eth_call',
    'eth_blockNumber',
    'eth_getLogs',
    'eth_getTransactionReceipt',
  ])
})

it('knows nothing if the node is down or on another chain', async () => {
  token.isDown = true
  expect(await rpc.authorization(sought(`0x${'12'.repeat(32)}`))).toMatchObject({ is: 'unknown' })
  token.isDown = false
  token.chainId = 1
  const detail = "the node's chain id is 1, expected 84532"
  expect(await rpc.authorization(sought(`0x${'12'.repeat(32)}`))).toEqual({ is: 'unknown', detail })
})

const LOG = { transactionHash: `0x${'9a'.repeat(32)}`, topics: [] }

it.each([
  ['no log', [null], {}],
  ['no topics', [LOG], { status: '0x1', logs: [{ address: TERMS.asset.contract, topics: 7 }] }],
  ['no logs in a receipt', [LOG], { status: '0x1', logs: [null, 5, 'x', {}] }],
  ['no receipt', [LOG], 5],
])('throws nothing at a node that says nonsense: %s', async (_, logs, receipt) => {
  const answers: Readonly<Record<string, unknown>> = {
    eth_chainId: `0x${TERMS.network.chainId.toString(16)}`,
    eth_call: `0x${'1'.padStart(64, '0')}`,
    eth_blockNumber: '0x10',
    eth_getLogs: logs,
    eth_getTransactionReceipt: receipt,
  }
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { method } = JSON.parse(text) as { method: string }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers[method] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const seen = await new EvmRpc(url, TERMS.network.chainId, Date.now).authorization(sought(`0x${'12'.repeat(32)}`))
  server.close()
  expect(seen.is).toBe('unknown')
})
