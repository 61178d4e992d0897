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

/** An OpenAPI document, as far as answers are checked by it. */
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

/** The validator that fastify itself brings: it knows nothing of how the document was made. */
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

/** Checks answers against a document: the schema of the exact status, else that of its class. */
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

  /** What is wrong with an answer of an operation; empty if it is as documented. */
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

  /** Examples in the document. */
  get exampleCount(): number {
    return this.#mediaTypes().filter(({ media }) => 'example' in media).length
  }

  /** What is wrong with the document's own examples; empty if they are as it says. */
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
