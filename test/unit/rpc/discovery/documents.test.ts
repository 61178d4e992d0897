import { afterEach, describe, expect, it } from 'vitest'
import type { Route } from '../../../../rpc/contract/route.ts'
import { ROUTES } from '../../../../rpc/contract/table.ts'
import { agentCard } from '../../../../rpc/discovery/agent-card.ts'
import { robotsText, sitemap } from '../../../../rpc/discovery/crawlers.ts'
import { clientCall, commandCall, curlQuote } from '../../../../rpc/discovery/how-to-call.ts'
import { llmsFullText, llmsText } from '../../../../rpc/discovery/llms.ts'
import { protocolDocument } from '../../../../rpc/market/registry.ts'
import type { NodeApi } from '../../../../rpc/node/node-api.ts'
import { HERE, sellingNode, shownRail } from '../../../support/discovery-node.ts'
import { closeMarkets } from '../../../support/market.ts'

afterEach(closeMarkets)

describe('the A2A card', () => {
  it('has the members of both generations, and skills for what can be bought now', async () => {
    const { node } = await sellingNode()
    const url = `${HERE}/a2a`
    expect(JSON.parse(agentCard(node, HERE) as string)).toMatchObject({
      name: 'Shop',
      version: '1.2.3',
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      ...{ protocolVersion: '0.3.0', url, preferredTransport: 'JSONRPC' },
      capabilities: { extensions: [{ uri: 'https://github.com/google-a2a/a2a-x402/v0.1', required: false }] },
      skills: [
        { id: 'node-test-again', tags: ['utility', 'x402'], examples: ['node-test-again ok'] },
        { id: 'node-test-once' },
      ],
    })
  })

  it('is not there where nothing is sold', async () => {
    const { node } = await sellingNode()
    const silent: NodeApi = { ...node, market: null }
    expect(agentCard(silent, HERE)).toMatchObject({ code: 'rpc/no-market' })
  })
})

describe('the texts for models', () => {
  it('begin as the form wants it; the short one lists what can be bought, the full one everything', async () => {
    const { node } = await sellingNode({ stable: shownRail() })
    const [short, full] = [llmsText(node, HERE), llmsFullText(node, HERE)]
    for (const text of [short, full]) {
      expect(text).toMatch(/^# Shop\n\n> [^\n]+\n\n/)
      expect(text).toContain("await agent.call('node-network-stats')")
      expect(text.match(/^## .*/gm)).toEqual(['## Services', '## Documents'])
      expect(text).toContain(`- [/services.json](${HERE}/services.json): `)
    }
    expect(short).toMatch(
      /^- \[Test once\]\(https:\/\/node\.example\/api\/x402\/node-test-once\): .* \$0\.002 \(\d+(\.\d+)? FAR, or 0\.002 USDC on base\)$/m,
    )
    expect(short).not.toContain('node-test-closed')
    expect(short).toContain(
      'pay one of the options in `accepts` and repeat the call. What stands in `offers` cannot be',
    )
    expect(full).toContain('- State: unavailable: its provider is down')
    expect(full).toContain(`-d '{"request":"ok"}'`)
  })
})

describe('the chat in the texts for models', () => {
  it.each(['0', '4'])('is told with how many of its models can answer now: %s', async (usable) => {
    const { node } = await sellingNode()
    const readiness = (id: string) => ({ available: usable === '4' && id !== 'model-voice' })
    const chatting = { ...node, chat: { platform: { readiness } } } as unknown as NodeApi
    expect(llmsText(chatting, HERE)).toContain(`${usable} of 5 can answer now.`)
  })
})

describe('the files for crawlers', () => {
  it('name each other and every page', async () => {
    const { node } = await sellingNode()
    expect(robotsText(HERE)).toContain(`Sitemap: ${HERE}/sitemap.xml`)
    const places = [...sitemap(node, HERE).matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, place]) => place)
    const services = ['again', 'once', 'closed'].map((name) => `${HERE}/agents/node-test-${name}`)
    expect(places).toEqual([`${HERE}/`, `${HERE}/agents`, ...services])
  })
})

describe('the protocol document', () => {
  it('names in `discovery` exactly paths that are served', async () => {
    const { node } = await sellingNode()
    const { discovery } = protocolDocument(node, HERE) as { readonly discovery: Readonly<Record<string, string>> }
    expect(discovery).toEqual({
      wellKnown: `${HERE}/.well-known/x402`,
      bazaar: `${HERE}/x402/discovery`,
      services: `${HERE}/services.json`,
      agentCard: `${HERE}/.well-known/agent.json`,
      llmsTxt: `${HERE}/llms.txt`,
      requests: `${HERE}/api/x402/requests`,
      perService: `${HERE}/api/x402/{serviceId}`,
    })
    const served = new Set((Object.values(ROUTES) as readonly Route[]).map(({ path }) => HERE + path))
    expect(Object.values(discovery).filter((url) => !served.has(url))).toEqual([])
  })
})

describe('calls to copy', () => {
  const call = { baseUrl: HERE, serviceId: 'node-x', request: "it's 1->2", network: 'mainnet' }

  it('are words of a shell', () => {
    expect(curlQuote(call)).toContain(`-d '{"request":"it'\\''s 1->2"}'`)
    expect(commandCall(call)).toBe(`npx --no farthing call node-x 'it'\\''s 1->2' \\\n  --rpc '${HERE}'`)
    expect(commandCall({ ...call, request: '' })).toBe(`npx --no farthing call node-x \\\n  --rpc '${HERE}'`)
  })

  it('are a short program, which says on what chain unless it is the main one', () => {
    expect(clientCall(call).split('\n')).toHaveLength(6)
    expect(clientCall(call)).toContain("import { walletFromKeyfile } from 'farthing/client/wallet'")
    expect(clientCall(call)).toContain(`agent.call('node-x', "it's 1->2")`)
    expect(clientCall({ ...call, network: 'devnet' })).toContain(", network: 'devnet', wallet })")
    expect(clientCall(call)).not.toContain('network:')
  })
})
