import { baseFeeAfter } from '../../../../consensus/block/base-fee.ts'
import type { Chain } from '../../../../consensus/chain/chain.ts'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import type { Result } from '../../../../consensus/primitives/result.ts'
import type { PayloadOf, TxKind } from '../../../../consensus/tx/kinds.ts'
import { signTransaction } from '../../../../consensus/tx/sign.ts'
import { type Transaction, TX_VERSION, type TxBody } from '../../../../consensus/tx/transaction.ts'
import { rateOf, weightOf } from '../../../../consensus/tx/weight.ts'
import { FEE_ROOM } from '../../settings.ts'
import type { Operator, TransactionSink } from '../../shop.ts'

/** A transaction that is not mined within this many blocks expires, and is made again at the current fee. */
const VALID_BLOCKS = 30
/** A small tip, so that the operator's transactions are not last. */
const TIP_RATE = 1n
/** Blocks that a transaction waits before its fee is raised. */
const PATIENCE_BLOCKS = 3
/** For a replacement, mempools want a tenth more in the rate that it pays now and in `maxFeeRate`. An eighth leaves room for rounding. */
const BUMP_DIVISOR = 8n
const NO_MEMO = new Uint8Array(0)

interface Valued {
  /** What one transaction may cost. */
  readonly worth: (tx: Transaction) => bigint
  readonly keep: (tx: Transaction) => Promise<void>
}

/** Signs and submits the operator's transactions one after another, so that two never take the same nonce. */
export class Sender {
  readonly #chain: Chain
  readonly #sink: TransactionSink
  readonly #signer: Operator['settler']
  /** Height at which each waiting transaction was first seen here. */
  readonly #seenAt = new Map<string, number>()
  readonly #valued = new Map<TxKind, Valued>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(chain: Chain, sink: TransactionSink, signer: Operator['settler']) {
    this.#chain = chain
    this.#sink = sink
    this.#signer = signer
  }

  get waiting(): readonly Transaction[] {
    return this.#sink.ofAccount(this.#signer.address)
  }

  /** Waiting transactions that a block could take: each nonce before theirs is used or waits, too. */
  get minable(): readonly Transaction[] {
    let next = this.#chain.database.get(ACCOUNTS, this.#signer.address)?.nonce ?? 0n
    const run: Transaction[] = []
    for (const tx of this.waiting) {
      if (tx.body.nonce !== next) break
      run.push(tx)
      next += 1n
    }
    return run
  }

  get address(): Address {
    return this.#signer.address
  }

  send<K extends TxKind>(kind: K, payload: PayloadOf<K>, memo: Uint8Array = NO_MEMO): Promise<Result<Transaction>> {
    return this.#inTurn(async () => this.#submit(this.#body(kind, payload, memo)))
  }

  /** Like `send`, but the signed transaction is handed to `keep` before it leaves this process. */
  sendKept<K extends TxKind>(
    kind: K,
    payload: PayloadOf<K>,
    keep: (tx: Transaction) => Promise<void>,
  ): Promise<Result<Transaction>> {
    return this.#inTurn(async () => this.#submit(this.#body(kind, payload, NO_MEMO), keep))
  }

  /** Submits a transaction that was signed before, as it is. */
  sendAgain(tx: Transaction): Promise<Result<Transaction>> {
    return this.#inTurn(() => this.#sink.submit(tx))
  }

  /** Says what the transactions of a kind are worth, for every `hurry`. A raised one is kept before it is sent. */
  value(kind: TxKind, valued: Valued): void {
    this.#valued.set(kind, valued)
  }

  /**
   * At least doubles the tip of transactions that wait too long, so that other senders that fill blocks cannot keep them out for ever.
   * `worth` says what one transaction may cost. The transactions with later nonces depend on it, so what they are worth beyond their own
   * fees counts for it too.
   */
  hurry(worth: (tx: Transaction) => bigint): Promise<readonly Result<Transaction>[]> {
    return this.#inTurn(async () => {
      const impatient = new Set(this.#impatient())
      const raises: TxBody[] = []
      let behind = 0n
      for (const tx of this.minable.toReversed()) {
        const budget = (this.#valued.get(tx.body.kind)?.worth ?? worth)(tx) + behind
        const raised = impatient.has(tx) ? this.#raised(tx, budget) : null
        if (raised !== null) raises.push(raised)
        behind = larger(0n, budget - this.#feeOf(tx, raised ?? tx.body))
      }
      const results: Result<Transaction>[] = []
      for (const body of raises.reverse()) results.push(await this.#submit(body, this.#valued.get(body.kind)?.keep))
      for (const result of results) if (result.ok) this.#seenAt.set(result.value.txId, this.#chain.head.header.height)
      return results
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work)
    this.#queue = turn.catch(() => {})
    return turn
  }

  #body<K extends TxKind>(kind: K, payload: PayloadOf<K>, memo: Uint8Array): TxBody {
    const { network } = this.#chain
    return {
      version: TX_VERSION,
      chainId: network.chainId,
      sender: this.#signer.address,
      nonce: this.#sink.nextNonce(this.#signer.address),
      kind,
      payload,
      maxFeeRate: this.#baseFee() * FEE_ROOM + TIP_RATE,
      tip: TIP_RATE,
      validUntil: this.#nextHeight() + VALID_BLOCKS,
      memo,
    } as unknown as TxBody
  }

  async #submit(body: TxBody, keep?: (tx: Transaction) => Promise<void>): Promise<Result<Transaction>> {
    const tx = await signTransaction(body, this.#signer, this.#chain.network)
    await keep?.(tx)
    return this.#sink.submit(tx)
  }

  /** Transactions that have waited for some blocks, by nonce. */
  #impatient(): readonly Transaction[] {
    const { height } = this.#chain.head.header
    const { waiting } = this
    const ids = new Set<string>(waiting.map(({ txId }) => txId))
    for (const txId of this.#seenAt.keys()) if (!ids.has(txId)) this.#seenAt.delete(txId)
    for (const txId of ids) if (!this.#seenAt.has(txId)) this.#seenAt.set(txId, height)
    return waiting.filter(({ txId }) => height - (this.#seenAt.get(txId) ?? height) >= PATIENCE_BLOCKS)
  }

  /** Null if a higher fee is not worth its cost, and the transaction can be mined as it is, or is a receipt that earns nothing. */
  #raised(tx: Transaction, worth: bigint): TxBody | null {
    const { body } = tx
    const baseFee = this.#baseFee()
    const leastTip = bumped(rateOf(body, baseFee)) - baseFee
    const dearer = larger(2n * body.tip, leastTip)
    const outbids = this.#feeOf(tx, { maxFeeRate: baseFee + dearer, tip: dearer }) <= worth
    // A receipt or claim that earns nothing need not be mined: at the deadline consensus gives back what it is about.
    const worthless = worth === 0n && (body.kind === 'agent_receipt' || body.kind === 'tab_claim')
    if (!outbids && (worthless || body.maxFeeRate >= baseFee)) return null
    const tip = outbids ? dearer : larger(body.tip, leastTip)
    const roomy = baseFee * FEE_ROOM + tip
    const affordable = outbids ? worth / this.#weightOf(tx) : roomy
    return {
      ...body,
      tip,
      maxFeeRate: larger(roomy < affordable ? roomy : affordable, bumped(body.maxFeeRate)),
      validUntil: body.validUntil === 0 ? 0 : this.#nextHeight() + VALID_BLOCKS,
    }
  }

  #feeOf(tx: Transaction, rates: Pick<TxBody, 'maxFeeRate' | 'tip'>): bigint {
    return this.#weightOf(tx) * rateOf(rates, this.#baseFee())
  }

  #weightOf(tx: Transaction): bigint {
    return BigInt(weightOf(tx, this.#chain.ruleBook.at(this.#nextHeight()).tx))
  }

  #nextHeight(): number {
    return this.#chain.head.header.height + 1
  }

  #baseFee(): bigint {
    const { head, ruleBook } = this.#chain
    return baseFeeAfter(head.header, ruleBook.at(this.#nextHeight()).block)
  }
}

function bumped(rate: bigint): bigint {
  return rate + rate / BUMP_DIVISOR + 1n
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
