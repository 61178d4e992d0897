import { later, sender } from './fault-row.ts'

/** What external miners are refused for. */
export const MINING_FAULTS = {
  'mining/not-ready': later('mining_not_ready', 503, 'there is no work now: {reasons}'),
  'mining/busy': later('mining_busy', 503, 'too many miners at once'),
  'mining/unknown-job': sender('unknown_job', 404, 'there is no job {jobId} here; ask for a new template'),
  'mining/stale-job': sender('stale_job', 409, 'the job {jobId} is over: its parent is not the head any more'),
  'mining/low-work': sender('low_work', 400, 'the hash of this nonce is above the target of the job {jobId}'),
} as const
