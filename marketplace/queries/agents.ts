import type { ChainReader } from '../../consensus/chain/reader.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { AGENT_ID, type AgentId, type ServiceId } from '../../consensus/primitives/ids.ts'
import { decodeText } from '../../consensus/primitives/text.ts'
import { AGENTS, type Agent, SERVICES, type Service } from '../ledger/agents.ts'
import { CAPABILITIES, type Capability } from '../ledger/capabilities.ts'
import { AGENT_STATISTICS, NO_STATISTICS, SERVICE_STATISTICS, type Statistics } from '../ledger/statistics.ts'
import { type CallRecord, operatorRecord, serviceRecord } from './reputation.ts'

/** A service of an agent, as recorded on chain. */
export interface ServiceRow {
  readonly serviceId: ServiceId
  readonly service: Service
  readonly capability: Capability
  readonly statistics: Statistics
  readonly record: CallRecord
}

/** An agent of the registry. */
export interface AgentRow {
  readonly agentId: AgentId
  readonly agent: Agent
  readonly capabilities: readonly Capability[]
  readonly statistics: Statistics
}

/** An agent with its services. */
export interface AgentFacts extends AgentRow {
  readonly services: readonly ServiceRow[]
  /** Whether there are more services than are listed. */
  readonly truncated: boolean
  /** How paid calls of all its services ended, those beyond the list included. */
  readonly record: CallRecord
}

/** Maximum services of an agent that are listed. */
export const AGENT_SERVICES_MAX = 200

/** Ordered by id, after the id `after`. `next` is the `after` of the next page, or null if this page is not full. */
export async function listAgents(
  chain: ChainReader,
  { after, limit }: { readonly after?: AgentId | undefined; readonly limit: number },
): Promise<{ readonly agents: readonly AgentRow[]; readonly next: AgentId | null }> {
  const agents: AgentRow[] = []
  const behind = after === undefined ? undefined : AGENTS.key(after)
  for await (const { key, value } of chain.database.stateRange(AGENTS, '', limit, behind)) {
    agents.push(rowOf(chain, textOfKey(key) as AgentId, value))
  }
  return { agents, next: agents.length === limit ? (agents.at(-1) as AgentRow).agentId : null }
}

/** An agent with its services; undefined if there is none. */
export async function agentNamed(chain: ChainReader, agentId: string): Promise<AgentFacts | undefined> {
  const agent = AGENT_ID.test(agentId) ? chain.database.get(AGENTS, agentId as AgentId) : undefined
  return agent === undefined ? undefined : withServices(chain, rowOf(chain, agentId as AgentId, agent))
}

/** Adds the services to a listed agent. */
export async function withServices(chain: ChainReader, row: AgentRow): Promise<AgentFacts> {
  const services: ServiceRow[] = []
  const prefix = SERVICES.key({ agentId: row.agentId, serviceId: '' as ServiceId }).slice(2)
  for await (const { key, value } of chain.database.stateRange(SERVICES, prefix, AGENT_SERVICES_MAX + 1)) {
    const serviceId = textOfKey(key).slice(row.agentId.length + 1) as ServiceId
    const name = { agentId: row.agentId, serviceId }
    services.push({
      serviceId,
      service: value,
      capability: CAPABILITIES[value.capability] as Capability,
      statistics: chain.database.get(SERVICE_STATISTICS, name) ?? NO_STATISTICS,
      record: serviceRecord(chain, name),
    })
  }
  const listed = services.slice(0, AGENT_SERVICES_MAX)
  return {
    ...row,
    services: listed,
    truncated: services.length > listed.length,
    record: operatorRecord(chain, row.agentId),
  }
}

function rowOf({ database }: ChainReader, agentId: AgentId, agent: Agent): AgentRow {
  return {
    agentId,
    agent,
    capabilities: CAPABILITIES.filter((_, i) => (agent.capabilities >> i) & 1),
    statistics: database.get(AGENT_STATISTICS, agentId) ?? NO_STATISTICS,
  }
}

/** Decodes the text in a key, after the one-byte table prefix. */
function textOfKey(key: string): string {
  return decodeText(fromHex(key.slice(2))) as string
}
