import type { PowHasher } from '../../consensus/block/pow.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { SignatureJob } from '../../consensus/crypto/signing.ts'
import type { TabSignature } from '../../consensus/crypto/tab-signing.ts'
import type { AgentId, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { Outside } from '../ports/outside.ts'

/** The mempool as services see it. */
export interface MempoolView {
  readonly count: number
  readonly bytes: number
  readonly bytesMax: number
  get(txId: TxId): Transaction | undefined
  /** A fee rate that is likely to be mined soon, in base units per unit of weight. */
  readonly suggestedRate: bigint
}

/** Verdicts on both halves of the signatures of a transaction; `valid` is null if this node does not know the keys. */
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
  /** Where callers reach this node; null if unknown. */
  readonly url: string | null
  /** Whether a service of this operator can be sold now; undefined if the operator has no such service. */
  readonly isAvailable: (serviceId: ServiceId) => boolean | undefined
  /** Search words of a service of this operator, beside those on chain; empty if there are none. */
  readonly wordsOf: (serviceId: ServiceId) => string
}

/** Everything that a service may use. */
export interface ServiceContext {
  readonly chain: Chain
  readonly mempool: MempoolView
  readonly clock: Clock
  readonly peerCount: () => number
  readonly signatureFacts: (tx: Transaction) => SignatureFacts
  /** Verdicts on every part of a job, in order. */
  readonly halfVerdicts: (job: SignatureJob) => readonly HalfVerdicts[]
  /** Whether a key of a tab signed a message. */
  readonly isTabSignature: (part: TabSignature) => boolean
  readonly powHasher: PowHasher
  /** Null if the operator sells nothing. */
  readonly shelf: Shelf | null
  readonly outside: Outside
}
