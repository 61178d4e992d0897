import { ADDRESS_TEXT, COUNT, HEIGHT, HEX, HEX_32, MOMENT, type Route, UINT_TEXT } from './route.ts'
import * as Type from './schema.ts'

const JOB_ID = Type.String({ pattern: '^[0-9a-f]{32}$' })

/** A mining job: the header of a block without its nonce, and what the search for the nonce needs. */
export const MINING_JOB = Type.Object({
  jobId: JOB_ID,
  height: HEIGHT,
  parent: HEX_32,
  time: MOMENT,
  header: HEX,
  powInput: HEX_32,
  target: HEX_32,
  pow: Type.Object({
    algorithm: Type.Literal('argon2id'),
    memoryKiB: COUNT,
    passes: COUNT,
    lanes: COUNT,
    salt: HEX,
  }),
  nonceBytes: COUNT,
  transactions: COUNT,
  weightUsed: COUNT,
  baseFee: UINT_TEXT,
  tips: UINT_TEXT,
  subsidy: UINT_TEXT,
  reward: UINT_TEXT,
  expires: MOMENT,
})

/** Answer to a nonce that solved a job. */
export const WORK_ACCEPTED = Type.Object({ accepted: Type.Literal(true), id: HEX_32, height: HEIGHT })

const ADDRESS_QUERY = Type.Object({ address: ADDRESS_TEXT }, { additionalProperties: false })

/** Operations for external miners. */
export const MINING_ROUTES = {
  getMiningTemplate: {
    method: 'GET',
    path: '/api/v1/mining/template',
    operationId: 'getMiningTemplate',
    tag: 'mining',
    summary: 'A block on the present head that lacks only its nonce and pays an address',
    description:
      'The proof of work is Argon2id with a 32-byte output over `powInput` and the nonce (`nonceBytes` bytes, little-endian), with the salt and cost of `pow`; read as a big-endian number it must not exceed `target`. `header` is the header without its nonce, `powInput` its tagged hash. Begin with a random nonce: others may search the same job. A job is good while its parent is the head, and at least until `expires`. `reward` is what the block earns: `subsidy`, the share of the new coins that is not for stakers, and `tips`.',
    query: ADDRESS_QUERY,
    answers: { 200: { description: 'The newest job', schema: MINING_JOB } },
    errors: ['address/malformed', 'address/other-network', 'mining/not-ready', 'mining/busy'],
    bucket: 'mining',
  },
  submitWork: {
    method: 'POST',
    path: '/api/v1/mining/submit',
    operationId: 'submitWork',
    tag: 'mining',
    summary: 'Submit the nonce of a job',
    description:
      'Accepted means that the block is the head. `stale_job`: another block was first. `low_work`: the hash is above the target.',
    body: Type.Object({ jobId: JOB_ID, nonce: UINT_TEXT }, { additionalProperties: false }),
    answers: { 200: { description: 'The block is the head', schema: WORK_ACCEPTED } },
    errors: ['mining/unknown-job', 'mining/stale-job', 'mining/low-work', 'mining/busy', 'chain/stopped'],
    bucket: 'mining',
  },
  followMiningJobs: {
    method: 'GET',
    path: '/api/v1/mining/jobs',
    operationId: 'followMiningJobs',
    tag: 'mining',
    summary: 'Jobs as they are made, as server-sent events',
    description:
      'Events named `job`; `data` is a job as `/api/v1/mining/template` gives it, `id` its `jobId`. The newest job comes first. A new head gives an empty block at once and a full one soon after. Work on the latest. A comment comes every few seconds; a reader that does not keep up is cut off.',
    query: ADDRESS_QUERY,
    answers: { 200: { description: 'A stream that does not end by itself', contentType: 'text/event-stream' } },
    errors: ['address/malformed', 'address/other-network', 'mining/not-ready', 'mining/busy'],
    bucket: 'mining',
  },
} as const satisfies Record<string, Route>
