import { formatAddress } from '../../../consensus/crypto/address.ts'
import { type Amount, formatAmount, parseAmount } from '../../../consensus/primitives/amount.ts'
import type { Address, AgentId, ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PayloadOf } from '../../../consensus/tx/kinds.ts'
import {
  DESCRIPTION_BYTES_MAX,
  isEndpoint,
  NAME_BYTES_MAX,
  REQUEST_FORMAT_BYTES_MAX,
  SETTLERS_MAX,
} from '../../../consensus/tx/payloads.ts'
import {
  CAPABILITIES,
  type Capability,
  capabilityNumber,
  capabilitySet,
} from '../../../marketplace/ledger/capabilities.ts'
import { printable } from '../../telemetry/terminal.ts'
import { findAgent, findService } from '../agents.ts'
import type { CommandContext } from '../command.ts'
import { propose } from '../proposal.ts'
import type { Session } from '../session.ts'
import { readAddress, readAgentId, readServiceId, textFlag, usage } from '../values.ts'
import { writingCommand } from '../writing.ts'

/** A field is undefined if not given. */
interface AgentAsked {
  readonly agentId: AgentId
  readonly name: string | undefined
  readonly endpoint: string | undefined
  readonly capabilities: number | undefined
  readonly payout: Address | undefined
  readonly settlers: readonly Address[] | undefined
  readonly owner: Address | undefined
}

const AGENT_FLAGS = {
  name: 'Name for people',
  endpoint: 'Base address of its API',
  capabilities: `Comma-separated, of: ${CAPABILITIES.join(', ')}`,
  payout: 'Address that is paid',
  settlers: 'Comma-separated addresses that may post receipts',
}

/** `farthing agent register`: registers an agent that runs elsewhere. */
export const agentRegisterCommand = writingCommand<AgentAsked>({
  name: 'agent register',
  usage: '<agent>',
  wordsMax: 1,
  about: 'Register an agent of yours; a node registers its own by itself',
  example: 'agent register my-agent --name "My agent" --endpoint https://agent.example --capabilities search,pricing',
  flags: { ...AGENT_FLAGS, payout: `${AGENT_FLAGS.payout}; default: the wallet's` },
  read: (context) => readAgent(context, 'agent register'),
  propose: async (session, asked) => {
    const { agentId, name, endpoint, capabilities = 0, payout = session.sender, settlers = [] } = asked
    if (name === undefined || endpoint === undefined) return usage('an agent is registered with --name and --endpoint')
    const payload = { agentId, name, endpoint, capabilities, payout, settlers }
    return propose(
      'agent_register',
      payload,
      `register ${agentId} (${name}) at ${endpoint}, paid to ${text(session, payout)}`,
    )
  },
})

/** `farthing agent update`: changes an agent. */
export const agentUpdateCommand = writingCommand<AgentAsked>({
  name: 'agent update',
  usage: '<agent>',
  wordsMax: 1,
  about: 'Change your agent; name and capabilities stay unless you name them',
  example: 'agent update my-agent --endpoint https://new.example --settlers ""',
  flags: { ...AGENT_FLAGS, owner: 'Address that may change it from now on' },
  read: (context) => readAgent(context, 'agent update'),
  propose: async (session, { agentId, ...asked }) => {
    const known = await findAgent(session, agentId)
    if (!known.ok) return known
    const named = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
    if (Object.keys(named).length === 0) return usage('name at least one thing that changes')
    // Only the owner can change the agent, so it stays this wallet unless --owner names another.
    const payload = { ...known.value, owner: session.sender, ...named } as PayloadOf<'agent_update'>
    const trusted = trustedText(session, asked, payload)
    if (trusted !== '')
      return usage(`the other fields of ${agentId} are known only from the node: if they are right, add ${trusted}`)
    return propose('agent_update', payload, `change ${Object.keys(named).join(', ')}: ${recordText(session, payload)}`)
  },
})

/**
 * Flags that the user must repeat with the values of the node. An update signs the whole record, and a node must not
 * decide who is paid, who can refund, and where calls go. Empty if none is missing.
 */
function trustedText(session: Session, asked: Partial<AgentAsked>, payload: PayloadOf<'agent_update'>): string {
  const { payout, settlers } = payload
  const missing: string[] = []
  if (asked.payout === undefined && payout !== session.sender) missing.push(`--payout ${text(session, payout)}`)
  const settled = settlers.map((settler) => text(session, settler)).join(',')
  if (asked.settlers === undefined) missing.push(`--settlers "${settled}"`)
  // The endpoint's text is not shown: a node could choose one that runs a command in a shell.
  if (asked.endpoint === undefined) missing.push('--endpoint <address>')
  return missing.join(' ')
}

/** Everything that an update signs, since fields that were not given come from the node. */
function recordText(session: Session, { agentId, name, endpoint, ...record }: PayloadOf<'agent_update'>): string {
  const { owner, payout, settlers, capabilities } = record
  const able = CAPABILITIES.filter((capability) => (capabilities & capabilitySet([capability])) !== 0).join(', ')
  const settled = settlers.map((settler) => text(session, settler)).join(', ')
  const parts = [
    `${agentId} becomes ${printable(name)} at ${printable(endpoint)}`,
    `for ${able === '' ? 'nothing' : able}`,
    `owned by ${text(session, owner)}`,
    `paid to ${text(session, payout)}`,
    settled === '' ? 'without settlers' : `settled by ${settled}`,
  ]
  return parts.join(', ')
}

function text({ context }: Session, address: Address): string {
  return formatAddress(context.params.addressPrefix, address)
}

function readAgent(context: CommandContext, command: string): Result<AgentAsked> {
  const { words, flags } = context
  const agentId = readAgentId(words[0], `usage: farthing ${command} <agent>`)
  if (!agentId.ok) return agentId
  const capabilities = readCapabilities(flags.capabilities)
  if (!capabilities.ok) return capabilities
  const payout = readOptional(context, flags.payout)
  if (!payout.ok) return payout
  const owner = readOptional(context, flags.owner)
  if (!owner.ok) return owner
  const settlers = readAddresses(context, flags.settlers)
  if (!settlers.ok) return settlers
  const name = textFlag(context, 'name', NAME_BYTES_MAX)
  if (!name.ok) return name
  const endpoint = readEndpoint(flags.endpoint)
  if (!endpoint.ok) return endpoint
  return ok({
    ...{ agentId: agentId.value, name: name.value, endpoint: endpoint.value, capabilities: capabilities.value },
    ...{ payout: payout.value, owner: owner.value, settlers: settlers.value },
  })
}

function readEndpoint(value: string | undefined): Result<string | undefined> {
  if (value === undefined || isEndpoint(value)) return ok(value)
  return usage('--endpoint is an http or https address of at most 200 characters')
}

function readOptional(context: CommandContext, value: string | undefined): Result<Address | undefined> {
  return value === undefined ? ok(undefined) : readAddress(context, value)
}

function readAddresses(context: CommandContext, list: string | undefined): Result<readonly Address[] | undefined> {
  if (list === undefined) return ok(undefined)
  const addresses: Address[] = []
  for (const word of list.split(',').filter(Boolean)) {
    const address = readAddress(context, word)
    if (!address.ok) return address
    addresses.push(address.value)
  }
  if (addresses.length > SETTLERS_MAX) return usage(`--settlers names at most ${SETTLERS_MAX}`)
  return ok(addresses)
}

function readCapability(word: string): Result<Capability> {
  const known = CAPABILITIES.find((capability) => capability === word)
  if (known !== undefined) return ok(known)
  return usage(`"${word.slice(0, 40)}" is no capability; there are: ${CAPABILITIES.join(', ')}`)
}

function readCapabilities(list: string | undefined): Result<number | undefined> {
  if (list === undefined) return ok(undefined)
  const capabilities: Capability[] = []
  for (const word of list.split(',').filter(Boolean)) {
    const capability = readCapability(word)
    if (!capability.ok) return capability
    capabilities.push(capability.value)
  }
  return ok(capabilitySet(capabilities))
}

/** A field is undefined if not given. */
interface ServiceAsked {
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  readonly capability: number | undefined
  readonly priceUsdMicros: Amount | undefined
  readonly name: string | undefined
  readonly requestFormat: string | undefined
  readonly description: string | undefined
}

const USD_DECIMALS = 6

/** `farthing agent publish`: publishes or changes a service. */
export const agentPublishCommand = writingCommand<ServiceAsked>({
  name: 'agent publish',
  usage: '<agent> <service>',
  wordsMax: 2,
  about: 'Publish or change a service of your agent; fields you do not name stay, but --price is always needed',
  example: 'agent publish my-agent my-search --price 0.01 --capability search --name Search',
  flags: {
    price: 'Price of a call in dollars, at most 6 decimals',
    capability: `One of: ${CAPABILITIES.join(', ')}`,
    name: 'Name for people',
    'request-format': 'What a request looks like',
    description: 'What it does',
  },
  read: readService,
  propose: async (session, { agentId, serviceId, ...asked }) => {
    const known = await findService(session, agentId, serviceId)
    if (!known.ok) return known
    const named = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
    // The node does not show a price changed in this epoch yet. Taking its price would restore the old one.
    if (asked.priceUsdMicros === undefined) return usage('a service is published with --price')
    const fields = { requestFormat: '', description: '', ...known.value, ...named } as Partial<
      PayloadOf<'service_publish'>
    >
    if (fields.capability === undefined || fields.name === undefined)
      return usage('a service is first published with --price, --capability and --name')
    const payload = { ...fields, agentId, serviceId } as PayloadOf<'service_publish'>
    return propose('service_publish', payload, `publish ${serviceId} of ${agentId}: ${serviceText(payload)}`)
  },
})

/** Everything that a publication signs, since fields that were not given come from the node. */
function serviceText(service: PayloadOf<'service_publish'>): string {
  const { capability, priceUsdMicros, name, requestFormat, description } = service
  const price = `$${formatAmount(priceUsdMicros, USD_DECIMALS)}`
  const texts = [name, requestFormat, description].map((part) => JSON.stringify(printable(part)))
  return [price, CAPABILITIES.find((one) => capabilityNumber(one) === capability), ...texts].join(', ')
}

function readService(context: CommandContext): Result<ServiceAsked> {
  const { words, flags } = context
  const ids = readServiceName(words, 'usage: farthing agent publish <agent> <service>')
  if (!ids.ok) return ids
  const capability = flags.capability === undefined ? ok(undefined) : readCapability(flags.capability)
  if (!capability.ok) return capability
  const price = flags.price === undefined ? ok(undefined) : parseAmount(flags.price, USD_DECIMALS)
  if (!price.ok) return price
  const texts = readTexts(context)
  if (!texts.ok) return texts
  return ok({
    ...ids.value,
    ...texts.value,
    capability: capability.value === undefined ? undefined : capabilityNumber(capability.value),
    priceUsdMicros: price.value,
  })
}

function readTexts(context: CommandContext): Result<Pick<ServiceAsked, 'name' | 'requestFormat' | 'description'>> {
  const name = textFlag(context, 'name', NAME_BYTES_MAX)
  if (!name.ok) return name
  const requestFormat = textFlag(context, 'request-format', REQUEST_FORMAT_BYTES_MAX)
  if (!requestFormat.ok) return requestFormat
  const description = textFlag(context, 'description', DESCRIPTION_BYTES_MAX)
  if (!description.ok) return description
  return ok({ name: name.value, requestFormat: requestFormat.value, description: description.value })
}

function readServiceName(words: readonly string[], otherwise: string): Result<PayloadOf<'service_retire'>> {
  const [agentWord, serviceId] = words
  const agentId = readAgentId(agentWord, otherwise)
  if (!agentId.ok) return agentId
  if (serviceId === undefined) return usage(otherwise)
  const service = readServiceId(serviceId)
  return service.ok ? ok({ agentId: agentId.value, serviceId: service.value }) : service
}

/** `farthing agent retire`: stops selling a service. */
export const agentRetireCommand = writingCommand<PayloadOf<'service_retire'>>({
  name: 'agent retire',
  usage: '<agent> <service>',
  wordsMax: 2,
  about: 'Take a service of an agent of yours off the market; open calls are not touched',
  example: 'agent retire my-agent my-search',
  flags: {},
  read: ({ words }) => readServiceName(words, 'usage: farthing agent retire <agent> <service>'),
  propose: async (_, payload) =>
    propose('service_retire', payload, `retire ${payload.serviceId} of ${payload.agentId}`),
})
