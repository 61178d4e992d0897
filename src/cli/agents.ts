import { parseAddress } from '../../consensus/crypto/address.ts'
import { fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { Address, AgentId, ServiceId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { PayloadOf } from '../../consensus/tx/kinds.ts'
import { capabilityNumber, capabilitySet } from '../../marketplace/ledger/capabilities.ts'
import type { Session } from './session.ts'

type ServiceTexts = Omit<PayloadOf<'service_publish'>, 'agentId' | 'serviceId' | 'priceUsdMicros'>

/** The agent by the word of the node, as the payload of an update that changes nothing. */
export async function findAgent(
  { client, context }: Session,
  agentId: AgentId,
): Promise<Result<PayloadOf<'agent_update'>>> {
  const agent = await client.agent(agentId)
  if (!agent.ok) return agent
  const { name, endpoint, capabilities } = agent.value
  const addresses: Address[] = []
  for (const text of [agent.value.owner, agent.value.payout, ...agent.value.settlers]) {
    const address = parseAddress(context.params.addressPrefix, text)
    if (!address.ok) return fail(fault('cli/refused', { message: faultMessage(address.fault) }))
    addresses.push(address.value)
  }
  const [owner, payout, ...settlers] = addresses as [Address, Address, ...Address[]]
  return ok({ agentId, name, endpoint, capabilities: capabilitySet(capabilities), owner, payout, settlers })
}

/** A service by the word of the node, without its price, which the caller may be about to change. Null for a new one. */
export async function findService(
  { client }: Session,
  agentId: AgentId,
  serviceId: ServiceId,
): Promise<Result<ServiceTexts | null>> {
  const agent = await client.agent(agentId)
  if (!agent.ok) return agent
  const service = agent.value.services.find((one) => one.serviceId === serviceId)
  if (service === undefined) return ok(null)
  const { name, description, requestFormat, capability } = service
  return ok({ name, description, requestFormat, capability: capabilityNumber(capability) })
}
