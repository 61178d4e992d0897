import type { ChainReader } from '../../consensus/chain/reader.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { AGENT_ID, type AgentId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { priceInEpoch } from '../../marketplace/ledger/agents.ts'
import type { Statistics } from '../../marketplace/ledger/statistics.ts'
import {
  type AgentFacts,
  type AgentRow,
  agentNamed,
  listAgents as listRows,
  type ServiceRow,
  withServices,
} from '../../marketplace/queries/agents.ts'
import { callUrlAt } from '../../marketplace/services/market/agent-endpoint.ts'
import type { SERVICE } from '../contract/agents.ts'
import type { Static } from '../contract/schema.ts'
import { assetAmountJson, usdText } from '../json/asset-json.ts'
import { addressText } from '../json/chain-json.ts'
import { recordJson } from '../json/record-json.ts'
import { tabTermsJson } from '../json/tab-json.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { Handler } from '../server/answer.ts'
import { answerAtHead, badCursor, pageLimit } from '../server/at-head.ts'

const PAGE_DEFAULT = 20
/** A page of agents ends early once this many services were read for it: an agent may publish any number. */
const SERVICES_PER_PAGE = 200

/** The cursor is the last id, which stays valid, since agents are never removed. */
export const listAgents: Handler<'listAgents'> = (node, { query, baseUrl }) => {
  const { chain } = node
  const cursor = query.cursor
  if (cursor !== undefined && !AGENT_ID.test(cursor)) return badCursor()
  return answerAtHead(chain, async () => {
    const page = await listRows(chain, { after: cursor as AgentId, limit: pageLimit(query, PAGE_DEFAULT) })
    const agents = await withinBudget(chain, page.agents)
    const next = agents.length < page.agents.length ? (agents.at(-1) as AgentFacts).agentId : page.next
    return {
      agents: agents.map((facts) => summaryJson(chain, facts, addressOf(node, baseUrl, facts))),
      nextCursor: next,
    }
  })

  /** The agents at the start of a page, until enough of their services are read. At least one if the page has any. */
  async function withinBudget(chain: ChainReader, rows: readonly AgentRow[]): Promise<readonly AgentFacts[]> {
    const agents: AgentFacts[] = []
    let services = 0
    for (const row of rows) {
      if (services >= SERVICES_PER_PAGE) break
      const facts = await withServices(chain, row)
      services += facts.services.length
      agents.push(facts)
    }
    return agents
  }
}

/** One agent in full. */
export const getAgent: Handler<'getAgent'> = (node, { params, baseUrl }) => {
  const { chain } = node
  return answerAtHead(chain, async () => {
    const facts = await agentNamed(chain, params.id)
    if (facts === undefined) return fault('rpc/agent-not-found', { agentId: params.id })
    const { addressPrefix } = chain.ruleBook.params
    const { owner, payout, settlers } = facts.agent
    const address = addressOf(node, baseUrl, facts)
    return {
      agent: {
        ...summaryJson(chain, facts, address),
        owner: addressText(addressPrefix, owner),
        payout: addressText(addressPrefix, payout),
        settlers: settlers.map((settler) => addressText(addressPrefix, settler)),
        tabs: tabTermsJson(chain, facts.agentId),
        services: facts.services.map((service) => serviceJson(chain, service, address)),
        truncated: facts.truncated,
      },
    }
  })
}

/** Base address of an agent: the registered one, or else `baseUrl` for the agent of this node. Empty for any other agent. */
function addressOf({ market }: NodeApi, baseUrl: string, { agentId, agent }: AgentRow): string {
  if (agent.endpoint !== '') return agent.endpoint
  return market?.shop.operator.agentId === agentId ? baseUrl : ''
}

function summaryJson(chain: ChainReader, facts: AgentFacts, endpoint: string) {
  const { agentId, agent, capabilities, statistics, services, record } = facts
  const { name, registeredAt } = agent
  return {
    ...{ agentId, name, endpoint, capabilities, registeredAt },
    // The record counts a payer of several services of the agent once.
    ...provenJson(chain, { ...statistics, payers: record.payers }),
    serviceCount: services.length,
    record: recordJson(chain, record),
  }
}

function serviceJson(chain: ChainReader, row: ServiceRow, address: string): Static<typeof SERVICE> {
  const { serviceId, service, capability, statistics, record } = row
  const { height } = chain.head.header
  const { name, description, requestFormat, retired, publishedAt } = service
  return {
    ...{ serviceId, name, description, requestFormat, capability },
    priceUsd: usdText(priceInEpoch(service, epochOf(height, chain.ruleBook.at(height).market))),
    ...{ retired, publishedAt },
    endpoint: address === '' ? '' : callUrlAt(address, serviceId),
    ...provenJson(chain, statistics),
    record: recordJson(chain, record),
  }
}

function provenJson(chain: ChainReader, { calls, volume, payers }: Statistics) {
  return { provenCalls: calls, provenVolume: assetAmountJson(chain, NATIVE_ASSET, volume), distinctPayers: payers }
}
