import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import { signTransaction } from '../../consensus/tx/sign.ts'
import { type Transaction, TX_VERSION, type TxBody } from '../../consensus/tx/transaction.ts'
import type { Operator, TransactionSink } from './operator.ts'

/** Blocks after which a transaction of ours that was not mined is given up and made anew at today's fee. */
const VALID_BLOCKS = 30
/** How far the base fee may rise before that. */
const FEE_ROOM = 4n
/** A small tip, so that our own transactions are not last. */
const TIP_RATE = 1n

/** Signs and submits the operator's transactions one after another, so that two never take the same nonce. */
export class Sender {
  readonly #chain: Chain
  readonly #sink: TransactionSink
  readonly #signer: Operator['settler']
  #queue: Promise<unknown> = Promise.resolve()

  constructor(chain: Chain, sink: TransactionSink, signer: Operator['settler']) {
    this.#chain = chain
    this.#sink = sink
    this.#signer = signer
  }

  /** Transactions of this sender that wait to be mined. */
  get waiting(): readonly Transaction[] {
    return this.#sink.ofAccount(this.#signer.address)
  }

  /** Sends one transaction; the fault says why the mempool did not take it. */
  send<K extends TxKind>(kind: K, payload: PayloadOf<K>): Promise<Result<Transaction>> {
    const sent = this.#queue.then(() => this.#send(kind, payload))
    this.#queue = sent.catch(() => {})
    return sent
  }

  async #send<K extends TxKind>(kind: K, payload: PayloadOf<K>): Promise<Result<Transaction>> {
    const { head, ruleBook, network } = this.#chain
    const height = head.header.height + 1
    const baseFee = baseFeeAfter(head.header, ruleBook.at(height).block)
    const body = {
      version: TX_VERSION,
      chainId: network.chainId,
      sender: this.#signer.address,
      nonce: this.#sink.nextNonce(this.#signer.address),
      kind,
      payload,
      maxFeeRate: baseFee * FEE_ROOM + TIP_RATE,
      tip: TIP_RATE,
      validUntil: height + VALID_BLOCKS,
      memo: new Uint8Array(0),
    } as unknown as TxBody
    return this.#sink.submit(await signTransaction(body, this.#signer, network))
  }
}
