import type { PowHasher } from '../../consensus/block/pow.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { SignatureJob } from '../../consensus/crypto/signing.ts'
import type { AgentId, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { Outside } from '../ports/outside.ts'

/** What services may know of the mempool. */
export interface MempoolView {
  readonly count: number
  readonly bytes: number
  readonly bytesMax: number
  get(txId: TxId): Transaction | undefined
  /** Rate that is likely to be mined soon, base units per unit of weight. */
  readonly suggestedRate: bigint
}

/** Verdicts on the two halves of a transaction's signatures; null where the keys are not known here. */
export interface SignatureFacts {
  readonly classical: { readonly alg: string; readonly valid: boolean | null }
  readonly postQuantum: { readonly alg: string; readonly valid: boolean | null }
}

/** Whether the two halves of one hybrid signature verify. */
export interface HalfVerdicts {
  readonly classical: boolean
  readonly postQuantum: boolean
}

/** What the operator of this node sells. */
export interface Shelf {
  readonly agentId: AgentId
  /** Where callers reach this node; null where it does not know. */
  readonly url: string | null
  /** Whether a service of this operator can be sold now; undefined for one that it does not have. */
  readonly isAvailable: (serviceId: ServiceId) => boolean | undefined
  /** Words under which a service of this operator is found beside those that the chain has of it; empty for one that it does not have. */
  readonly wordsOf: (serviceId: ServiceId) => string
}

/** The world as a service sees it: the node's chain, and what is handed to it of the rest. */
export interface ServiceContext {
  readonly chain: Chain
  readonly mempool: MempoolView
  readonly clock: Clock
  readonly peerCount: () => number
  readonly signatureFacts: (tx: Transaction) => SignatureFacts
  /** Verdicts on every part of a job, in order. */
  readonly halfVerdicts: (job: SignatureJob) => readonly HalfVerdicts[]
  readonly powHasher: PowHasher
  /** Null where nothing is sold. */
  readonly shelf: Shelf | null
  readonly outside: Outside
}
