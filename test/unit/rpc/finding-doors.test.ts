import { afterEach, describe, expect, it } from 'vitest'
import { answerQuestion } from '../../../rpc/a2a/questions.ts'
import { listAgents } from '../../../rpc/handlers/agents.ts'
import { suggestions } from '../../../rpc/market/registry.ts'
import type { MarketApi } from '../../../rpc/node/node-api.ts'
import type { ApiRequest, RequestOf } from '../../../rpc/server/answer.ts'
import { HERE, sellingNode } from '../../support/discovery-node.ts'
import { closeMarkets } from '../../support/market.ts'

afterEach(closeMarkets)

describe('a question over A2A', () => {
  async function answered(question: string): Promise<string> {
    const { node } = await sellingNode()
    const request = { baseUrl: HERE } as ApiRequest
    return answerQuestion({ node, market: node.market as MarketApi, request }, question).text
  }

  it('is offered what can be bought, and told of the rest why it cannot', async () => {
    const text = await answered('a test, please')
    const [open, closed] = text.split('Cannot be bought now:')
    expect(open).toMatch(/^Services that may do:/)
    expect(open).toMatch(/node-test-once: Does what its request says\. \$0\.002/)
    expect(open).not.toContain('node-test-closed')
    expect(closed).toMatch(/node-test-closed: .* Why not: its provider is down/)
  })

  it('without a match says so', async () => {
    expect(await answered('how do I bake bread')).toMatch(/^Nothing fits these words/)
  })

  it('without a word is shown what is sold, and not told that its words fit nothing', async () => {
    const text = await answered(' \n ')
    expect(text).toMatch(/^Some of what is sold here:\nnode-test-/)
    expect(text).not.toContain('Nothing fits')
  })
})

it('the services that were meant by a mistyped id are named', async () => {
  const { node } = await sellingNode()
  const market = node.market as MarketApi
  expect(suggestions(market, 'node-tset-onec')).toEqual(['node-test-once'])
  expect(suggestions(market, 'node-tst-onse')[0]).toBe('node-test-once')
  expect(suggestions(market, 'umbrella')).toEqual([])
})

it('the agent of a node that registered no address is listed with the one where the node was asked', async () => {
  const { node, market } = await sellingNode()
  const { agentId, endpoint: registered } = market.shop.operator
  expect(registered).toBe('')
  const answer = await listAgents(node, { query: {}, baseUrl: HERE } as RequestOf<'listAgents'>)
  const { agents } = (answer as unknown as { json: { agents: { agentId: string; endpoint: string }[] } }).json
  expect(agents.find((one) => one.agentId === agentId)?.endpoint).toBe(HERE)
})
