import type { ExternalFormat } from '../external/address.ts'
import type { Address, TokenSymbol } from '../primitives/ids.ts'

/** What the rules in force at a height say about the native coin. */
export interface CoinRules {
  /** Symbol of the native coin wherever an asset is named. */
  readonly symbol: TokenSymbol
  /** Most base units that can ever be minted. */
  readonly supplyCap: bigint
  /** Subsidy of a block = (cap - minted) / divisor, rounded down: smooth decay, never above the cap. */
  readonly subsidyDivisor: bigint
  /** Share of the subsidy that accrues to the staking reward pool, in basis points. */
  readonly stakingShareBps: bigint
  /** Blocks until subsidy and tips reach the miner's balance. */
  readonly rewardMaturity: number
}

/** What the rules say about tokens. */
export interface TokenRules {
  /** Native base units that `token_create` burns beside its fee. */
  readonly createBurn: bigint
}

/** One lock of the staking ledger. */
export interface StakingTier {
  readonly lockBlocks: number
  /** Reward of a year, in basis points of the stake, where the reward pool can pay it. */
  readonly yearlyBps: bigint
}

/** What the rules say about staking. */
export interface StakingRules {
  /** Tiers by number; later steps may add some, never remove one. */
  readonly tiers: readonly StakingTier[]
  readonly blocksPerYear: bigint
}

/** A chain on the other side of the bridge. Its number is its place in the list. */
export interface BridgeNetwork {
  /** Name in paths and commands. */
  readonly key: string
  readonly name: string
  /** Grammar of its addresses and transaction ids. */
  readonly format: ExternalFormat
  /** Wrapped token that deposits mint; several networks may share one. */
  readonly asset: TokenSymbol
  /** Share of a withdrawal that its fee takes, in basis points, rounded up. */
  readonly feeBps: bigint
  /** Confirmations that attestors wait for on that chain. */
  readonly confirmations: number
  /** Least deposit and withdrawal, base units of the wrapped token. */
  readonly minimum: bigint
  /** Most that deposits mint in one day of `dayBlocks`. */
  readonly dailyMintCap: bigint
}

/** What the rules say about the bridge. */
export interface BridgeRules {
  readonly networks: readonly BridgeNetwork[]
  /** Blocks of one day of the mint caps. */
  readonly dayBlocks: number
  /** Blocks between a rotation and the new committee. */
  readonly rotationDelay: number
}

/** What the rules in force at a height say about the market's ledger. */
export interface MarketRules {
  /** Blocks of one price epoch. */
  readonly epochBlocks: number
  /** The pool that prices the native coin: native against this dollar token, at this fee. */
  readonly pricedPool: { readonly dollar: TokenSymbol; readonly feeBps: number }
  /** Price epochs whose entries are kept. */
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
  /** 0 for none. */
  readonly maxSupply: bigint
  /** Null: nobody may mint or change it. */
  readonly issuer: Address | null
  readonly freezable: boolean
}

/** Ledger records that a network begins with, beside the native allocations. */
export interface GenesisLedgers {
  readonly tokens: readonly GenesisToken[]
  readonly balances: readonly { readonly symbol: TokenSymbol; readonly address: Address; readonly amount: bigint }[]
  /** Reserves of stable tokens, in bridged dollars that are minted for it. */
  readonly stables: readonly {
    readonly symbol: TokenSymbol
    readonly reserveSymbol: TokenSymbol
    readonly reserve: bigint
  }[]
  /** Pools with what is minted into them; `owner` gets the shares. */
  readonly pools: readonly {
    readonly assetA: TokenSymbol
    readonly assetB: TokenSymbol
    readonly feeBps: number
    readonly amountA: bigint
    readonly amountB: bigint
    readonly owner: Address
  }[]
  readonly bridge: {
    /** Null until a network has a committee: nothing can be attested. Keys in hex. */
    readonly committee: {
      readonly threshold: number
      readonly keys: readonly { readonly scheme: 1 | 2; readonly hex: string }[]
    } | null
    readonly vaults: readonly { readonly network: number; readonly address: string }[]
    /** What the vaults hold from the start. */
    readonly deposited: readonly { readonly network: number; readonly amount: bigint }[]
  }
}
