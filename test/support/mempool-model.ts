import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import type { Address, TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { weightOf } from '../../consensus/tx/weight.ts'
import type { MempoolPolicy } from '../../mempool/policy.ts'
import type { TestChain } from './chain.ts'

type Body = readonly Transaction[]

/**
 * A model of the mempool without indexes: it answers every question by going through one list. It knows transfers only,
 * and reads accounts and base fee from the chain.
 */
export class MempoolModel {
  readonly #test: TestChain
  readonly #policy: MempoolPolicy
  /** Waiting transactions, in order of arrival. */
  waiting: Body = []
  /** Bodies of the best chain from height 1 on. */
  blocks: readonly Body[] = []
  /** Least rate that is admitted after an eviction under this head. */
  floor = 0n
  readonly #withKeys = new Set<Address>()
  /** For each transaction that no block can take: the height of the earliest next block that could not take it. */
  #since = new Map<TxId, number>()

  constructor(test: TestChain, policy: MempoolPolicy) {
    this.#test = test
    this.#policy = policy
  }

  get baseFee(): bigint {
    const { chain } = this.#test
    return baseFeeAfter(chain.head.header, chain.ruleBook.at(this.nextHeight).block)
  }

  get nextHeight(): number {
    return this.blocks.length + 1
  }

  get minFeeRate(): bigint {
    return this.baseFee > this.floor ? this.baseFee : this.floor
  }

  get bytes(): number {
    return this.waiting.reduce((sum, { size }) => sum + size + 4, 0)
  }

  nonceOf(address: Address): bigint {
    return this.#test.chain.database.get(ACCOUNTS, address)?.nonce ?? 0n
  }

  /** The account's waiting transactions by nonce. */
  of(address: Address): Body {
    const own = this.waiting.filter(({ body }) => body.sender === address)
    return own.sort((a, b) => Number(a.body.nonce - b.body.nonce))
  }

  /** First nonce, from the account's own, without a waiting transaction. */
  nextNonce(address: Address): bigint {
    const nonces = new Set(this.of(address).map(({ body }) => body.nonce))
    let next = this.nonceOf(address)
    while (nonces.has(next)) next++
    return next
  }

  rateOf({ body }: Transaction): bigint {
    const wanted = this.baseFee + body.tip
    return wanted < body.maxFeeRate ? wanted : body.maxFeeRate
  }

  needs(transactions: Body): bigint {
    const { tx: rules } = this.#test.ruleBook.at(this.nextHeight)
    const need = (tx: Transaction): bigint => {
      if (tx.body.kind !== 'transfer') throw new Error('the model knows transfers alone')
      return tx.body.payload.amount + BigInt(weightOf(tx, rules)) * tx.body.maxFeeRate
    }
    return transactions.reduce((sum, tx) => sum + need(tx), 0n)
  }

  /** The order in which a block takes transactions: of those whose nonce is next, always the one with the highest rate. */
  candidates(): Body {
    const taken = new Map<Address, bigint>()
    const order: Transaction[] = []
    for (;;) {
      const turns = this.waiting.filter(({ body }) => {
        const turn = taken.get(body.sender) ?? this.nonceOf(body.sender)
        return body.nonce === turn && body.maxFeeRate >= this.baseFee
      })
      const best = dearestFirst(turns, (tx) => this.rateOf(tx))[0]
      if (best === undefined) return order
      order.push(best)
      taken.set(best.body.sender, best.body.nonce + 1n)
    }
  }

  /** Every rule that refuses the transaction. Empty if it is admitted. */
  refusals(tx: Transaction): readonly FaultCode[] {
    if (this.waiting.some(({ txId }) => txId === tx.txId)) return ['mempool/known']
    if (this.blocks.flat().some(({ txId }) => txId === tx.txId)) return ['mempool/mined']
    const account = this.#test.chain.database.get(ACCOUNTS, tx.body.sender)
    if (account === undefined) return [...this.#ownRefusals(tx), 'tx/sender-unknown']
    if (tx.body.nonce < account.nonce) return [...this.#ownRefusals(tx), 'tx/nonce-too-low']
    return [...this.#ownRefusals(tx), ...this.#queueRefusals(tx, account), ...this.#poolRefusals(tx)]
  }

  #ownRefusals({ body }: Transaction): readonly FaultCode[] {
    const found: FaultCode[] = []
    if (body.validUntil !== 0 && body.validUntil < this.nextHeight) found.push('tx/expired')
    if (body.maxFeeRate < this.baseFee || this.rateOf({ body } as Transaction) < this.minFeeRate)
      found.push('mempool/fee-too-low')
    return found
  }

  #queueRefusals(tx: Transaction, { nonce, balance }: { nonce: bigint; balance: bigint }): readonly FaultCode[] {
    const { executablePerAccount, gappedPerAccount } = this.#policy
    const found: FaultCode[] = []
    const { sender } = tx.body
    const next = this.nextNonce(sender)
    const others = this.of(sender).filter(({ body }) => body.nonce !== tx.body.nonce)
    const isNew = others.length === this.of(sender).length
    const gapped = others.filter(({ body }) => body.nonce > next).length
    if (tx.body.nonce - nonce >= BigInt(executablePerAccount + gappedPerAccount)) found.push('tx/nonce-too-high')
    const executable = Number(next - nonce)
    const crowded = tx.body.nonce > next ? gapped >= gappedPerAccount : executable >= executablePerAccount
    if (isNew && crowded) found.push('mempool/account-limit')
    if (this.needs([...others, tx]) > balance) found.push('mempool/balance-exceeded')
    const keys = this.#withKeys.has(sender) || others.some(({ body }) => body.nonce === 0n)
    if (tx.body.nonce > 0n && !keys) found.push('tx/keys-missing')
    return found
  }

  #poolRefusals(tx: Transaction): readonly FaultCode[] {
    const old = this.of(tx.body.sender).find(({ body }) => body.nonce === tx.body.nonce)
    if (old !== undefined) {
      const more = (value: bigint, than: bigint): boolean =>
        value * 10_000n >= than * (10_000n + this.#policy.replacementBumpBps)
      // At a base fee of zero the old transaction pays its tip, at most its max fee rate. The new tip must be at least that.
      const { tip, maxFeeRate } = old.body
      const keepsTip = tx.body.tip >= (tip < maxFeeRate ? tip : maxFeeRate)
      const enough = keepsTip && more(this.rateOf(tx), this.rateOf(old)) && more(tx.body.maxFeeRate, maxFeeRate)
      return enough ? [] : ['mempool/replacement-fee-too-low']
    }
    const { countMax, bytesMax } = this.#policy
    const full = this.waiting.length >= countMax || this.bytes + tx.size + 4 > bytesMax
    const worst = this.#evictable()[0]
    const beats = !full || (worst !== undefined && this.rankOf(tx) > this.rankOf(worst))
    // Under the same head, a transaction below the floor would be evicted again.
    return beats && this.rankOf(tx) >= this.floor ? [] : ['mempool/full']
  }

  /** The lowest rate among the transaction and its account's transactions with lower nonces. 0 if no block can take all of them. */
  rankOf({ body }: Transaction): bigint {
    const way: Transaction[] = []
    for (let nonce = this.nonceOf(body.sender); nonce <= body.nonce; nonce++) {
      const on =
        nonce === body.nonce ? ({ body } as Transaction) : this.of(body.sender).find((tx) => tx.body.nonce === nonce)
      if (on === undefined || on.body.maxFeeRate < this.baseFee) return 0n
      way.push(on)
    }
    const rates = way.map((tx) => this.rateOf(tx))
    return rates.reduce((least, rate) => (rate < least ? rate : least), rates[0] ?? 0n)
  }

  /** Admits a transaction. If a limit is exceeded then, evicts until count and bytes are 5% below their limits. */
  admit(tx: Transaction): void {
    this.waiting = [...this.waiting.filter((other) => !sameNonce(other, tx)), tx]
    const { countMax, bytesMax } = this.#policy
    if (this.waiting.length <= countMax && this.bytes <= bytesMax) return
    const [count, bytes] = [countMax - Math.floor(countMax / 20), bytesMax - Math.floor(bytesMax / 20)]
    while (this.waiting.length > count || this.bytes > bytes) {
      const worst = this.#evictable()[0] as Transaction
      const rank = this.rankOf(worst)
      this.waiting = this.waiting.filter((other) => other !== worst)
      if (rank >= this.floor) this.floor = rank + 1n
    }
  }

  /** The last transaction of each account, the lowest rank first. Of equals the latest arrival comes first. */
  #evictable(): Body {
    const last = this.waiting.filter((tx) => this.of(tx.body.sender).at(-1) === tx)
    return [...dearestFirst(last, (tx) => this.rankOf(tx))].reverse()
  }

  /** Follows a change of the best chain's bodies. */
  follow(blocks: readonly Body[]): void {
    const before = this.blocks
    this.blocks = blocks
    this.floor = 0n
    const mined = new Set<TxId>(blocks.flat().map(({ txId }) => txId))
    for (const { body } of blocks.flat()) this.#withKeys.add(body.sender)
    const unwound = before.flat().filter(({ txId }) => !mined.has(txId))
    const kept = this.waiting.filter(({ txId }) => !mined.has(txId))
    this.waiting = [...kept, ...unwound].filter(
      ({ body }) =>
        body.nonce >= this.nonceOf(body.sender) && (body.validUntil === 0 || body.validUntil >= this.nextHeight),
    )
    for (const address of new Set(this.waiting.map(({ body }) => body.sender))) this.#dropUnpayable(address)
    this.#dropUnminable()
  }

  #dropUnminable(): void {
    const unminable = this.waiting.filter((tx) => this.rankOf(tx) === 0n)
    this.#since = new Map(unminable.map(({ txId }) => [txId, this.#since.get(txId) ?? this.nextHeight]))
    const since = ({ txId }: Transaction): number => this.#since.get(txId) ?? this.nextHeight
    this.waiting = this.waiting.filter((tx) => this.nextHeight - since(tx) < this.#policy.unminableBlocksMax)
  }

  #dropUnpayable(address: Address): void {
    const balance = this.#test.balance(address)
    while (this.needs(this.of(address)) > balance) {
      const last = this.of(address).at(-1)
      this.waiting = this.waiting.filter((tx) => tx !== last)
    }
  }
}

function sameNonce(a: Transaction, b: Transaction): boolean {
  return a.body.sender === b.body.sender && a.body.nonce === b.body.nonce
}

/** Highest rate first. Of equals the earlier stays first, because sorting is stable. */
function dearestFirst(transactions: Body, rate: (tx: Transaction) => bigint): Body {
  return transactions.toSorted((a, b) => (rate(a) === rate(b) ? 0 : rate(a) > rate(b) ? -1 : 1))
}
