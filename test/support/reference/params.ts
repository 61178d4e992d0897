/** What differs between networks, in the words of the specification; a network's own parameters fit it as they are. */
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
    }
    readonly invokeAmountMin: bigint
    readonly invokeTerms: readonly number[]
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
    readonly supplyCap: bigint
    readonly subsidyDivisor: bigint
    readonly stakingShareBps: bigint
    readonly rewardMaturity: number
  }
  readonly market: { readonly epochBlocks: number; readonly deliveredBurnDivisor: bigint }
}

/** Block 0. */
export interface ReferenceGenesis {
  readonly timeMs: number
  readonly baseFee: bigint
  readonly message: string
  readonly allocations: readonly { readonly address: string; readonly amount: bigint }[]
}
