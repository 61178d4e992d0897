import { type Amount, SUPPLY_BOUND } from '../../consensus/primitives/amount.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import { HEIGHT, HEX_32, MOMENT, UINT_TEXT } from './route.ts'
import type { Schema } from './schema.ts'
import * as Type from './schema.ts'

/** A decimal number as text: exact or rounded down. */
export const DECIMAL_TEXT = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$' })
/** An amount in whole units with decimals, as callers write it. */
export const AMOUNT_QUERY = Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$', maxLength: 60 })
/** Symbol of an asset. */
export const SYMBOL = Type.String({ pattern: '^[A-Z][A-Z0-9]{1,9}$' }) as Schema<string, TokenSymbol>
/** Base units of an asset: decimal text in JSON, `bigint` for clients. */
export const AMOUNT_TEXT = Type.decodedBy(UINT_TEXT, amountOf)
/** Decimals of an asset. */
export const DECIMALS = Type.Integer({ minimum: 0, maximum: 18 })
/** A schema that allows null too. */
export function orNull<T extends Parameters<typeof Type.Union>[0][number]>(schema: T) {
  return Type.Union([schema, Type.Null()])
}
/** Dollars with up to six decimals, rounded down. Null if a price is unknown. */
export const USD = orNull(DECIMAL_TEXT)

/** Members that name the block at which the whole answer was read. */
export const AT_HEAD = { height: HEIGHT, blockId: HEX_32, time: MOMENT }
/** The block at which an answer was read. */
export interface AtHead {
  readonly height: number
  readonly blockId: string
  readonly time: string
}

/** An amount of an asset: `units` in base units, `text` in whole units with decimals. */
export const ASSET_AMOUNT = Type.Object({ symbol: SYMBOL, decimals: DECIMALS, units: AMOUNT_TEXT, text: DECIMAL_TEXT })

/**
 * Dollar price of one whole unit. `basis` is its source, `route` the pools that it was read over, `depthUsd` what the shallowest of these
 * pools could pay for the asset, null without pools. `confidence` is low below 10000 dollars of depth, and while the price of the native
 * coin may be manipulated.
 */
export const PRICE = Type.Object({
  usd: DECIMAL_TEXT,
  microsPerUnit: Type.Object({ numerator: UINT_TEXT, denominator: UINT_TEXT }),
  basis: Type.Unsafe<'unit' | 'epoch' | 'pool' | 'par'>({ type: 'string', enum: ['unit', 'epoch', 'pool', 'par'] }),
  route: Type.Array(Type.String()),
  depthUsd: USD,
  confidence: Type.Unsafe<'normal' | 'low'>({ type: 'string', enum: ['normal', 'low'] }),
})

/** An unsigned amount below {@link SUPPLY_BOUND}, which no supply reaches. Undefined for anything else. */
export function amountOf(value: unknown): Amount | undefined {
  if (typeof value !== 'string' || !/^(0|[1-9][0-9]{0,33})$/.test(value)) return undefined
  const units = BigInt(value)
  return units < SUPPLY_BOUND ? (units as Amount) : undefined
}
