import { Worker } from 'node:worker_threads'
import { EngineLoss } from '../engines/refusal.ts'
import type { ProcessWord } from './killable-process.ts'

/** Memory of the thread that watches. */
const WATCH_HEAP_MB = { young: 1, old: 8 }

/** Does the jobs of a killable process: `work` tells when it begins, and returns or throws what it came to. */
export function serveProcess(work: (job: never, started: () => void) => Promise<unknown>): void {
  const say = (word: ProcessWord): void => {
    process.send?.(word)
  }
  const answer = async (job: never): Promise<void> => {
    try {
      say({ kind: 'done', output: await work(job, () => say({ kind: 'started' })) })
    } catch (error) {
      if (error instanceof EngineLoss) process.exit(1)
      say({ kind: 'failed', reason: error instanceof Error ? error.message : 'unknown cause' })
    }
  }
  process.on('message', (job) => void answer(job as never))
  // Nobody is left who could want an answer. Work that never ends does not hear of it: there the thread sees to the end.
  process.on('disconnect', () => process.exit())
  new Worker(new URL('./orphan-watch.ts', import.meta.url), {
    // Asked for here: whoever started this may be gone before the thread begins.
    workerData: process.ppid,
    resourceLimits: { maxYoungGenerationSizeMb: WATCH_HEAP_MB.young, maxOldGenerationSizeMb: WATCH_HEAP_MB.old },
  }).unref()
}
