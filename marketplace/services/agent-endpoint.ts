import type { AgentRow } from '../facts/agents.ts'
import type { ServiceContext } from './context.ts'

/** Where an agent is called: what it registered, or for the agent of this node where the node listens; null where neither is known. */
export function agentEndpoint({ shelf }: Pick<ServiceContext, 'shelf'>, { agentId, agent }: AgentRow): string | null {
  if (agent.endpoint !== '') return agent.endpoint
  return shelf?.agentId === agentId ? shelf.url : null
}
