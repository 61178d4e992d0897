import { LruMap } from '../../consensus/primitives/lru.ts'
import { RESOURCES } from '../contract/resources.ts'
import type { Route } from '../contract/route.ts'
import { errorCodesOf } from '../contract/route-errors.ts'
import type { Schema } from '../contract/schema.ts'
import { ROUTES } from '../contract/table.ts'
import { FORM_TYPE } from '../edge/form.ts'
import recorded from '../openapi-examples.json' with { type: 'json' }
import { type ServiceOperation, serviceOperation } from './openapi-services.ts'
import { type DollarPrice, paymentInfo, serviceInfo } from './payment-info.ts'

interface OperationExamples {
  readonly request?: unknown
  readonly answers: Readonly<Record<string, unknown>>
}

/** Examples by operation: real answers of a node, recorded by `npm run gen:examples`. A test checks them against the schemas. */
export const OPENAPI_EXAMPLES = recorded as Readonly<Record<string, OperationExamples>>

/** Version of the API, not of the software. */
export const OPENAPI_VERSION = '2.21.0'

const TAGS = [
  { name: 'chain', description: 'Blocks, transactions, accounts, mempool' },
  { name: 'assets', description: 'Tokens, pools, prices, staking, what addresses hold and did' },
  { name: 'market', description: 'Pay-per-call services for agents' },
  { name: 'chat', description: 'OpenAI-compatible chat, and what this node says of it' },
  { name: 'mining', description: 'Work for miners outside of the node' },
  { name: 'operations', description: 'For those who run the node' },
]

/** Refusals that no operation lists: those before the route is known, and those of later versions. */
const REFUSALS: Readonly<Record<string, string>> = {
  '4XX': 'Refused; `code` says why',
  '5XX': 'Not possible now, or a bug of the node',
}

const ERROR_CODES = 'x-error-codes'

const REFERENCES: ReadonlyMap<string, string> = new Map(
  Object.entries(RESOURCES).map(([name, schema]) => [JSON.stringify(schema), name]),
)

/**
 * The OpenAPI 3.1 document, made from the routes. Each service that can be bought also has its own operation: indexers list
 * paths, and cannot fill in the parameter of the general one.
 */
export function openApiDocument(baseUrl: string, services: readonly ServiceOperation[] = []): object {
  const paths: Record<string, Record<string, object>> = {}
  const responses: SharedResponses = {}
  const dollars = services.find((service) => service.dollars !== null)?.dollars ?? null
  const anyDollars = dollars && { ...dollars, amount: null }
  for (const route of Object.values(ROUTES) as readonly Route[]) {
    const operations = paths[route.path] ?? {}
    operations[route.method.toLowerCase()] = operationOf(route, responses, anyDollars)
    paths[route.path] = operations
  }
  for (const service of services) {
    const path = `/api/x402/${service.serviceId}`
    paths[path] = { post: serviceOperation(service, operationOf(ROUTES.callService, responses)) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Farthing node API',
      version: OPENAPI_VERSION,
      summary: 'A full node and its market of paid services for AI agents',
      description:
        'Additive changes only: within /api/v1 nothing is renamed or retyped, and what goes is announced with `Deprecation` and `Sunset` headers six months ahead. Amounts are base units in decimal text unless a field is typed as a number of coins.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    'x-service-info': serviceInfo(baseUrl),
    servers: [{ url: baseUrl }],
    tags: TAGS,
    security: [],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(RESOURCES).map(([name, schema]) => [name, inner(schema)])),
      responses,
      securitySchemes: {
        operator: { type: 'http', scheme: 'bearer', description: 'The token in `operator.token` of the data folder' },
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, made at /dashboard or with `farthing keys`',
        },
      },
    },
  }
}

/** Documents as text, by base URL and services. Making one takes about 10 ms. */
const TEXTS = new LruMap<string, string>(4)

/** The document as JSON text. */
export function openApiText(baseUrl: string, services: readonly ServiceOperation[]): string {
  const basis = JSON.stringify([baseUrl, services])
  const text = TEXTS.get(basis) ?? JSON.stringify(openApiDocument(baseUrl, services))
  TEXTS.set(basis, text)
  return text
}

type SharedResponses = Record<string, object>

function operationOf(route: Route, shared: SharedResponses, dollars: DollarPrice | null = null): object {
  const responses = responsesOf(route, shared)
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')]
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route) }),
    ...(route.operator === undefined ? {} : { security: securityOf(route.operator) }),
    ...(route.needsKey === true && { security: [{ apiKey: [] }] }),
    ...(route.isPaid === true ? { 'x-payment-info': paymentInfo(null, dollars) } : {}),
    responses,
  }
}

function responsesOf(route: Route, shared: SharedResponses): Readonly<Record<string, object>> {
  const responses: Record<string, object> = {}
  const examples = OPENAPI_EXAMPLES[route.operationId]?.answers ?? {}
  const errors = errorCodesOf(route)
  for (const [status, answer] of Object.entries(route.answers)) {
    const codes = errors.get(Number(status))
    responses[status] = { ...responseOf(answer, examples[status]), ...(codes && { [ERROR_CODES]: codes }) }
  }
  for (const [status, codes] of errors) responses[status] ??= refusalOf(route, { status, codes }, shared)
  for (const [status, description] of Object.entries(REFUSALS))
    responses[status] ??= responseOf({ description, schema: errorOf(route) })
  if (!Object.keys(route.answers).some((status) => status.startsWith('2')))
    responses.default = responseOf({ description: 'Nothing else is foreseen', schema: errorOf(route) })
  return responses
}

/** Without an example the response is shared between operations, and a reference stands for it. */
function refusalOf(
  route: Route,
  { status, codes }: { readonly status: number; readonly codes: readonly string[] },
  shared: SharedResponses,
): object {
  const example = OPENAPI_EXAMPLES[route.operationId]?.answers[status]
  const description = `Refused: ${codes.map((code) => `\`${code}\``).join(', ')}`
  const response = { ...responseOf({ description, schema: errorOf(route) }, example), [ERROR_CODES]: codes }
  if (example !== undefined) return response
  const name = [status, ...codes, ...(route.isOpenAi === true ? ['chat'] : [])].join('.')
  shared[name] = response
  return { $ref: `#/components/responses/${name}` }
}

function errorOf({ isOpenAi }: Route): Schema {
  return (isOpenAi === true ? RESOURCES.ChatError : RESOURCES.Error) as Schema
}

function responseOf({ description, schema, contentType, alsoAs }: Route['answers'][number], example?: unknown): object {
  if (schema === undefined && contentType === undefined) return { description }
  const media = { schema: schema === undefined ? { type: 'string' } : named(schema), ...exampleOf(example) }
  const other = alsoAs === undefined ? {} : { [alsoAs]: { schema: { type: 'string' } } }
  return { description, content: { [contentType ?? 'application/json']: media, ...other } }
}

function exampleOf(example: unknown): object {
  return example === undefined ? {} : { example }
}

function named(schema: Schema): object {
  const name = REFERENCES.get(JSON.stringify(schema))
  return name === undefined ? inner(schema) : { $ref: `#/components/schemas/${name}` }
}

function inner(schema: object): object {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    return value !== null && typeof value === 'object' ? named(value as Schema) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, walk(value)]))
}

function securityOf(operator: 'required' | 'optional'): readonly object[] {
  return operator === 'required' ? [{ operator: [] }] : [{}, { operator: [] }]
}

function requestBodyOf({ operationId, body, takesBytes = false, takesForm }: Route): object {
  if (takesForm === true) return { required: true, content: { [FORM_TYPE]: { schema: named(body as Schema) } } }
  const bytes = takesBytes ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } : {}
  const json = { schema: named(body as Schema), ...exampleOf(OPENAPI_EXAMPLES[operationId]?.request) }
  const isNeeded = takesBytes || ((body as { readonly required?: readonly string[] }).required ?? []).length > 0
  return { required: isNeeded, content: { 'application/json': json, ...bytes } }
}

function parametersOf(schema: Schema | undefined, place: 'path' | 'query'): readonly object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Schema>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }))
}
