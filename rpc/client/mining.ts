import { decodeHeader, HEADER_BYTES, NONCE_BYTES } from '../../consensus/block/header.ts'
import { POW_SALT, powInput } from '../../consensus/block/pow.ts'
import type { PowRules } from '../../consensus/block/rules.ts'
import { concat, fromHex, isHex, toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { openEvents } from './event-stream.ts'
import { askNode, expectOk, fieldsOf, type NodeAnswer, postJson, textOf } from './http.ts'
import { isHeight } from './node-client.ts'

/** A job of a node: what to search over, and what for. */
export interface JobView {
  readonly jobId: string
  readonly height: number
  /** Id of the block that it builds on, in hex. */
  readonly parent: string
  readonly transactions: number
  /** 32 bytes. */
  readonly input: Uint8Array
  /** Big-endian, 32 bytes. */
  readonly target: Uint8Array
  readonly cost: PowRules
}

/** Whom a job is asked for: his address, and the same as text of the node's network. */
export interface JobOwner {
  readonly address: Address
  readonly text: string
}

/** What a node said of a nonce. `code` is the stable one of the error envelope. */
export type WorkAnswer =
  | { readonly accepted: true; readonly id: string; readonly height: number }
  | { readonly accepted: false; readonly code: string; readonly message: string }

/** Costs of a hash that a client takes from a node: what lies beyond would eat its memory or its time. */
const COST_MAX: PowRules = { memoryKiB: 65_536, passes: 16, lanes: 16 }

/** A job as a node tells it, or undefined where it is none, or pays somebody else. */
export function readJob(answer: NodeAnswer['body'], miner: Address): JobView | undefined {
  const { jobId, height, parent, header, transactions } = answer
  if (typeof jobId !== 'string' || !isHex(jobId, 16)) return undefined
  if (typeof header !== 'string' || !isHex(header, HEADER_BYTES - NONCE_BYTES)) return undefined
  const bytes = concat(fromHex(header), new Uint8Array(NONCE_BYTES))
  const decoded = decodeHeader(bytes)
  if (!decoded.ok || decoded.value.header.miner !== miner) return undefined
  const { header: said } = decoded.value
  if (!isHeight(height) || said.height !== height || said.parent !== parent) return undefined
  const [input, target] = [powInput(bytes), uintBE(said.target, 32)]
  if (answer.powInput !== toHex(input) || answer.target !== toHex(target)) return undefined
  const cost = readCost(fieldsOf(answer.pow))
  if (cost === undefined || answer.nonceBytes !== NONCE_BYTES || !isCount(transactions)) return undefined
  return { jobId, height, parent: said.parent, transactions, input, target, cost }
}

function readCost({ algorithm, salt, memoryKiB, passes, lanes }: NodeAnswer['body']): PowRules | undefined {
  if (algorithm !== 'argon2id' || salt !== toHex(POW_SALT)) return undefined
  if (!isCount(memoryKiB) || !isCount(passes) || !isCount(lanes) || passes < 1 || lanes < 1) return undefined
  if (memoryKiB < 8 * lanes || memoryKiB > COST_MAX.memoryKiB) return undefined
  return passes > COST_MAX.passes || lanes > COST_MAX.lanes ? undefined : { memoryKiB, passes, lanes }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** The newest job for an address. */
export async function askJob(baseUrl: string, { address, text }: JobOwner): Promise<Result<JobView>> {
  const answer = expectOk(await askNode(baseUrl, `/api/v1/mining/template?${new URLSearchParams({ address: text })}`))
  if (!answer.ok) return answer
  const job = readJob(answer.value, address)
  return job === undefined ? fail(fault('cli/refused', { message: NO_JOB })) : ok(job)
}

const NO_JOB = 'what it gives as a job is not one that this client understands, or pays another address'

/** Submits a nonce; every answer of the node is a value. */
export async function submitNonce(baseUrl: string, jobId: string, nonce: bigint): Promise<Result<WorkAnswer>> {
  const answer = await postJson(baseUrl, '/api/v1/mining/submit', { jobId, nonce: nonce.toString() })
  if (!answer.ok) return answer
  const { id, height, accepted, code, error } = answer.value.body
  if (accepted === true && typeof id === 'string' && isHex(id, 32) && isHeight(height))
    return ok({ accepted, id, height })
  return ok({ accepted: false, code: textOf(code, 'no_code'), message: textOf(error, String(answer.value.status)) })
}

/**
 * Jobs for an address as the node makes them, the newest first, until the stream ends or the node gives something else.
 * Faults as those of `openEvents`.
 */
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
    const job = readJob(fieldsOf(parsed(data)), miner)
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
