import type { RuleBook } from '../../consensus/chain/rule-book.ts'
import type { SignatureJob } from '../../consensus/crypto/signing.ts'
import { createInlineVerifier, type SignatureVerifier } from '../../consensus/crypto/verifier.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { MempoolEntry } from '../../mempool/account-queue.ts'
import { mempoolEntry } from '../../mempool/admission.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY, type MempoolPolicy } from '../../mempool/policy.ts'
import type { Pool } from '../../mempool/pool.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { blocksFrom, importAll } from './branches.ts'
import { TestChain, type TxOptions, wallet } from './chain.ts'
import { testRuleBook } from './network.ts'
import { filled, SAMPLE, units, unsigned } from './unsigned.ts'

/** Options of a transfer. With `rate` it pays exactly that rate at any lower base fee. */
export interface PayOptions extends TxOptions {
  readonly rate?: bigint
  readonly to?: Address
  readonly amount?: bigint
  readonly create?: boolean
}

/** Parts of a mempool that a test may replace. */
export interface MempoolParts {
  readonly policy?: Partial<MempoolPolicy>
  readonly ruleBook?: RuleBook
  readonly test?: TestChain
  readonly verifier?: SignatureVerifier
}

/** A mempool on a chain in this process. */
export class TestMempool {
  readonly test: TestChain
  readonly mempool: Mempool

  private constructor(test: TestChain, { policy = {}, verifier = createInlineVerifier(NATIVE_BACKEND) }: MempoolParts) {
    this.test = test
    this.mempool = new Mempool({ chain: test.chain, verifier, policy: { ...DEFAULT_MEMPOOL_POLICY, ...policy } })
  }

  static async open(parts: MempoolParts = {}): Promise<TestMempool> {
    return new TestMempool(parts.test ?? (await TestChain.open(parts.ruleBook ?? testRuleBook())), parts)
  }

  /** Signs a transfer of a wallet or of the development wallet with that number. */
  pay(from: WalletKey | number, nonce: bigint | number, options: PayOptions = {}): Promise<Transaction> {
    const { rate, to = wallet(2).address, amount = 5_000n, create = false, ...rest } = options
    const rates = rate === undefined ? {} : { maxFeeRate: rate, tip: rate }
    const payload = { to, amount: units(amount), create }
    const signer = typeof from === 'number' ? wallet(from) : from
    return this.test.tx(signer, 'transfer', payload, { ...rates, ...rest, nonce: BigInt(nonce) })
  }

  /** Submits a transaction. Returns why it was refused, or null. */
  async submit(tx: Transaction): Promise<Fault | null> {
    const submitted = await this.mempool.submit(tx)
    return submitted.ok ? null : submitted.fault
  }

  /** Submits a transfer, and throws if it is refused. */
  async put(from: WalletKey | number, nonce: bigint | number, options: PayOptions = {}): Promise<Transaction> {
    const tx = await this.pay(from, nonce, options)
    const refusal = await this.submit(tx)
    if (refusal !== null) throw new Error(JSON.stringify(refusal))
    return tx
  }

  /** Submits transfers with nonces `first` to `last`, and throws if one is refused. */
  async putRun(from: WalletKey | number, first: number, last: number, options?: PayOptions): Promise<Transaction[]> {
    const run: Transaction[] = []
    for (let nonce = first; nonce <= last; nonce++) run.push(await this.put(from, nonce, options))
    return run
  }

  /** Nonces of the account's waiting transactions. */
  noncesOf(number: number): readonly bigint[] {
    return this.mempool.ofAccount(wallet(number).address).map(({ body }) => body.nonce)
  }
}

/** Another node with the chain's blocks except the last `depth`. */
export async function behind(test: TestChain, depth: number): Promise<TestChain> {
  const other = await TestChain.open(test.ruleBook)
  other.nowMs = test.nowMs
  for (const block of blocksFrom(test, 1).slice(0, test.height - depth)) await other.import(block)
  return other
}

/** Makes another branch the best one. It replaces the chain's last `depth` blocks and has these bodies. */
export async function overtake(
  test: TestChain,
  depth: number,
  bodies: readonly (readonly Transaction[])[],
): Promise<void> {
  const rival = await behind(test, depth)
  const fork = rival.height
  for (const body of bodies) await rival.mine(body, { extra: new Uint8Array(32).fill(0x77) })
  const outcome = await importAll(test, blocksFrom(rival, fork + 1))
  if (outcome !== 'connected') throw new Error(JSON.stringify(outcome))
}

/** A verifier whose answers wait for the test, which can act while signatures are checked. */
export class HeldVerifier implements SignatureVerifier {
  readonly #inner = createInlineVerifier(NATIVE_BACKEND)
  readonly #held: (() => void)[] = []

  /** How many batches wait. */
  get held(): number {
    return this.#held.length
  }

  async verify(jobs: readonly SignatureJob[]): Promise<readonly boolean[]> {
    await new Promise<void>((resolve) => this.#held.push(resolve))
    return this.#inner.verify(jobs)
  }

  /** Answers all waiting batches. */
  release(): void {
    for (const resolve of this.#held.splice(0)) resolve()
  }
}

/** Options of an entry in a pool without a chain. */
export interface EntryOptions {
  readonly account?: number
  readonly nonce?: number
  /** The rate that it pays at any lower base fee. */
  readonly rate?: number
  readonly maxFeeRate?: bigint
  readonly tip?: bigint
  readonly sequence?: number
  readonly memo?: Uint8Array
}

const RULES = testRuleBook()

/** An unsigned transfer of account `filled(account)` as a pool holds it. */
export function entryOf(options: EntryOptions = {}): MempoolEntry {
  const { account = 1, nonce = 0, rate = 100, sequence = 0, memo = new Uint8Array(0) } = options
  const { maxFeeRate = BigInt(rate), tip = BigInt(rate) } = options
  const change = { sender: filled(account), nonce: BigInt(nonce), maxFeeRate, tip, memo }
  return mempoolEntry(unsigned('transfer', SAMPLE.transfer(), change), RULES, 1, sequence)
}

/** Entries of a pool as account/nonce, in order of arrival. */
export function contentsOf(pool: Pool): readonly string[] {
  return [...pool.entries()].map(nameOf)
}

/** An entry of {@link entryOf} as account/nonce. */
export function nameOf({ tx }: MempoolEntry): string {
  return `${Number.parseInt(tx.body.sender.slice(0, 2), 16)}/${tx.body.nonce}`
}
