import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { NodeApi } from '../node/node-api.ts'
import { type Listing, listingsOf } from './listings.ts'
import { PerHead } from './per-head.ts'

/** Name of the x402 extension of A2A: payment terms and payments travel in the metadata of messages. */
export const X402_EXTENSION = 'https://github.com/google-a2a/a2a-x402/v0.1'
/** Where the A2A endpoint answers. */
export const A2A_PATH = '/a2a'

const CARDS = new PerHead<string>(64)

/**
 * The A2A card as JSON text. One document has the members of A2A 1.0 and of 0.3, so that clients of both can read it.
 * Services that cannot be bought are left out. Fault: `rpc/no-market`.
 */
export function agentCard(node: NodeApi, baseUrl: string): string | Fault {
  const { market } = node
  if (market === null) return fault('rpc/no-market')
  return CARDS.get(node, baseUrl, () => JSON.stringify(cardOf(node, baseUrl)))
}

function cardOf(node: NodeApi, baseUrl: string): object {
  const { name = '', endpoint = '' } = node.market?.shop.operator ?? {}
  const url = `${baseUrl}${A2A_PATH}`
  return {
    name,
    description: `Services of a full node of the ${node.chain.ruleBook.params.name}, paid call by call. Payment is the authentication: send "node-... <request>" and pay as the answer says.`,
    version: node.version,
    provider: { organization: name, url: endpoint === '' ? baseUrl : endpoint },
    documentationUrl: `${baseUrl}/agents`,
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: false,
      stateTransitionHistory: false,
      extensions: [
        {
          uri: X402_EXTENSION,
          description: 'Work is paid by x402: terms and payment travel in message metadata. Questions are free.',
          required: false,
        },
      ],
    },
    supportsAuthenticatedExtendedCard: false,
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['application/json'],
    skills: listingsOf(node, baseUrl)
      .filter(({ entry }) => entry.available)
      .map(skillOf),
  }
}

function skillOf({ entry }: Listing): object {
  const { serviceId, name, description, capability, example } = entry
  return {
    id: serviceId,
    name,
    description,
    tags: [capability, 'x402'],
    examples: [`${serviceId} ${example}`.trim()],
    inputModes: ['text/plain', 'application/json'],
    outputModes: ['application/json'],
  }
}
