import { HEADER_BYTES, NONCE_BYTES } from '../../consensus/block/header.ts'
import { POW_SALT, powInput } from '../../consensus/block/pow.ts'
import { parseAddress } from '../../consensus/crypto/address.ts'
import { toHex, uintBE } from '../../consensus/primitives/bytes.ts'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import { JOBS_PER_ADDRESS, type RemoteJob } from '../../miner/job-book.ts'
import { REFRESH_MS } from '../../miner/miner.ts'
import type { MINING_JOB } from '../contract/mining.ts'
import type { Static } from '../contract/schema.ts'
import { addressKey, holderOf } from '../edge/client-key.ts'
import { moment } from '../json/chain-json.ts'
import type { NodeApi } from '../node/node-api.ts'
import { type ApiRequest, answer, type Handler } from '../server/answer.ts'

const NONCE_BOUND = 1n << BigInt(8 * NONCE_BYTES)
const NONCE_DIGITS_MAX = 20
/**
 * Minimum life of a job: the latest `JOBS_PER_ADDRESS` jobs stay valid, and a new head makes two jobs at once, then at most
 * one per refresh.
 */
const JOB_MS_MIN = (JOBS_PER_ADDRESS - 2) * REFRESH_MS

/** The newest job for an address. */
export const getMiningTemplate: Handler<'getMiningTemplate'> = async (node, request) => {
  const address = rewardAddress(node, request)
  if (!address.ok) return address.fault
  const job = await node.remoteWork.template(address.value, askerOf(request))
  return job.ok ? answer(jobToJson(node, job.value)) : job.fault
}

/** A nonce out of range is refused before any hash is computed. */
export const submitWork: Handler<'submitWork'> = async (node, { body }) => {
  const { jobId, nonce } = body
  if (nonce.length > NONCE_DIGITS_MAX || BigInt(nonce) >= NONCE_BOUND)
    return fault('rpc/invalid-request', { fields: ['nonce must be below 2^64'] })
  const mined = await node.remoteWork.submit(jobId, BigInt(nonce))
  if (!mined.ok) return mined.fault
  return answer({ accepted: true, id: mined.value.id, height: mined.value.header.height })
}

/** The stream of jobs for an address. */
export const followMiningJobs: Handler<'followMiningJobs'> = (node, request) => {
  const address = rewardAddress(node, request)
  if (!address.ok) return address.fault
  return {
    stream: (sink) => {
      const listener = {
        job: (job: RemoteJob) => sink.send({ event: 'job', id: job.id, data: jobToJson(node, job) }),
        end: () => sink.end(),
      }
      const subscribed = node.remoteWork.subscribe(address.value, listener, askerOf(request))
      return subscribed.ok ? { stop: subscribed.value } : subscribed.fault
    },
  }
}

function askerOf({ isOperator, address }: ApiRequest): Holder {
  return holderOf(isOperator ? 'operator' : addressKey(address))
}

function rewardAddress({ chain }: NodeApi, { query }: ApiRequest): Result<Address> {
  return parseAddress(chain.ruleBook.params.addressPrefix, query.address as string)
}

function jobToJson({ chain }: NodeApi, { id, template, madeMs }: RemoteJob): Static<typeof MINING_JOB> {
  const { block, tips, reward } = template
  const { header, bytes, transactions } = block
  const { memoryKiB, passes, lanes } = chain.ruleBook.at(header.height).block.pow
  return {
    jobId: id,
    height: header.height,
    parent: header.parent,
    time: moment(header.timeMs),
    header: toHex(bytes.subarray(0, HEADER_BYTES - NONCE_BYTES)),
    powInput: toHex(powInput(bytes)),
    target: toHex(uintBE(header.target, 32)),
    pow: { algorithm: 'argon2id', memoryKiB, passes, lanes, salt: toHex(POW_SALT) },
    nonceBytes: NONCE_BYTES,
    transactions: transactions.length,
    weightUsed: header.weightUsed,
    baseFee: header.baseFee.toString(),
    tips: tips.toString(),
    subsidy: (reward - tips).toString(),
    reward: reward.toString(),
    expires: moment(madeMs + JOB_MS_MIN),
  }
}
