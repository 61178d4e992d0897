import type { Address, AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'

/** What a seller said of a paid call, and the payment that it is about. Never a claim: the seller has its own, made before the work. */
export interface SettlementRecord {
  readonly txId: TxId
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  /** The signer: a settler of the agent, or its owner. */
  readonly settler: Address
  readonly requestHash: Hash
  readonly outcome: 'delivered' | 'failed'
  /** Zeros where it failed. */
  readonly resultHash: Hash
  readonly durationMs: number
  /** Opens the escrow's lock; zeros where there is none to open. */
  readonly opener: Hash
  readonly payer: Address
  /** Base units, as decimal text. */
  readonly amount: string
  /** Height at which the escrow returns to its payer by itself. */
  readonly deadline: number
  readonly recordedAtMs: number
}

/** What became of a record that was put. */
export type Put =
  | { readonly is: 'new' }
  /** There was one for this payment already; nothing was written. */
  | { readonly is: 'known'; readonly record: SettlementRecord }
  /** As many are kept as there may be. */
  | { readonly is: 'full'; readonly count: number }

/** Where settlements are kept: the first of each payment. Every write is durable before its promise resolves. */
export interface SettlementRecords {
  get(txId: TxId): Promise<SettlementRecord | undefined>
  put(record: SettlementRecord): Promise<Put>
  /** Forgets records whose deadline lies below a height, a bounded number at once; how many. */
  expire(belowHeight: number): Promise<number>
}
