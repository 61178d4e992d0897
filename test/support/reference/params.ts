/** Grammars of external addresses. */
export type ReferenceFormat = 'evm' | 'solana' | 'bitcoin' | 'litecoin'

/** The rules about tabs. */
export interface TabParams {
  readonly depositMin: bigint
  readonly terms: readonly number[]
  readonly closeDelays: readonly number[]
  readonly callBurn: bigint
  readonly burnDivisor: bigint
  readonly countedAmount: bigint
  readonly perVoucher: number
  readonly openReturn: number
  readonly closeMove: number
}

/** The rules of a network, named as in the specification. The node's own parameters have this shape too. */
export interface ReferenceRules {
  readonly tx: {
    readonly chainId: number
    readonly weight: {
      readonly perSignature: number
      readonly perStateWrite: number
      readonly createAccount: number
      readonly registerAgent: number
      readonly publishService: number
      readonly invokeRefund: number
      readonly createMarket: number
      readonly bridgeRecord: number
      readonly bridgeRotation: number
    }
    readonly invokeAmountMin: bigint
    readonly invokeTerms: readonly number[]
    readonly poolFeesBps: readonly number[]
    readonly stakeTiers: number
    readonly stakeAmountMin: bigint
    readonly bridgeFormats: readonly ReferenceFormat[]
    /** Absent in a step before the one that brings tabs. */
    readonly tabs?: TabParams
  }
  readonly block: {
    readonly bytesMax: number
    readonly weightMax: number
    readonly writesMax: number
    readonly baseFeeMin: bigint
    readonly baseFeeChangeDivisor: bigint
    readonly spacingMs: number
    readonly halfLifeMs: number
    readonly powLimit: bigint
    readonly initialTarget: bigint
    readonly anchorResetGapMs: number | null
    readonly futureMsMax: number
    readonly pow: { readonly memoryKiB: number; readonly passes: number; readonly lanes: number }
  }
  readonly coin: {
    readonly symbol: string
    readonly supplyCap: bigint
    readonly subsidyDivisor: bigint
    readonly stakingShareBps: bigint
    readonly rewardMaturity: number
  }
  readonly market: {
    readonly epochBlocks: number
    readonly deliveredBurnDivisor: bigint
    readonly pricedPool: { readonly dollar: string; readonly feeBps: number }
    readonly priceEpochsKept: number
  }
  readonly token: { readonly createBurn: bigint }
  readonly staking: {
    readonly tiers: readonly { readonly lockBlocks: number; readonly yearlyBps: bigint }[]
    readonly blocksPerYear: bigint
  }
  readonly bridge: {
    readonly networks: readonly {
      readonly asset: string
      readonly format: ReferenceFormat
      readonly feeBps: bigint
      readonly minimum: bigint
      readonly dailyMintCap: bigint
    }[]
    readonly dayBlocks: number
    readonly rotationDelay: number
  }
}

/** Rules that hold from a height on. */
export interface ReferenceStep {
  readonly fromHeight: number
  readonly rules: ReferenceRules
}

/** Block 0. */
export interface ReferenceGenesis {
  readonly timeMs: number
  readonly baseFee: bigint
  readonly message: string
  readonly allocations: readonly { readonly address: string; readonly amount: bigint }[]
  readonly ledgers: ReferenceGenesisLedgers
}

/** What genesis holds besides the native allocations. */
export interface ReferenceGenesisLedgers {
  readonly tokens: readonly {
    readonly symbol: string
    readonly name: string
    readonly decimals: number
    readonly kind: 'plain' | 'stable' | 'bridged'
    readonly maxSupply: bigint
    readonly issuer: string | null
    readonly freezable: boolean
  }[]
  readonly balances: readonly { readonly symbol: string; readonly address: string; readonly amount: bigint }[]
  readonly stables: readonly { readonly symbol: string; readonly reserveSymbol: string; readonly reserve: bigint }[]
  readonly pools: readonly {
    readonly assetA: string
    readonly assetB: string
    readonly feeBps: number
    readonly amountA: bigint
    readonly amountB: bigint
    readonly owner: string
  }[]
  readonly bridge: {
    readonly committee: {
      readonly threshold: number
      readonly keys: readonly { readonly scheme: number; readonly hex: string }[]
    } | null
    readonly vaults: readonly { readonly network: number; readonly address: string }[]
    readonly deposited: readonly { readonly network: number; readonly amount: bigint }[]
  }
}
