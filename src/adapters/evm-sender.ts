import { setTimeout } from 'node:timers/promises'
import { evmAddressOf } from '../../consensus/external/eip712.ts'
import { type EvmTransaction, signTransaction } from '../../consensus/external/evm-transaction.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { type Fields, fieldsOf, objectOf } from '../../consensus/primitives/fields.ts'
import type { EvmSender, SentCall } from '../../marketplace/till/rails/dollar/channel/chain.ts'
import { countOf, type JsonRpcNode, quantityOf } from './evm/json-rpc-node.ts'

/** What an {@link EvmKeySender} works with. */
export interface EvmKeySenderOptions {
  readonly node: JsonRpcNode
  readonly chainId: number
  /** 32 bytes. Its account pays the gas. */
  readonly key: Uint8Array
  /** How long a transaction is waited for. */
  readonly patienceMs?: number
  /** After so long without a block, and each time again, more is paid for a transaction. */
  readonly raiseMs?: number
}

/** What a transaction pays for a unit of gas. */
type Fees = Pick<EvmTransaction, 'priorityFee' | 'maxFee'>

/** A transaction that was sent. */
interface Sent {
  transaction: EvmTransaction
  /** The most that it may pay for a unit of gas. */
  readonly maxFeeMost: bigint
  /** With each of its fees it has another hash, and any of them can be mined. */
  readonly hashes: string[]
  raisedAtMs: number
}

/** A refusal of the node's or its silence. */
interface Nothing {
  readonly refused: boolean
}

const ASK_MS = 5_000
const PATIENCE_MS = 60_000
const LOOK_MS = 500
/** The gas limit in percent of the estimate: other transactions may come first. */
const GAS_PERCENT = 125n
const RAISE_MS = 15_000
/** Nodes replace a transaction for at least 10 percent more. */
const RAISE_PERCENT = 125n
/** A transaction pays at most so many times what it paid at first. */
const FEE_TIMES_MAX = 8n
/** No call needs more. The contract of a payer's wallet may use up any amount of it, which the key here would pay. */
const GAS_MAX = 2_000_000n

/**
 * Sends calls of contracts through a JSON-RPC node, one after another, so that no two take one nonce. A transaction that waits too long is
 * replaced by itself with higher fees. Until it is mined no other one is sent: it would only wait behind it.
 */
export class EvmKeySender implements EvmSender {
  readonly #options: EvmKeySenderOptions
  readonly #from: string
  #turn: Promise<unknown> = Promise.resolve()
  /** The last one, until it is known to be mined. */
  #waiting: Sent | null = null

  /** Throws if the key is none. */
  constructor(options: EvmKeySenderOptions) {
    const from = evmAddressOf(options.key)
    if (from === null) throw new RangeError('not a key')
    this.#options = options
    this.#from = from
  }

  async wouldSucceed(to: string, data: Uint8Array): Promise<boolean | null> {
    const answer = await this.#ask('eth_call', [this.#callOf(to, data), 'latest'])
    if ('result' in answer) return true
    return answer.refused ? false : null
  }

  send(to: string, data: Uint8Array): Promise<SentCall> {
    const sent = this.#turn.then(() => this.#send(to, data))
    this.#turn = sent
    return sent
  }

  async #send(to: string, data: Uint8Array): Promise<SentCall> {
    if (this.#waiting !== null && !(await this.#isOver(this.#waiting)))
      return unsent('an earlier transaction is not mined yet')
    const estimate = await this.#ask('eth_estimateGas', [this.#callOf(to, data)])
    if (!('result' in estimate)) return estimate.refused ? { is: 'refused' } : unsent('it gives no answer')
    const gas = quantityOf(estimate.result)
    const nonce = await this.#quantity('eth_getTransactionCount', [this.#from, 'pending'])
    const fees = await this.#fees()
    if (gas === null || nonce === null || fees === null) return unsent('it does not tell nonce and fees')
    if (gas > GAS_MAX) return { is: 'refused' }
    const { chainId } = this.#options
    const transaction = { chainId, nonce, gas: (gas * GAS_PERCENT) / 100n, ...fees, to, data }
    const sent = { transaction, maxFeeMost: FEE_TIMES_MAX * fees.maxFee, hashes: [], raisedAtMs: 0 }
    if (!(await this.#publish(sent))) return unsent('it does not take the transaction')
    this.#waiting = sent
    return this.#wait(sent)
  }

  async #wait(sent: Sent): Promise<SentCall> {
    const untilMs = performance.now() + (this.#options.patienceMs ?? PATIENCE_MS)
    for (;;) {
      const seen = await this.#look(sent)
      if (seen !== null) return seen
      const transaction = sent.hashes.at(-1) as string
      if (performance.now() > untilMs) return { is: 'unknown', transaction, detail: 'it is not mined yet' }
      await this.#raise(sent)
      await setTimeout(LOOK_MS, undefined, { ref: false })
    }
  }

  /** Whether a transaction is in a block, or can be in none. If not, more is paid for it. */
  async #isOver(sent: Sent): Promise<boolean> {
    if ((await this.#look(sent)) !== null) return true
    const next = await this.#quantity('eth_getTransactionCount', [this.#from, 'latest'])
    if (next !== null && next > sent.transaction.nonce) {
      this.#waiting = null
      return true
    }
    await this.#raise(sent)
    return false
  }

  async #look({ hashes }: Sent): Promise<SentCall | null> {
    for (const hash of hashes) {
      const answer = await this.#ask('eth_getTransactionReceipt', [hash])
      const receipt = 'result' in answer ? objectOf(answer.result) : null
      const seen = receipt === null ? null : minedAs(hash, receipt)
      if (seen === null) continue
      this.#waiting = null
      return seen
    }
    return null
  }

  async #raise(sent: Sent): Promise<void> {
    if (performance.now() - sent.raisedAtMs < (this.#options.raiseMs ?? RAISE_MS)) return
    const { transaction, maxFeeMost } = sent
    const now = await this.#fees()
    const least = raised(transaction)
    if (now === null || least.maxFee > maxFeeMost) return
    const maxFee = larger(least.maxFee, now.maxFee < maxFeeMost ? now.maxFee : maxFeeMost)
    const priorityFee = larger(least.priorityFee, now.priorityFee < maxFee ? now.priorityFee : 0n)
    sent.transaction = { ...transaction, maxFee, priorityFee }
    await this.#publish(sent)
  }

  /** False if the node refuses the transaction. Its answer can be lost, so it is looked for all the same. */
  async #publish(sent: Sent): Promise<boolean> {
    const { raw, hash } = signTransaction(this.#options.key, sent.transaction)
    const taken = await this.#ask('eth_sendRawTransaction', [raw])
    sent.hashes.push(hash)
    sent.raisedAtMs = performance.now()
    return !('refused' in taken && taken.refused)
  }

  /** What a transaction is to pay now; null if the node does not tell. */
  async #fees(): Promise<Fees | null> {
    const priorityFee = await this.#quantity('eth_maxPriorityFeePerGas', [])
    const block = await this.#ask('eth_getBlockByNumber', ['latest', false])
    const baseFee = 'result' in block ? quantityOf(fieldsOf(block.result).baseFeePerGas) : null
    return priorityFee === null || baseFee === null ? null : { priorityFee, maxFee: 2n * baseFee + priorityFee }
  }

  #callOf(to: string, data: Uint8Array): object {
    return { from: this.#from, to, data: `0x${toHex(data)}` }
  }

  async #quantity(method: string, params: readonly unknown[]): Promise<bigint | null> {
    const answer = await this.#ask(method, params)
    return 'result' in answer ? quantityOf(answer.result) : null
  }

  async #ask(method: string, params: readonly unknown[]): Promise<{ readonly result: unknown } | Nothing> {
    const { node } = this.#options
    const signal = AbortSignal.timeout(ASK_MS)
    if (!(await node.proveChain(signal)).ok) return { refused: false }
    const answer = await node.ask(method, params, signal)
    if (!answer.ok) return { refused: false }
    if (answer.value.is === 'result') return { result: answer.value.result }
    // A node that is asked too often has not judged the call.
    return { refused: node.errorFault(answer.value.code).code !== 'provider/refused' }
  }
}

/** What a receipt says; null if it cannot be read. */
function minedAs(transaction: string, { status, blockNumber, logs }: Fields): SentCall | null {
  const height = countOf(blockNumber)
  if (status === '0x0') return { is: 'reverted' }
  if (status !== '0x1' || height === null || !Array.isArray(logs)) return null
  return { is: 'mined', transaction, height, logs: logs.map(fieldsOf) }
}

/** The least fees that replace a transaction. */
function raised({ priorityFee, maxFee }: Fees): Fees {
  const more = (fee: bigint): bigint => (fee * RAISE_PERCENT) / 100n + 1n
  return { priorityFee: more(priorityFee), maxFee: more(maxFee) }
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function unsent(detail: string): SentCall {
  return { is: 'unsent', detail }
}
