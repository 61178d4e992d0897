import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { time } from '../../bench/report.ts'

/**
 * The least work of a seller that records each step before the next: two requests to a facilitator and three writes
 * confirmed by the disk, without checks, claims or books. Its time is the machine's share. `GET` returns the write times
 * of each call.
 */
const [facilitator = '', folder = ''] = process.argv.slice(2)
const CLAIM = Buffer.alloc(1_500)
const file = await open(join(folder, 'bare-seller'), 'a')

async function ask(path: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await (await fetch(`${facilitator}${path}`, { method: 'POST', headers, body })).json()
}

async function write(): Promise<void> {
  await file.write(CLAIM)
  await file.datasync()
}

/** Milliseconds of the three writes, per call. */
const written: number[] = []

const server = createServer(async (request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify(written))
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const paymentPayload = JSON.parse(
    Buffer.from(String(request.headers['payment-signature']), 'base64').toString('utf8'),
  )
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted })
  await ask('/verify', body)
  const before = (await time(write)) + (await time(write))
  await ask('/settle', body)
  written.push(before + (await time(write)))
  return response.writeHead(200, { 'content-type': 'application/json' }).end('{"paid":true}')
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as { readonly port: number }).port}\n`)
})
