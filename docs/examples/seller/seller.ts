import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { NETWORKS, type NetworkName } from '../../../config/networks/table.ts'
import { seedOfWords } from '../../../consensus/crypto/words.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { requestHash } from '../../../consensus/tx/request-hash.ts'
import type { SellingNetwork } from '../../../rpc/client/selling.ts'
import { walletKey } from '../../../src/crypto/wallet-key.ts'
import { type Claim, Claims, type Ending } from './claims.ts'
import { type Fields, hashOfResult, Node } from './node.ts'

/**
 * A server that sells one service for the native coin through any node. It answers 402, claims the payment in a file of its own,
 * works, answers, and closes the escrow. See docs/facilitator.md.
 */

const env = (name: string, otherwise?: string): string => {
  const value = process.env[name] ?? otherwise
  if (value === undefined) throw new Error(`set ${name}`)
  return value
}

const SERVICE = env('SELLER_SERVICE') as ServiceId
const BODY_BYTES_MAX = 65_536
const CALLS_MAX = 64
const SETTLE_EVERY_MS = 500
const ZEROS = '0'.repeat(64)
const HASH = /^[0-9a-f]{64}$/

const node = new Node(env('SELLER_NODE'), env('SELLER_AGENT'), SERVICE)
const words = seedOfWords(readFileSync(env('SELLER_WORDS_FILE'), 'utf8'))
if (!words.ok) throw new Error('SELLER_WORDS_FILE does not hold the 24 words of a settler')
const signer = walletKey(words.value)
const claims = await Claims.open(env('SELLER_CLAIMS', 'claims.jsonl'))
const { work, repeatable } = (await import(env('SELLER_WORK', './work.ts'))) as typeof import('./work.ts')
const running = new Map<string, Promise<Claim>>()
const network = await networkOfMine()

/** The genesis is part of every signature. If you name it, no node can make you sign for another network. */
async function networkOfMine(): Promise<SellingNetwork> {
  const params = NETWORKS[env('SELLER_NETWORK', 'devnet') as NetworkName]
  const { chainId, genesis } = await node.network()
  const meant = env('SELLER_GENESIS', genesis)
  if (meant !== genesis) throw new Error('the node is on another network')
  return { params, network: { chainId, genesis } }
}

interface Call {
  readonly request: string
  readonly payment: { readonly txId: string; readonly secret: string | null } | null
  readonly resource: string
}

async function answer(call: Call, response: ServerResponse): Promise<void> {
  if (call.payment === null) return ask(call, response, { reason: 'payment_required', message: 'Payment required' })
  const { txId, secret } = call.payment
  const known = claims.get(txId) ?? (await takeNew(call, response))
  if (known === null) return
  // Payments are public; only the buyer knows the secret and the request.
  if (known.requestHash !== requestHash(SERVICE, call.request) || known.secret !== secret)
    return send(response, 409, { code: 'payment_already_redeemed', error: 'the payment was used for another call' })
  const { ending } = known.ending === undefined ? await finish(known) : known
  const { outcome, result, resultHash } = ending as Ending
  if (outcome === 'failed')
    return send(response, 502, { code: 'upstream_failed', error: result, refund: { status: 'pending', txId: null } })
  const receipt = { serviceId: SERVICE, txId, rail: 'native', amountBaseUnits: known.amount, resultHash }
  send(response, 200, `{"paid":true,"result":${result},"receipt":${JSON.stringify(receipt)}}`)
}

/** Verifies, then claims; null if the caller was refused. Two calls at once get the same claim. */
async function takeNew(call: Call, response: ServerResponse): Promise<Claim | null> {
  const { request, payment } = call
  const { txId, secret } = payment as NonNullable<Call['payment']>
  const amount = await node.amountOf(txId)
  if (amount === null) {
    await ask(call, response, { reason: 'payment_not_found', message: 'no payment with this id has been seen' })
    return null
  }
  const claim = { txId, secret, request, requestHash: requestHash(SERVICE, request), amount }
  const verdict = await node.verify(claim)
  if (verdict.isValid !== true) {
    await ask(call, response, { reason: String(verdict.invalidReason), message: String(verdict.invalidMessage) })
    return null
  }
  return claims.take(claim)
}

/** Does the work of a claim once, however many calls ask for it. Its end is on the disk before any of them is answered. */
function finish(claim: Claim): Promise<Claim> {
  const { txId, request } = claim
  const already = running.get(txId)
  if (already !== undefined) return already
  const run = endingOf(() => work(request))
    .then((ending) => claims.add(txId, { ending }))
    .finally(() => running.delete(txId))
  running.set(txId, run)
  return run
}

async function endingOf(doing: () => Promise<object>): Promise<Ending> {
  const startedAt = performance.now()
  const elapsed = (): number => Math.round(performance.now() - startedAt)
  try {
    const result = JSON.stringify(await doing())
    return { outcome: 'delivered', result, resultHash: hashOfResult(result), durationMs: elapsed() }
  } catch (error) {
    return { outcome: 'failed', result: String(error).slice(0, 200), resultHash: ZEROS, durationMs: elapsed() }
  }
}

/** Goes on after a crash: work that may be repeated is done, other calls are refunded. */
async function recover(): Promise<void> {
  for (const claim of claims.open()) {
    if (claim.ending !== undefined) continue
    if (repeatable) void finish(claim).catch(report)
    else await claims.add(claim.txId, { ending: await endingOf(() => Promise.reject(new Error('interrupted'))) })
  }
}

/** For every finished call: gets its receipt from the node, signs and posts it, until the chain has closed the escrow. */
async function settleForEver(): Promise<never> {
  for (;;) {
    for (const claim of claims.open()) if (claim.ending !== undefined) await settleOne(claim).catch(report)
    await pause(SETTLE_EVERY_MS)
  }
}

async function settleOne(claim: Claim): Promise<void> {
  const said = await node.settle(claim, signer, network)
  const { errorReason } = said
  // Consensus refunded it at the deadline: nothing can be earned any more.
  if (errorReason === 'payment_closed') return void (await claims.add(claim.txId, { closed: 'expired' }))
  if (said.success !== true) return report(`${claim.txId}: ${String(errorReason)}`)
  const { receipt, receiptTransaction } = said.extra as { receipt: { status: string }; receiptTransaction: unknown }
  if (['delivered', 'failed', 'expired'].includes(receipt.status))
    return void (await claims.add(claim.txId, { closed: receipt.status }))
  if (receiptTransaction === null) return
  const refused = await node.post(receiptTransaction, claim, signer, network)
  if (refused !== null) report(`${claim.txId}: the receipt was not taken: ${refused}`)
}

/** A 402 of both x402 versions: version 1 in the body, version 2 in the header. */
async function ask(
  { resource }: Call,
  response: ServerResponse,
  { reason, message }: { reason: string; message: string },
): Promise<void> {
  const offer = await node.offer(resource)
  const common = { error: message, code: reason, available: offer.available }
  const body = { x402: true, x402Version: 1, ...common, serviceId: SERVICE, accepts: [offer.v1] }
  const terms = { x402Version: 2, error: message, resource: { url: resource }, accepts: [offer.v2], extensions: {} }
  response.setHeader('payment-required', Buffer.from(JSON.stringify(terms)).toString('base64'))
  send(response, 402, body)
}

/** Null if the call is malformed. The payment is in the body, or in a header of either x402 version. */
async function read(message: IncomingMessage): Promise<Call | null> {
  let text = ''
  for await (const chunk of message.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > BODY_BYTES_MAX) return null
  }
  const body = parse(text === '' ? '{}' : text)
  const header = message.headers['payment-signature'] ?? message.headers['x-payment']
  const inHeader = header === undefined ? {} : parse(Buffer.from(String(header), 'base64').toString('utf8'))
  if (body === null || inHeader === null) return null
  const { txId, secret = null } = (inHeader.payload ?? body.payment ?? {}) as Fields
  const request = body.request ?? ''
  const resource = `http://${message.headers.host ?? 'localhost'}${message.url ?? '/'}`
  if (typeof request !== 'string' || !request.isWellFormed()) return null
  if (txId === undefined) return { request, payment: null, resource }
  if (!isHash(txId) || !(secret === null || isHash(secret))) return null
  return { request, payment: { txId, secret }, resource }
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value)
}

function parse(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' ? (value as Fields) : null
  } catch {
    return null
  }
}

function send(response: ServerResponse, status: number, body: object | string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

function report(error: unknown): void {
  process.stderr.write(`${String(error)}\n`)
}

let calls = 0
const server = createServer((message, response) => {
  if (message.method !== 'POST' || message.url?.split('?')[0] !== `/api/x402/${SERVICE}`)
    return send(response, 404, { code: 'not_found', error: 'nothing is sold here' })
  if (calls >= CALLS_MAX) return send(response, 503, { code: 'node_busy', error: 'too many calls at once' })
  calls += 1
  const handled = async (): Promise<void> => {
    const call = await read(message)
    if (call === null) send(response, 400, { code: 'invalid_request', error: 'this is no call' })
    else await answer(call, response)
  }
  handled()
    .catch((error: unknown) => {
      report(error)
      if (!response.headersSent) send(response, 503, { code: 'service_unavailable', error: 'try again' })
    })
    .finally(() => {
      calls -= 1
    })
})

await recover()
void settleForEver()
server.listen(Number(env('SELLER_PORT', '8402')), '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(
    `selling at http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : ''}\n`,
  )
})
