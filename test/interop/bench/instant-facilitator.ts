import { createServer } from 'node:http'
import { CHAIN_ID } from '../evm/network.ts'

/** A facilitator that takes everything at once: what remains of a call's time is the seller's. */
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

function answerTo(path: string, text: string): object {
  if (path === '/supported') return { kinds: KINDS, extensions: [], signers: {} }
  const { paymentPayload, paymentRequirements } = JSON.parse(text) as Body
  const { from: payer, nonce } = paymentPayload.payload.authorization
  if (path === '/verify') return { isValid: true, payer }
  const transaction = nonce.slice(0, 2 + 2 * BYTES_OF_ID)
  return { success: true, transaction, network: paymentRequirements.network, payer }
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const json = JSON.stringify(answerTo(request.url ?? '', Buffer.concat(chunks).toString('utf8')))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }).end(json)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as { readonly port: number }).port}\n`)
})
