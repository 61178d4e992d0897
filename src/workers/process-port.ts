import type { ProcessWord } from './killable-process.ts'

/** Does the jobs of a killable process: `work` tells when it begins, and returns or throws what it came to. */
export function serveProcess(work: (job: never, started: () => void) => Promise<unknown>): void {
  const say = (word: ProcessWord): void => {
    process.send?.(word)
  }
  const answer = async (job: never): Promise<void> => {
    try {
      say({ kind: 'done', output: await work(job, () => say({ kind: 'started' })) })
    } catch (error) {
      say({ kind: 'failed', reason: error instanceof Error ? error.message : 'unknown cause' })
    }
  }
  process.on('message', (job) => void answer(job as never))
  // Nobody is left who could want an answer.
  process.on('disconnect', () => process.exit())
}
