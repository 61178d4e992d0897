import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Said, type TestToken, textOf } from './stable-token.ts'

/**
 * What a facilitator does. `good` works. `refuses` refuses to verify and to settle. `html` and `500` answer an error. `lying` verifies,
 * then refuses to settle. `lost` settles and cuts the connection. `pending` settles and says that it is still under way. `gone` settles and
 * says that the nonce was already used. `stuck` says that its own account's nonce was used. `pretends` claims to have settled. `mute` never
 * answers, `deaf` cuts every connection. Only `good`, `lost`, `pending` and `gone` move money. `/supported` is answered with any profile.
 */
export type Profile =
  | 'good'
  | 'refuses'
  | 'html'
  | '500'
  | 'lying'
  | 'lost'
  | 'pending'
  | 'gone'
  | 'stuck'
  | 'pretends'
  | 'mute'
  | 'deaf'

type Done = ReturnType<TestToken['transfer']>

interface Asked {
  readonly x402Version: number
  readonly paymentPayload: { readonly payload: { readonly signature: string; readonly authorization: Said } }
  readonly paymentRequirements: Readonly<Record<string, unknown>>
}

/** An x402 facilitator over HTTP for a token in this process. It behaves as its profile says. */
export class TestFacilitator {
  profile: Profile = 'good'
  /** The profile at settlement, if it differs. */
  settleProfile: Profile | null = null
  delayMs = 0
  /** Text of its refusals, in place of an x402 reason. */
  words: string | null = null
  /** Most requests in `windowMs`, by default a second. Further ones get 429. */
  perSecond = Number.POSITIVE_INFINITY
  windowMs = 1_000
  /** Payers whose payments it answers with an error, and the status of that error. */
  readonly failsAt = new Map<string, number>()
  /** Requests in order. */
  readonly asked: { readonly path: string; readonly body: Asked | null; readonly headers: object }[] = []
  readonly #token: TestToken
  #newestMs: number[] = []
  #server: Server | null = null
  #port = 0

  constructor(token: TestToken) {
    this.#token = token
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** How often a path was asked. */
  count(path: string): number {
    return this.asked.filter((one) => one.path === path).length
  }

  async open(): Promise<this> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch(() => request.socket.destroy())
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
    return this
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    server?.closeAllConnections()
    await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const text = await textOf(request)
    const body = text === '' ? null : (JSON.parse(text) as Asked)
    this.asked.push({ path, body, headers: request.headers })
    if (this.#isTooMuch()) {
      response.writeHead(429, { 'retry-after': String(this.#waitSeconds()) })
      return void response.end('Too Many Requests')
    }
    if (path === '/supported') return reply(response, 200, this.#supported())
    const profile = path === '/settle' ? (this.settleProfile ?? this.profile) : this.profile
    const failure = body === null ? undefined : this.failsAt.get(body.paymentPayload.payload.authorization.from)
    if (failure !== undefined) return void response.writeHead(failure).end('Invalid request')
    if (this.delayMs > 0) await setTimeout(this.delayMs, undefined, { ref: false })
    if (profile === 'mute') return
    if (profile === 'deaf') return void request.socket.destroy()
    if (profile === 'html') return void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad</html>')
    if (profile === '500') return reply(response, 500, { error: 'internal' })
    if (path === '/verify') reply(response, 200, this.#verified(body as Asked, profile))
    else this.#settle(body as Asked, profile, { request, response })
  }

  #isTooMuch(): boolean {
    const now = performance.now()
    this.#newestMs = this.#newestMs.filter((ms) => ms > now - this.windowMs)
    if (this.#newestMs.length >= this.perSecond) return true
    this.#newestMs.push(now)
    return false
  }

  /** Seconds until it answers the next request. */
  #waitSeconds(): number {
    const oldestMs = this.#newestMs[0] ?? Number.NEGATIVE_INFINITY
    return Math.max(1, Math.ceil((oldestMs + this.windowMs - performance.now()) / 1_000))
  }

  #supported(): object {
    const { word, caip2 } = this.#token.terms.network
    const kinds = [
      { x402Version: 1, scheme: 'exact', network: word },
      { x402Version: 2, scheme: 'exact', network: caip2 },
    ]
    return { kinds }
  }

  #verified({ paymentPayload, paymentRequirements }: Asked, profile: Profile): object {
    const { signature, authorization } = paymentPayload.payload
    const { payTo, amount, maxAmountRequired } = paymentRequirements
    const misfit =
      authorization.value !== (amount ?? maxAmountRequired) ||
      authorization.to.toLowerCase() !== String(payTo).toLowerCase()
    const reason = misfit ? 'invalid_payload' : this.#token.refusal(authorization, signature)
    if (profile === 'refuses')
      return { isValid: false, invalidReason: this.words ?? 'insufficient_funds', payer: authorization.from }
    return reason === null
      ? { isValid: true, payer: authorization.from }
      : { isValid: false, invalidReason: reason, payer: authorization.from }
  }

  #settle(
    { paymentPayload, x402Version }: Asked,
    profile: Profile,
    { request, response }: { request: IncomingMessage; response: ServerResponse },
  ): void {
    const { signature, authorization } = paymentPayload.payload
    const { word, caip2 } = this.#token.terms.network
    const common = { network: x402Version === 1 ? word : caip2, payer: authorization.from }
    const isLying = profile === 'lying' || profile === 'refuses'
    const excuse =
      profile === 'stuck' ? 'nonce too low: already used' : (this.words ?? 'invalid_exact_evm_transaction_failed')
    const carryOut = (): Done =>
      profile === 'pretends' ? { transaction: authorization.nonce } : this.#token.transfer(authorization, signature)
    const done = isLying || profile === 'stuck' ? { reason: excuse } : carryOut()
    if (profile === 'lost') request.socket.destroy()
    else reply(response, 200, { ...settled(done, profile), ...common })
  }
}

/** The answer to a settlement, by what happened and by the profile. */
function settled(done: Done, profile: Profile): object {
  if ('reason' in done) return { success: false, errorReason: done.reason, transaction: '' }
  const { transaction } = done
  if (profile === 'gone')
    return { success: false, errorReason: 'invalid_exact_evm_nonce_already_used', transaction: '' }
  if (profile === 'pending') return { success: false, errorReason: 'settlement_pending', transaction }
  return { success: true, transaction }
}

function reply(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}
