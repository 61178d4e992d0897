import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { ExternalMiner } from '../../../src/cli/external-miner.ts'
import { until } from '../../support/processes.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A node whose jobs, streamed or requested, are unusable. */
async function nodeWithoutJobs(): Promise<string> {
  const job = JSON.stringify({ jobId: 'ab'.repeat(16), pow: { algorithm: 'argon2id', memoryKiB: 4_194_304 } })
  const server = createServer(({ url = '' }, response) => {
    if (!url.startsWith('/api/v1/mining/jobs')) return response.end(job)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.write(`event: job\nid: 1\ndata: ${job}\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('unusable jobs are not searched, and the miner is told', async () => {
  const [said, searched]: [string[], unknown[]] = [[], []]
  const controller = new AbortController()
  const miner = new ExternalMiner({
    url: await nodeWithoutJobs(),
    owner: { address: 'cd'.repeat(32) as Address, text: 'dfar1somebody' },
    searcher: { assign: (job) => void (job === null || searched.push(job)), onFound: () => {} },
    firstNonce: () => 0n,
    onMined: () => {},
    note: (line) => said.push(line),
    signal: controller.signal,
  })
  const running = miner.run()
  await until('something is said', () => said.length > 0, { ms: 20_000 })
  controller.abort()
  await running
  expect(said).toEqual([expect.stringContaining('is not one that this client understands, or pays another address')])
  expect(searched).toEqual([])
})
