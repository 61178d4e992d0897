import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { callFreeTool, isFreeTool, listFreeTools } from './free-tools.ts'
import { callPaidTool, listPaidTools } from './paid-tools.ts'
import type { McpPlace, ToolAnswer } from './place.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { RESOURCE_LIST, RESOURCE_TEMPLATES, readResource } from './resources.ts'

const INSTRUCTIONS = [
  'Tools named node-... are paid services; all others are free. Find them with search_services, see one with get_service.',
  'Call a paid tool without payment: the answer (isError) holds its terms, x402 version 2, with exact amount, payTo and expiry.',
  'Pay: native-x402 is a signed agent_invoke transaction of exactly that amount (submit_transaction); exact is a signed EIP-3009 authorization; batch-settlement is a voucher on an open tab.',
  'Repeat the call with the same request and the payment in _meta["x402/payment"], or, natively, as the argument payment {txId, secret}.',
  'Success carries _meta["x402/payment-response"] and a receipt. A lost answer: repeat with the same payment, it runs once. A service that fails is refunded.',
].join('\n')

/** How long clients may cache answers: prices change with the head. `public`, since answers are the same for all clients. */
const FOR_A_MOMENT = { ttlMs: 3_000, cacheScope: 'public' as const }
const FOR_LONGER = { ttlMs: 300_000, cacheScope: 'public' as const }

const CACHE_HINTS = {
  'tools/list': FOR_A_MOMENT,
  'resources/read': FOR_A_MOMENT,
  'resources/list': FOR_LONGER,
  'resources/templates/list': FOR_LONGER,
  'prompts/list': FOR_LONGER,
  'server/discover': FOR_LONGER,
}

/** The server of one message: there are no sessions. `onBug` gets errors that are bugs. The client only learns that there was one. */
export function serverFor(place: McpPlace, onBug: (error: unknown) => void): Server {
  const { node } = place
  const { name = 'Farthing node' } = node.market?.shop.operator ?? {}
  const server = new Server(
    { name: 'farthing', title: name, version: node.version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: INSTRUCTIONS, cacheHints: CACHE_HINTS },
  )
  const safely = async <T>(work: () => Promise<T> | T): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      onBug(error)
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'an error of this node')
    }
  }
  server.setRequestHandler('tools/list', () => safely(() => ({ tools: toolsOf(place) as never })))
  server.setRequestHandler('tools/call', ({ params }) => safely(() => callTool(place, params)))
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCE_LIST }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }))
  server.setRequestHandler('resources/read', ({ params }) => safely(() => readResource(place, params.uri)))
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts() }))
  server.setRequestHandler('prompts/get', ({ params }) => safely(() => getPrompt(params.name, params.arguments ?? {})))
  return server
}

function toolsOf({ node }: McpPlace): readonly object[] {
  return [...listFreeTools(), ...listPaidTools(node)]
}

interface CallParams {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** Runs a tool. A service that cannot be bought is not listed, but a caller who has paid for it still gets the answer. */
async function callTool(place: McpPlace, params: CallParams): Promise<ToolAnswer> {
  const { name, arguments: args = {}, _meta: meta = {} } = params
  if (isFreeTool(name)) return callFreeTool(place, name, args)
  const { market } = place.node
  const offer = market?.shop.offer(name)
  if (market === null || offer === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such tool; search_services finds them')
  return callPaidTool(place, { market, offer, args, meta })
}
