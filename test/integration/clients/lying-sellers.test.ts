import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { createClient, InterruptedPaymentError, memoryJournal } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { nativeScheme } from '../../../rpc/client/x402.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { HEIGHT, type Json, LyingNode } from '../../support/lying-node.ts'

/** The client's own node is honest. The seller is not, or has trouble. */
const node = new LyingNode()
const network = networkFacts(DEVNET)
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))

beforeAll(() => node.open())
afterAll(() => node.close())
beforeEach(() => {
  node.reset()
  node.says('/services.json', { services: [], nativeUsd: 0.05 })
  node.says('/api/v1/tx/', { status: 'mined', confirmations: 9, receipt: { success: true } })
})

const TOOL = 'node-x'
const agent = (settleMs = 30_000) =>
  createClient({ baseUrl: node.url, wallet, network, settleMs, journal: memoryJournal() })

/** An offer of x402 version 2, in which the seller changes some fields. */
function offer(change: Json): Json & { readonly scheme: string; readonly asset: string; readonly payTo: string } {
  const facts = { agentId: 'acme', serviceId: TOOL, term: 100, validUntil: HEIGHT + 30, confirmations: 1, decimals: 8 }
  const extra = { ...facts, genesis: network.genesis, priceUsd: 0.0001, nativeUsd: 0.05 }
  return { scheme: 'native-x402', network: 'farthing:1', asset: 'FAR', payTo: 'dfar1acme', extra, ...change }
}

describe('an offer that names two amounts', () => {
  it('is not paid by our plug-in for the official clients, which check only one of them', async () => {
    const scheme = nativeScheme(agent())
    const twofold = offer({ amount: '2000', maxAmountRequired: '100000000' })
    await expect(scheme.createPaymentPayload(2, twofold as never)).rejects.toMatchObject({ code: 'no_native_offer' })
    expect(node.sent).toHaveLength(0)
    await scheme.createPaymentPayload(2, offer({ amount: '2000' }) as never)
    await scheme.createPaymentPayload(2, offer({ amount: '2000', maxAmountRequired: '2000' }) as never)
    expect(node.sent.map(({ body }) => (body.payload as { readonly amount: bigint }).amount)).toEqual([2_000n, 2_000n])
  })
})

describe('a paid tool that cannot answer now', () => {
  const terms = { x402Version: 2, error: 'Payment required', accepts: [offer({ amount: '2000' })] }
  const refusals = (code: string): Json => ({ error: 'not now', code, retry: true })
  const say = (json: Json): object => ({ isError: true, structuredContent: json })

  /** A paid tool that fails `times` calls, and then answers. */
  function troubled(code: string, times: number) {
    const payments: unknown[] = []
    const callTool = async ({ _meta }: { readonly _meta?: Json }): Promise<object> => {
      const payment = _meta?.['x402/payment']
      if (payment === undefined) return say(terms)
      payments.push(payment)
      return payments.length <= times ? say(refusals(code)) : { structuredContent: { paid: true } }
    }
    return { payments, callTool }
  }

  it.each(['claim_store_unreachable', 'service_unavailable'])(
    '%s: it is asked again with the same payment',
    async (code) => {
      const { payments, callTool } = troubled(code, 2)
      const tools = agent().mcp({ callTool } as never) as unknown as { callTool(call: Json): Promise<object> }
      const answer = await tools.callTool({ name: TOOL, arguments: { request: 'ok' } })
      expect(answer).toEqual({ structuredContent: { paid: true } })
      expect(new Set(payments.map((each) => JSON.stringify(each))).size).toBe(1)
      expect([payments.length, node.sent.length]).toEqual([3, 1])
    },
  )

  it('while the client waits: the payment can be resumed, and is not called refused', async () => {
    const { callTool } = troubled('claim_store_unreachable', 1_000)
    const tools = agent(0).mcp({ callTool } as never) as unknown as { callTool(call: Json): Promise<object> }
    const answer = tools.callTool({ name: TOOL, arguments: { request: 'ok' } })
    await expect(answer).rejects.toBeInstanceOf(InterruptedPaymentError)
    expect(node.sent).toHaveLength(1)
  })
})
