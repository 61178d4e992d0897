import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { searchNonce } from '../../miner/search.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'
import { MiningControl } from './mining-control.ts'

/** Start data of a mining thread. */
export interface MiningTask {
  readonly buffer: SharedArrayBuffer
  readonly thread: number
  readonly threads: number
  /** The last generation that this thread finished. */
  readonly seen: number
}

/** A nonce that meets its target. */
export interface FoundNonce {
  readonly generation: number
  readonly nonce: bigint
}

const LOWEST_PRIORITY = 19
let lowered = false

/** Thread entry: works on one job after another until it finds a nonce. */
export function mine({ buffer, thread, threads, seen }: MiningTask): FoundNonce {
  const control = new MiningControl(buffer)
  lowerPriority((id) => control.nameThread(thread, id))
  for (let done = seen; ; ) {
    const { generation, job } = control.read(done)
    const nonce = searchNonce({ ...job, start: job.start + BigInt(thread), stride: BigInt(threads) }, nativePowHasher, {
      stopped: () => control.generation !== generation,
      onHash: () => control.count(thread),
    })
    if (nonce !== undefined) return { generation, nonce }
    done = generation
  }
}

/**
 * Mining must not slow verification. On Linux a thread can lower its own priority; other systems have none per thread.
 */
function lowerPriority(onThreadId: (id: number) => void): void {
  if (lowered || process.platform !== 'linux') return
  lowered = true
  const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  onThreadId(threadId)
  setPriority(threadId, LOWEST_PRIORITY)
}
