import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { ObjectSchema, Schema, Static, StaticMembers } from './schema.ts'
import * as Type from './schema.ts'

/**
 * Which rate limit a route counts against. A `list` costs the node many times what other reads do. A call of a route of
 * `quote` or `mcp` that carries a payment counts as `settle` instead.
 */
export type RateBucket =
  | 'read'
  | 'list'
  | 'transaction'
  | 'simulate'
  | 'quote'
  | 'settle'
  | 'mining'
  | 'health'
  | 'events'
  | 'mcp'
  | 'chat'
  | 'sign-in'

/** One operation of the API: everything that server, document and client must agree on. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path in OpenAPI form, `{name}` for parameters. */
  readonly path: string
  readonly operationId: string
  readonly tag: 'chain' | 'assets' | 'market' | 'chat' | 'mining' | 'operations'
  readonly summary: string
  readonly description?: string
  readonly params?: ObjectSchema
  readonly query?: ObjectSchema
  /** JSON body; absent for routes without one. */
  readonly body?: Schema
  /** Answers by status code. Every route can also answer with the error envelope. */
  readonly answers: Readonly<
    Record<
      number,
      {
        readonly description: string
        readonly schema?: Schema
        readonly contentType?: string
        /** Content type of the same in another form, where the request can ask for that. */
        readonly alsoAs?: string
      }
    >
  >
  /** Whether a body of raw bytes is taken too: a transaction in its wire encoding. */
  readonly takesBytes?: boolean
  /** Whether its body is what a form of a page sends, and nothing else; the schema of the body is that of the fields. */
  readonly takesForm?: true
  /** Whether it is answered with 402 until it is paid. */
  readonly isPaid?: true
  /**
   * Whether it speaks JSON-RPC: refusals are errors of that protocol too, and the body reaches the handler as it was parsed,
   * undefined where there was none.
   */
  readonly dialect?: 'json-rpc'
  /** Whether it speaks the OpenAI interface: refusals have its shape, and the handler itself checks the body. */
  readonly isOpenAi?: true
  /** Whether an API key must be sent; that is looked at before the body is read. */
  readonly needsKey?: true
  /** Most bytes of its body, where that is another number than elsewhere. */
  readonly bodyBytesMax?: number
  /** Whether it is a public document: with a strong ETag, kept by caches for a moment, compressed for who takes it. */
  readonly isDocument?: true
  /** Whether the operator's token must be sent, or shows more where it is. */
  readonly operator?: 'required' | 'optional'
  /** Faults that it answers with, beside those of SHARED_ERRORS in `route-errors.ts`. */
  readonly errors?: readonly FaultCode[]
  readonly bucket: RateBucket
}

/** Members of a part of a route's requests; none where the route does not have that part. */
type WordsOf<R, K extends string> = R extends { readonly [P in K]: infer S }
  ? StaticMembers<S>
  : Readonly<Record<never, never>>

/** Parameters of a route's path. */
export type ParamsOf<R> = WordsOf<R, 'params'>
/** Query words of a route, numbers as numbers. */
export type QueryOf<R> = WordsOf<R, 'query'>
/** Body of a route as its handler gets it: checked, except where the handler checks it. */
export type BodyOf<R> = R extends
  | { readonly takesBytes: true }
  | { readonly dialect: string }
  | { readonly isOpenAi: true }
  ? unknown
  : R extends { readonly body: infer S }
    ? Static<S>
    : undefined
/** JSON that a route answers with a status. */
export type JsonOf<R, S extends number = 200> = R extends {
  readonly answers: { readonly [K in S]: { readonly schema: infer J } }
}
  ? Static<J>
  : never

/** Of an object: a member or a query word with a misspelt name is refused, not ignored. */
export const CLOSED = { additionalProperties: false } as const
/** 32 bytes of lower-case hex. */
export const HEX_32 = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** Id of a payment: a transaction of this chain, or behind 0x one of the chain of the stablecoin. */
export const PAYMENT_ID = Type.String({ pattern: '^(0x)?[0-9a-f]{64}$' })
/** Any bytes in lower-case hex. */
export const HEX = Type.String({ pattern: '^([0-9a-f]{2})*$' })
/** An unsigned integer as decimal text: base units, rates, nonces. */
export const UINT_TEXT = Type.String({ pattern: '^(0|[1-9][0-9]*)$' })
/** An address in text form. */
export const ADDRESS_TEXT = Type.String({ minLength: 20, maxLength: 90 })
/** A moment, ISO 8601. */
export const MOMENT = Type.String({ format: 'date-time' })
/** Height from which on something that is gathered from blocks is complete. */
export const INDEXED_FROM = Type.Integer({
  minimum: 0,
  maximum: 4_294_967_295,
  description:
    'Height from which on this is complete: 0, unless the node began from a snapshot or made its indexes anew',
})
/** A block height. */
export const HEIGHT = Type.Integer({ minimum: 0, maximum: 4_294_967_295 })
/** A count. */
export const COUNT = Type.Integer({ minimum: 0 })

/** The error envelope of every refusal. `code` is stable, `error` is for people. */
export const ERROR = Type.Object(
  {
    error: Type.String(),
    code: Type.String({ pattern: '^[a-z0-9_]+$' }),
    requestId: Type.String(),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: true },
)

/** Query of a paged list. */
export const PAGE_QUERY = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
)

/** Where the next page begins, null on the last. */
export const NEXT_CURSOR = Type.Union([Type.String(), Type.Null()])
