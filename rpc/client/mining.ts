import { decodeHeader, HEADER_BYTES, NONCE_BYTES } from '../../consensus/block/header.ts'
import { POW_SALT, powInput } from '../../consensus/block/pow.ts'
import type { PowRules } from '../../consensus/block/rules.ts'
import { concat, fromHex, isHex, toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { MINING_JOB, WORK_ACCEPTED } from '../contract/mining.ts'
import type { Decoded } from '../contract/schema.ts'
import * as Type from '../contract/schema.ts'
import { openEvents } from './event-stream.ts'
import { askNode, expectOk, postJson, textOf } from './http.ts'
import { isHeight } from './node-client.ts'

/** A mining job that was checked. */
export interface JobView {
  readonly jobId: string
  readonly height: number
  readonly parent: string
  readonly transactions: number
  /** 32 bytes. */
  readonly input: Uint8Array
  /** Big-endian, 32 bytes. */
  readonly target: Uint8Array
  readonly cost: PowRules
}

/** The address that a job pays: as bytes in hex, and as text of the node's network. */
export interface JobOwner {
  readonly address: Address
  readonly text: string
}

/** A node's answer to a nonce. */
export type WorkAnswer =
  | { readonly accepted: true; readonly id: string; readonly height: number }
  | { readonly accepted: false; readonly code: string; readonly message: string }

/** A node could name a cost that takes all memory or time. */
const COST_MAX: PowRules = { memoryKiB: 65_536, passes: 16, lanes: 16 }

const JOB = Type.Omit(MINING_JOB, ['time', 'weightUsed', 'baseFee', 'tips', 'subsidy', 'reward', 'expires'])

/** Undefined if the job is malformed or contradicts itself, if the block pays another address, or if a hash costs too much. */
export function readJob(answer: unknown, miner: Address): JobView | undefined {
  const job = Type.decode(JOB, answer)
  if (job === undefined || !isHex(job.header, HEADER_BYTES - NONCE_BYTES)) return undefined
  const { jobId, height, parent, transactions, pow } = job
  const bytes = concat(fromHex(job.header), new Uint8Array(NONCE_BYTES))
  const decoded = decodeHeader(bytes)
  if (!decoded.ok || decoded.value.header.miner !== miner) return undefined
  const { header: said } = decoded.value
  if (!isHeight(height) || said.height !== height || said.parent !== parent) return undefined
  const [input, target] = [powInput(bytes), uintBE(said.target, 32)]
  if (job.powInput !== toHex(input) || job.target !== toHex(target) || job.nonceBytes !== NONCE_BYTES) return undefined
  const { memoryKiB, passes, lanes } = pow
  return isBearable(pow)
    ? { jobId, height, parent, transactions, input, target, cost: { memoryKiB, passes, lanes } }
    : undefined
}

function isBearable({ salt, memoryKiB, passes, lanes }: Decoded<typeof JOB>['pow']): boolean {
  if (salt !== toHex(POW_SALT) || passes < 1 || lanes < 1 || memoryKiB < 8 * lanes) return false
  return memoryKiB <= COST_MAX.memoryKiB && passes <= COST_MAX.passes && lanes <= COST_MAX.lanes
}

/** The newest job for an address. */
export async function askJob(baseUrl: string, { address, text }: JobOwner): Promise<Result<JobView>> {
  const answer = expectOk(await askNode(baseUrl, `/api/v1/mining/template?${new URLSearchParams({ address: text })}`))
  if (!answer.ok) return answer
  const job = readJob(answer.value, address)
  return job === undefined ? fail(fault('cli/refused', { message: NO_JOB })) : ok(job)
}

const NO_JOB = 'what it gives as a job is not one that this client understands, or pays another address'

/** Every answer of the node is a value. */
export async function submitNonce(baseUrl: string, jobId: string, nonce: bigint): Promise<Result<WorkAnswer>> {
  const answer = await postJson(baseUrl, '/api/v1/mining/submit', { jobId, nonce: nonce.toString() })
  if (!answer.ok) return answer
  const { body, status } = answer.value
  const accepted = Type.decode(WORK_ACCEPTED, body)
  if (accepted !== undefined && isHeight(accepted.height)) return ok(accepted)
  return ok({ accepted: false, code: textOf(body.code, 'no_code'), message: textOf(body.error, String(status)) })
}

/** The newest job comes first. Ends with the stream, or with the first job that is unusable. Faults: those of `openEvents`. */
export async function followJobs(
  baseUrl: string,
  { address, text }: JobOwner,
  signal: AbortSignal,
): Promise<Result<AsyncGenerator<JobView>>> {
  const path = `/api/v1/mining/jobs?${new URLSearchParams({ address: text })}`
  const events = await openEvents(baseUrl, path, signal)
  return events.ok ? ok(jobsOf(events.value, address)) : events
}

async function* jobsOf(
  events: AsyncGenerator<{ readonly event: string; readonly data: string }>,
  miner: Address,
): AsyncGenerator<JobView> {
  for await (const { event, data } of events) {
    if (event !== 'job') continue
    const job = readJob(parsed(data), miner)
    if (job === undefined) return
    yield job
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
