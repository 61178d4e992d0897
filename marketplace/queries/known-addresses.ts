import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { Address, AgentId } from '../../consensus/primitives/ids.ts'
import { listAgents } from './agents.ts'
import { listAssets } from './tokens.ts'

/** Maximum agents, and maximum assets, whose addresses are labelled. */
export const NAMED_MAX = 200

/** Labels of addresses: `agent:<id>:owner`, `:payout` or `:settler`, `issuer:<symbol>`. */
export interface KnownAddresses {
  readonly labels: ReadonlyMap<Address, readonly string[]>
  /** Whether there may be more agents or assets than were read. */
  readonly truncated: boolean
}

/** Call it within `atOneHead`. */
export async function knownAddresses(chain: ChainReader): Promise<KnownAddresses> {
  const labels = new Map<Address, string[]>()
  const add = (address: Address, label: string): void => {
    const known = labels.get(address) ?? []
    if (!known.includes(label)) labels.set(address, [...known, label])
  }
  const { agents, next } = await listAgents(chain, { limit: NAMED_MAX })
  for (const { agentId, agent } of agents) {
    add(agent.owner, labelOf(agentId, 'owner'))
    add(agent.payout, labelOf(agentId, 'payout'))
    for (const settler of agent.settlers) add(settler, labelOf(agentId, 'settler'))
  }
  const page = await listAssets(chain, { limit: NAMED_MAX, hidden: true })
  for (const { symbol, issuer } of page.assets) if (issuer !== null) add(issuer, `issuer:${symbol}`)
  return { labels, truncated: next !== null || page.next !== null }
}

function labelOf(agentId: AgentId, role: 'owner' | 'payout' | 'settler'): string {
  return `agent:${agentId}:${role}`
}
