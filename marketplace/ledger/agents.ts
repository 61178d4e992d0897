import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import type { KindHandler, LedgerModule, TxContext } from '../../consensus/ledger/module.ts'
import { ZERO } from '../../consensus/primitives/amount.ts'
import {
  bool,
  container,
  hex32,
  list,
  text,
  uint8,
  uint16,
  uint32,
  uint64,
  type ValueOf,
} from '../../consensus/primitives/codec.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Address, AgentId, ServiceId } from '../../consensus/primitives/ids.ts'
import { anyTable, stateTable, textKey } from '../../consensus/state/table.ts'
import type { StateView } from '../../consensus/state/view.ts'
import {
  DESCRIPTION_BYTES_MAX,
  ENDPOINT_BYTES_MAX,
  NAME_BYTES_MAX,
  REQUEST_FORMAT_BYTES_MAX,
  SETTLERS_MAX,
} from '../../consensus/tx/payloads.ts'

const AGENT_RECORD = container('Agent', {
  version: uint8,
  owner: hex32<Address>(),
  payout: hex32<Address>(),
  settlers: list(hex32<Address>(), SETTLERS_MAX),
  name: text(NAME_BYTES_MAX),
  endpoint: text(ENDPOINT_BYTES_MAX),
  capabilities: uint16,
  registeredAt: uint32,
})

/** A seller. `owner` may change the record, `payout` receives payments, `owner` and `settlers` may post receipts. */
export type Agent = ValueOf<typeof AGENT_RECORD>

/** Agents by id. */
export const AGENTS = stateTable<AgentId, Agent>({ name: 'agents', prefix: 0x60, codec: AGENT_RECORD, id: textKey })

const SERVICE_RECORD = container('Service', {
  version: uint8,
  capability: uint8,
  retired: bool,
  priceUsdMicros: uint64,
  previousPriceUsdMicros: uint64,
  previousPriceLastEpoch: uint32,
  name: text(NAME_BYTES_MAX),
  requestFormat: text(REQUEST_FORMAT_BYTES_MAX),
  description: text(DESCRIPTION_BYTES_MAX),
  publishedAt: uint32,
})

/** Until and including `previousPriceLastEpoch` the previous price counts, so a change takes effect at an epoch boundary. */
export type Service = ValueOf<typeof SERVICE_RECORD>

/** Id of a service: its agent and its own id. */
export interface ServiceName {
  readonly agentId: AgentId
  readonly serviceId: ServiceId
}

/** The slash is unambiguous, because agent ids contain none. */
export function serviceKey({ agentId, serviceId }: ServiceName): string {
  return textKey(`${agentId}/${serviceId}`)
}

/** Services by agent and id. */
export const SERVICES = stateTable<ServiceName, Service>({
  name: 'services',
  prefix: 0x62,
  codec: SERVICE_RECORD,
  id: serviceKey,
})

/** In millionths of a dollar. */
export function priceInEpoch(service: Service, epoch: number): bigint {
  return epoch <= service.previousPriceLastEpoch ? service.previousPriceUsdMicros : service.priceUsdMicros
}

/** Whether the address is the agent's own: owner, payout or settler. */
export function isInsider(
  { owner, payout, settlers }: Pick<Agent, 'owner' | 'payout' | 'settlers'>,
  address: Address,
): boolean {
  return address === owner || address === payout || settlers.includes(address)
}

/** Whether the address may post receipts and claims for the agent: its owner, or a settler. */
export function mayActFor({ owner, settlers }: Pick<Agent, 'owner' | 'settlers'>, address: Address): boolean {
  return address === owner || settlers.includes(address)
}

const agentRegister: KindHandler<'agent_register'> = {
  spends: () => ZERO,
  apply: ({ overlay, height }, { body: { sender, payload } }) => {
    const { agentId, ...fields } = payload
    if (overlay.get(AGENTS, agentId) !== undefined) return fault('ledger/agent-exists', { agentId })
    if (overlay.get(ACCOUNTS, payload.payout) === undefined) return fault('ledger/payout-no-account')
    overlay.put(AGENTS, agentId, { version: 1, owner: sender, registeredAt: height, ...fields })
    return null
  },
}

const agentUpdate: KindHandler<'agent_update'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const { agentId, ...fields } = payload
    const agent = ownedAgent(overlay, agentId, sender)
    if ('code' in agent) return agent
    if (overlay.get(ACCOUNTS, payload.payout) === undefined) return fault('ledger/payout-no-account')
    overlay.put(AGENTS, agentId, { ...agent, ...fields })
    return null
  },
}

const servicePublish: KindHandler<'service_publish'> = {
  spends: () => ZERO,
  apply: (context, { body: { sender, payload } }) => {
    const { agentId, serviceId, ...fields } = payload
    const agent = ownedAgent(context.overlay, agentId, sender)
    if ('code' in agent) return agent
    const known = context.overlay.get(SERVICES, { agentId, serviceId })
    const record = { version: 1, retired: false, publishedAt: known?.publishedAt ?? context.height, ...fields }
    context.overlay.put(
      SERVICES,
      { agentId, serviceId },
      { ...record, ...previousPrice(context, known, payload.priceUsdMicros) },
    )
    return null
  },
}

/**
 * If the price changes, the current one stays valid to the end of the epoch. If it does not, the stored previous price
 * stays: a mere change of the description must not erase a price that may still be honoured.
 */
function previousPrice(
  { height, rules }: TxContext,
  known: Service | undefined,
  price: bigint,
): Pick<Service, 'previousPriceUsdMicros' | 'previousPriceLastEpoch'> {
  if (known === undefined) return { previousPriceUsdMicros: price, previousPriceLastEpoch: 0 }
  const { priceUsdMicros, previousPriceUsdMicros, previousPriceLastEpoch } = known
  if (price === priceUsdMicros) return { previousPriceUsdMicros, previousPriceLastEpoch }
  const epoch = epochOf(height, rules.market)
  return { previousPriceUsdMicros: priceInEpoch(known, epoch), previousPriceLastEpoch: epoch }
}

const serviceRetire: KindHandler<'service_retire'> = {
  spends: () => ZERO,
  apply: ({ overlay }, { body: { sender, payload } }) => {
    const agent = ownedAgent(overlay, payload.agentId, sender)
    if ('code' in agent) return agent
    const service = liveService(overlay, payload)
    if ('code' in service) return service
    overlay.put(SERVICES, payload, { ...service, retired: true })
    return null
  },
}

/** A service that accepts calls, or the fault why there is none. */
export function liveService(view: StateView, name: ServiceName): Service | Fault {
  const service = view.get(SERVICES, name)
  if (service === undefined) return fault('ledger/service-unknown', { ...name })
  return service.retired ? fault('ledger/service-retired', { ...name }) : service
}

function ownedAgent(view: StateView, agentId: AgentId, sender: Address): Agent | Fault {
  const agent = view.get(AGENTS, agentId)
  if (agent === undefined) return fault('ledger/agent-unknown', { agentId })
  return agent.owner === sender ? agent : fault('ledger/not-owner', { agentId })
}

/** The registry: agents and their services. */
export const agentModule = {
  name: 'agents',
  tables: [anyTable(AGENTS), anyTable(SERVICES)],
  handlers: {
    agent_register: agentRegister,
    agent_update: agentUpdate,
    service_publish: servicePublish,
    service_retire: serviceRetire,
  },
} satisfies LedgerModule
