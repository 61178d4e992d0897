import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { searchNonce } from '../../miner/search.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'
import { MiningControl } from './mining-control.ts'

/** What a mining thread is told when it starts. */
export interface MiningTask {
  readonly buffer: SharedArrayBuffer
  readonly thread: number
  readonly threads: number
  /** Generation that this thread has finished. */
  readonly seen: number
}

/** A nonce that met its target. */
export interface FoundNonce {
  readonly generation: number
  readonly nonce: bigint
}

const LOWEST_PRIORITY = 19
let lowered = false

/** Thread entry: searches job after job until a nonce is found. */
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

/** A miner must not slow verification: on Linux a thread can lower itself; elsewhere there is no per-thread priority. */
function lowerPriority(onThreadId: (id: number) => void): void {
  if (lowered || process.platform !== 'linux') return
  lowered = true
  const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  onThreadId(threadId)
  setPriority(threadId, LOWEST_PRIORITY)
}
