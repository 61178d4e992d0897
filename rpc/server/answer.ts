import type { Fault } from '../../consensus/primitives/fault.ts'
import type { BodyOf, JsonOf, ParamsOf, QueryOf } from '../contract/route.ts'
import type { OperationId, ROUTES } from '../contract/table.ts'
import type { NodeApi } from '../node/node-api.ts'
import type { ErrorBody } from './faults.ts'

/** A request as handlers see it: validated, with everything they may look at. */
export interface ApiRequest<
  Params = Readonly<Record<string, string>>,
  Query = Readonly<Record<string, string | number | undefined>>,
  Body = unknown,
> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly accept: string
  /** Headers by their lower-case names; one that was sent more than once is joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Address that the request came from. */
  readonly address: string
  readonly requestId: string
  /** Whether the operator's token came with it. */
  readonly isOperator: boolean
  /** Public base address of this node, without a slash at the end. */
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

/** Where a stream's events go. A reader that does not keep up is cut off; sending to one that is gone does nothing. */
export interface EventSink {
  send(event: StreamEvent): void
  /** Tells where to come back to, and nothing else. No line breaks. */
  mark(id: string): void
  /** Whether the reader keeps up; who sends much at once looks before each event. */
  readonly hasRoom: boolean
  /** Waits until the reader keeps up; false where it is gone, or took too long and was cut off. */
  room(): Promise<boolean>
  /** Ends the stream because of an error of ours. */
  fail(error: unknown): void
  /** Ends the stream by the node's choice: the reader may connect again. */
  end(): void
}

/** Begins to send events, from within or later; `stop` is called once when the stream is over. After a fault nothing is sent. */
export type StreamBegin = (sink: EventSink) => { readonly stop: () => void } | Fault

/** Where a feed is written. The next piece waits for a promise that is given back: the reader is behind then. */
export interface FeedOut {
  write(piece: string | Uint8Array): Promise<void> | undefined
}

/** An answer of status 200 that is written while it is made. */
export interface Feed {
  readonly headers: Readonly<Record<string, string>>
  /** Whether it is no stream of events: then there is no room in it for signs of life. */
  readonly isFile?: true
  /** Resolves with whether the answer is whole; after one that is not, the connection is cut. */
  readonly write: (out: FeedOut) => Promise<boolean>
}

/** Statuses of which a route documents the JSON. */
type JsonStatus<R> = R extends { readonly answers: infer A }
  ? { [S in keyof A & number]: A[S] extends { readonly schema: unknown } ? S : never }[keyof A & number]
  : never

/** An answer in JSON, of the shape that the route documents for its status. */
export type JsonAnswer<R> = {
  [S in JsonStatus<R>]: { readonly status: S; readonly json: JsonOf<R, S>; readonly headers?: Headers }
}[JsonStatus<R>]

/** What every handler may answer beside the JSON of its route: the error envelope, text or bytes with their type, or a stream. */
export type PlainAnswer =
  | { readonly stream: StreamBegin }
  | { readonly status: number; readonly json: ErrorBody; readonly headers?: Headers }
  | { readonly feed: Feed }
  | {
      readonly status: number
      readonly content: string | Uint8Array
      readonly contentType: string
      readonly headers?: Headers
      /** Called once the answer was handed over to the end, and never if it was not. */
      readonly sent?: () => void
    }
  /** An answer made by a library that speaks its own protocol; its body may be a stream. */
  | { readonly response: Response }

type Headers = Readonly<Record<string, string>>

/** What any handler answers. */
export type Answer = PlainAnswer | { readonly status: number; readonly json: object; readonly headers?: Headers }

type RouteOf<Id extends OperationId> = (typeof ROUTES)[Id]

/** A request of an operation, as its route describes it. */
export type RequestOf<Id extends OperationId> = ApiRequest<
  ParamsOf<RouteOf<Id>>,
  QueryOf<RouteOf<Id>>,
  BodyOf<RouteOf<Id>>
>

/** The handler of an operation: one call into the domain, encoded. A fault becomes the error envelope. */
export type Handler<Id extends OperationId> = (
  node: NodeApi,
  request: RequestOf<Id>,
) => Answered<Id> | Promise<Answered<Id>>

/** A handler of requests with such parts. */
export type HandlerOf<Params, Query, Body> = (
  node: NodeApi,
  request: ApiRequest<Params, Query, Body>,
) => Answer | Fault | Promise<Answer | Fault>

/** What the handler of an operation answers. */
export type Answered<Id extends OperationId> = JsonAnswer<RouteOf<Id>> | PlainAnswer | Fault

/** A JSON answer with status 200. */
export function answer<const T extends object>(json: T): { readonly status: 200; readonly json: T } {
  return { status: 200, json }
}

/** Whether a handler refused. */
export function isFault(result: object): result is Fault {
  return 'code' in result
}
