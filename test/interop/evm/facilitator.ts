import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator'
import { publicActions } from 'viem'
import type { LocalChain } from './chain.ts'
import { BASE_SEPOLIA } from './network.ts'

/**
 * A trouble at a path. Nothing is done: `refused` answers a clear no, `error` an HTML page with status 502, `dropped`
 * ends the connection, `pretended` claims success with an invented transaction. The request is carried out: `cut` ends
 * the connection before the answer, `garbled` answers with broken JSON.
 */
export type Trouble = 'refused' | 'error' | 'cut' | 'garbled' | 'dropped' | 'pretended'

/** A path that can have a trouble. */
export type Path = '/verify' | '/settle'

/** A request received by a facilitator. */
export interface Asked {
  readonly path: string
  readonly body: { readonly x402Version: number; readonly paymentPayload: object; readonly paymentRequirements: object }
}

/** The required header `authorization` by path, or `*` for all other paths. A request without it gets 401. */
export type Keys = Readonly<Record<string, string>>

type Payload = Parameters<x402Facilitator['settle']>[0]
type Requirements = Parameters<x402Facilitator['settle']>[1]

/** A real facilitator from the official packages, behind an HTTP server with switches for troubles. */
export class LocalFacilitator {
  readonly asked: Asked[] = []
  readonly troubles = new Map<Path, Trouble>()
  readonly delaysMs = new Map<Path, number>()
  /** Keys that requests must have. Empty by default: no request needs one. */
  keys: Keys
  /** Paths of the requests that got 401. */
  readonly turnedAway: string[] = []
  readonly #facilitator: x402Facilitator
  #server: Server | null = null
  #port = 0
  /** Settlements run one after another: official facilitators lose track of their account nonce under parallel ones. */
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(facilitator: x402Facilitator, keys: Keys) {
    this.#facilitator = facilitator
    this.keys = keys
  }

  /** Starts a facilitator with a new key on a free port. It takes channels if it is told to: their contract must be on the chain. */
  static async start(chain: LocalChain, keys: Keys = {}, takesChannels = false): Promise<LocalFacilitator> {
    const sender = (await chain.sender()).extend(publicActions)
    const client = { ...sender, address: sender.account.address } as never
    const signer = toFacilitatorEvmSigner(client)
    const facilitator = new x402Facilitator().register(`eip155:${chain.network.chainId}`, new ExactEvmScheme(signer))
    // Generation 1 has names for some known networks only.
    if (chain.network === BASE_SEPOLIA) facilitator.registerV1('base-sepolia' as never, new ExactEvmSchemeV1(signer))
    if (takesChannels) facilitator.register(`eip155:${chain.network.chainId}`, new BatchSettlementEvmScheme(signer))
    const local = new LocalFacilitator(facilitator, keys)
    await local.open()
    return local
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get isOpen(): boolean {
    return this.#server !== null
  }

  count(path: Path): number {
    return this.asked.filter((asked) => asked.path === path).length
  }

  /** Listens, on the same port as before. */
  async open(): Promise<void> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch(() => request.socket.destroy())
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Stops. Connections are refused until it opens again. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  /** Ends all troubles and forgets all requests. */
  reset(): void {
    this.troubles.clear()
    this.delaysMs.clear()
    this.asked.length = 0
    this.turnedAway.length = 0
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const key = this.keys[path] ?? this.keys['*']
    if (key !== undefined && request.headers.authorization !== key) {
      this.turnedAway.push(path)
      return write(response, 401, '<html><body>Unauthorized</body></html>')
    }
    if (path === '/supported') return reply(response, this.#facilitator.getSupported())
    if (path !== '/verify' && path !== '/settle') return reply(response, {}, 404)
    const body = JSON.parse(await textOf(request)) as Asked['body']
    this.asked.push({ path, body })
    const trouble = this.troubles.get(path)
    const delayMs = this.delaysMs.get(path)
    if (delayMs !== undefined) await setTimeout(delayMs)
    if (trouble === 'dropped') return void request.socket.destroy()
    if (trouble === 'error') return write(response, 502, '<html><body>Bad gateway</body></html>')
    if (trouble === 'refused') return reply(response, refusal(path, body), 200)
    if (trouble === 'pretended') return reply(response, pretence(body), 200)
    const answer = await this.#carryOut(path, body)
    if (trouble === 'cut') return void request.socket.destroy()
    if (trouble === 'garbled') return write(response, 200, '{"success":tr')
    reply(response, answer)
  }

  #carryOut(path: Path, { paymentPayload, paymentRequirements }: Asked['body']): Promise<object> {
    const [payload, requirements] = [paymentPayload as Payload, paymentRequirements as Requirements]
    if (path === '/verify') return this.#facilitator.verify(payload, requirements)
    const settled = this.#turn.then(() => this.#facilitator.settle(payload, requirements))
    this.#turn = settled.catch(() => {})
    return settled
  }
}

function refusal(path: Path, { paymentRequirements }: Asked['body']): object {
  if (path === '/verify') return { isValid: false, invalidReason: 'invalid_exact_evm_insufficient_balance' }
  const { network } = paymentRequirements as { readonly network: string }
  return { success: false, errorReason: 'invalid_exact_evm_transaction_failed', transaction: '', network }
}

function pretence({ paymentRequirements }: Asked['body']): object {
  const { network } = paymentRequirements as { readonly network: string }
  return { success: true, transaction: `0x${'00'.repeat(31)}01`, network }
}

function reply(response: ServerResponse, json: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}

function write(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end(text)
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
