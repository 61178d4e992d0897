import { ApiServer } from '../../support/api-server.ts'
import { wallet } from '../../support/chain.ts'
import type { Target } from '../target.ts'

const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value))
let server: Promise<ApiServer> | undefined

/** The body of a request to submit work. The answer must have a code, and the server must report no bug. */
const submitWork: Target = {
  name: 'http-mining-submit',
  share: 0.25,
  seeds: () => [
    text(JSON.stringify({ jobId: '1-0123456789abcdef', nonce: '0' })),
    text(JSON.stringify({ jobId: 'a'.repeat(32), nonce: '18446744073709551615' })),
    text(JSON.stringify({ jobId: wallet(1).address, nonce: '18446744073709551616' })),
  ],
  run: async (bytes) => {
    server ??= ApiServer.open()
    const { url, errors } = await server
    const response = await fetch(`${url}/api/v1/mining/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: bytes as never,
    })
    const answer = (await response.json()) as { readonly code?: unknown }
    if (errors.length > 0) throw errors[0]
    if (typeof answer.code !== 'string') throw new Error(`answered ${response.status} ${JSON.stringify(answer)}`)
    return `${response.status} ${answer.code}`
  },
  close: async () => (await server)?.close(),
}

/** The fuzzed handlers of the HTTP API. */
export const HTTP_TARGETS: readonly Target[] = [submitWork]
