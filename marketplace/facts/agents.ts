import type { Chain } from '../../consensus/chain/chain.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { AGENT_ID, type AgentId, type ServiceId } from '../../consensus/primitives/ids.ts'
import { decodeText } from '../../consensus/primitives/text.ts'
import { AGENTS, type Agent, SERVICES, type Service } from '../ledger/agents.ts'
import { CAPABILITIES, type Capability } from '../ledger/capabilities.ts'
import { decodeOutcomes, durationPercentile, OUTCOMES, type Outcomes, outcomesKey } from '../ledger/outcomes.ts'
import { AGENT_STATISTICS, NO_STATISTICS, SERVICE_STATISTICS, type Statistics } from '../ledger/statistics.ts'

/** How paid calls ended, insiders' calls left out. */
export interface CallRecord {
  readonly delivered: number
  /** Failed by the operator's own word, and expired at the deadline: both went back to their callers. */
  readonly failed: number
  readonly expired: number
  /** Share of ended calls that were delivered, in millionths, rounded down; null where none has ended. */
  readonly successPpm: bigint | null
  /** Share of the delivered volume that came from the one caller of the service who paid most; null without volume. */
  readonly topPayerPpm: bigint | null
  /** Time that 95 % of deliveries took at most, by the operator's own claim; null without any. */
  readonly p95Ms: number | null
}

/** One service of an agent as the chain has it. */
export interface ServiceRow {
  readonly serviceId: ServiceId
  readonly service: Service
  readonly capability: Capability
  readonly statistics: Statistics
  readonly record: CallRecord
}

/** One agent of the registry. */
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
  /** Of the listed services together. `topPayerPpm` and `p95Ms` are those of the worst of them. */
  readonly record: CallRecord
}

/** Most services of one agent that are read at once. */
export const AGENT_SERVICES_MAX = 200

const PPM = 1_000_000n

/** Agents in the order of their ids, those after `after`; `next` is the id that the next page begins after. */
export async function listAgents(
  chain: Chain,
  { after, limit }: { readonly after?: AgentId | undefined; readonly limit: number },
): Promise<{ readonly agents: readonly AgentRow[]; readonly next: AgentId | null }> {
  const agents: AgentRow[] = []
  const behind = after === undefined ? undefined : AGENTS.key(after)
  for await (const { key, value } of chain.database.stateRange(AGENTS, '', limit, behind)) {
    agents.push(rowOf(chain, textOfKey(key) as AgentId, value))
  }
  return { agents, next: agents.length === limit ? (agents.at(-1) as AgentRow).agentId : null }
}

/** One agent with its services, undefined where there is none. */
export async function agentNamed(chain: Chain, agentId: string): Promise<AgentFacts | undefined> {
  const agent = AGENT_ID.test(agentId) ? chain.database.get(AGENTS, agentId as AgentId) : undefined
  return agent === undefined ? undefined : withServices(chain, rowOf(chain, agentId as AgentId, agent))
}

/** An agent of a listing with its services. */
export async function withServices(chain: Chain, row: AgentRow): Promise<AgentFacts> {
  const services: ServiceRow[] = []
  const outcomes: Outcomes[] = []
  const prefix = SERVICES.key({ agentId: row.agentId, serviceId: '' as ServiceId }).slice(2)
  for await (const { key, value } of chain.database.stateRange(SERVICES, prefix, AGENT_SERVICES_MAX + 1)) {
    const serviceId = textOfKey(key).slice(row.agentId.length + 1) as ServiceId
    const name = { agentId: row.agentId, serviceId }
    const ended = decodeOutcomes(chain.database.indexed(OUTCOMES, outcomesKey(name)))
    outcomes.push(ended)
    services.push({
      serviceId,
      service: value,
      capability: CAPABILITIES[value.capability] as Capability,
      statistics: chain.database.get(SERVICE_STATISTICS, name) ?? NO_STATISTICS,
      record: recordOf(ended),
    })
  }
  const listed = services.slice(0, AGENT_SERVICES_MAX)
  return {
    ...row,
    services: listed,
    truncated: services.length > listed.length,
    record: together(outcomes.slice(0, AGENT_SERVICES_MAX)),
  }
}

/** How the paid calls of one service ended. */
export function recordOf(outcomes: Outcomes): CallRecord {
  const { delivered, failed, expired, volume, topPayerVolume } = outcomes
  return {
    delivered,
    failed,
    expired,
    successPpm: successPpm(outcomes),
    topPayerPpm: volume === 0n ? null : (topPayerVolume * PPM) / volume,
    p95Ms: durationPercentile(outcomes, 95),
  }
}

function together(all: readonly Outcomes[]): CallRecord {
  const records = all.map(recordOf)
  const sum = (field: 'delivered' | 'failed' | 'expired'): number => all.reduce((total, one) => total + one[field], 0)
  const ended = { delivered: sum('delivered'), failed: sum('failed'), expired: sum('expired') }
  const worst = <T extends bigint | number>(values: readonly (T | null)[]): T | null =>
    values.reduce((most, value) => (value !== null && (most === null || value > most) ? value : most), null)
  return {
    ...ended,
    successPpm: successPpm(ended),
    topPayerPpm: worst(records.map(({ topPayerPpm }) => topPayerPpm)),
    p95Ms: worst(records.map(({ p95Ms }) => p95Ms)),
  }
}

function successPpm({ delivered, failed, expired }: Pick<Outcomes, 'delivered' | 'failed' | 'expired'>): bigint | null {
  const ended = BigInt(delivered + failed + expired)
  return ended === 0n ? null : (BigInt(delivered) * PPM) / ended
}

function rowOf({ database }: Chain, agentId: AgentId, agent: Agent): AgentRow {
  return {
    agentId,
    agent,
    capabilities: CAPABILITIES.filter((_, i) => (agent.capabilities >> i) & 1),
    statistics: database.get(AGENT_STATISTICS, agentId) ?? NO_STATISTICS,
  }
}

/** Text that a key spells behind its table's prefix. */
function textOfKey(key: string): string {
  return decodeText(fromHex(key.slice(2))) as string
}
