import type { ExternalFormat } from '../external/address.ts'

/** What the rules in force at a height say about a transaction by itself. */
export interface TxRules {
  readonly chainId: number
  readonly weight: WeightRules
  /** Smallest amount of an `agent_invoke`, base units. */
  readonly invokeAmountMin: bigint
  /** Escrow terms that an `agent_invoke` may name, in blocks, ascending. */
  readonly invokeTerms: readonly number[]
  /** Fees that a pool may take, in basis points, ascending. */
  readonly poolFeesBps: readonly number[]
  /** Number of staking tiers. */
  readonly stakeTiers: number
  /** Smallest amount of a `stake`, base units. */
  readonly stakeAmountMin: bigint
  /** Grammar of addresses and transaction ids on each network of the bridge. */
  readonly bridgeFormats: readonly ExternalFormat[]
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
  /** Surcharge of `token_create` and `pool_create`: the record stays for ever. */
  readonly createMarket: number
  /** Surcharge of `bridge_deposit` and `bridge_withdraw`: their records stay for ever. */
  readonly bridgeRecord: number
  /** Surcharge of `bridge_rotate`: what consensus writes when the delay is over. */
  readonly bridgeRotation: number
}
