import { bool, container, hex32, list, text, uint8, uint16, uint128, type ValueOf } from '../primitives/codec.ts'
import { type Address, TOKEN_SYMBOL, type TokenSymbol, type TxId } from '../primitives/ids.ts'

/** Longest symbol of an asset. */
export const SYMBOL_CHARS_MAX = 10
/** Longest name of a token, bytes of UTF-8. */
export const TOKEN_NAME_BYTES_MAX = 64
/** Most pools in one swap. */
export const HOPS_MAX = 3

const address = hex32<Address>()
/** Codec of an asset's symbol. */
export const symbolCodec = text<TokenSymbol>(SYMBOL_CHARS_MAX, (value) => TOKEN_SYMBOL.test(value))

/** `token_create`: the sender becomes the issuer. `maxSupply` 0 means no limit. `freezable` can never change. */
export const TOKEN_CREATE = container('TokenCreate', {
  symbol: symbolCodec,
  name: text(TOKEN_NAME_BYTES_MAX),
  decimals: uint8,
  maxSupply: uint128,
  freezable: bool,
})

/** `token_mint`: mints tokens to an address; only by the issuer. */
export const TOKEN_MINT = container('TokenMint', { symbol: symbolCodec, to: address, amount: uint128, create: bool })

/** `token_burn`: destroys tokens of the sender. */
export const TOKEN_BURN = container('TokenBurn', { symbol: symbolCodec, amount: uint128 })

/** `token_transfer`: `create` allows (and pays for) opening the receiving account. */
export const TOKEN_TRANSFER = container('TokenTransfer', {
  symbol: symbolCodec,
  to: address,
  amount: uint128,
  create: bool,
})

/** `token_flags`: sets both flags; only by the issuer. */
export const TOKEN_FLAGS = container('TokenFlags', { symbol: symbolCodec, frozen: bool, hidden: bool })

/** `token_issuer`: gives the issuer's rights to another account. An issuer of zero bytes gives them up for ever. */
export const TOKEN_ISSUER = container('TokenIssuer', { symbol: symbolCodec, issuer: address })

/** `stable_deposit`: moves units of the reserve asset from the sender to the reserve. */
export const STABLE_DEPOSIT = container('StableDeposit', { symbol: symbolCodec, amount: uint128 })

/** `stable_mint`: the issuer mints tokens, if the reserve covers the supply afterwards. */
export const STABLE_MINT = container('StableMint', { symbol: symbolCodec, to: address, amount: uint128, create: bool })

/** `stable_redeem`: burns tokens of the sender and pays from the reserve; fails if that pays less than `minPaid`. */
export const STABLE_REDEEM = container('StableRedeem', { symbol: symbolCodec, amount: uint128, minPaid: uint128 })

/** `stable_withdraw`: pays the issuer from the part of the reserve that is above the supply. */
export const STABLE_WITHDRAW = container('StableWithdraw', { symbol: symbolCodec, amount: uint128 })

/** A pool: its two assets, in either order, and its fee. Amounts in a payload follow the payload's order. */
const POOL_NAME = { assetA: symbolCodec, assetB: symbolCodec, feeBps: uint16 }

/** `pool_create`: the ratio of its amounts sets the initial price. */
export const POOL_CREATE = container('PoolCreate', { ...POOL_NAME, amountA: uint128, amountB: uint128 })

/** `liquidity_add`: adds at most these amounts, in the pool's ratio, for at least `minShares`. */
export const LIQUIDITY_ADD = container('LiquidityAdd', {
  ...POOL_NAME,
  amountA: uint128,
  amountB: uint128,
  minShares: uint128,
})

/** `liquidity_remove`: gives shares back for at least `minA` and `minB`. */
export const LIQUIDITY_REMOVE = container('LiquidityRemove', {
  ...POOL_NAME,
  shares: uint128,
  minA: uint128,
  minB: uint128,
})

/** One pool of a swap's route: the asset it pays out, and its fee, which tells it from other pools of the pair. */
export const SWAP_HOP = container('SwapHop', { asset: symbolCodec, feeBps: uint16 })

/**
 * `swap`: `amount` in for at least `limit` out, through up to three pools. With `exactOut`: `amount` out for at most
 * `limit` in, through one pool.
 */
export const SWAP = container('Swap', {
  assetIn: symbolCodec,
  exactOut: bool,
  amount: uint128,
  limit: uint128,
  hops: list(SWAP_HOP, HOPS_MAX),
})

/** `stake`: locks native coins in a tier. The transaction's id is the stake's id. */
export const STAKE = container('Stake', { tier: uint8, amount: uint128 })

/** `unstake`: returns the coins after the lock. Rewards wait for `claim`. */
export const UNSTAKE = container('Unstake', { stakeId: hex32<TxId>() })

/** `claim`: pays what the stake has earned and not yet claimed. */
export const CLAIM = container('Claim', { stakeId: hex32<TxId>() })

/** Payload of `token_create`. */
export type TokenCreate = ValueOf<typeof TOKEN_CREATE>
/** Payload of `swap`. */
export type Swap = ValueOf<typeof SWAP>
/** One pool of a swap's route. */
export type SwapHop = ValueOf<typeof SWAP_HOP>
