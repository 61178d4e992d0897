import { later, sender } from './fault-row.ts'

/** Faults of work for external miners. */
export const MINING_FAULTS = {
  'mining/not-ready': later('there is no work now: {reasons}'),
  'mining/busy': later('too many miners at once'),
  'mining/unknown-job': sender('there is no job {jobId} here; ask for a new template'),
  'mining/stale-job': sender('the job {jobId} is over: its parent is not the head any more'),
  'mining/low-work': sender('the hash of this nonce is above the target of the job {jobId}'),
} as const
