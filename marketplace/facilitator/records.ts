import type { Address, AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'

/** How a seller says that a paid call ended. It is not a claim of the payment. */
export interface SettlementRecord {
  readonly txId: TxId
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  /** The signer: a settler of the agent, or its owner. */
  readonly settler: Address
  readonly requestHash: Hash
  readonly outcome: 'delivered' | 'failed'
  /** Zeros if the call failed. */
  readonly resultHash: Hash
  readonly durationMs: number
  /** Opens the escrow's lock; zeros without a lock, and if the call failed. */
  readonly opener: Hash
  readonly payer: Address
  /** Base units, as decimal text. */
  readonly amount: string
  /** Height at which the escrow goes back to its payer by itself. */
  readonly deadline: number
  readonly recordedAtMs: number
}

/** Result of putting a record. */
export type Put =
  | { readonly is: 'new' }
  /** Nothing was written. */
  | { readonly is: 'known'; readonly record: SettlementRecord }
  | { readonly is: 'full'; readonly count: number }

/** The first settlement of each payment. Every write is durable before its promise resolves. */
export interface SettlementRecords {
  get(txId: TxId): Promise<SettlementRecord | undefined>
  put(record: SettlementRecord): Promise<Put>
  /** Forgets records with a deadline below a height, a bounded number at once. Returns their number. */
  expire(belowHeight: number): Promise<number>
}
