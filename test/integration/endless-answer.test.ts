import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { openEvents } from '../../rpc/client/event-stream.ts'
import { askNode, postJson } from '../../rpc/client/http.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A node that answers everything with JSON that has no end, as fast as it is read; counts what it sent and who hung up. */
async function endlessNode() {
  const seen = { bytes: 0, hungUp: 0 }
  const piece = Buffer.alloc(1_048_576, ' ')
  const pour = (response: ServerResponse): void => {
    while (!response.destroyed) {
      seen.bytes += piece.length
      if (!response.write(piece)) return
    }
  }
  const server = createServer((_, response) => {
    response
      .on('drain', () => pour(response))
      .on('close', () => {
        seen.hungUp += 1
      })
    response.writeHead(200, { 'content-type': 'application/json' })
    pour(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

it('an answer without an end is hung up on, whoever asks', async () => {
  const { url, seen } = await endlessNode()
  const tooLong = { ok: true, value: { status: 502, body: { code: 'too_long' } } }
  expect(await askNode(url, '/')).toMatchObject(tooLong)
  expect(await postJson(url, '/', {})).toMatchObject(tooLong)
  const events = await openEvents(url, '/', new AbortController().signal)
  expect(events).toMatchObject({ ok: false, fault: { code: 'cli/refused' } })
  await expect.poll(() => seen.hungUp).toBe(3)
  expect(seen.bytes).toBeLessThan(3 * 64 * 1_048_576)
})
