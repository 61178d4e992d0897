import { keccakText } from '../../consensus/external/eip712.ts'
import { type Fields, fieldsOf } from '../../consensus/primitives/fields.ts'
import type { ChannelLedger, ChannelSighting } from '../../marketplace/till/rails/dollar/channel/chain.ts'
import { CHANNEL_CONTRACT } from '../../marketplace/till/rails/dollar/channel/channel.ts'
import type { AuthorizationState, StableLedger } from '../../marketplace/till/rails/dollar/facilitator.ts'
import { boundedFetch, objectIn } from './bounded-fetch.ts'

type Sought = Parameters<StableLedger['authorization']>[0]

const DEADLINE_MS = 5_000
const BYTES_MAX = 1_048_576
/** Blocks per log query: nodes refuse longer ranges. */
const RANGE_BLOCKS = 2_000
const RANGES_MAX = 60
/** Block time of the fastest supported network. */
const BLOCK_SECONDS_MIN = 1

const USED = keccakText('AuthorizationUsed(address,bytes32)')
const CANCELLED = keccakText('AuthorizationCanceled(address,bytes32)')
const TRANSFER = keccakText('Transfer(address,address,uint256)')
const STATE_SELECTOR = keccakText('authorizationState(address,bytes32)').slice(0, 10)

const BALANCE_SELECTOR = keccakText('balanceOf(address)').slice(0, 10)
const WORD = /^0x[0-9a-fA-F]{64}$/
const WORDS = /^0x([0-9a-fA-F]{64}){1,2}$/
const QUANTITY = /^0x[0-9a-fA-F]{1,16}$/

/** `block` as JSON-RPC names it. */
interface Place {
  readonly block: string
  readonly atSeconds?: number
}

const LATEST: Place = { block: 'latest' }

class NoAnswer extends Error {}

/** Reads the state of EIP-3009 authorizations and of channels from a JSON-RPC node of the token's chain. */
export class EvmRpc implements StableLedger, ChannelLedger {
  readonly #url: string
  readonly #chainId: number
  readonly #nowMs: () => number
  #isRightChain = false

  constructor(url: string, chainId: number, nowMs: () => number) {
    this.#url = url
    this.#chainId = chainId
    this.#nowMs = nowMs
  }

  async authorization(sought: Sought): Promise<AuthorizationState> {
    try {
      const wrong = await this.wrongChain()
      if (wrong !== null) return { is: 'unknown', detail: wrong }
      const { transaction } = sought
      if (transaction !== undefined && (await this.#judgement(transaction, sought)) === 'paid')
        return { is: 'transferred', transaction }
      const past = await this.#blockPast(sought.untilSeconds)
      const { block, ...time } = past ?? LATEST
      if (await this.#isUsed(sought, block)) return await this.#find(sought)
      return past === null
        ? { is: 'unknown', detail: 'the node is behind the time that is asked about' }
        : { is: 'unused', ...time }
    } catch (error) {
      if (error instanceof NoAnswer) return { is: 'unknown', detail: error.message }
      throw error
    }
  }

  async hasCode(address: string): Promise<boolean | null> {
    try {
      if ((await this.wrongChain()) !== null) return null
      const code = textOf(await this.#call('eth_getCode', [address, 'latest']))
      return /^0x([0-9a-fA-F]{2})*$/.test(code) ? code !== '0x' : null
    } catch (error) {
      if (error instanceof NoAnswer) return null
      throw error
    }
  }

  async balance(asset: string, address: string): Promise<bigint | null> {
    try {
      if ((await this.wrongChain()) !== null) return null
      const data = `${BALANCE_SELECTOR}${word(address)}`
      const answer = textOf(await this.#call('eth_call', [{ to: asset, data }, 'latest']))
      return WORD.test(answer) ? BigInt(answer) : null
    } catch (error) {
      if (error instanceof NoAnswer) return null
      throw error
    }
  }

  async channel(channelId: string): Promise<ChannelSighting | null> {
    try {
      if ((await this.wrongChain()) !== null) return null
      // All three are read in one block, which is named by its number: another node may answer the next question.
      const block = textOf(await this.#call('eth_blockNumber', []))
      if (!QUANTITY.test(block)) return null
      const [balance, totalClaimed] = await this.#words('channels(bytes32)', channelId, block)
      const [, withdrawRequestedAt] = await this.#words('pendingWithdrawals(bytes32)', channelId, block)
      const [refundNonce] = await this.#words('refundNonce(bytes32)', channelId, block)
      if (balance === undefined || totalClaimed === undefined || withdrawRequestedAt === undefined) return null
      if (refundNonce === undefined) return null
      const state = { balance, totalClaimed, withdrawRequestedAt: Number(withdrawRequestedAt), refundNonce }
      return { state, height: Number(block) }
    } catch (error) {
      if (error instanceof NoAnswer) return null
      throw error
    }
  }

  /** The numbers that a function of the contract of channels answers for a channel. */
  async #words(name: string, channelId: string, block: string): Promise<readonly bigint[]> {
    const data = `${keccakText(name).slice(0, 10)}${channelId.slice(2)}`
    const answer = textOf(await this.#call('eth_call', [{ to: CHANNEL_CONTRACT, data }, block]))
    return WORDS.test(answer) ? (answer.slice(2).match(/.{64}/g) ?? []).map((hex) => BigInt(`0x${hex}`)) : []
  }

  /** Why the node's chain is wrong or unknown; null if it is the expected one. */
  async wrongChain(): Promise<string | null> {
    if (this.#isRightChain) return null
    try {
      const chainId = Number(textOf(await this.#call('eth_chainId', [])))
      this.#isRightChain = chainId === this.#chainId
      return this.#isRightChain ? null : `the node's chain id is ${chainId}, expected ${this.#chainId}`
    } catch (error) {
      if (error instanceof NoAnswer) return error.message
      throw error
    }
  }

  /**
   * The node's newest block if it is later than the given time, else null. It is named by number, because another node
   * behind the same address may answer the next query with an older newest block.
   */
  async #blockPast(seconds: number | undefined): Promise<Place | null> {
    if (seconds === undefined) return LATEST
    const { number, timestamp } = fieldsOf(await this.#call('eth_getBlockByNumber', ['latest', false]))
    const [block, newest] = [textOf(number), Number(textOf(timestamp))]
    if (!QUANTITY.test(block) || !Number.isSafeInteger(newest))
      throw new NoAnswer('the node does not know the time of its newest block')
    return newest > seconds ? { block, atSeconds: newest } : null
  }

  async #isUsed({ asset, from, nonce }: Sought, block: string): Promise<boolean> {
    const data = `${STATE_SELECTOR}${word(from)}${nonce.slice(2)}`
    const answer = textOf(await this.#call('eth_call', [{ to: asset, data }, block]))
    if (!WORD.test(answer)) throw new NoAnswer('the token does not tell the state of authorizations')
    return BigInt(answer) !== 0n
  }

  /** Searches backwards from the newest block. */
  async #find(sought: Sought): Promise<AuthorizationState> {
    const { asset, from, nonce, sinceSeconds } = sought
    const newest = Number(textOf(await this.#call('eth_blockNumber', [])))
    if (!Number.isSafeInteger(newest)) throw new NoAnswer('the node does not know its newest block')
    const seconds = Math.max(0, Math.ceil(this.#nowMs() / 1_000) - sinceSeconds)
    const oldest = Math.max(0, newest - Math.ceil(seconds / BLOCK_SECONDS_MIN))
    for (let i = 0, to = newest; i < RANGES_MAX && to >= oldest; i++, to -= RANGE_BLOCKS) {
      const range = { fromBlock: hex(Math.max(oldest, to - RANGE_BLOCKS + 1)), toBlock: hex(to) }
      const topics = [[USED, CANCELLED], `0x${word(from)}`, nonce]
      const logs = await this.#call('eth_getLogs', [{ address: asset, topics, ...range }])
      if (!Array.isArray(logs)) throw new NoAnswer('the node gives no logs')
      if (logs.length > 0) return this.#judge(fieldsOf(logs[0]), sought)
    }
    throw new NoAnswer('the authorization is used, and nothing says how')
  }

  async #judge(used: Fields, sought: Sought): Promise<AuthorizationState> {
    const transaction = textOf(used.transactionHash).toLowerCase()
    if (!/^0x[0-9a-f]{64}$/.test(transaction)) throw new NoAnswer('a log without its transaction')
    if (topicsOf(used)[0] === CANCELLED) return { is: 'cancelled' }
    const judgement = await this.#judgement(transaction, sought)
    if (judgement === null) throw new NoAnswer('a transaction without the use that it is of')
    return judgement === 'paid' ? { is: 'transferred', transaction } : { is: 'cancelled' }
  }

  /** Null if the transaction did not use the authorization or is not on the chain. */
  async #judgement(transaction: string, sought: Sought): Promise<'paid' | 'spent' | null> {
    const { logs } = fieldsOf(await this.#call('eth_getTransactionReceipt', [transaction]))
    return Array.isArray(logs) ? judged(logs.map(fieldsOf), sought) : null
  }

  async #call(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const bounds = { deadlineMs: DEADLINE_MS, bytesMax: BYTES_MAX }
    const answer = await boundedFetch(this.#url, { method: 'POST', body, ...bounds, isQuestion: true })
    if ('arrived' in answer) throw new NoAnswer(`the node of the token's chain gives no answer: ${answer.detail}`)
    const fields = objectIn(answer.text)
    if (fields === null || !('result' in fields))
      throw new NoAnswer(`the node of the token's chain refuses ${method} with status ${answer.status}`)
    return fields.result
  }
}

/**
 * Whether the use of an authorization moved the expected amount to the expected address; null if the logs show no use.
 * The token logs the use, and then its transfer. Only the first transfer after the use counts: a payer can sign several
 * authorizations with one nonce, and one transaction can use many.
 */
function judged(logs: readonly Fields[], { asset, from, to, value, nonce }: Sought): 'paid' | 'spent' | null {
  const ofToken = logs.filter(({ address }) => textOf(address).toLowerCase() === asset.toLowerCase())
  const isUse = (log: Fields): boolean => areTopics(log, [USED, `0x${word(from)}`, nonce])
  const use = ofToken.findIndex(isUse)
  if (use < 0) return null
  const moved = ofToken.slice(use + 1).find((log) => topicsOf(log)[0] === TRANSFER)
  if (moved === undefined) return 'spent'
  const data = textOf(moved.data)
  const isWord = WORD.test(data)
  const isOurs = areTopics(moved, [TRANSFER, `0x${word(from)}`, `0x${word(to)}`]) && isWord && BigInt(data) === value
  return isOurs ? 'paid' : 'spent'
}

function areTopics(log: Fields, expected: readonly string[]): boolean {
  const topics = topicsOf(log)
  return expected.every((topic, i) => textOf(topics[i]).toLowerCase() === topic.toLowerCase())
}

function topicsOf({ topics }: Fields): readonly unknown[] {
  return Array.isArray(topics) ? topics : []
}

/** A 32-byte ABI word without 0x. */
function word(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
