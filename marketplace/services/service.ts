import type { Static, TSchema } from 'typebox'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { Capability } from '../ledger/capabilities.ts'
import type { Readiness } from '../ports/readiness.ts'
import type { ServiceContext } from './context.ts'

/** What a service says about itself; published on chain as far as the registry holds it. */
export interface ServiceFacts {
  readonly serviceId: ServiceId
  readonly name: string
  readonly description: string
  /** The same as one whole sentence of at most 120 characters, for catalogues that hold no more. */
  readonly brief: string
  /** Further words under which it is found, in no order. */
  readonly words: string
  readonly capability: Capability
  /** Default price in millionths of a dollar; the operator may set another. */
  readonly priceUsdMicros: bigint
  /** How the request text is written; empty where it is optional context. */
  readonly requestFormat: string
  /** A request that works; where one would have thousands of digits, its form. */
  readonly example: string
  /** A result as the service gives it: static, free to look at. */
  readonly sample: object
}

/**
 * One service: everything that the market needs to list, quote, check and run it. All services have this shape.
 */
export interface ServiceDefinition<Input = unknown, Schema extends TSchema = TSchema> extends ServiceFacts {
  /** Longest request text that can make sense; a longer one is refused unread. */
  readonly requestCharsMax: number
  /** Reads the request text. The fault is `service/invalid-request` and says what is wrong and what works. */
  readonly parse: (request: string) => Result<Input>
  /**
   * What only the chain can tell of a request that reads well: that it names no token, pool or block. Asked at the quote and
   * again before a payment is consumed; null where the request will do. The fault is `service/invalid-request`, or
   * `service/unavailable` where the request is good but cannot be served here now: a payment for it is given back at once.
   */
  readonly check?: (input: Input, context: ServiceContext) => Fault | null
  /** Whether the result depends on input and head alone: it is then worked out once for each head. */
  readonly keptPerHead?: boolean
  readonly ready: (context: ServiceContext) => Readiness
  /** Does the work. Throwing, or a result outside `resultSchema`, is a failed service: the caller is refunded. */
  readonly execute: (
    input: Input,
    context: ServiceContext,
    signal: AbortSignal,
  ) => Promise<Static<Schema>> | Static<Schema>
  /** Shape of the result; checked before delivery. */
  readonly resultSchema: Schema
  readonly timeoutMs: number
  readonly resultBytesMax: number
  /**
   * Whether its request chooses what it reaches outside, or has a model work: either costs something where it fails, too, so a
   * payer whose calls of that kind keep failing is refused for a while.
   */
  readonly reachesOut?: true
  /** Whether running it twice does no harm: after a crash it is run again, else refunded. */
  readonly repeatable: boolean
}

/** Declares a service; the helper only ties input, result and schema together. */
export function defineService<Input, Schema extends TSchema>(
  definition: ServiceDefinition<Input, Schema>,
): ServiceDefinition {
  return definition as unknown as ServiceDefinition
}

/**
 * Reads the request text of a call. Half of a surrogate pair has no bytes of its own: as bytes it would be the request of
 * another text, so no service ever sees it.
 */
export function readRequest(definition: ServiceDefinition, request: string): Result<unknown> {
  const { requestCharsMax, parse, example, requestFormat } = definition
  const unusable = (reason: string): Result<never> =>
    fail(fault('service/invalid-request', { reason, example, requestFormat }))
  if (request.length > requestCharsMax) return unusable(`the request is limited to ${requestCharsMax} characters`)
  if (!request.isWellFormed()) return unusable('the request is not well-formed Unicode')
  const input = parse(request)
  return input.ok ? input : fail(withExample(definition, input.fault))
}

/** Whether a call without a request is refused. */
export function needsRequest({ parse }: ServiceDefinition): boolean {
  return !parse('').ok
}

/** A refusal with the example that works on this network. */
function withExample({ example }: ServiceDefinition, refused: Fault): Fault {
  return 'example' in refused.detail ? fault(refused.code, { ...refused.detail, example }) : refused
}

/** Reads the request text of a call and holds it against the chain. While that is being reorganised nothing is held against it. */
export function checkRequest(definition: ServiceDefinition, request: string, context: ServiceContext): Result<unknown> {
  const input = readRequest(definition, request)
  const refused = input.ok ? inputFault(definition, input.value, context) : null
  return refused === null ? input : fail(refused)
}

/** What the chain has against an input that reads well, or null. */
export function inputFault(definition: ServiceDefinition, input: unknown, context: ServiceContext): Fault | null {
  const refused = definition.check === undefined || context.chain.moving ? null : definition.check(input, context)
  return refused === null ? null : withExample(definition, refused)
}
