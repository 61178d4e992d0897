import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { type ClientOptions, createClient, memoryJournal, type Payment } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { nativeScheme } from '../../../rpc/client/x402.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { HEIGHT, type Json, LyingNode } from '../../support/lying-node.ts'

/** The public x402 clients do not show the request to a scheme, so the payment buys whatever request it is sent with. */
const node = new LyingNode()
const network = networkFacts(DEVNET)
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))
const TOOL = 'node-x'

beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => {
  node.reset()
  called.length = 0
  node.says('/services.json', { services: [], nativeUsd: 0.01 })
  node.says('/api/v1/tx/', { status: 'mined', confirmations: 9, receipt: { success: true } })
  node.says('/api/x402/', { error: 'it was used for another request', code: 'payment_already_redeemed' }, 409)
  node.says('/api/x402/requests/', { error: 'no such payment', code: 'not_found' }, 404)
})

/** Requests of the calls to services. */
const called: unknown[] = []
const noting: typeof fetch = (input, init) => {
  if (init?.method === 'POST' && String(input).includes('/api/x402/'))
    called.push(JSON.parse(String(init.body)).request)
  return fetch(input, init)
}
const agent = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: node.url, wallet, network, journal: memoryJournal(), settleMs: 0, fetch: noting, ...options })

const facts = { agentId: 'acme', serviceId: TOOL, term: 100, validUntil: HEIGHT + 30, confirmations: 1, decimals: 8 }
const offer: Json = {
  ...{ scheme: 'native-x402', network: 'farthing:1', asset: 'FAR', payTo: 'acme', amount: '100' },
  extra: { ...facts, genesis: network.genesis },
}

/** Pays through the scheme. This client does not see the answer to the call. */
async function paid(client: ReturnType<typeof agent>): Promise<Payment> {
  await nativeScheme(client).createPaymentPayload(2, offer as never)
  const [payment] = await client.unfinished()
  return payment as Payment
}

describe('a payment whose request this client was not shown', () => {
  it('says so in the journal, and buys nothing until the request is given', async () => {
    const client = agent()
    const payment = await paid(client)
    expect(payment).toMatchObject({ serviceId: TOOL, request: null })
    await expect(client.resume(payment)).rejects.toMatchObject({ code: 'request_unknown', payment: { request: null } })
    await expect(client.resume({ txId: payment.txId })).rejects.toMatchObject({ code: 'request_unknown' })
    expect(called).toEqual([])
    await expect(client.resume({ ...payment, request: 'FUSD' })).rejects.toMatchObject({ status: 409 })
    expect(called).toEqual(['FUSD'])
  })

  it('is settled once the node says that it was redeemed for another request', async () => {
    const client = agent()
    const payment = await paid(client)
    await expect(client.resume({ ...payment, request: '' })).rejects.toMatchObject({ code: 'payment_already_redeemed' })
    expect(await client.unfinished()).toEqual([])
  })

  it.each(['completed', 'refunded', 'refund_pending'])(
    'is left alone where the node says that its call is %s',
    async (status) => {
      const journal = memoryJournal()
      const client = agent({ journal })
      const { txId } = await paid(client)
      node.says(`/api/x402/requests/${txId}`, { txId, status })
      expect(await client.unfinished()).toEqual([])
      // A node's answer is not final: the next node may say otherwise.
      expect(await journal.get(txId)).toMatchObject({ state: 'submitted', request: null })
      expect(called).toEqual([])
    },
  )

  it.each(['paid', 'executing', 'constructor', null])('stays open if the node says %s', async (status) => {
    const client = agent()
    const { txId } = await paid(client)
    node.says(`/api/x402/requests/${txId}`, { txId, status })
    expect(await client.unfinished()).toMatchObject([{ txId }])
  })
})
