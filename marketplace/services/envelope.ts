import { Type } from 'typebox'
import type { Clock } from '../../consensus/chain/ports.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import { faultMessage } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Source, Sourced } from '../ports/sourced.ts'
import type { ServiceContext } from './context.ts'

/** First fields of every result that was read from the chain. */
export const CHAIN_ENVELOPE = {
  service: Type.String(),
  asOf: Type.String({ format: 'date-time' }),
  engine: Type.Literal('chain'),
  height: Type.Integer({ minimum: 0 }),
  blockHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
}

/** An exact amount of the native coin, in coins. */
export const COIN_AMOUNT = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,8})?$' })

/** The head that a result was read from, and when. */
export interface ChainEnvelope {
  readonly service: string
  readonly asOf: string
  readonly engine: 'chain'
  readonly height: number
  readonly blockHash: string
}

/** Envelope of a result that is read now. */
export function chainEnvelope(service: string, { chain, clock }: ServiceContext): ChainEnvelope {
  const { header, id } = chain.head
  return { service, asOf: new Date(clock.now()).toISOString(), engine: 'chain', height: header.height, blockHash: id }
}

/** Base units as coins, in decimal text. */
export function coins({ chain }: ServiceContext, baseUnits: bigint): string {
  return formatAmount(baseUnits, chain.ruleBook.params.decimals)
}

/** Rounds a number to at most this many decimals. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

/** First fields of every result that an engine of this node computed. */
export const ENGINE_ENVELOPE = {
  service: Type.String(),
  asOf: Type.String({ format: 'date-time' }),
  engine: Type.String({ minLength: 1 }),
}

/** The source of data from outside the chain, and how fresh it is. */
export const SOURCE = Type.Object({
  name: Type.String(),
  url: Type.Optional(Type.String()),
  fetchedAt: Type.String({ format: 'date-time' }),
  stale: Type.Boolean(),
  attribution: Type.Optional(Type.String()),
})

/** First fields of every result that a provider gave. */
export const SOURCE_ENVELOPE = {
  service: Type.String(),
  asOf: Type.String({ format: 'date-time' }),
  source: SOURCE,
}

/** Envelope of an engine's result. */
export function engineEnvelope(service: string, engine: string, { clock }: { readonly clock: Clock }) {
  return { service, asOf: new Date(clock.now()).toISOString(), engine }
}

/** Envelope of a provider's result. */
export function sourceEnvelope(service: string, source: Source, { clock }: { readonly clock: Clock }) {
  return { service, asOf: new Date(clock.now()).toISOString(), source }
}

/** The value of a result from outside. A fault throws: the service fails, and its caller is refunded. */
export function delivered<T>(result: Result<T>): T {
  if (result.ok) return result.value
  throw new Error(faultMessage(result.fault))
}

/** A provider's result as the service returns it: envelope first, then its fields. */
export function fromSource<T, F extends object>(
  service: string,
  result: Result<Sourced<T>>,
  context: ServiceContext,
  fields: (value: T) => F,
) {
  const { value, source } = delivered(result)
  return { ...sourceEnvelope(service, source, context), ...fields(value) }
}
