import { createRequire } from 'node:module'
import type { Reply } from './api.ts'

/** What an operation answers with a status. */
interface Response {
  readonly content?: Readonly<Record<string, object>>
  /** What `code` of an error may be. */
  readonly 'x-error-codes'?: readonly string[]
  /** JSON pointer to the shared response that applies instead of this object. */
  readonly $ref?: string
}

/** An operation of the document. */
export interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly requestBody?: { readonly content?: Readonly<Record<string, object>> }
  readonly responses: Readonly<Record<string, Response>>
}

/** The parts of an OpenAPI document against which answers are checked. */
export interface ApiDocument {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>
  readonly components: { readonly responses: Readonly<Record<string, Response>> }
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

/** Checks answers against a document: the schema of the exact status, else that of its class, and the codes of errors. */
export class ApiChecker {
  readonly operations: readonly Operation[]
  readonly #shared: ApiDocument['components']['responses']
  readonly #ajv: Ajv
  readonly #checks = new Map<string, Check>()

  constructor(document: ApiDocument) {
    this.#ajv = newAjv().addSchema(document, 'api')
    this.#shared = document.components.responses
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
    const { response, pointer } = this.#response(operation, status)
    const unlisted = unlistedCode(reply, response)
    if (unlisted !== null) return [`${operationId} ${reply.status}: the error ${unlisted} is not listed`]
    const type = (reply.headers.get('content-type') ?? '').split(';')[0] as string
    const content = response.content ?? {}
    if (reply.text === '' && Object.keys(content).length === 0) return []
    if (!(type in content)) return [`${operationId} ${status}: content type ${type} is not documented`]
    if (type !== 'application/json') return []
    const check = this.#checkAt(`api#/${[...pointer, 'content', type, 'schema'].map(escapePointer).join('/')}`)
    return check(JSON.parse(reply.text)) ? [] : (check.errors ?? []).map((error) => JSON.stringify(error))
  }

  /** The operation that a path without a query belongs to. A path without parameters is preferred to one with parameters. */
  operationAt(method: string, path: string): Operation | undefined {
    return this.operations
      .filter((each) => each.method === method && patternOf(each.path).test(path))
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
  }

  #response(
    { path, method, responses }: Operation,
    status: string,
  ): { readonly response: Response; readonly pointer: readonly string[] } {
    const response = responses[status] as Response
    if (response.$ref === undefined)
      return { response, pointer: ['paths', path, method.toLowerCase(), 'responses', status] }
    const pointer = response.$ref.split('/').slice(1)
    return { response: this.#shared[pointer.at(-1) as string] as Response, pointer }
  }

  /** How many examples the operations of the document have. */
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

/** The code of an error if the response does not list it. Null if it does, or if the answer is no error or names no code. */
function unlistedCode({ status, body }: Reply<unknown>, response: Response): string | null {
  const { code, error } = (body ?? {}) as ErrorView
  const { code: inner, data } = (typeof error === 'object' && error !== null ? error : {}) as ErrorView
  const said = [code, data?.code, inner].find((one) => typeof one === 'string')
  if (status < 400 || said === undefined) return null
  return response['x-error-codes']?.includes(said) === true ? null : said
}

/** An error names its code in `code`, in `error.code`, or in JSON-RPC in `error.data.code`. */
interface ErrorView {
  readonly code?: string
  readonly error?: unknown
  readonly data?: { readonly code?: string }
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^/]*')}$`)
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
