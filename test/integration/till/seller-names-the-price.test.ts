import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { COIN } from '../../../config/networks/rules.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { type ClientOptions, createClient, type Intention, memoryJournal } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { nativeScheme } from '../../../rpc/client/x402.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { HEIGHT, type Json, LyingNode } from '../../support/lying-node.ts'

/** The client's own node is honest and prices the coin. The seller falsifies every fact of its offer to get past the client's ceilings. */
const [node, shop] = [new LyingNode(), new LyingNode()]
const network = networkFacts(DEVNET)
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))
const TOOL = 'node-x'
const AGENT = 'acme'
const PAYOUT = 'dfar1theagentspayout'

beforeAll(() => Promise.all([node.open(), shop.open()]))
afterAll(() => {
  node.close()
  shop.close()
})
beforeEach(() => {
  node.reset()
  shop.reset()
  node.says('/services.json', { services: [], nativeUsd: 0.25 })
  node.says('/api/v1/tx/', { status: 'mined', confirmations: 9, receipt: { success: true } })
  node.says(`/api/v1/agents/${AGENT}`, {
    agent: { agentId: AGENT, name: 'Acme', endpoint: '', owner: PAYOUT, payout: PAYOUT, settlers: [], ...NO_SERVICES },
  })
})

const NO_SERVICES = { capabilities: [], services: [] }

interface Offered {
  readonly coins: bigint
  readonly offer?: Json
  readonly extra?: Json
  /** URL of the resource in the terms. */
  readonly url?: string
}

/** Terms of x402 version 2 that claim that call and coin cost almost nothing. */
function terms({ coins, offer = {}, extra = {}, url }: Offered): Json & { readonly accepts: readonly Json[] } {
  const facts = { agentId: AGENT, serviceId: TOOL, term: 100, validUntil: HEIGHT + 30, confirmations: 1, decimals: 8 }
  const cheap = { priceUsd: 0.0001, nativeUsd: 0.000001 }
  const option = {
    ...{ scheme: 'native-x402', network: 'farthing:1', asset: 'FAR', payTo: PAYOUT, amount: coins.toString() },
    ...offer,
    extra: { ...facts, genesis: network.genesis, ...cheap, ...extra },
  }
  return {
    x402Version: 2,
    error: 'Payment required',
    accepts: [option],
    ...(url === undefined ? {} : { resource: { url } }),
  }
}

const agent = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: node.url, wallet, network, journal: memoryJournal(), settleMs: 0, ...options })

const codeOf = (bought: Promise<unknown>): Promise<string> =>
  bought.then(
    () => 'paid',
    (error: { readonly code: string }) => error.code,
  )

/** Buys a tool from an MCP server with these terms. */
function tool(offered: Offered, client = agent()): Promise<string> {
  const callTool = async ({ _meta }: { readonly _meta?: Json }): Promise<object> =>
    _meta?.['x402/payment'] === undefined
      ? { isError: true, structuredContent: terms(offered) }
      : { structuredContent: { paid: true } }
  const tools = client.mcp({ callTool } as never) as unknown as { callTool(call: Json): Promise<object> }
  return codeOf(tools.callTool({ name: TOOL, arguments: { request: 'ok' } }))
}

/** Buys a page from a server with these terms. */
function page(offered: Offered, client = agent(), at = shop): Promise<string> {
  let asked = 0
  at.answers('/page', () => (asked++ === 0 ? { status: 402, json: terms({ ...offered, ...V1(offered) }) } : OK))
  return codeOf(client.wrapFetch()(`${at.url}/page`))
}
const OK = { status: 200, json: { page: 'here' } }
const V1 = ({ coins, offer = {} }: Offered): Pick<Offered, 'offer'> => ({
  offer: { network: 'mainnet', maxAmountRequired: coins.toString(), ...offer },
})

/** Buys through the scheme plug-in for the public x402 clients. */
function scheme(offered: Offered, client = agent()): Promise<string> {
  return codeOf(nativeScheme(client).createPaymentPayload(2, terms(offered).accepts[0] as never))
}

const DOORS = [
  ['a tool', tool],
  ['a page', page],
  ['a scheme of the public clients', scheme],
] as const

describe('a seller that names the URL of the client’s own node as its resource', () => {
  const url = (): string => `${node.url}/api/x402/${TOOL}`

  it('does not prevent the client from asking its node: 99 coins are not ten cents', async () => {
    expect(await tool({ coins: 99n * COIN, url: url() })).toBe('over_call_limit')
    expect(await tool({ coins: COIN, url: url() })).toBe('over_call_limit')
    expect(node.sent).toHaveLength(0)
  })

  it('uses up the daily ceiling by the price of the client’s own node', async () => {
    const client = agent({ maxPerDayUsd: 0.12 })
    const codes: string[] = []
    for (let nonce = 1; nonce <= 4; nonce++) {
      const pending = { nextNonce: String(nonce) }
      node.says('/api/v1/accounts', { exists: true, balance: '1', nonce: String(nonce), height: HEIGHT, pending })
      codes.push(await tool({ coins: COIN / 5n, url: url() }, client))
    }
    expect(codes).toEqual(['paid', 'paid', 'over_day_limit', 'over_day_limit'])
    expect(node.sent).toHaveLength(2)
  })
})

it('a page at the URL of the own node is not believed either, because it is unknown who answered there', async () => {
  expect(await page({ coins: COIN }, agent(), node)).toBe('over_call_limit')
  expect(node.sent).toHaveLength(0)
})

describe.each(DOORS)('%s whose offer is not of the coin of this network', (_name, buy) => {
  it.each([
    ['decimals that the coin does not have', {}, { decimals: 18 }, 'other_asset'],
    ['fewer decimals', {}, { decimals: 0 }, 'other_asset'],
    ['another asset', { asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }, {}, 'other_asset'],
    ['the id of another asset', {}, { assetId: 'ab'.repeat(32) }, 'other_asset'],
    ['another chain', { network: 'eip155:8453' }, {}, 'other_network'],
    ['another chain id', { network: 'farthing:2' }, {}, 'other_network'],
    ['another genesis', {}, { genesis: 'ab'.repeat(32) }, 'other_network'],
  ])('is not paid: %s', async (_what, offer, extra, code) => {
    const seen: Intention[] = []
    const onPay = (intention: Intention): boolean => seen.push(intention) > 0
    const client = agent({ maxPerCallUsd: 100, maxPerDayUsd: 100, onPay })
    expect(await buy({ coins: 99n * COIN, offer, extra }, client)).toBe(code)
    expect([seen, node.sent]).toEqual([[], []])
  })

  it('is paid where the facts are right, and shown as it is', async () => {
    const seen: Intention[] = []
    const onPay = (intention: Intention): boolean => seen.push(intention) > 0
    const client = agent({ maxPerCallUsd: 100, maxPerDayUsd: 100, onPay })
    expect(await buy({ coins: 99n * COIN, extra: { assetId: '00'.repeat(32) } }, client)).toBe('paid')
    expect(seen.map(({ quote, usd }) => [quote.coins, usd])).toEqual([['99', 24.75]])
  })
})

describe.each(DOORS)('%s whose seller alone names dollars', (_name, buy) => {
  it('is not paid, unless the coins were bounded', async () => {
    node.says('/services.json', { services: [] })
    expect(await buy({ coins: COIN })).toBe('price_unknown')
    expect(await buy({ coins: COIN }, agent({ maxPerCallCoins: '0.5' }))).toBe('over_call_limit')
    expect(node.sent).toHaveLength(0)
    expect(await buy({ coins: COIN }, agent({ maxPerCallCoins: '2' }))).toBe('paid')
  })

  it('is paid again as soon as the own node names a price', async () => {
    const client = agent()
    node.says('/services.json', { error: 'not now' }, 503)
    expect(await buy({ coins: COIN / 5n }, client)).toBe('price_unknown')
    node.says('/services.json', { services: [], nativeUsd: 0.25 })
    expect(await buy({ coins: COIN / 5n }, client)).toBe('paid')
  })
})

describe.each(DOORS)('%s whose seller names an address that is on the list of payees', (_name, buy) => {
  const cheap = { coins: COIN / 5n }

  it('is not paid where the chain pays another', async () => {
    const lie = { ...cheap, offer: { payTo: 'dfar1trusted' } }
    expect(await buy(lie, agent({ allow: { payTo: ['dfar1trusted'] } }))).toBe('not_allowed')
    node.says(`/api/v1/agents/${AGENT}`, { error: 'no such agent', code: 'agent_not_found' }, 404)
    expect(await buy(cheap, agent({ allow: { payTo: [PAYOUT] } }))).toBe('node_refused')
    expect(node.sent).toHaveLength(0)
  })

  it('is paid where it is the payout address of the agent, or the agent', async () => {
    expect(await buy(cheap, agent({ allow: { payTo: ['dfar1trusted', PAYOUT] } }))).toBe('paid')
    expect(await buy({ ...cheap, offer: { payTo: AGENT } }, agent({ allow: { payTo: [AGENT] } }))).toBe('paid')
  })
})
