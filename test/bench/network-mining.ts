import { searchNonce } from '../../consensus/block/pow.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { askJob, submitNonce } from '../../rpc/client/mining.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { wallet } from '../support/chain.ts'
import { until } from '../support/processes.ts'
import { nowMs } from './report.ts'

const { address } = wallet(9)

/** Address that blocks pay, as devnet text. */
export const MINER = formatAddress('dfar', address)

/** A block mined over the API. */
export interface HandMined {
  readonly height: number
  /** When it was submitted, on the clock of {@link nowMs}. */
  readonly submittedMs: number
}

/** Mines the next block over a node's API as an external miner does, once the job holds that many transactions. */
export function mineByHand(url: string, transactions: number): Promise<HandMined> {
  const search = async (): Promise<HandMined | undefined> => {
    const job = await askJob(url, { address, text: MINER })
    // A node that is behind or busy refuses. The wait fails if that never ends.
    if (!job.ok || job.value.transactions < transactions) return undefined
    const range = { ...job.value, start: 0n, stride: 1n }
    const nonce = searchNonce(range, nativePowHasher, { stopped: () => false, onHash: () => {} })
    const submittedMs = nowMs()
    const answer = await submitNonce(url, job.value.jobId, nonce as bigint)
    return answer.ok && answer.value.accepted ? { height: answer.value.height, submittedMs } : undefined
  }
  return until(`a block of ${transactions} transactions`, search, { everyMs: 100 })
}
