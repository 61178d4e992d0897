import { Type } from 'typebox'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import type { ServiceContext } from './context.ts'

/** Fields that every result read from the chain begins with. */
export const CHAIN_ENVELOPE = {
  service: Type.String(),
  asOf: Type.String({ format: 'date-time' }),
  engine: Type.Literal('chain'),
  height: Type.Integer({ minimum: 0 }),
  blockHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
}

/** An exact amount of the native coin, in coins. */
export const COIN_AMOUNT = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,8})?$' })

/** Head that a result was read from, and when. */
export interface ChainEnvelope {
  readonly service: string
  readonly asOf: string
  readonly engine: 'chain'
  readonly height: number
  readonly blockHash: string
}

/** The envelope of a result that is read now. */
export function chainEnvelope(service: string, { chain, clock }: ServiceContext): ChainEnvelope {
  const { header, id } = chain.head
  return { service, asOf: new Date(clock.now()).toISOString(), engine: 'chain', height: header.height, blockHash: id }
}

/** Coins as decimal text. */
export function coins({ chain }: ServiceContext, baseUnits: bigint): string {
  return formatAmount(baseUnits, chain.ruleBook.params.decimals)
}

/** A number with at most this many decimals. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}
