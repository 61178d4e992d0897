import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import type { AgentRow } from '../../queries/agents.ts'
import type { ServiceContext } from '../context.ts'

/** The registered address, or for this node's agent the node's public address; null if neither is known. */
export function agentEndpoint({ shelf }: Pick<ServiceContext, 'shelf'>, { agentId, agent }: AgentRow): string | null {
  if (agent.endpoint !== '') return agent.endpoint
  return shelf?.agentId === agentId ? shelf.url : null
}

/** URL at which a service is called, from the base address of its agent. */
export function callUrlAt(base: string, serviceId: string): string {
  return `${base.replace(/\/+$/, '')}/api/x402/${serviceId}`
}

/** URL at which an agent's service is called; null if the agent has no known address. */
export function callUrl(context: Pick<ServiceContext, 'shelf'>, agent: AgentRow, serviceId: ServiceId): string | null {
  const base = agentEndpoint(context, agent)
  return base === null ? null : callUrlAt(base, serviceId)
}
