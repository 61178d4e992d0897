import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { objectOf } from '../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { providerJson } from '../providers/provider-fetch.ts'

/** `data` is the revert data of a contract. */
export type RpcAnswer =
  | { readonly is: 'result'; readonly result: unknown }
  | { readonly is: 'error'; readonly code: number; readonly data: unknown }

/** A node of a network. Its address may hold a key, so no other code sees the address. */
export class JsonRpcNode {
  /** The host, with parts that look like a key masked. */
  readonly name: string
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #chainId: number
  #isRightChain = false
  #lastId = 0

  constructor(url: URL, name: string, chainId: number) {
    this.name = name
    this.#chainId = chainId
    const bare = new URL(url)
    bare.username = ''
    bare.password = ''
    this.#url = bare.href
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    const authorization = `Basic ${Buffer.from(user).toString('base64')}`
    this.#headers = { 'content-type': 'application/json', ...(user !== ':' && { authorization }) }
  }

  /**
   * Faults: `provider/*`. Of a JSON-RPC error only the code is reported, because its message may hold the node's
   * address.
   */
  async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Result<unknown>> {
    const answer = await this.ask(method, params, signal)
    if (!answer.ok) return answer
    return answer.value.is === 'result' ? ok(answer.value.result) : fail(this.errorFault(answer.value.code))
  }

  /** Like `call`, but returns JSON-RPC errors as values. */
  async ask(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Result<RpcAnswer>> {
    this.#lastId += 1
    const id = this.#lastId
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const request = { method: 'POST' as const, headers: this.#headers, body, bytesMax: BYTES_MAX }
    const answer = await providerJson(this.name, this.#url, request, signal)
    // Another node may answer under the same name after a failure.
    if (!answer.ok) this.#isRightChain = false
    return answer.ok ? this.#read(answer.value, id) : answer
  }

  /** Proves that the node is on the expected chain. A proof holds until a call fails or `anew` is set. */
  async proveChain(signal: AbortSignal, anew = false): Promise<Result<null>> {
    if (this.#isRightChain && !anew) return ok(null)
    this.#isRightChain = false
    const told = await this.call('eth_chainId', [], signal)
    if (!told.ok) return told
    const chainId = quantityOf(told.value)
    if (chainId === null) return fail(this.unusable('its chain id is not a number'))
    if (chainId !== BigInt(this.#chainId))
      return fail(this.unusable(`its chain id is ${chainId}, expected ${this.#chainId}`))
    this.#isRightChain = true
    return ok(null)
  }

  unusable(reason: string): Fault {
    return fault('provider/answer', { provider: this.name, reason })
  }

  errorFault(code: number): Fault {
    const detail = { provider: this.name, reason: `error ${code} of JSON-RPC` }
    return LIMITED.has(code) ? fault('provider/refused', detail) : fault('provider/answer', detail)
  }

  #read(value: unknown, id: number): Result<RpcAnswer> {
    const fields = objectOf(value)
    if (fields === null || fields.id !== id) return fail(this.unusable('it is no answer to the question'))
    const error = objectOf(fields.error)
    if (error !== null)
      return Number.isSafeInteger(error.code)
        ? ok({ is: 'error', code: error.code as number, data: error.data })
        : fail(this.unusable('an error without its code'))
    return 'result' in fields ? ok({ is: 'result', result: fields.result }) : fail(this.unusable('it has no result'))
  }
}

/** The longest expected answer is a layer-2 block with all its transaction ids. */
const BYTES_MAX = 2 * 1_048_576
/** Codes for too many calls or an unknown client (EIP-1474: limit exceeded). */
const LIMITED: ReadonlySet<number> = new Set([-32005, -32029, -32097, 429])

/** A JSON-RPC quantity of at most 256 bits; null if it is malformed. */
export function quantityOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : null
}

/** A quantity that is a safe integer; null if it is not. */
export function countOf(value: unknown): number | null {
  const quantity = quantityOf(value)
  return quantity !== null && quantity <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(quantity) : null
}
