import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keccakText, recoverSigner } from '../../consensus/external/eip712.ts'
import { digestOf } from '../../marketplace/till/rails/dollar/identity.ts'
import type { DollarTerms } from '../../marketplace/till/rails/dollar/terms.ts'

/** A transfer as an authorization says it, with numbers as decimal text. */
export interface Said {
  readonly from: string
  readonly to: string
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: string
}

/** A used authorization, with its block and transaction. */
interface Use {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly nonce: string
  readonly block: number
  readonly transaction: string
  readonly isCancelled: boolean
}

const TOPICS = {
  used: keccakText('AuthorizationUsed(address,bytes32)'),
  cancelled: keccakText('AuthorizationCanceled(address,bytes32)'),
  transfer: keccakText('Transfer(address,address,uint256)'),
}
const BALANCE_OF = keccakText('balanceOf(address)').slice(0, 10)
const word = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
const hex = (number: number | bigint): string => `0x${number.toString(16)}`

/** A dollar token with balances in memory, and the JSON-RPC of a node of its chain. It takes an authorization only once (EIP-3009). */
export class TestToken {
  readonly terms: DollarTerms
  readonly uses: Use[] = []
  readonly #balances = new Map<string, bigint>()
  /** Contract wallets by address, with the address whose key signs for each. */
  readonly #owners = new Map<string, string>()
  readonly #nowMs: () => number
  /** Methods that were asked for, in order. A call of `balanceOf` is listed by that name. */
  readonly asked: string[] = []
  isDown = false
  /** Whether it cuts a kept-alive connection when the next request arrives on it. */
  endsIdle = false
  chainId: number
  /** Time of the newest block, in seconds since 1970. By default later than any signed deadline. */
  headSeconds = 2 ** 33
  #block = 100_000
  /** Whether requests for the newest block reach another node, which has all blocks, as behind a load balancer. */
  turns = false
  /** The newest block that the node has, if it got stuck. */
  #standsAt = Number.POSITIVE_INFINITY
  #server: Server | null = null

  constructor(terms: DollarTerms, nowMs: () => number = Date.now) {
    this.terms = terms
    this.chainId = terms.network.chainId
    this.#nowMs = nowMs
  }

  mint(to: string, value: bigint): void {
    this.#balances.set(to, this.balance(to) + value)
  }

  balance(of: string): bigint {
    return this.#balances.get(of.toLowerCase()) ?? 0n
  }

  /** Deploys a contract wallet. It accepts what its owner's key has signed (ERC-1271). */
  deploy(address: string, owner: string): void {
    this.#owners.set(address, owner)
  }

  /** Why an authorization cannot be carried out, or null. */
  refusal({ from, to, value, validAfter, validBefore, nonce }: Said, signature: string): string | null {
    const message = {
      ...{ from: from.toLowerCase(), to: to.toLowerCase(), nonce: nonce.toLowerCase() },
      ...{ value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
    }
    const now = BigInt(Math.floor(this.#nowMs() / 1_000))
    const signer = recoverSigner(digestOf(this.terms, message), signature)
    if (signer?.address !== (this.#owners.get(message.from) ?? message.from) || !signer.isLow)
      return 'invalid_exact_evm_signature'
    if (message.validBefore <= now) return 'invalid_exact_evm_payload_authorization_valid_before'
    if (message.validAfter > now) return 'invalid_exact_evm_payload_authorization_valid_after'
    if (this.#use(message.from, message.nonce) !== undefined) return 'invalid_exact_evm_nonce_already_used'
    return this.balance(message.from) < message.value ? 'invalid_exact_evm_insufficient_balance' : null
  }

  /** Carries an authorization out. Returns the transaction, or why not. */
  transfer(said: Said, signature: string): { readonly transaction: string } | { readonly reason: string } {
    const reason = this.refusal(said, signature)
    if (reason !== null) return { reason }
    const [from, to] = [said.from.toLowerCase(), said.to.toLowerCase()]
    this.#balances.set(from, this.balance(from) - BigInt(said.value))
    this.#balances.set(to, this.balance(to) + BigInt(said.value))
    const [value, nonce] = [BigInt(said.value), said.nonce.toLowerCase()]
    return { transaction: this.#record({ from, to, value, nonce, isCancelled: false }) }
  }

  /** Cancels an authorization for its payer. */
  cancel(from: string, nonce: string): void {
    this.#record({ from, to: '', value: 0n, nonce, isCancelled: true })
  }

  /** Makes the node stop at its newest block. The chain goes on. */
  standStill(): void {
    this.#standsAt = this.#block
    this.headSeconds = Math.floor(this.#nowMs() / 1_000)
  }

  /** Lets the node have all blocks again. */
  catchUp(): void {
    this.#standsAt = Number.POSITIVE_INFINITY
    this.headSeconds = 2 ** 33
  }

  /** Starts the JSON-RPC of the node and returns its URL. */
  async listen(): Promise<string> {
    const answered = new WeakSet<object>()
    const server = createServer((request, response) => {
      void textOf(request).then((text) => {
        const isLate = this.endsIdle && answered.has(request.socket)
        if (isLate) server.closeIdleConnections()
        if (isLate || this.isDown) return request.socket.destroy()
        answered.add(request.socket)
        const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: never[] }
        this.asked.push(isBalanceQuestion(params) ? 'balanceOf' : method)
        response.setHeader('content-type', 'application/json')
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...this.#answer(method, params) }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#server = server
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((resolve) => (this.#server === null ? resolve(null) : this.#server.close(resolve)))
  }

  #use(from: string, nonce: string): Use | undefined {
    return this.uses.find((use) => use.from === from && use.nonce === nonce)
  }

  /** The uses in blocks that the node has. */
  #seen(): readonly Use[] {
    return this.uses.filter(({ block }) => block <= this.#standsAt)
  }

  #record(use: Omit<Use, 'block' | 'transaction'>): string {
    this.#block += 1
    const transaction = `0x${(0xabc0000 + this.#block).toString(16).padStart(64, '0')}`
    this.uses.push({ ...use, block: this.#block, transaction })
    return transaction
  }

  #answer(method: string, params: readonly never[]): object {
    const [first] = params as readonly unknown[]
    switch (method) {
      case 'eth_chainId':
        return { result: hex(this.chainId) }
      case 'eth_blockNumber':
        return { result: hex(Math.min(this.#block, this.#standsAt)) }
      case 'eth_getBlockByNumber':
        return this.turns
          ? { result: { number: hex(this.#block), timestamp: hex(2 ** 33) } }
          : { result: { number: hex(Math.min(this.#block, this.#standsAt)), timestamp: hex(this.headSeconds) } }
      case 'eth_call': {
        const [{ data }, block] = params as readonly unknown[] as readonly [{ data: string }, string]
        if (Number(block) > this.#standsAt) return { error: { code: -32000, message: 'header not found' } }
        if (isBalanceQuestion(params)) return { result: word(hex(this.balance(`0x${data.slice(34)}`))) }
        const use = this.#use(`0x${data.slice(34, 74)}`, `0x${data.slice(74)}`)
        const used = use !== undefined && use.block <= this.#standsAt
        return { result: `0x${(used ? '1' : '0').padStart(64, '0')}` }
      }
      case 'eth_getCode':
        return { result: this.#owners.has(String(first)) ? '0x6080' : '0x' }
      case 'eth_getLogs':
        return this.#logs(first as { fromBlock: string; toBlock: string; topics: [string[], string, string] })
      case 'eth_getTransactionReceipt': {
        const use = this.#seen().find(({ transaction }) => transaction === first)
        return { result: use === undefined ? null : { status: '0x1', logs: this.#logsOf(use) } }
      }
      default:
        return { error: { code: -32601, message: 'the method does not exist' } }
    }
  }

  #logs({ fromBlock, toBlock, topics }: { fromBlock: string; toBlock: string; topics: [string[], string, string] }) {
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    if (to - from >= 2_000) return { error: { code: -32602, message: 'the range is too long' } }
    const [kinds, payer, nonce] = topics
    const found = this.#seen()
      .map((use) => ({ use, topic: use.isCancelled ? TOPICS.cancelled : TOPICS.used }))
      .filter(({ use, topic }) => use.block >= from && use.block <= to && kinds.includes(topic))
      .filter(({ use }) => word(use.from) === payer && use.nonce === nonce)
    return {
      result: found.map(({ use, topic }) => ({ transactionHash: use.transaction, topics: [topic, payer, nonce] })),
    }
  }

  /** Logs of a use. The first says that the nonce is used or cancelled. A use that is not cancelled also has the log of its transfer. */
  #logsOf({ from, to, value, nonce, isCancelled }: Use): readonly object[] {
    const address = this.terms.asset.contract
    const use = { address, topics: [isCancelled ? TOPICS.cancelled : TOPICS.used, word(from), nonce], data: '0x' }
    const moved = { address, topics: [TOPICS.transfer, word(from), word(to)], data: word(hex(value)) }
    return isCancelled ? [use] : [use, moved]
  }
}

function isBalanceQuestion([first]: readonly unknown[]): boolean {
  return (first as { data?: string } | undefined)?.data?.startsWith(BALANCE_OF) === true
}

/** The whole body of a request. */
export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
