import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { createClient } from '../../../rpc/client/client.ts'
import { openEvents } from '../../../rpc/client/event-stream.ts'
import { askNode, postJson } from '../../../rpc/client/http.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { HEIGHT, LyingNode } from '../../support/lying-node.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** More than any reader accepts: a server that could send all of it was read without a bound. */
const ALL_BYTES = 256 * 1_048_576

/**
 * A node that answers every call with almost endless JSON, as fast as it is read. It counts the sent bytes, and the clients that hung up.
 */
async function endlessNode(status = 200) {
  const seen = { bytes: 0, hungUp: 0 }
  const piece = Buffer.alloc(1_048_576, ' ')
  const pour = (response: ServerResponse): void => {
    while (!response.destroyed) {
      seen.bytes += piece.length
      if (seen.bytes > ALL_BYTES) return void response.end()
      if (!response.write(piece)) return
    }
  }
  const server = createServer((_, response) => {
    response
      .on('drain', () => pour(response))
      .on('close', () => {
        seen.hungUp += 1
      })
    response.writeHead(status, { 'content-type': 'application/json' })
    pour(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

it('every client hangs up on an endless answer', async () => {
  const { url, seen } = await endlessNode()
  const tooLong = { ok: true, value: { status: 502, body: { code: 'too_long' } } }
  expect(await askNode(url, '/')).toMatchObject(tooLong)
  expect(await postJson(url, '/', {})).toMatchObject(tooLong)
  const events = await openEvents(url, '/', new AbortController().signal)
  expect(events).toMatchObject({ ok: false, fault: { code: 'cli/refused' } })
  await expect.poll(() => seen.hungUp).toBe(3)
  expect(seen.bytes).toBeLessThan(3 * 64 * 1_048_576)
})

it('an endless price is no price: the answer is passed on as it came, and not kept', async () => {
  const { url, seen } = await endlessNode(402)
  const paid = createClient({ baseUrl: url, network: 'devnet' }).wrapFetch()
  const response = await paid(url)
  expect(response.status).toBe(402)
  const read = await response.body?.getReader().read()
  expect(read?.value?.length).toBeGreaterThan(0)
  expect(seen.bytes).toBeLessThan(64 * 1_048_576)
})

it('clients hang up on quotes and refusals after a mebibyte', async () => {
  for (const status of [402, 429, 500, 503]) {
    const { url, seen } = await endlessNode(status)
    expect(await askNode(url, '/')).toMatchObject({ ok: true, value: { status: 502, body: { code: 'too_long' } } })
    await expect.poll(() => seen.hungUp).toBe(1)
    expect(seen.bytes).toBeLessThan(24 * 1_048_576)
  }
})

it('a paid seller with an endless refusal does not keep the client reading or waiting', async () => {
  const node = new LyingNode()
  await node.open()
  closing.push(() => node.close())
  node.reset()
  node.says('/services.json', { services: [], nativeUsd: 0.01 })
  node.says('/api/v1/tx/', { status: 'mined', confirmations: 9, receipt: { success: true } })
  const { url, seen } = await endlessNode(503)
  const network = networkFacts(DEVNET)
  const wallet = walletFromWords(wordsOfSeed(devSeed(1)))
  const facts = {
    agentId: 'acme',
    serviceId: 'node-x',
    term: 100,
    validUntil: HEIGHT + 30,
    confirmations: 1,
    decimals: 8,
  }
  const offer = { scheme: 'native-x402', payTo: 'acme', maxAmountRequired: '100', extra: facts }
  const terms = Response.json({ x402Version: 1, accepts: [offer] }, { status: 402 })
  let asked = 0
  const seller: typeof fetch = (input) => (asked++ === 0 ? Promise.resolve(terms) : fetch(input))
  const paid = createClient({ baseUrl: node.url, network, wallet, settleMs: 0 }).wrapFetch(seller)
  await expect(paid(url)).rejects.toMatchObject({ code: 'interrupted' })
  await expect.poll(() => seen.hungUp).toBe(1)
  expect([node.sent.length, seen.bytes < 24 * 1_048_576]).toEqual([1, true])
})
