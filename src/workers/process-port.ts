import { Worker } from 'node:worker_threads'
import { EngineLoss } from '../engines/refusal.ts'
import type { ProcessWord } from './killable-process.ts'

const WATCH_HEAP_MB = { young: 1, old: 8 }

/** Serves the jobs of a killable process: `work` reports its start, and returns the output or throws. */
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
  // The parent is gone, so no answer is needed. A process whose work never ends does not get this event; the watching thread kills it.
  process.on('disconnect', () => process.exit())
  new Worker(new URL('./orphan-watch.ts', import.meta.url), {
    // The parent's id is read here, because the parent may end before the thread starts.
    workerData: process.ppid,
    resourceLimits: { maxYoungGenerationSizeMb: WATCH_HEAP_MB.young, maxOldGenerationSizeMb: WATCH_HEAP_MB.old },
  }).unref()
}
