/** The rules about headers and block sizes, at one height. */
export interface BlockRules {
  /** Most wire bytes of the transaction list, witnesses included. */
  readonly bytesMax: number
  readonly weightMax: number
  /** Most state writes that a block's transactions may declare together. */
  readonly writesMax: number
  /** Least base fee, in base units per unit of weight. */
  readonly baseFeeMin: bigint
  /** A block changes the base fee by at most 1/divisor of the fee, or raises it by 1 if that is more. */
  readonly baseFeeChangeDivisor: bigint
  readonly spacingMs: number
  readonly halfLifeMs: number
  readonly powLimit: bigint
  readonly initialTarget: bigint
  /** A block later than this after its parent becomes an ASERT anchor; null turns the rule off. */
  readonly anchorResetGapMs: number | null
  /** How far a header's time may be ahead of the local clock. */
  readonly futureMsMax: number
  readonly pow: PowRules
}

/** Cost of the Argon2id proof of work. */
export interface PowRules {
  readonly memoryKiB: number
  readonly passes: number
  readonly lanes: number
}
