import type { Fault } from '../../consensus/primitives/fault.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { quoteBook } from '../cashier/quotes.ts'
import { argumentMisfits, type FreeToolName, TOOL_SHAPES } from '../contract/agent-tools.ts'
import { matching } from '../discovery/listings.ts'
import { submitTransaction } from '../handlers/chain.ts'
import { getExample, getRequest } from '../handlers/market.ts'
import { getStatus } from '../handlers/operations.ts'
import { noService, registryEntries } from '../market/registry.ts'
import { withTextsCut } from '../market/sample-texts.ts'
import { type HandlerOf, isFault } from '../server/answer.ts'
import { type McpPlace, type ToolAnswer, toolAnswer, toolRefusal } from './place.ts'

const NO_PARTS = { params: {}, query: {}, body: undefined }

type Arguments = Readonly<Record<string, unknown>>

interface FreeTool {
  readonly title: string
  readonly description: string
  readonly isReadOnly: boolean
  readonly run: (place: McpPlace, args: Arguments) => Promise<Result<object>> | Result<object>
}

const FREE_TOOLS: Readonly<Record<FreeToolName, FreeTool>> = {
  search_services: {
    title: 'Search services',
    description: 'Finds paid services of this node by words, capability and price. Free.',
    isReadOnly: true,
    run: searchServices,
  },
  get_service: {
    title: 'Look at a service',
    description:
      'One service with price, record, an example of a request, a sample of its result and its schema. Free.',
    isReadOnly: true,
    run: getService,
  },
  get_quote: {
    title: 'Quote a call',
    description:
      'The exact price of a call and every way to pay it, and whether the request would do. Free; the quote of the tool itself is the same, in the newer form of x402.',
    isReadOnly: true,
    run: getQuote,
  },
  get_receipt: {
    title: 'Look up a paid call',
    description: 'State, receipt and refund of a call by the transaction id of its payment. Free.',
    isReadOnly: true,
    run: (place, { txId }) => ask(getRequest, place, { ...NO_PARTS, params: { txId: String(txId) } }),
  },
  node_status: {
    title: 'State of the node',
    description: 'Network, height, readiness and market of this node. Free.',
    isReadOnly: true,
    run: (place) => ask(getStatus, place, NO_PARTS),
  },
  submit_transaction: {
    title: 'Submit a transaction',
    description:
      'Sends a signed transaction, such as the agent_invoke that pays for a call, to the mempool. Sending it again does no harm.',
    isReadOnly: false,
    run: (place, { tx }) =>
      ask(submitTransaction, place, { ...NO_PARTS, body: typeof tx === 'string' ? { raw: tx } : tx }),
  },
}

/** Whether a tool is one of the free ones. */
export function isFreeTool(name: string): name is FreeToolName {
  return Object.hasOwn(FREE_TOOLS, name)
}

/** The free tools as `tools/list` shows them, in the order of {@link FREE_TOOLS}. */
export function listFreeTools(): readonly object[] {
  return (Object.keys(FREE_TOOLS) as FreeToolName[]).map((name) => {
    const { title, description, isReadOnly } = FREE_TOOLS[name]
    const { input, output } = TOOL_SHAPES[name]
    const hints = { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly, idempotentHint: true, openWorldHint: false }
    return { name, title, description, inputSchema: input, outputSchema: output, annotations: { title, ...hints } }
  })
}

/** Wrong arguments and refusals become results that say what is wrong. */
export async function callFreeTool(place: McpPlace, name: FreeToolName, args: Arguments): Promise<ToolAnswer> {
  const misfits = argumentMisfits(name, args)
  const outcome =
    misfits.length > 0
      ? fail(fault('rpc/invalid-request', { fields: misfits }))
      : await FREE_TOOLS[name].run(place, args)
  return outcome.ok ? toolAnswer(outcome.value) : toolRefusal(outcome.fault, place.request.requestId)
}

const FOUND_DEFAULT = 10

function searchServices({ node, request }: McpPlace, args: Arguments): Result<object> {
  const { query, capability, maxPriceUsd = Number.POSITIVE_INFINITY, limit = FOUND_DEFAULT } = args
  const search = { q: query as string | undefined, capability: capability as string | undefined }
  const all = matching(node, registryEntries(node, request.baseUrl), (entry) => entry, search)
  const fitting = all.filter(({ priceUsd }) => priceUsd <= Number(maxPriceUsd))
  const services = fitting.slice(0, Number(limit)).map((entry) => {
    const { serviceId, name, description, capability, priceUsd, priceNative, requestFormat, example, available } = entry
    const { unavailableReason } = entry
    const facts = { serviceId, name, description, capability, priceUsd, priceNative, requestFormat, example, available }
    return unavailableReason === undefined ? facts : { ...facts, unavailableReason }
  })
  return ok({ total: fitting.length, services })
}

async function getService(place: McpPlace, { serviceId }: Arguments): Promise<Result<object>> {
  const { node, request } = place
  const service = registryEntries(node, request.baseUrl).find((entry) => entry.serviceId === serviceId)
  if (service === undefined) return fail(absent(place, String(serviceId)))
  const example = await ask(getExample, place, { ...NO_PARTS, params: { serviceId: service.serviceId } })
  return example.ok ? ok({ ...(withTextsCut(example.value) as object), service }) : example
}

function getQuote(place: McpPlace, { serviceId, request: text }: Arguments): Result<object> {
  const { node, request } = place
  const offer = node.market?.shop.offer(String(serviceId))
  if (node.market === null || offer === undefined) return fail(absent(place, String(serviceId)))
  const { requestId, baseUrl } = request
  const { body } = quoteBook(node.chain, node.market).unpaid(offer, text as string | undefined, { requestId, baseUrl })
  return ok(JSON.parse(body) as object)
}

function absent({ node }: McpPlace, serviceId: string): Fault {
  return node.market === null ? fault('rpc/no-market') : noService(node.market, serviceId)
}

async function ask<Params, Query, Body>(
  handler: HandlerOf<Params, Query, Body>,
  { node, request }: McpPlace,
  parts: { readonly params: Params; readonly query: Query; readonly body: Body },
): Promise<Result<object>> {
  const result = await handler(node, { ...request, ...parts })
  return isFault(result) ? fail(result) : ok((result as { readonly json: object }).json)
}
