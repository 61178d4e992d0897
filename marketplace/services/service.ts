import type { Static, TSchema } from 'typebox'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { Capability } from '../ledger/capabilities.ts'
import type { Readiness } from '../ports/readiness.ts'
import type { ServiceContext } from './context.ts'

/** A part of a price: `times` divided by `of`. */
export interface PricePart {
  readonly times: bigint
  readonly of: bigint
}

/** Description of a service. Its main fields are published on chain. */
export interface ServiceFacts {
  readonly serviceId: ServiceId
  readonly name: string
  readonly description: string
  /** The description as one sentence of at most 120 characters, for catalogues with little room. */
  readonly brief: string
  /** Further search words, unordered. */
  readonly words: string
  readonly capability: Capability
  /** Default price in millionths of a dollar; the operator may set another. */
  readonly priceUsdMicros: bigint
  /** Format of the request text; empty if the request is optional context. */
  readonly requestFormat: string
  /** A working request, or only its form if a working one would have thousands of digits. */
  readonly example: string
  /** A static example of a result, shown for free. */
  readonly sample: object
}

/** A service: everything that the market needs to list, quote, check and run it. */
export interface ServiceDefinition<Input = unknown, Schema extends TSchema = TSchema> extends ServiceFacts {
  /** Maximum length of the request text; a longer one is refused unread. */
  readonly requestCharsMax: number
  /** Parses the request text. The fault is `service/invalid-request` and says what is wrong and what works. */
  readonly parse: (request: string) => Result<Input>
  /**
   * Checks a parsed request against the chain, for example that its token exists. Called at the quote and again before
   * a payment is consumed; null if it is fine. The fault is `service/invalid-request`; or `storage/...` if this node lacks
   * the data; or `service/unavailable` if a good request cannot be served here now: its payment is then refunded at once.
   */
  readonly check?: (input: Input, context: ServiceContext) => Fault | null
  /** Whether the result depends only on input and head: it is then computed once per input and head. */
  readonly keptPerHead?: boolean
  readonly ready: (context: ServiceContext) => Readiness
  /**
   * Does the work. If it throws, or the result does not match `resultSchema`, the service failed: the caller is
   * refunded.
   */
  readonly execute: (
    input: Input,
    context: ServiceContext,
    signal: AbortSignal,
  ) => Promise<Static<Schema>> | Static<Schema>
  /** Shape of the result; checked before delivery. */
  readonly resultSchema: Schema
  readonly timeoutMs: number
  readonly resultBytesMax: number
  /** The most that a request costs on a tab, as a part of the price, which may be above it. Absent: the price. */
  readonly mostOnTab?: (input: Input) => PricePart
  /** What a result costs on a tab, as a part of the most. More than all of it counts as all. Absent: all. */
  readonly usedOnTab?: (result: unknown) => PricePart
  /**
   * Whether the request makes this node contact other hosts or run a model. Failed calls of this kind cost the node
   * something, so a payer with too many failures is refused for a while.
   */
  readonly reachesOut?: true
  /** Whether it is safe to run twice: after a crash it is then run again, else refunded. */
  readonly repeatable: boolean
}

/** Only ties the types of input, result and schema together. */
export function defineService<Input, Schema extends TSchema>(
  definition: ServiceDefinition<Input, Schema>,
): ServiceDefinition {
  return definition as unknown as ServiceDefinition
}

/** Refuses a text with a lone surrogate: encoding to bytes loses it, so two different texts would have one hash. */
export function readRequest(definition: ServiceDefinition, request: string): Result<unknown> {
  const { requestCharsMax, parse, example, requestFormat } = definition
  const unusable = (reason: string): Result<never> =>
    fail(fault('service/invalid-request', { reason, example, requestFormat }))
  if (request.length > requestCharsMax) return unusable(`the request is limited to ${requestCharsMax} characters`)
  if (!request.isWellFormed()) return unusable('the request is not well-formed Unicode')
  const input = parse(request)
  return input.ok ? input : fail(withExample(definition, input.fault))
}

/** Parses the request text once, at the first use of `input`. */
export class RequestText {
  readonly #definition: ServiceDefinition
  readonly #text: string
  #input: Result<unknown> | undefined

  constructor(definition: ServiceDefinition, text: string) {
    this.#definition = definition
    this.#text = text
  }

  get input(): Result<unknown> {
    this.#input ??= readRequest(this.#definition, this.#text)
    return this.#input
  }

  /** What is wrong with the request, by its text or by the chain as it stands now; null if nothing is. */
  faultNow(context: ServiceContext): Fault | null {
    const { input } = this
    return input.ok ? inputFault(this.#definition, input.value, context) : input.fault
  }
}

/** Whether a call without a request is refused. */
export function needsRequest({ parse }: ServiceDefinition): boolean {
  return !parse('').ok
}

/** Replaces the example of a refusal by one with addresses of this network. */
function withExample({ example }: ServiceDefinition, refused: Fault): Fault {
  return 'example' in refused.detail ? fault(refused.code, { ...refused.detail, example }) : refused
}

/** During a reorganisation the check against the chain is skipped. */
export function checkRequest(definition: ServiceDefinition, request: string, context: ServiceContext): Result<unknown> {
  const input = readRequest(definition, request)
  const refused = input.ok ? inputFault(definition, input.value, context) : null
  return refused === null ? input : fail(refused)
}

function inputFault(definition: ServiceDefinition, input: unknown, context: ServiceContext): Fault | null {
  const refused = definition.check === undefined || context.chain.moving ? null : definition.check(input, context)
  return refused === null ? null : withExample(definition, refused)
}
