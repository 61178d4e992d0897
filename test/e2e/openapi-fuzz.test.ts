import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { FORM_TYPE } from '../../rpc/edge/form.ts'
import { ask, type Reply } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { ApiChecker, type ApiDocument, type Operation } from '../support/openapi-check.ts'
import { askRaw } from '../support/raw-http.ts'
import { runs } from '../support/runs.ts'
import { brokenValuesOf, ODD, type RequestSchema, valuesOf } from '../support/schema-arbitrary.ts'

/** An operation with the schemas of its requests. */
interface FuzzedOperation extends Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: RequestSchema }[]
}
interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Some operations of operators exist only on a node with peers. */
const NETWORKED = {
  FARTHING_P2P_ENABLED: 'true',
  FARTHING_P2P_PORT: '0',
  FARTHING_P2P_MDNS: 'false',
  FARTHING_P2P_DHT: 'false',
}

const workshop = new Workshop()
let daemon: RunningDaemon
let document: ApiDocument & { readonly components: { readonly schemas: Readonly<Record<string, RequestSchema>> } }
let checker: ApiChecker
/** Ids and names that this node knows. */
let known: readonly string[]

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1', ...NETWORKED } })
  await marketOpen(daemon.url)
  const caller = new Caller(daemon.url, 1)
  const payment = await caller.payMined({ serviceId: 'node-test-again', request: 'ok' })
  document = (await ask<typeof document>(daemon.url, '/openapi.json')).body
  checker = new ApiChecker(document)
  const { agentId } = (await caller.quote('node-network-stats', '')).body.accepts![0]!.extra
  known = [
    payment.txId,
    caller.address,
    agentId,
    'node-test-again',
    'node-network-stats',
    'FUSD',
    'FAR-FUSD-30',
    'latest',
    '1',
    '0',
  ]
})

const resolve = (ref: string): RequestSchema =>
  document.components.schemas[ref.split('/').at(-1) as string] as RequestSchema
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Requests of an operation: as documented, or with values of other types in some places. */
function requestsOf({ method, path, parameters = [], requestBody }: FuzzedOperation): fc.Arbitrary<Sent> {
  const [[type, media] = ['', {}]] = Object.entries(requestBody?.content ?? {})
  const { schema } = media as { schema?: RequestSchema }
  const written = (value: unknown): string => (type === FORM_TYPE ? formOf(value) : JSON.stringify(value))
  const anyOf = (each: RequestSchema) =>
    fc.oneof({ weight: 3, arbitrary: valuesOf(each, resolve, known) }, { weight: 1, arbitrary: ODD })
  const values = fc.record(
    Object.fromEntries(parameters.map((each) => [each.name, fc.option(anyOf(each.schema), { nil: undefined })])),
  )
  const bodies =
    schema === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          valuesOf(schema, resolve, known).map(written),
          brokenValuesOf(schema, resolve, known).map(written),
          fc.constantFrom('', '{', 'null', '[]', '{"__proto__":{"x":1}}', '__proto__=1&x', '%'),
        )
  return fc.tuple(values, bodies).map(([given, body]) => {
    const filled = path.replace(
      /\{(\w+)\}/g,
      (_, name: string) => encodeURIComponent(wellFormed(textOf(given[name] ?? 'x'))) || 'x',
    )
    const query = new URLSearchParams()
    for (const each of parameters)
      if (each.in === 'query' && given[each.name] !== undefined) query.append(each.name, textOf(given[each.name]))
    const search = query.size === 0 ? '' : `?${query}`
    const headers = body === undefined ? {} : { 'content-type': type }
    return { method, path: `${filled}${search}`, headers, ...(body !== undefined && { body }) }
  })
}

/** The encoding of a form with these fields. */
function formOf(value: unknown): string {
  const fields = value !== null && typeof value === 'object' ? Object.entries(value) : []
  return new URLSearchParams(fields.map(([name, field]) => [wellFormed(name), wellFormed(textOf(field))])).toString()
}

function wellFormed(text: string): string {
  return text.toWellFormed()
}

/** The fault of an answer; null if it is as documented and not a server error. */
function misbehaviour({ operationId }: Operation, reply: Reply): string | null {
  // At a hundred blocks a second, a read of one head may be refused with a retry-after.
  if (reply.body.code === 'head_moving' && reply.status === 503) return null
  // A fuzzed path may match another operation, whose answer does not count.
  if (reply.status === 404 && reply.body.code === 'not_found') return null
  if (reply.status >= 500) return `${reply.status} ${reply.text.slice(0, 200)}`
  return checker.misfits(operationId, reply)[0] ?? null
}

/** Streams do not end while they are read. test/integration/api/streams.test.ts and the tests of events read them. */
const isStream = ({ responses }: Operation): boolean => JSON.stringify(responses).includes('text/event-stream')

describe('whatever is sent to an operation', () => {
  it('is answered as documented, and never with a fault of the node', async () => {
    const found: string[] = []
    for (const operation of (checker.operations as readonly FuzzedOperation[]).filter((each) => !isStream(each))) {
      const sent = fc.asyncProperty(requestsOf(operation), async (request) => {
        const reply = await askRaw(daemon.url, request)
        const problem = misbehaviour(operation, reply)
        if (problem !== null) throw new Error(`${problem} <- ${JSON.stringify(request).slice(0, 300)}`)
      })
      const { failed, errorInstance } = await fc.check(sent, { numRuns: runs(25) })
      if (failed) found.push(`${operation.operationId}: ${String((errorInstance as Error).message)}`)
    }
    expect(found).toEqual([])
    expect((await ask(daemon.url, '/health')).status).toBe(200)
  })
})
