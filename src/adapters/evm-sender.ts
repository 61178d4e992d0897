import { setTimeout } from 'node:timers/promises'
import { evmAddressOf } from '../../consensus/external/eip712.ts'
import { signTransaction } from '../../consensus/external/evm-transaction.ts'
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
/** No call needs more. The contract of a payer's wallet may use up any amount of it, which the key here would pay. */
const GAS_MAX = 2_000_000n

/** Sends calls of contracts through a JSON-RPC node, one after another, so that no two take one nonce. */
export class EvmKeySender implements EvmSender {
  readonly #options: EvmKeySenderOptions
  readonly #from: string
  #turn: Promise<unknown> = Promise.resolve()

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
    const estimate = await this.#ask('eth_estimateGas', [this.#callOf(to, data)])
    if (!('result' in estimate)) return estimate.refused ? { is: 'refused' } : unsent('it gives no answer')
    const gas = quantityOf(estimate.result)
    const nonce = await this.#quantity('eth_getTransactionCount', [this.#from, 'pending'])
    const priorityFee = await this.#quantity('eth_maxPriorityFeePerGas', [])
    const block = await this.#ask('eth_getBlockByNumber', ['latest', false])
    const baseFee = 'result' in block ? quantityOf(fieldsOf(block.result).baseFeePerGas) : null
    if (gas === null || nonce === null || priorityFee === null || baseFee === null)
      return unsent('it does not tell nonce and fees')
    if (gas > GAS_MAX) return { is: 'refused' }
    const { key, chainId } = this.#options
    const fees = { gas: (gas * GAS_PERCENT) / 100n, priorityFee, maxFee: 2n * baseFee + priorityFee }
    const { raw, hash } = signTransaction(key, { chainId, nonce, ...fees, to, data })
    const taken = await this.#ask('eth_sendRawTransaction', [raw])
    return 'refused' in taken && taken.refused ? unsent('it does not take the transaction') : this.#wait(hash)
  }

  async #wait(transaction: string): Promise<SentCall> {
    const untilMs = performance.now() + (this.#options.patienceMs ?? PATIENCE_MS)
    for (;;) {
      const answer = await this.#ask('eth_getTransactionReceipt', [transaction])
      const receipt = 'result' in answer ? objectOf(answer.result) : null
      const seen = receipt === null ? null : minedAs(transaction, receipt)
      if (seen !== null) return seen
      if (performance.now() > untilMs) return { is: 'unknown', transaction, detail: 'it is not mined yet' }
      await setTimeout(LOOK_MS, undefined, { ref: false })
    }
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

function unsent(detail: string): SentCall {
  return { is: 'unsent', detail }
}
