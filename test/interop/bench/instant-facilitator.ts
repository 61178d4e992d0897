import { createServer } from 'node:http'
import { nowMs } from '../../bench/report.ts'
import { CHAIN_ID } from '../evm/network.ts'

/**
 * A facilitator that accepts everything at once, so that the rest of a call's time is the seller's. It records how long
 * it held each payment.
 */
const KINDS = [
  { x402Version: 2, scheme: 'exact', network: `eip155:${CHAIN_ID}` },
  { x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
]
const BYTES_OF_ID = 32

interface Body {
  readonly paymentPayload: {
    readonly payload: { readonly authorization: { readonly from: string; readonly nonce: string } }
  }
  readonly paymentRequirements: { readonly network: string }
}

/** Milliseconds by nonce, verify and settle together. */
const held = new Map<string, number>()

function answerTo(path: string, text: string): { readonly answer: object; readonly nonce: string | null } {
  if (path === '/supported') return { answer: { kinds: KINDS, extensions: [], signers: {} }, nonce: null }
  if (path === '/held') return { answer: Object.fromEntries(held), nonce: null }
  const { paymentPayload, paymentRequirements } = JSON.parse(text) as Body
  const { from: payer, nonce } = paymentPayload.payload.authorization
  if (path === '/verify') return { answer: { isValid: true, payer }, nonce }
  const transaction = nonce.slice(0, 2 + 2 * BYTES_OF_ID)
  return { answer: { success: true, transaction, network: paymentRequirements.network, payer }, nonce }
}

const server = createServer(async (request, response) => {
  const sinceMs = nowMs()
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { answer, nonce } = answerTo(request.url ?? '', Buffer.concat(chunks).toString('utf8'))
  const json = JSON.stringify(answer)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }).end(json)
  if (nonce !== null) held.set(nonce, (held.get(nonce) ?? 0) + nowMs() - sinceMs)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as { readonly port: number }).port}\n`)
})
