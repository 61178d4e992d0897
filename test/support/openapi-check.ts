import { createRequire } from 'node:module'
import type { Reply } from './api.ts'

/** An operation of the document. */
export interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly requestBody?: { readonly content?: Readonly<Record<string, object>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>
}

/** The parts of an OpenAPI document that answers are checked by. */
export interface ApiDocument {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>
}

type Check = ((value: unknown) => boolean) & { readonly errors?: readonly object[] | null }
interface Ajv {
  addSchema(schema: object, key: string): Ajv
  compile(schema: object): Check
}

/** Fastify's own JSON schema validator. It is independent of the code that makes the document. */
function newAjv(): Ajv {
  const fromFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
  const Ajv2020 = load(fromFastify, 'ajv/dist/2020.js') as new (options: object) => Ajv
  const addFormats = load(createRequire(fromFastify.resolve('@fastify/ajv-compiler')), 'ajv-formats') as (
    a: Ajv,
  ) => void
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  return ajv
}

function load(require: NodeJS.Require, name: string): unknown {
  const loaded = require(name) as { readonly default?: unknown }
  return loaded.default ?? loaded
}

/** Checks answers against a document: by the schema of their status, else by that of its class (`4XX`). */
export class ApiChecker {
  readonly operations: readonly Operation[]
  readonly #ajv: Ajv
  readonly #checks = new Map<string, Check>()

  constructor(document: ApiDocument) {
    this.#ajv = newAjv().addSchema(document, 'api')
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    )
  }

  /** What in an answer differs from the document. Empty if nothing does. */
  misfits(operationId: string, reply: Reply<unknown>): readonly string[] {
    const operation = this.operations.find((each) => each.operationId === operationId)
    if (operation === undefined) return [`${operationId} is not documented`]
    const status = [String(reply.status), `${Math.floor(reply.status / 100)}XX`].find(
      (key) => key in operation.responses,
    )
    if (status === undefined) return [`${operationId}: status ${reply.status} is not documented`]
    const type = (reply.headers.get('content-type') ?? '').split(';')[0] as string
    const content = operation.responses[status]?.content ?? {}
    if (reply.text === '' && Object.keys(content).length === 0) return []
    if (!(type in content)) return [`${operationId} ${status}: content type ${type} is not documented`]
    if (type !== 'application/json') return []
    const pointer = [
      'paths',
      operation.path,
      operation.method.toLowerCase(),
      'responses',
      status,
      'content',
      type,
      'schema',
    ]
    const check = this.#checkAt(`api#/${pointer.map(escapePointer).join('/')}`)
    return check(JSON.parse(reply.text)) ? [] : (check.errors ?? []).map((error) => JSON.stringify(error))
  }

  /** How many examples the document has. */
  get exampleCount(): number {
    return this.#mediaTypes().filter(({ media }) => 'example' in media).length
  }

  /** What in the document's examples differs from its schemas. Empty if nothing does. */
  exampleMisfits(): readonly string[] {
    return this.#mediaTypes().flatMap(({ pointer, media }) => {
      if (!('example' in media)) return []
      const check = this.#checkAt(`api#/${[...pointer, 'schema'].map(escapePointer).join('/')}`)
      return check(media.example) ? [] : [`${pointer.join(' ')}: ${JSON.stringify(check.errors)}`]
    })
  }

  #mediaTypes(): readonly { readonly pointer: readonly string[]; readonly media: object & { example?: unknown } }[] {
    return this.operations.flatMap(({ path, method, requestBody, responses }) => {
      const place = ['paths', path, method.toLowerCase()]
      const bodies = [
        [[...place, 'requestBody'], requestBody] as const,
        ...Object.entries(responses).map(([status, answer]) => [[...place, 'responses', status], answer] as const),
      ]
      return bodies.flatMap(([pointer, body]) =>
        Object.entries(body?.content ?? {}).map(([type, media]) => ({ pointer: [...pointer, 'content', type], media })),
      )
    })
  }

  #checkAt($ref: string): Check {
    const check = this.#checks.get($ref) ?? this.#ajv.compile({ $ref })
    this.#checks.set($ref, check)
    return check
  }
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
