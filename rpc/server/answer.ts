import type { Fault } from '../../consensus/primitives/fault.ts'
import type { BodyOf, JsonOf, ParamsOf, QueryOf } from '../contract/route.ts'
import type { OperationId, ROUTES } from '../contract/table.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { ErrorBody } from './faults.ts'

/** A request as handlers see it, validated. */
export interface ApiRequest<
  Params = Readonly<Record<string, string>>,
  Query = Readonly<Record<string, string | number | undefined>>,
  Body = unknown,
> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The body as it came, on routes that take tabs. */
  readonly bodyText?: string
  readonly accept: string
  /** Headers by lower-case name. Of a repeated header, Node joins the values, or keeps one where only one makes sense. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** IP address of the caller; behind a trusted proxy, the one that the proxy names. */
  readonly address: string
  readonly requestId: string
  readonly isOperator: boolean
  /**
   * Public base address of this node. Without one, the address that the request names; for a document, one with a stand-in
   * host. No slash at the end.
   */
  readonly baseUrl: string
  /** Aborted when the caller leaves before the answer is complete. */
  readonly signal: AbortSignal
}

/** One server-sent event; its data becomes one line of JSON. */
export interface StreamEvent {
  readonly event: string
  /** No line breaks. */
  readonly id: string
  readonly data: object
}

/** Where a stream's events go. A reader that does not keep up is cut off. After the reader has left, sending does nothing. */
export interface EventSink {
  send(event: StreamEvent): void
  /** Sends only an id, from which the reader can resume. No line breaks. */
  mark(id: string): void
  /** Whether the buffer has room for one more event. A sender of many events checks this before each event. */
  readonly hasRoom: boolean
  /** Waits until the buffer has room. False if the reader left, or was cut off as too slow. */
  room(): Promise<boolean>
  /** Breaks the stream off because of a bug. */
  fail(error: unknown): void
  /** Ends the stream. The reader may connect again. */
  end(): void
}

/** The server calls `stop` once, at the end. A function that returns a fault has sent nothing. */
export type StreamBegin = (sink: EventSink) => { readonly stop: () => void } | Fault

/** Where a feed is written. If `write` returns a promise, the reader is behind: await it before the next piece. */
export interface FeedOut {
  write(piece: string | Uint8Array): Promise<void> | undefined
}

/** An answer of status 200 that is written while it is made. */
export interface Feed {
  readonly headers: Readonly<Record<string, string>>
  /** Set if the answer is not a stream of events, so that no heartbeat may be written into it. */
  readonly isFile?: true
  /** Resolves with whether the answer is whole. If not, the server cuts the connection. */
  readonly write: (out: FeedOut) => Promise<boolean>
}

type JsonStatus<R> = R extends { readonly answers: infer A }
  ? { [S in keyof A & number]: A[S] extends { readonly schema: unknown } ? S : never }[keyof A & number]
  : never

/** A JSON answer, in the shape that the route documents for its status. */
export type JsonAnswer<R> = {
  [S in JsonStatus<R>]: { readonly status: S; readonly json: JsonOf<R, S>; readonly headers?: Headers }
}[JsonStatus<R>]

/** What every handler may answer besides the JSON of its route. */
export type PlainAnswer =
  | { readonly stream: StreamBegin }
  | { readonly status: number; readonly json: ErrorBody; readonly headers?: Headers }
  | { readonly feed: Feed }
  | {
      readonly status: number
      readonly content: string | Uint8Array
      readonly contentType: string
      readonly headers?: Headers
      /** Called once, after the whole answer was handed over to the operating system; never if it was not. */
      readonly sent?: () => void
    }
  /** An answer made by a library that speaks its own protocol; its body may be a stream. */
  | { readonly response: Response }

type Headers = Readonly<Record<string, string>>

/** An answer of any handler, whatever JSON its route documents. */
export type Answer = PlainAnswer | { readonly status: number; readonly json: object; readonly headers?: Headers }

type RouteOf<Id extends OperationId> = (typeof ROUTES)[Id]

/** A request of an operation, as its route describes it. */
export type RequestOf<Id extends OperationId> = ApiRequest<
  ParamsOf<RouteOf<Id>>,
  QueryOf<RouteOf<Id>>,
  BodyOf<RouteOf<Id>>
>

/** If it returns a fault, the server answers with the error envelope or an error of the route's protocol. */
export type Handler<Id extends OperationId> = (
  node: NodeApi,
  request: RequestOf<Id>,
) => Answered<Id> | Promise<Answered<Id>>

/** A handler, by the types of its request's parts. */
export type HandlerOf<Params, Query, Body> = (
  node: NodeApi,
  request: ApiRequest<Params, Query, Body>,
) => Answer | Fault | Promise<Answer | Fault>

/** What an operation's handler returns: an answer, or the fault of a refusal. */
export type Answered<Id extends OperationId> = JsonAnswer<RouteOf<Id>> | PlainAnswer | Fault

/** A JSON answer with status 200. */
export function answer<const T extends object>(json: T): { readonly status: 200; readonly json: T } {
  return { status: 200, json }
}

/** Whether a handler refused, so that its result is a fault. */
export function isFault(result: object): result is Fault {
  return 'code' in result
}
