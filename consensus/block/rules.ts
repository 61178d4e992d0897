/** What the rules in force at a height say about headers and block sizes. */
export interface BlockRules {
  /** Most bytes of the transaction list on the wire, witnesses included. */
  readonly bytesMax: number
  readonly weightMax: number
  /** Most state writes that the transactions of a block may declare together. */
  readonly writesMax: number
  /** Floor of the base fee, base units per unit of weight. */
  readonly baseFeeMin: bigint
  /** The base fee moves by at most this fraction of itself a block. */
  readonly baseFeeChangeDivisor: bigint
  readonly spacingMs: number
  /** ASERT half-life. */
  readonly halfLifeMs: number
  /** Easiest target. */
  readonly powLimit: bigint
  /** Target of block 1. */
  readonly initialTarget: bigint
  /** A block later than this after its parent becomes an anchor; null on networks that do without. */
  readonly anchorResetGapMs: number | null
  /** How far a header's time may lie ahead of the local clock. */
  readonly futureMsMax: number
  readonly pow: PowRules
}

/** Cost of the Argon2id proof of work. */
export interface PowRules {
  readonly memoryKiB: number
  readonly passes: number
  readonly lanes: number
}
