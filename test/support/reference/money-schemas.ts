import { name } from './schemas.ts'
import { b32, bool, container, list, text, u8, u16, u32, u128, u256 } from './ssz.ts'
import { GRAMMAR } from './text.ts'

const symbol = text(10, GRAMMAR.symbol)

// transactions.md, section 3

export const TOKEN_CREATE = container({ symbol, name, decimals: u8, maxSupply: u128, freezable: bool })
/** Payload of token_mint, token_transfer and stable_mint. */
export const TOKEN_GIVE = container({ symbol, to: b32, amount: u128, create: bool })
/** Payload of token_burn, stable_deposit and stable_withdraw. */
export const TOKEN_AMOUNT = container({ symbol, amount: u128 })
export const TOKEN_FLAGS = container({ symbol, frozen: bool, hidden: bool })
export const TOKEN_ISSUER = container({ symbol, issuer: b32 })
export const STABLE_REDEEM = container({ symbol, amount: u128, minPaid: u128 })
export const POOL_CREATE = container({ assetA: symbol, assetB: symbol, feeBps: u16, amountA: u128, amountB: u128 })
export const LIQUIDITY_ADD = container({
  assetA: symbol,
  assetB: symbol,
  feeBps: u16,
  amountA: u128,
  amountB: u128,
  minShares: u128,
})
export const LIQUIDITY_REMOVE = container({
  assetA: symbol,
  assetB: symbol,
  feeBps: u16,
  shares: u128,
  minA: u128,
  minB: u128,
})
export const SWAP = container({
  assetIn: symbol,
  exactOut: bool,
  amount: u128,
  limit: u128,
  hops: list(container({ asset: symbol, feeBps: u16 }), 3),
})
export const STAKE = container({ tier: u8, amount: u128 })
/** Payload of unstake and claim. */
export const STAKE_ID = container({ stakeId: b32 })

// ledgers.md

export const TOKEN = container({
  version: u8,
  name,
  decimals: u8,
  kind: u8,
  issuer: b32,
  freezable: bool,
  frozen: bool,
  hidden: bool,
  createdAt: u32,
})
export const SKELETON = container({ asset: b32 })
export const TOKEN_BALANCE = container({ amount: u128 })
export const STABLE_RESERVE = container({ reserveAsset: b32, reserve: u128 })
export const POOL = container({
  version: u8,
  assetX: b32,
  assetY: b32,
  feeBps: u16,
  reserveX: u128,
  reserveY: u128,
  shares: u128,
  xPerY: u256,
  yPerX: u256,
  accumulatedAt: u32,
  createdAt: u32,
})
export const POOL_SHARES = container({ shares: u128 })
export const PRICE_ENTRY = container({ nativePerDollar: u256, reserveNative: u128, reserveDollar: u128 })
export const STAKING = container({
  updatedAt: u32,
  reserved: u128,
  owed: u256,
  tiers: list(container({ staked: u128, index: u256 }), 16),
})
export const STAKE_RECORD = container({
  tier: u8,
  amount: u128,
  startIndex: u256,
  claimed: u128,
  owed: u128,
  stakedAt: u32,
  unlocksAt: u32,
})
