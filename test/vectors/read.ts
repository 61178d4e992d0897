import { readFileSync } from 'node:fs'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import type { CHAIN_VECTORS } from './generate/chain-vectors.ts'

type SetName = keyof typeof CHAIN_VECTORS

/** The committed vectors with this name. */
export function vectors<Name extends SetName>(name: Name): ReturnType<(typeof CHAIN_VECTORS)[Name]> {
  return JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8'))
}

/** Bytes of hex in which `[5a*2484]` stands for 2,484 bytes 5a. */
export function fullHex(short: string): Uint8Array {
  return fromHex(short.replace(/\[([0-9a-f]{2})\*(\d+)\]/g, (_, byte: string, count: string) => byte.repeat(+count)))
}

/** Fields of 64 bits and more: bigints in the program, decimal text in JSON. */
const BIG_FIELDS: ReadonlySet<string> = new Set([
  ...['nonce', 'maxFeeRate', 'tip', 'amount', 'priceUsdMicros', 'previousPriceUsdMicros'],
  ...['balance', 'minted', 'burned', 'cap', 'accrued', 'volume'],
  ...['rate', 'fee', 'subsidy', 'stakingShare', 'reward', 'baseFee', 'target', 'amounts'],
  ...['maxSupply', 'minPaid', 'amountA', 'amountB', 'minShares', 'shares', 'minA', 'minB', 'limit'],
  ...['reserve', 'reserveX', 'reserveY', 'xPerY', 'yPerX', 'nativePerDollar', 'reserveNative', 'reserveDollar'],
  ...['reserved', 'owed', 'staked', 'index', 'startIndex', 'claimed'],
  ...['deposit', 'ceiling', 'minDeposit', 'locked', 'charged', 'cumulative'],
  ...['deposited', 'released', 'fees', 'pending', 'mintedToday'],
])

/** Byte fields that are not hashes: bytes in the program, hex in JSON. */
const BYTE_FIELDS: ReadonlySet<string> = new Set(['bytes', 'externalTxId', 'memo', 'signature'])

/** JSON of a vector with its large numbers and bytes as the program holds them. */
export function revived(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revived)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, revivedField(key, part)]))
}

function revivedField(key: string, part: unknown): unknown {
  if (BYTE_FIELDS.has(key)) return fullHex(part as string)
  return BIG_FIELDS.has(key) ? big(part) : revived(part)
}

function big(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(big)
  return typeof part === 'string' ? BigInt(part) : revived(part)
}
