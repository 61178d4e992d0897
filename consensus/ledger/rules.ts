import type { ExternalFormat } from '../external/address.ts'
import type { Address, TokenSymbol } from '../primitives/ids.ts'

/** The rules about the native coin, at one height. */
export interface CoinRules {
  readonly symbol: TokenSymbol
  /** Most base units ever minted. */
  readonly supplyCap: bigint
  /** Subsidy of a block = (cap - minted) / divisor, rounded down. So the coins minted never pass the cap. */
  readonly subsidyDivisor: bigint
  /** Share of the subsidy that accrues to the staking reward pool, in basis points. */
  readonly stakingShareBps: bigint
  /** Blocks until subsidy and tips reach the miner's balance. */
  readonly rewardMaturity: number
}

/** The rules about tokens. */
export interface TokenRules {
  /** Native base units that `token_create` burns beside its fee. */
  readonly createBurn: bigint
}

/** A tier of staking: how long stakes are locked, and what they earn. */
export interface StakingTier {
  readonly lockBlocks: number
  /** Yearly reward in basis points of the stake, if the reward pool can pay it. */
  readonly yearlyBps: bigint
}

/** The rules about staking. */
export interface StakingRules {
  /** Tiers by number. Later steps may add tiers, never remove one. */
  readonly tiers: readonly StakingTier[]
  readonly blocksPerYear: bigint
}

/** A chain on the other side of the bridge. Its place in the list is its number. */
export interface BridgeNetwork {
  /** Name in paths and commands. */
  readonly key: string
  readonly name: string
  /** Grammar of its addresses and transaction ids. */
  readonly format: ExternalFormat
  /** Wrapped token that deposits mint. Networks may share one. */
  readonly asset: TokenSymbol
  /** Fee of a withdrawal in basis points, rounded up. */
  readonly feeBps: bigint
  readonly confirmations: number
  /** Least deposit and withdrawal, in base units of the wrapped token. */
  readonly minimum: bigint
  /** Most that deposits may mint in a day of `dayBlocks`. */
  readonly dailyMintCap: bigint
}

/** The rules about the bridge. */
export interface BridgeRules {
  readonly networks: readonly BridgeNetwork[]
  /** Blocks of a day, for the mint caps. */
  readonly dayBlocks: number
  /** Blocks between a rotation and its effect. */
  readonly rotationDelay: number
}

/** The rules about the market's ledger, at one height. */
export interface MarketRules {
  readonly epochBlocks: number
  /** The pool that prices the native coin: it trades the coin against this dollar token at this fee. */
  readonly pricedPool: { readonly dollar: TokenSymbol; readonly feeBps: number }
  readonly priceEpochsKept: number
  /** A delivered escrow burns ceil(amount / divisor). */
  readonly deliveredBurnDivisor: bigint
}

/** How a token is issued: freely by its issuer, against a reserve, or by the bridge. */
export type TokenKind = 'plain' | 'stable' | 'bridged'

/** A token that exists from the start. */
export interface GenesisToken {
  readonly symbol: TokenSymbol
  readonly name: string
  readonly decimals: number
  readonly kind: TokenKind
  readonly maxSupply: bigint
  /**
   * Null: no account can mint the token by `token_mint` or `stable_mint`, or change it. The bridge still mints a
   * bridged token.
   */
  readonly issuer: Address | null
  readonly freezable: boolean
}

/** Ledger records that a network begins with, beside its allocations of native coins. */
export interface GenesisLedgers {
  readonly tokens: readonly GenesisToken[]
  readonly balances: readonly { readonly symbol: TokenSymbol; readonly address: Address; readonly amount: bigint }[]
  /** Reserves of stable tokens. A reserve consists of units of a bridged token, which genesis mints for it. */
  readonly stables: readonly {
    readonly symbol: TokenSymbol
    readonly reserveSymbol: TokenSymbol
    readonly reserve: bigint
  }[]
  /** Pools and the amounts minted into them; `owner` gets the shares. */
  readonly pools: readonly {
    readonly assetA: TokenSymbol
    readonly assetB: TokenSymbol
    readonly feeBps: number
    readonly amountA: bigint
    readonly amountB: bigint
    readonly owner: Address
  }[]
  readonly bridge: {
    /** Null for a network without a committee: nothing can be attested. Keys in hex. */
    readonly committee: {
      readonly threshold: number
      readonly keys: readonly { readonly scheme: 1 | 2; readonly hex: string }[]
    } | null
    readonly vaults: readonly { readonly network: number; readonly address: string }[]
    /** What the vaults hold at the start. */
    readonly deposited: readonly { readonly network: number; readonly amount: bigint }[]
  }
}
