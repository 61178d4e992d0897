import { searchNonce } from '../../consensus/block/pow.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { askJob, submitNonce } from '../../rpc/client/mining.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { wallet } from '../support/chain.ts'
import { until } from '../support/processes.ts'
import { nowMs } from './report.ts'

/** Whom the blocks pay. */
const { address } = wallet(9)

/** Address that mining pays, as text of the devnet. */
export const MINER = formatAddress('dfar', address)

/** A block that was mined over the API. */
export interface HandMined {
  readonly height: number
  /** When it was handed in, on the clock of {@link nowMs}. */
  readonly submittedMs: number
}

/** Mines the next block over a node's API as an external miner does, once the job holds at least so many transactions. */
export function mineByHand(url: string, transactions: number): Promise<HandMined> {
  const search = async (): Promise<HandMined | undefined> => {
    const job = await askJob(url, { address, text: MINER })
    // A node that is behind, or busy, refuses; what never ends is told by the wait.
    if (!job.ok || job.value.transactions < transactions) return undefined
    const range = { ...job.value, start: 0n, stride: 1n }
    const nonce = searchNonce(range, nativePowHasher, { stopped: () => false, onHash: () => {} })
    const submittedMs = nowMs()
    const answer = await submitNonce(url, job.value.jobId, nonce as bigint)
    return answer.ok && answer.value.accepted ? { height: answer.value.height, submittedMs } : undefined
  }
  return until(`a block of ${transactions} transactions`, search, { everyMs: 100 })
}
