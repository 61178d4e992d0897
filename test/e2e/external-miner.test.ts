import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { askJob, followJobs, submitNonce } from '../../rpc/client/mining.ts'
import { ask, type JsonBody, type Reply } from '../support/api.ts'
import { wallet } from '../support/chain.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { type Program, until } from '../support/processes.ts'

const workshop = new Workshop()
/** The earliest blocks of a chain cost one hash each. */
const fast = { TEST_FAST_BLOCKS: '1' }
/** A stop that took longer was forced. */
const STOP_MS_MAX = 4_500

const addressOf = (number: number): string => formatAddress('dfar', wallet(number).address)
const ownerOf = (number: number) => ({ address: wallet(number).address, text: addressOf(number) })

/** A node that does not mine itself. */
const idle = (folder = workshop.folder()): Promise<RunningDaemon> => workshop.start(folder, { mine: 0, env: fast })

/** Starts `farthing mine` in another process. */
function miner(url: string, flags: readonly string[], folder = workshop.folder()): Program {
  const args = ['mine', '--data-dir', folder, '--node', url, ...flags]
  return workshop.launch(args, { entry: WITH_TEST_SERVICES, env: fast })
}

interface Page {
  readonly blocks: readonly { readonly miner: string; readonly height: number }[]
  readonly nextCursor: string | null
}

async function heightOf(url: string): Promise<number> {
  return (await ask<{ readonly height: number }>(url, '/api/v1/status')).body.height
}

async function reached(url: string, height: number): Promise<void> {
  await until(`height ${height}`, async () => (await heightOf(url)) >= height)
}

/** Miners of all blocks of a chain, newest first, over all pages. */
async function minersOf(url: string): Promise<readonly string[]> {
  const miners: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Reply<Page> = await ask(url, `/api/v1/blocks?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`)
    miners.push(...page.body.blocks.filter(({ height }) => height > 0).map(({ miner: who }) => who))
    cursor = page.body.nextCursor
  }
  return miners
}

const blocksTold = ({ stdout }: Program): readonly string[] =>
  [...stdout.matchAll(/^block (\d+) [0-9a-f]{64} with \d+ transactions$/gm)].map(([, height]) => height as string)

describe('farthing mine', () => {
  it('mines blocks that pay the address given, tells each, and ends at once on Ctrl-C', async () => {
    const daemon = await idle()
    const mining = miner(daemon.url, ['--address', addressOf(7), '--threads', '1'])
    await reached(daemon.url, 5)
    const startedMs = performance.now()
    expect(await mining.end('SIGINT')).toEqual({ code: 0, signal: null })
    console.info(`the miner ended after ${Math.round(performance.now() - startedMs)} ms`)
    const miners = await minersOf(daemon.url)
    expect(new Set(miners)).toEqual(new Set([addressOf(7)]))
    expect(blocksTold(mining).slice(0, 5)).toEqual(['1', '2', '3', '4', '5'])
    expect(await heightOf(daemon.url)).toBe(miners.length)
    expect((await daemon.stop()).code).toBe(0)
  })

  it('pays the wallet named, closed as it is, and by default the one of the caller', async () => {
    const daemon = await idle()
    const folder = workshop.folder()
    const first = miner(daemon.url, ['--threads', '1'], folder)
    await until('a block of the caller', () => blocksTold(first).length > 0)
    await first.end('SIGTERM')
    const before = await heightOf(daemon.url)
    const second = miner(daemon.url, ['--threads', '1', '--wallet', 'market'], folder)
    await until('a block of the market', () => blocksTold(second).length > 0)
    await second.end('SIGTERM')
    const miners = (await minersOf(daemon.url)).toReversed()
    expect(new Set(miners.slice(0, before))).toEqual(new Set([addressOf(1)]))
    expect(new Set(miners.slice(before))).toEqual(new Set([addressOf(2)]))
    expect((await daemon.stop()).code).toBe(0)
  })

  it('goes on when its node starts again, and mines what waits in the mempool', async () => {
    const folder = workshop.folder()
    const daemon = await idle(folder)
    const { port } = new URL(daemon.url)
    const mining = miner(daemon.url, ['--threads', '1', '--address', addressOf(7)])
    await until('a block', () => blocksTold(mining).length > 0)
    await daemon.kill()
    await until('it says that the node is gone', () => mining.stderr.includes('no node answers at'))
    const args = ['start', '--data-dir', folder, '--rpc-port', port, '--p2p-enabled', 'false']
    const again = await workshop.ready(workshop.launch(args, { entry: WITH_TEST_SERVICES, env: fast }), folder)
    const before = await heightOf(again.url)
    await reached(again.url, before + 3)
    expect(mining.ended).toBeNull()
    expect(new Set(await minersOf(again.url))).toEqual(new Set([addressOf(7)]))
    // The node's services are published by transactions, which must be mined.
    await until('a block with transactions', () => /with [1-9]\d* transactions/.test(mining.stdout))
    expect((await again.stop()).code).toBe(0)
  })

  it('is two miners at once on one node, both paid', async () => {
    const daemon = await idle()
    const mining = [5, 6].map((number) => miner(daemon.url, ['--threads', '1', '--address', addressOf(number)]))
    await until('both found blocks', () => mining.every((one) => blocksTold(one).length >= 2))
    const ends = await Promise.all(mining.map((one) => one.end('SIGINT')))
    expect(ends).toEqual([5, 6].map(() => ({ code: 0, signal: null })))
    expect(new Set(await minersOf(daemon.url))).toEqual(new Set([addressOf(5), addressOf(6)]))
    // A miner that loses a block to the other miner reports it as lost, so no block is reported twice.
    const told = mining.flatMap(blocksTold)
    expect(new Set(told).size).toBe(told.length)
    expect((await daemon.stop()).code).toBe(0)
  })

  it.each([
    ['another network', ['--network', 'testnet', '--address', 'tfar1x'], /not an address/, 2],
    ['an address and a wallet', ['--address', addressOf(1), '--wallet', 'market'], /give one of them/, 2],
    ['no threads', ['--threads', '0'], /--threads is "0"; allowed: 1 to 256/, 2],
    ['no wallet', ['--wallet', 'nobody'], /there is no wallet named nobody/, 1],
    ['no URL', ['--node', 'ftp://x'], /--node is "ftp:\/\/x"; allowed/, 2],
  ])('refuses %s', async (_, flags, line, code) => {
    const args = ['mine', '--data-dir', workshop.folder(), ...flags]
    const refused = await workshop.run(args, { entry: WITH_TEST_SERVICES, env: fast })
    expect([refused.code, refused.stdout]).toEqual([code, ''])
    expect(refused.stderr).toMatch(line)
  })
})

describe('where a node refuses the stream', () => {
  let proxy: Server | undefined

  afterEach(() => {
    proxy?.closeAllConnections()
    proxy?.close()
  })

  it('the miner asks for jobs instead', async () => {
    const daemon = await idle()
    proxy = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', async () => {
        const { url = '', method = 'GET' } = request
        if (url.startsWith('/api/v1/mining/jobs')) {
          response.writeHead(404).end('{"error":"no streams here"}')
          return
        }
        const body =
          method === 'POST' ? { body: Buffer.concat(chunks), headers: { 'content-type': 'application/json' } } : {}
        const reply = await fetch(`${daemon.url}${url}`, { method, ...body })
        response.writeHead(reply.status).end(await reply.text())
      })
    })
    await new Promise<void>((resolve) => proxy?.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const mining = miner(url, ['--threads', '1', '--address', addressOf(7)])
    await reached(daemon.url, 3)
    expect(mining.stderr).toMatch(/asking for jobs: .*no streams here/)
    await mining.end('SIGINT')
    expect((await daemon.stop()).code).toBe(0)
  })
})

describe('jobs of a node in a process of its own', () => {
  it('are stale after another block, and a wrong nonce is refused and costs nothing else', async () => {
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const asked = await askJob(daemon.url, ownerOf(3))
    const job = asked.ok ? asked.value : expect.fail('no job')
    // The devnet starts at 12,000 hashes a block, so these two nonces are not valid by chance.
    const answers = [await submitNonce(daemon.url, job.jobId, 1n), await submitNonce(daemon.url, job.jobId, 2n)]
    expect(answers).toMatchObject([1, 2].map(() => ({ ok: true, value: { accepted: false, code: 'low_work' } })))
    expect(await heightOf(daemon.url)).toBe(0)
    const mining = workshop.launch([
      ...['mine', '--data-dir', workshop.folder(), '--node', daemon.url, '--address', addressOf(4)],
    ])
    await reached(daemon.url, 1)
    await mining.end('SIGINT')
    expect(await submitNonce(daemon.url, job.jobId, 1n)).toMatchObject({ value: { code: 'stale_job' } })
    expect((await daemon.stop()).code).toBe(0)
  })

  it('come to an end with the node, which does not wait for those who follow them', async () => {
    const daemon = await idle()
    const over = new AbortController()
    const ended = Array.from({ length: 10 }, async (_, i): Promise<readonly JsonBody[]> => {
      const jobs = await followJobs(daemon.url, ownerOf(1 + (i % 5)), over.signal)
      const seen: JsonBody[] = []
      if (jobs.ok) for await (const { height } of jobs.value) seen.push({ height })
      return seen
    })
    await until('every stream is open', async () => {
      const { text } = await ask(daemon.url, '/metrics')
      return /^farthing_mining_addresses 5$/m.test(text)
    })
    const startedMs = performance.now()
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    const stopMs = performance.now() - startedMs
    console.info(`stopped after ${Math.round(stopMs)} ms with ten streams open`)
    expect(stopMs).toBeLessThan(STOP_MS_MAX)
    for (const seen of await Promise.all(ended)) expect(seen[0]).toEqual({ height: 1 })
    expect(over.signal.aborted).toBe(false)
    expect(daemon.log.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })
})
