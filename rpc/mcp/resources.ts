import { ResourceNotFoundError } from '@modelcontextprotocol/server'
import { llmsText } from '../discovery/llms.ts'
import { standInFor, withHost } from '../edge/stand-in-host.ts'
import { getExample, listServices } from '../handlers/market.ts'
import { getOpenApi } from '../handlers/operations.ts'
import { registryEntries } from '../market/registry.ts'
import { withTextsCut } from '../market/sample-texts.ts'
import { type HandlerOf, isFault } from '../server/answer.ts'
import type { McpPlace } from './place.ts'

const JSON_TYPE = 'application/json'
const SERVICE_PREFIX = 'node://services/'

/** Documents of the node, as `resources/list` shows them. */
export const RESOURCE_LIST = [
  {
    uri: 'node://services',
    name: 'services',
    title: 'Services',
    description: 'The registry: every service with price, format, availability and record',
    mimeType: JSON_TYPE,
  },
  {
    uri: 'node://llms.txt',
    name: 'llms.txt',
    title: 'What language models should know',
    description: 'What this node is and how a call is paid',
    mimeType: 'text/plain',
  },
  {
    uri: 'node://openapi',
    name: 'openapi',
    title: 'OpenAPI document',
    description: 'Every operation of the HTTP API',
    mimeType: JSON_TYPE,
  },
]

/** Resources with an id in their URI, as `resources/templates/list` shows them. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${SERVICE_PREFIX}{serviceId}`,
    name: 'service',
    title: 'One service',
    description: 'Registry entry of a service, an example of a request and a sample of its result',
    mimeType: JSON_TYPE,
  },
]

/** Contents of a resource. */
export async function readResource(place: McpPlace, uri: string) {
  const text = await filledText(place, uri)
  if (text === undefined) throw new ResourceNotFoundError(uri)
  const { mimeType = JSON_TYPE } = RESOURCE_LIST.find((resource) => resource.uri === uri) ?? {}
  return { contents: [{ uri, mimeType, text }] }
}

/** If callers choose the host, the text is made with a stand-in, so that one copy serves every host. */
async function filledText(place: McpPlace, uri: string): Promise<string | undefined> {
  const { node, request } = place
  if (node.publicUrl !== null) return textOf(place, uri)
  const { baseUrl, host } = standInFor(request.baseUrl)
  const text = await textOf({ ...place, request: { ...request, baseUrl } }, uri)
  return text && withHost(text, host)
}

function textOf(place: McpPlace, uri: string): Promise<string | undefined> | string | undefined {
  const { node, request } = place
  switch (uri) {
    case 'node://services':
      return documentOf(place, listServices, {})
    case 'node://llms.txt':
      return llmsText(node, request.baseUrl)
    case 'node://openapi':
      return documentOf(place, getOpenApi, {})
    default:
      return uri.startsWith(SERVICE_PREFIX) ? serviceText(place, uri.slice(SERVICE_PREFIX.length)) : undefined
  }
}

async function serviceText(place: McpPlace, serviceId: string): Promise<string | undefined> {
  const { node, request } = place
  const service = registryEntries(node, request.baseUrl).find((entry) => entry.serviceId === serviceId)
  if (service === undefined) return undefined
  const example = await documentOf(place, getExample, { serviceId })
  return JSON.stringify({ service, example: example === undefined ? null : withTextsCut(JSON.parse(example)) })
}

async function documentOf<Params>(
  { node, request }: McpPlace,
  handler: HandlerOf<Params, Readonly<Record<never, never>>, undefined>,
  params: Params,
): Promise<string | undefined> {
  const answer = await handler(node, { ...request, params, query: {}, body: undefined })
  if (isFault(answer)) return undefined
  if ('json' in answer) return JSON.stringify(answer.json)
  return 'content' in answer ? String(answer.content) : undefined
}
