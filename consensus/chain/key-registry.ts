import { type AccountKeys, decodeAccountKeys } from '../crypto/account-keys.ts'
import type { SignatureJob, SigningNetwork } from '../crypto/signing.ts'
import { assert } from '../primitives/assert.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address, WtxId } from '../primitives/ids.ts'
import { LruMap } from '../primitives/lru.ts'
import { fail, type Result } from '../primitives/result.ts'
import { carriedKeys, signatureJob } from '../tx/check.ts'
import type { Transaction } from '../tx/transaction.ts'

const CACHED_KEYS = 4_096

/** The signatures of the transaction at `index` of a list. */
export interface IndexedJob {
  readonly index: number
  readonly job: SignatureJob
}

/** A transaction whose signatures cannot be checked, and why. */
export interface Uncheckable {
  readonly ok: false
  readonly index: number
  readonly tx: Transaction
  readonly fault: Fault
}

interface KeySource {
  keysOf(address: Address): Uint8Array | undefined
}

/**
 * Public keys by address. The address commits to its keys, so entries stay true over reorganisations. A missing entry
 * is a local lack and never makes a transaction invalid.
 */
export class KeyRegistry {
  readonly #source: KeySource
  readonly #decoded = new LruMap<Address, AccountKeys>(CACHED_KEYS)

  constructor(source: KeySource) {
    this.#source = source
  }

  keysOf(address: Address): AccountKeys | undefined {
    const cached = this.#decoded.get(address)
    if (cached !== undefined) return cached
    const encoded = this.#source.keysOf(address)
    if (encoded === undefined) return undefined
    const keys = decodeAccountKeys(encoded)
    assert(keys.ok, 'stored keys do not decode')
    this.#decoded.set(address, keys.value)
    return keys.value
  }

  keysFor(tx: Transaction, pending?: ReadonlyMap<Address, AccountKeys>): Result<AccountKeys> {
    const { sender, nonce } = tx.body
    if (nonce === 0n) return carriedKeys(sender, tx.witness.keys)
    const keys = pending?.get(sender) ?? this.keysOf(sender)
    return keys === undefined ? fail(fault('tx/keys-missing')) : { ok: true, value: keys }
  }

  /**
   * Signatures to check, in order, without those of transactions that `known` calls verified; or the first transaction
   * whose signatures cannot be checked. `pending` are keys that the chain has not seen yet.
   */
  jobsFor(
    transactions: readonly Transaction[],
    network: SigningNetwork,
    known: (wtxId: WtxId) => boolean,
    pending: ReadonlyMap<Address, AccountKeys> = new Map(),
  ): { readonly ok: true; readonly value: readonly IndexedJob[] } | Uncheckable {
    const brought = new Map(pending)
    const jobs: IndexedJob[] = []
    for (const [index, tx] of transactions.entries()) {
      const verified = known(tx.wtxId)
      if (verified && tx.body.nonce !== 0n) continue
      const keys = this.keysFor(tx, brought)
      if (!keys.ok) return { ok: false, index, tx, fault: keys.fault }
      if (tx.body.nonce === 0n) brought.set(tx.body.sender, keys.value)
      if (verified) continue
      const job = signatureJob(tx, keys.value, network)
      if (!job.ok) return { ok: false, index, tx, fault: job.fault }
      jobs.push({ index, job: job.value })
    }
    return { ok: true, value: jobs }
  }
}

/** If only this node lacks the keys, the block may be valid. */
export function uncheckableFault({ index, tx, fault: { code } }: Uncheckable): Fault {
  if (code === 'tx/keys-missing') return fault('chain/keys-missing', { address: tx.body.sender })
  return fault('block/transaction', { index, reason: code })
}
