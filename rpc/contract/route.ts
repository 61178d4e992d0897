import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { ObjectSchema, Schema, Static, StaticMembers } from './schema.ts'
import * as Type from './schema.ts'

/**
 * The rate limit that a route counts against. A `list` costs the node many times what another read does. On routes of
 * `quote` or `mcp`, a call with a payment counts as `settle`, one on a tab that the node knows as `tab`.
 */
export type RateBucket =
  | 'read'
  | 'list'
  | 'transaction'
  | 'simulate'
  | 'quote'
  | 'settle'
  | 'tab'
  | 'mining'
  | 'health'
  | 'events'
  | 'mcp'
  | 'chat'
  | 'sign-in'

/** One operation of the API: what server, OpenAPI document and client must agree on. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path as OpenAPI writes it, with `{name}` for parameters. */
  readonly path: string
  readonly operationId: string
  readonly tag: 'chain' | 'assets' | 'market' | 'chat' | 'mining' | 'operations'
  readonly summary: string
  readonly description?: string
  readonly params?: ObjectSchema
  readonly query?: ObjectSchema
  readonly body?: Schema
  /** By status code. Every route can also answer with an error, as its protocol shapes errors. */
  readonly answers: Readonly<
    Record<
      number,
      {
        readonly description: string
        readonly schema?: Schema
        readonly contentType?: string
        /** Another content type that the request can ask for. */
        readonly alsoAs?: string
      }
    >
  >
  /** Takes raw bytes as a body too: a transaction in its wire encoding. */
  readonly takesBytes?: boolean
  /** Takes only what an HTML form sends. The schema of `body` describes its fields. */
  readonly takesForm?: true
  /** Answers 402 until it is paid. */
  readonly isPaid?: true
  /** Speaks JSON-RPC. Refusals are errors of that protocol. The handler gets the parsed body unchecked, or undefined. */
  readonly dialect?: 'json-rpc'
  /** Speaks the OpenAI interface. Refusals have its shape, and the handler checks the body. */
  readonly isOpenAi?: true
  /** Needs an API key, which is checked before the body is read. */
  readonly needsKey?: true
  /** May be paid from a tab in place of the API key. */
  readonly takesTabs?: true
  /** Maximum bytes of the body. Default: the limit of the server. */
  readonly bodyBytesMax?: number
  /** A public document: it has a strong ETag, caches may keep it for a moment, and it is compressed if the client allows. */
  readonly isDocument?: true
  /** `required`: only with the operator's token. `optional`: the token shows more. */
  readonly operator?: 'required' | 'optional'
  /** Faults of this route, without those of `SHARED_ERRORS` in `route-errors.ts`. */
  readonly errors?: readonly FaultCode[]
  readonly bucket: RateBucket
}

/** Members of one part of a route's requests. No members if the route lacks that part. */
type WordsOf<R, K extends string> = R extends { readonly [P in K]: infer S }
  ? StaticMembers<S>
  : Readonly<Record<never, never>>

/** Parameters of a route's path. */
export type ParamsOf<R> = WordsOf<R, 'params'>
/** Numbers in a query arrive as numbers, not as text. */
export type QueryOf<R> = WordsOf<R, 'query'>
/** Body of a route as its handler gets it. `unknown` means that the handler checks it. */
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

/** Refuses unknown members, so that a misspelt name is not ignored. */
export const CLOSED = { additionalProperties: false } as const
/** 32 bytes of lower-case hex. */
export const HEX_32 = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** Id of a payment: a transaction of this chain, or after 0x one of the stablecoin's chain. */
export const PAYMENT_ID = Type.String({ pattern: '^(0x)?[0-9a-f]{64}$' })
/** Any bytes in lower-case hex. */
export const HEX = Type.String({ pattern: '^([0-9a-f]{2})*$' })
/** An unsigned integer as decimal text: base units, rates, nonces. */
export const UINT_TEXT = Type.String({ pattern: '^(0|[1-9][0-9]*)$' })
/** An address in text form. */
export const ADDRESS_TEXT = Type.String({ minLength: 20, maxLength: 90 })
/** A time in ISO 8601. */
export const MOMENT = Type.String({ format: 'date-time' })
/** Height from which an index over the blocks is complete. */
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

/** The error envelope. Programs read `code`, which is stable. People read `error`. */
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

/** Null on the last page. */
export const NEXT_CURSOR = Type.Union([Type.String(), Type.Null()])
