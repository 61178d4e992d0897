import type { TSchema } from 'typebox'
import { ERROR, type Route } from './contract/route.ts'
import { ROUTES } from './contract/table.ts'

/** Version of the interface, not of the software. */
export const OPENAPI_VERSION = '2.20.0'

const TAGS = [
  { name: 'chain', description: 'Blocks, transactions, accounts, mempool' },
  { name: 'assets', description: 'Tokens, pools, prices, staking, what addresses hold and did' },
  { name: 'market', description: 'Pay-per-call services for agents' },
  { name: 'mining', description: 'Work for miners outside of the node' },
  { name: 'operations', description: 'For those who run the node' },
]

/** Every operation can also be refused with one of these. */
const REFUSALS: Readonly<Record<string, string>> = {
  '4XX': 'Refused; `code` says why',
  '5XX': 'Not possible now, or a bug of the node',
}

/** The OpenAPI 3.1 document, made from the routes. */
export function openApiDocument(baseUrl: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of Object.values(ROUTES) as readonly Route[]) {
    const operations = paths[route.path] ?? {}
    operations[route.method.toLowerCase()] = operationOf(route)
    paths[route.path] = operations
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Farthing node API',
      version: OPENAPI_VERSION,
      summary: 'A full node and its market of paid services for AI agents',
      description:
        'Additive changes only. Amounts are base units in decimal text unless a field is typed as a number of coins.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: TAGS,
    security: [],
    paths,
    components: {
      schemas: { Error: ERROR },
      securitySchemes: {
        operator: { type: 'http', scheme: 'bearer', description: 'The token in `operator.token` of the data folder' },
      },
    },
  }
}

function operationOf(route: Route): object {
  const responses: Record<string, object> = {}
  for (const [status, { description, schema, contentType }] of Object.entries(route.answers)) {
    const content =
      schema === undefined && contentType === undefined
        ? {}
        : { content: { [contentType ?? 'application/json']: { schema: schema ?? { type: 'string' } } } }
    responses[status] = { description, ...content }
  }
  for (const [status, description] of Object.entries(REFUSALS)) {
    responses[status] ??= {
      description,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')]
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route) }),
    ...(route.operator === undefined ? {} : { security: securityOf(route.operator) }),
    responses,
  }
}

function securityOf(operator: 'required' | 'optional'): readonly object[] {
  return operator === 'required' ? [{ operator: [] }] : [{}, { operator: [] }]
}

function requestBodyOf({ body, takesBytes = false }: Route): object {
  const bytes = takesBytes ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } : {}
  return { required: takesBytes, content: { 'application/json': { schema: body }, ...bytes } }
}

function parametersOf(schema: TSchema | undefined, place: 'path' | 'query'): readonly object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }))
}
