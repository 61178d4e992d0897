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
  /** Absent: there are no tabs yet, and their kinds are malformed. A later step must keep them. */
  readonly tabs?: TabRules
}

/** The rules about tabs. */
export interface TabRules {
  /** Least deposit of a `tab_open`, in base units. */
  readonly depositMin: bigint
  /** Terms that a `tab_open` may name, in blocks, ascending. A later step may only add. */
  readonly terms: readonly number[]
  /** Delays of a payer's close, in blocks, ascending. A later step may only add. */
  readonly closeDelays: readonly number[]
  /** A claim burns ceil(difference / `burnDivisor`), or this for each counted call if that is more. */
  readonly callBurn: bigint
  readonly burnDivisor: bigint
  /** A claim's calls count as proven up to one for each of these base units. */
  readonly countedAmount: bigint
  /** Weight of a voucher's signature. */
  readonly perVoucher: number
  /** Surcharge of `tab_open`: for the return at the end, which consensus writes. */
  readonly openReturn: number
  /** Surcharge of `tab_close`: it moves that return to another block. */
  readonly closeMove: number
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
