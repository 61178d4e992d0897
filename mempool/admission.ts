import { baseFeeAfter } from '../consensus/block/base-fee.ts'
import { sizeInBlock } from '../consensus/block/block.ts'
import type { Chain } from '../consensus/chain/chain.ts'
import type { ChainFollower, ChainReader } from '../consensus/chain/reader.ts'
import type { RuleBook } from '../consensus/chain/rule-book.ts'
import { signaturesAhead } from '../consensus/chain/signatures-ahead.ts'
import type { SignatureVerifier } from '../consensus/crypto/verifier.ts'
import { ACCOUNTS } from '../consensus/ledger/account.ts'
import type { KindHandler } from '../consensus/ledger/module.ts'
import { formatAmount } from '../consensus/primitives/amount.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { Address, TxId } from '../consensus/primitives/ids.ts'
import { LruMap } from '../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import { runNow } from '../consensus/primitives/steps.ts'
import { carriedKeys, checkTransaction } from '../consensus/tx/check.ts'
import type { TxKind } from '../consensus/tx/kinds.ts'
import type { Transaction } from '../consensus/tx/transaction.ts'
import { declaredWrites, weightOf } from '../consensus/tx/weight.ts'
import { effectiveRate, type MempoolEntry } from './account-queue.ts'
import type { MempoolPolicy } from './policy.ts'
import type { Pool } from './pool.ts'
import type { Ranking } from './ranking.ts'
import { checkSpent, checkTabPlace } from './tab-places.ts'

/** What admission reads. */
export interface AdmissionDependencies {
  readonly chain: ChainFollower & Pick<Chain, 'verified'>
  readonly verifier: SignatureVerifier
  readonly pool: Pool
  readonly policy: MempoolPolicy
  readonly ranking: Ranking
  readonly unpaid: Unpaid
  /** 1 more than the highest rank evicted since the head last moved; 0 if nothing was evicted. */
  readonly floorRate: () => bigint
}

/** Decides which transactions may wait to be mined. */
export class Admission {
  readonly #deps: AdmissionDependencies
  #verifying = 0
  #verifyingAhead = 0

  constructor(dependencies: AdmissionDependencies) {
    this.#deps = dependencies
  }

  async refusalOf(tx: Transaction, sequence: number): Promise<Fault | null> {
    const admitted = this.admit(tx, sequence)
    return admitted.ok ? await this.#checkSignature(tx) : admitted.fault
  }

  /**
   * A bad signature inside the payload is no reason to refuse it, but filling or importing its block finds the verdicts. Above a bound they
   * are left to the block, which has paid for them.
   */
  async #verifyAhead(tx: Transaction): Promise<void> {
    const { chain, verifier } = this.#deps
    const unknown = runNow(signaturesAhead(chain.ruleBook, chain.database, [tx]))
    if (this.#verifyingAhead + unknown.size > AHEAD_MAX) return
    this.#verifyingAhead += unknown.size
    await chain.ruleBook.tabVerdicts.checkAhead(unknown, verifier)
    this.#verifyingAhead -= unknown.size
  }

  /** Every check but the signature. */
  admit(tx: Transaction, sequence: number): Result<MempoolEntry> {
    const { chain } = this.#deps
    const entry = mempoolEntry(tx, chain.ruleBook, nextHeight(chain), sequence)
    const refusal = checkAdmission(entry, this.#deps)
    return refusal === null ? ok(entry) : fail(refusal)
  }

  async #checkSignature(tx: Transaction): Promise<Fault | null> {
    const { chain, verifier, pool, policy } = this.#deps
    const { network, verified } = chain
    if (verified.has(tx.wtxId)) return null
    const parts = tx.witness.signatures.length
    if (this.#verifying + parts > policy.verifyingMax) return fault('mempool/busy')
    const first = pool.account(tx.body.sender)?.at(0n)?.tx
    const carried = first === undefined ? undefined : carriedKeys(first.body.sender, first.witness.keys)
    const pending = carried?.ok ? new Map([[tx.body.sender, carried.value]]) : undefined
    const jobs = chain.keys.jobsFor([tx], network, () => false, pending)
    if (!jobs.ok) return jobs.fault
    this.#verifying += parts
    try {
      const [good] = await verifier.verify(jobs.value.map(({ job }) => job))
      if (good !== true) return fault('tx/bad-signature')
      verified.add(tx.wtxId)
      await this.#verifyAhead(tx)
      return null
    } catch (error) {
      return fault('mempool/unverified', { reason: String(error).slice(0, 120) })
    } finally {
      this.#verifying -= parts
    }
  }
}

/** Most signatures inside payloads that are checked at once, before a block has the transactions: about 15 ms of two threads. */
const AHEAD_MAX = 256

/** Lowest height at which a transaction admitted now can be mined. */
export function nextHeight(chain: ChainReader): number {
  return chain.head.header.height + 1
}

/** Base fee of the next block. */
export function nextBaseFee(chain: ChainReader): bigint {
  return baseFeeAfter(chain.head.header, chain.ruleBook.at(nextHeight(chain)).block)
}

/** The mempool entry of a transaction. */
export function mempoolEntry(tx: Transaction, ruleBook: RuleBook, height: number, sequence: number): MempoolEntry {
  const rules = ruleBook.at(height)
  const weight = weightOf(tx, rules.tx)
  const handler = ruleBook.handlers[tx.body.kind] as unknown as KindHandler<TxKind>
  const needs = handler.spends(tx.body, rules) + BigInt(weight) * tx.body.maxFeeRate
  return { tx, weight, bytes: sizeInBlock(tx), needs, sequence }
}

function checkAdmission(entry: MempoolEntry, context: AdmissionDependencies): Fault | null {
  return (
    checkHeadSettled(context) ??
    checkKnown(entry, context) ??
    checkStanding(entry, context.chain) ??
    checkFee(entry, context) ??
    checkAccount(entry, context) ??
    checkReplacement(entry, context) ??
    checkTabPlace(entry, context) ??
    checkSpent(entry, context) ??
    checkUnpaid(entry, context) ??
    checkKeys(entry, context) ??
    checkRoom(entry, context)
  )
}

/** During a reorganisation the temporary head may lack transactions that are mined. */
function checkHeadSettled({ chain }: AdmissionDependencies): Fault | null {
  return chain.moving ? fault('mempool/busy') : null
}

function checkKnown({ tx }: MempoolEntry, { chain, pool }: AdmissionDependencies): Fault | null {
  if (pool.hasWitness(tx.wtxId) || pool.get(tx.txId) !== undefined) return fault('mempool/known')
  return chain.database.location(tx.txId) === undefined ? null : fault('mempool/mined')
}

/** A fault unless the next block could hold the transaction. Neither nonce nor fee is checked. */
export function checkStanding({ tx, weight, bytes }: MempoolEntry, chain: ChainReader): Fault | null {
  const height = nextHeight(chain)
  const rules = chain.ruleBook.at(height)
  const malformed = checkTransaction(tx, rules.tx)
  if (malformed !== null) return malformed
  const { bytesMax, weightMax, writesMax } = rules.block
  if (bytes > bytesMax) return fault('tx/too-large', { bytes, bytesMax })
  if (weight > weightMax) return fault('block/weight-limit', { weight, weightMax })
  const writes = declaredWrites(tx.body)
  if (writes > writesMax) return fault('block/writes-limit', { writes, writesMax })
  const { validUntil } = tx.body
  return validUntil !== 0 && validUntil < height ? fault('tx/expired', { validUntil, height }) : null
}

function checkFee({ tx, weight }: MempoolEntry, { chain, ranking, floorRate }: AdmissionDependencies): Fault | null {
  const baseFee = nextBaseFee(chain)
  const floor = ranking.spared.has(tx.body.sender) ? 0n : floorRate()
  const least = baseFee > floor ? baseFee : floor
  const rate = effectiveRate({ tx }, baseFee)
  if (tx.body.maxFeeRate >= baseFee && rate >= least) return null
  const texts = { feeText: feeText(chain, weight, rate), leastText: feeText(chain, weight, least) }
  return fault('mempool/fee-too-low', { feeRate: rate.toString(), minFeeRate: least.toString(), ...texts })
}

function checkAccount({ tx, needs }: MempoolEntry, { chain, pool, policy }: AdmissionDependencies): Fault | null {
  const { sender, nonce } = tx.body
  const account = chain.database.get(ACCOUNTS, sender)
  if (account === undefined) return fault('tx/sender-unknown')
  const next = account.nonce
  const nonces = { nonce: nonce.toString(), next: next.toString() }
  if (nonce < next) return fault('tx/nonce-too-low', nonces)
  const queue = pool.account(sender)
  const run = queue?.executableCount(next) ?? 0
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
  const { balance } = account
  const texts = { neededText: coinText(chain, needed), balanceText: coinText(chain, balance) }
  return fault('mempool/balance-exceeded', { needed: needed.toString(), balance: balance.toString(), ...texts })
}

function feeText(chain: ChainReader, weight: number, rate: bigint): string {
  return coinText(chain, BigInt(weight) * rate)
}

function coinText({ ruleBook: { params } }: ChainReader, units: bigint): string {
  return `${formatAmount(units, params.decimals)} ${params.ticker}`
}

const BPS = 10_000n

/** A replacement must pay more at the present base fee, and no less at any other. */
function checkReplacement({ tx, weight }: MempoolEntry, { chain, pool, policy }: AdmissionDependencies): Fault | null {
  const old = pool.account(tx.body.sender)?.at(tx.body.nonce)
  if (old === undefined) return null
  const baseFee = nextBaseFee(chain)
  const bumped = (rate: bigint): bigint => (rate * (BPS + policy.replacementBumpBps) + BPS - 1n) / BPS
  const leastRate = bumped(effectiveRate(old, baseFee))
  const leastMax = bumped(old.tx.body.maxFeeRate)
  // With a smaller tip the replacement would pay less as soon as the base fee falls.
  const leastTip = effectiveRate(old, 0n)
  const { maxFeeRate, tip } = tx.body
  if (effectiveRate({ tx }, baseFee) >= leastRate && maxFeeRate >= leastMax && tip >= leastTip) return null
  const least = leastRate > leastMax ? leastRate : leastMax
  return fault('mempool/replacement-fee-too-low', {
    ...{ minFeeRate: least.toString(), minTip: leastTip.toString() },
    ...{ leastText: feeText(chain, weight, least), tipText: feeText(chain, weight, leastTip) },
  })
}

/** Every admitted transaction costs all nodes a signature check and its bytes, even if it is never mined. */
function checkUnpaid({ tx }: MempoolEntry, { chain, policy, ranking, unpaid }: AdmissionDependencies): Fault | null {
  const { sender } = tx.body
  if (ranking.spared.has(sender) || unpaid.leftOf(sender, nextHeight(chain)) >= 1) return null
  return fault('mempool/account-unpaid', { countMax: policy.unpaidPerAccount, perBlock: policy.unpaidPerBlock })
}

/** Above nonce 0, the keys must be known to the chain, or come with the account's waiting transaction of nonce 0. */
function checkKeys({ tx }: MempoolEntry, { chain, pool }: AdmissionDependencies): Fault | null {
  const { sender, nonce } = tx.body
  if (nonce === 0n || chain.keys.keysOf(sender) !== undefined) return null
  return pool.account(sender)?.at(0n) === undefined ? fault('tx/keys-missing') : null
}

/**
 * A full pool admits only a transaction that ranks above its worst, and above all that were evicted under this head. A
 * replacement that is no longer than the old one always has room.
 */
function checkRoom({ tx, bytes }: MempoolEntry, context: AdmissionDependencies): Fault | null {
  const { pool, policy, ranking } = context
  const floorRate = context.floorRate()
  const { sender, nonce } = tx.body
  const old = pool.account(sender)?.at(nonce)
  const grows = bytes - (old?.bytes ?? 0)
  const full =
    (old === undefined && pool.count >= policy.countMax) || (grows > 0 && pool.bytes + grows > policy.bytesMax)
  if (!full && (floorRate === 0n || old !== undefined)) return null
  if (ranking.spared.has(sender)) return null
  const gone = floorRate === 0n ? 0n : floorRate - 1n
  const worst = full ? ranking.worst() : undefined
  const bar = worst !== undefined && worst.rank > gone ? worst.rank : gone
  const room = !full || worst !== undefined
  return room && ranking.rankOf(tx) > bar ? null : fault('mempool/full', { minFeeRate: bar.toString() })
}

/** A forgotten account has its full allowance again; opening many accounts costs fees. */
const ACCOUNTS_KEPT = 65_536

interface Account {
  readonly left: number
  readonly height: number
}

/**
 * Limits how many transactions of an account are admitted, checked and relayed before some are mined, since a waiting
 * transaction may never pay. Each admission takes 1 from the allowance. A mined nonce gives back only 1, however often it
 * was replaced: the replaced transactions paid nothing. Otherwise the allowance grows only with the blocks.
 */
export class Unpaid {
  readonly #policy: MempoolPolicy
  readonly #accounts = new LruMap<Address, Account>(ACCOUNTS_KEPT)
  /** Waiting transactions whose admission took 1 from an allowance. */
  readonly #taken = new Set<TxId>()

  constructor(policy: MempoolPolicy) {
    this.#policy = policy
  }

  leftOf(address: Address, height: number): number {
    const { unpaidPerAccount, unpaidPerBlock } = this.#policy
    const known = this.#accounts.get(address)
    if (known === undefined) return unpaidPerAccount
    return Math.min(unpaidPerAccount, known.left + Math.max(0, height - known.height) * unpaidPerBlock)
  }

  /** Counts an admission, replacements included. */
  took({ txId, body }: Transaction, height: number): void {
    this.#taken.add(txId)
    this.#set(body.sender, this.leftOf(body.sender, height) - 1, height)
  }

  /** A block has mined the nonce of this waiting transaction. */
  paid({ txId, body }: Transaction, height: number): void {
    if (this.#taken.delete(txId)) this.#set(body.sender, this.leftOf(body.sender, height) + 1, height)
  }

  /** Forgets transactions that left unmined: nothing is given back for them. */
  forget(waits: (txId: TxId) => boolean): void {
    for (const txId of this.#taken) if (!waits(txId)) this.#taken.delete(txId)
  }

  #set(address: Address, left: number, height: number): void {
    this.#accounts.set(address, { left: Math.min(this.#policy.unpaidPerAccount, left), height })
  }
}
