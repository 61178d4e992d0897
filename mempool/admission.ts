import { baseFeeAfter } from '../consensus/block/base-fee.ts'
import type { Chain } from '../consensus/chain/chain.ts'
import { ACCOUNTS } from '../consensus/ledger/account.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import { checkTransaction } from '../consensus/tx/check.ts'
import { declaredWrites } from '../consensus/tx/weight.ts'
import { effectiveRate, type MempoolEntry } from './entry.ts'
import type { MempoolPolicy } from './policy.ts'
import type { Pool } from './pool.ts'

/** What admission looks at. Everything is read when it is asked, so that a moved head is seen. */
export interface AdmissionContext {
  readonly chain: Chain
  readonly pool: Pool
  readonly policy: MempoolPolicy
  /** Rate below which a full pool has recently evicted. */
  readonly floorRate: bigint
}

/** Height that a transaction admitted now can be mined at first. */
export function nextHeight(chain: Chain): number {
  return chain.head.header.height + 1
}

/** Base fee of the next block. */
export function nextBaseFee(chain: Chain): bigint {
  return baseFeeAfter(chain.head.header, chain.ruleBook.at(nextHeight(chain)).block)
}

/** Every check but the signature, cheapest first. */
export function checkAdmission(entry: MempoolEntry, context: AdmissionContext): Fault | null {
  return (
    checkKnown(entry, context) ??
    checkTransaction(entry.tx, context.chain.ruleBook.at(nextHeight(context.chain)).tx) ??
    checkMinable(entry, context) ??
    checkFee(entry, context) ??
    checkAccount(entry, context) ??
    checkReplacement(entry, context) ??
    checkRoom(entry, context) ??
    checkKeys(entry, context)
  )
}

function checkKnown({ tx }: MempoolEntry, { chain, pool }: AdmissionContext): Fault | null {
  if (pool.hasWitness(tx.wtxId) || pool.get(tx.txId) !== undefined) return fault('mempool/known')
  return chain.database.location(tx.txId) === undefined ? null : fault('mempool/mined')
}

/** Whether any block could ever hold it, and the next one in time. */
function checkMinable({ tx, weight, bytes }: MempoolEntry, { chain }: AdmissionContext): Fault | null {
  const height = nextHeight(chain)
  const { bytesMax, weightMax, writesMax } = chain.ruleBook.at(height).block
  if (bytes > bytesMax) return fault('tx/too-large', { bytes, bytesMax })
  if (weight > weightMax) return fault('block/weight-limit', { weight, weightMax })
  const writes = declaredWrites(tx.body)
  if (writes > writesMax) return fault('block/writes-limit', { writes, writesMax })
  const { validUntil } = tx.body
  return validUntil !== 0 && validUntil < height ? fault('tx/expired', { validUntil, height }) : null
}

function checkFee({ tx }: MempoolEntry, { chain, floorRate }: AdmissionContext): Fault | null {
  const baseFee = nextBaseFee(chain)
  const least = baseFee > floorRate ? baseFee : floorRate
  const rate = effectiveRate({ tx }, baseFee)
  if (tx.body.maxFeeRate >= baseFee && rate >= least) return null
  return fault('mempool/fee-too-low', { feeRate: rate.toString(), minFeeRate: least.toString() })
}

function checkAccount({ tx, needs }: MempoolEntry, { chain, pool, policy }: AdmissionContext): Fault | null {
  const { sender, nonce } = tx.body
  const account = chain.database.get(ACCOUNTS, sender)
  if (account === undefined) return fault('tx/sender-unknown')
  const next = account.nonce
  const nonces = { nonce: nonce.toString(), next: next.toString() }
  if (nonce < next) return fault('tx/nonce-too-low', nonces)
  const queue = pool.account(sender)
  const run = queue?.executable(next).length ?? 0
  const replaces = queue?.at(nonce) !== undefined
  const gapped = nonce > next + BigInt(run)
  if (nonce - next >= BigInt(policy.executablePerAccount + policy.gappedPerAccount))
    return fault('tx/nonce-too-high', nonces)
  const waiting = (queue?.size ?? 0) - run
  if (!replaces && (gapped ? waiting >= policy.gappedPerAccount : run >= policy.executablePerAccount)) {
    const countMax = gapped ? policy.gappedPerAccount : policy.executablePerAccount
    return fault('mempool/account-limit', { count: gapped ? waiting : run, countMax })
  }
  const needed = needs + (queue?.needs(nonce) ?? 0n)
  if (needed <= account.balance) return null
  return fault('mempool/balance-exceeded', { needed: needed.toString(), balance: account.balance.toString() })
}

const BPS = 10_000n

/** A replacement pays more at today's base fee and at any other, or it could be had for nothing. */
function checkReplacement({ tx }: MempoolEntry, { chain, pool, policy }: AdmissionContext): Fault | null {
  const old = pool.account(tx.body.sender)?.at(tx.body.nonce)
  if (old === undefined) return null
  const baseFee = nextBaseFee(chain)
  const bumped = (rate: bigint): bigint => (rate * (BPS + policy.replacementBumpBps) + BPS - 1n) / BPS
  const leastRate = bumped(effectiveRate(old, baseFee))
  const leastMax = bumped(old.tx.body.maxFeeRate)
  if (effectiveRate({ tx }, baseFee) >= leastRate && tx.body.maxFeeRate >= leastMax) return null
  return fault('mempool/replacement-fee-too-low', {
    minFeeRate: (leastRate > leastMax ? leastRate : leastMax).toString(),
  })
}

/** A full pool takes only what pays more than its cheapest. */
function checkRoom({ tx, bytes }: MempoolEntry, { chain, pool, policy }: AdmissionContext): Fault | null {
  if (pool.count < policy.countMax && pool.bytes + bytes <= policy.bytesMax) return null
  if (pool.account(tx.body.sender)?.at(tx.body.nonce) !== undefined) return null
  const baseFee = nextBaseFee(chain)
  const cheapest = cheapestRate(pool, baseFee)
  if (cheapest !== undefined && effectiveRate({ tx }, baseFee) > cheapest) return null
  return fault('mempool/full', { minFeeRate: (cheapest ?? 0n).toString() })
}

/** Rate of the cheapest entry that eviction could take. */
function cheapestRate(pool: Pool, baseFee: bigint): bigint | undefined {
  let cheapest: bigint | undefined
  for (const [, queue] of pool.accounts()) {
    const last = queue.last()
    if (last === undefined) continue
    const rate = effectiveRate(last, baseFee)
    if (cheapest === undefined || rate < cheapest) cheapest = rate
  }
  return cheapest
}

/** A later transaction needs keys that the chain, or an earlier one waiting here, has brought. */
function checkKeys({ tx }: MempoolEntry, { chain, pool }: AdmissionContext): Fault | null {
  const { sender, nonce } = tx.body
  if (nonce === 0n || chain.keys.keysOf(sender) !== undefined) return null
  return pool.account(sender)?.at(0n) === undefined ? fault('tx/keys-missing') : null
}
