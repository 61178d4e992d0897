import type { ExternalFormat } from '../external/address.ts'

/** The rules about a single transaction, at one height. */
export interface TxRules {
  readonly chainId: number
  readonly weight: WeightRules
  /** Least amount of an `agent_invoke`, in base units. */
  readonly invokeAmountMin: bigint
  /** Terms of escrows that an `agent_invoke` may name, in blocks, ascending. */
  readonly invokeTerms: readonly number[]
  /** Allowed fees of pools, in basis points, ascending. */
  readonly poolFeesBps: readonly number[]
  readonly stakeTiers: number
  /** Least amount of a `stake`, in base units. */
  readonly stakeAmountMin: bigint
  /** Grammar of addresses and transaction ids, by bridge network. */
  readonly bridgeFormats: readonly ExternalFormat[]
}

/** What a transaction weighs beside its bytes. One byte on the wire weighs 1. */
export interface WeightRules {
  readonly perSignature: number
  readonly perStateWrite: number
  /** Surcharge of the `create` bit: an account record stays for ever. */
  readonly createAccount: number
  /** Surcharge of `agent_register`: the record and the name stay for ever. */
  readonly registerAgent: number
  /** Surcharge of `service_publish`. */
  readonly publishService: number
  /** Surcharge of `agent_invoke`: for a refund that consensus may have to write, and for the record of a new payer. */
  readonly invokeRefund: number
  /** Surcharge of `token_create` and `pool_create`: the record stays for ever. */
  readonly createMarket: number
  /** Surcharge of `bridge_deposit` and `bridge_withdraw`: their records stay for ever. */
  readonly bridgeRecord: number
  /** Surcharge of `bridge_rotate`: for what consensus writes after the delay. */
  readonly bridgeRotation: number
}
