/** What the rules in force at a height say about a transaction by itself. */
export interface TxRules {
  readonly chainId: number
  readonly weight: WeightRules
  /** Smallest amount of an `agent_invoke`, base units. */
  readonly invokeAmountMin: bigint
  /** Escrow terms that an `agent_invoke` may name, in blocks, ascending. */
  readonly invokeTerms: readonly number[]
}

/** Prices in weight. One unit is one byte on the wire; the rest is set against it. */
export interface WeightRules {
  readonly perSignature: number
  readonly perStateWrite: number
  /** Surcharge of the `create` bit: an account record stays for ever. */
  readonly createAccount: number
  /** Surcharge of `agent_register`: the record and the name stay for ever. */
  readonly registerAgent: number
  /** Surcharge of `service_publish`. */
  readonly publishService: number
  /** Surcharge of `agent_invoke`: the refund that consensus may owe it, and the marker of a first payer. */
  readonly invokeRefund: number
}
