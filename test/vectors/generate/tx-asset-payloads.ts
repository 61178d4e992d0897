import { made } from './tx-fields.ts'
import { container, listOfVarying, u8, u16, u128, vary, words } from './tx-wire.ts'

/**
 * Encoders of payloads of tokens, stable tokens, pools and stakes, and a valid sample of each. Every field may be out
 * of range: booleans are numbers, so that one can be 2.
 */

interface TokenFields {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly maxSupply: bigint
  readonly freezable: number
}

interface Issue {
  readonly symbol: string
  readonly to: Uint8Array
  readonly amount: bigint
  readonly create: number
}

interface Part {
  readonly symbol: string
  readonly amount: bigint
}

interface PoolName {
  readonly assetA: string
  readonly assetB: string
  readonly feeBps: number
}

interface Amounts extends PoolName {
  readonly amountA: bigint
  readonly amountB: bigint
}

interface SwapFields {
  readonly assetIn: string
  readonly exactOut: number
  readonly amount: bigint
  readonly limit: bigint
  readonly hops: readonly { readonly asset: string; readonly feeBps: number }[]
}

const issue = (p: Issue) => container(words(p.symbol), p.to, u128(p.amount), u8(p.create))
const part = (p: Part) => container(words(p.symbol), u128(p.amount))
const poolName = (p: PoolName) => [words(p.assetA), words(p.assetB), u16(p.feeBps)]
const stakeName = (p: { stakeId: Uint8Array }) => container(p.stakeId)

export const ASSET_PAYLOADS = {
  token_create: (p: TokenFields) =>
    container(words(p.symbol), words(p.name), u8(p.decimals), u128(p.maxSupply), u8(p.freezable)),
  token_mint: issue,
  token_burn: part,
  token_transfer: issue,
  token_flags: (p: { symbol: string; frozen: number; hidden: number }) =>
    container(words(p.symbol), u8(p.frozen), u8(p.hidden)),
  token_issuer: (p: { symbol: string; issuer: Uint8Array }) => container(words(p.symbol), p.issuer),
  stable_deposit: part,
  stable_mint: issue,
  stable_redeem: (p: Part & { minPaid: bigint }) => container(words(p.symbol), u128(p.amount), u128(p.minPaid)),
  stable_withdraw: part,
  pool_create: (p: Amounts) => container(...poolName(p), u128(p.amountA), u128(p.amountB)),
  liquidity_add: (p: Amounts & { minShares: bigint }) =>
    container(...poolName(p), u128(p.amountA), u128(p.amountB), u128(p.minShares)),
  liquidity_remove: (p: PoolName & { shares: bigint; minA: bigint; minB: bigint }) =>
    container(...poolName(p), u128(p.shares), u128(p.minA), u128(p.minB)),
  swap: (p: SwapFields) =>
    container(
      ...[words(p.assetIn), u8(p.exactOut), u128(p.amount), u128(p.limit)],
      vary(listOfVarying(p.hops.map(({ asset, feeBps }) => container(words(asset), u16(feeBps))))),
    ),
  stake: (p: { tier: number; amount: bigint }) => container(u8(p.tier), u128(p.amount)),
  unstake: stakeName,
  claim: stakeName,
}

const ISSUE: Issue = { symbol: 'SALT', to: made('to'), amount: 25_000n, create: 0 }
const PART: Part = { symbol: 'FUSD', amount: 5_000_000n }
const POOL: PoolName = { assetA: 'FAR', assetB: 'FUSD', feeBps: 30 }

/** A valid payload of each kind. */
export const ASSET_SOUND = {
  token_create: { symbol: 'PEPPER', name: 'Black pepper', decimals: 4, maxSupply: 10n ** 12n, freezable: 1 },
  token_mint: ISSUE,
  token_burn: { ...PART, symbol: 'SALT' },
  token_transfer: ISSUE,
  token_flags: { symbol: 'SALT', frozen: 1, hidden: 0 },
  token_issuer: { symbol: 'SALT', issuer: made('issuer') },
  stable_deposit: PART,
  stable_mint: { ...ISSUE, symbol: 'FUSD' },
  stable_redeem: { ...PART, minPaid: 4_999_999n },
  stable_withdraw: PART,
  pool_create: { ...POOL, amountA: 400_000_000n, amountB: 1_000_000n },
  liquidity_add: { ...POOL, amountA: 4_000_000n, amountB: 10_000n, minShares: 199_000n },
  liquidity_remove: { ...POOL, shares: 199_000n, minA: 3_900_000n, minB: 9_900n },
  swap: { assetIn: 'FAR', exactOut: 0, amount: 5_000_000n, limit: 12_000n, hops: [{ asset: 'FUSD', feeBps: 30 }] },
  stake: { tier: 1, amount: 2_500_000_000n },
  unstake: { stakeId: made('stake') },
  claim: { stakeId: made('stake') },
}
