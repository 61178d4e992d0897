import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { invoicePdf } from '../../marketplace/services/documents/invoice-pdf.ts'
import { ask, type CallView } from '../support/api.ts'
import { Caller, marketOpen, runsIn } from '../support/caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { mineAtPace } from '../support/mine-by-hand.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
let daemon: RunningDaemon
let url: string

// A mining thread has low priority and would starve beside the processes of these tests.
const CHEAP_BLOCKS = { TEST_FAST_BLOCKS: '1' }
const BLOCK_MS = 1000
const ON_CHEAP = { entry: WITH_TEST_SERVICES, env: CHEAP_BLOCKS }
let endMining: () => Promise<void>

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { mine: 0, env: { TEST_RUNS_FILE: runsFile, ...CHEAP_BLOCKS } })
  url = daemon.url
  endMining = mineAtPace(url, BLOCK_MS)
  await marketOpen(url)
})
afterAll(() => endMining())

/** What `farthing call --json` prints. */
interface CallOutput extends CallView {
  readonly quote: CallView
  readonly verified: Readonly<Record<string, boolean>>
}

/** Flags of a buyer with a development key and a data folder. */
function buyer(key: number, dataDir = workshop.folder()): readonly string[] {
  return ['--rpc', url, '--data-dir', dataDir, '--dev-key', String(key)]
}

const folderOf = (flags: readonly string[]): string => flags[flags.indexOf('--data-dir') + 1]!
const kept = (flags: readonly string[]): readonly string[] => {
  try {
    return readdirSync(join(folderOf(flags), 'calls')).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
}
const outputOf = (stdout: string): CallOutput => JSON.parse(stdout) as CallOutput
const VERIFIED = { paymentInBlock: true, headerWork: true, resultHash: true, receiptMatches: true, requestHash: true }

describe.concurrent('farthing call', () => {
  it('buys each of the real services, and result, receipt and proofs verify', async () => {
    const { blocks } = (await ask<{ blocks: { height: number; transactions: number }[] }>(url, '/api/v1/blocks')).body
    const height = blocks.find(({ transactions }) => transactions > 0)?.height
    const { body } = await ask<{ transactions: { txId: string }[] }>(url, `/api/v1/blocks/${height}`)
    const services = [
      ['node-network-stats', ''],
      ['node-gas-tracker', ''],
      ['node-tx-lookup', body.transactions[0]!.txId],
    ] as const
    const runs = services.map(([serviceId, request], i) =>
      workshop.run(['call', serviceId, request, '--json', ...buyer(i + 3)], ON_CHEAP),
    )
    for (const [i, { code, stdout, stderr }] of (await Promise.all(runs)).entries()) {
      expect(code, stderr).toBe(0)
      const { result, receipt, quote, verified } = outputOf(stdout)
      expect(verified).toEqual(VERIFIED)
      expect(stdout.trim().split('\n')).toHaveLength(1)
      expect(receipt).toMatchObject({
        serviceId: services[i]![0],
        amountBaseUnits: quote.accepts?.[0]?.maxAmountRequired,
      })
      expect(Object.keys(result ?? {}).length).toBeGreaterThan(1)
      const { body: mined } = await ask(url, `/api/v1/tx/${String(receipt?.txId)}`)
      expect(mined).toMatchObject({ status: 'mined', blockId: receipt?.blockHash, height: receipt?.blockHeight })
    }
  })

  it('without --json prints the result alone on standard output', async () => {
    const { code, stdout, stderr } = await workshop.run(['call', 'node-network-stats', ...buyer(1)], ON_CHEAP)
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/^service +node-network-stats$/m)
    expect(stdout).toMatch(/^height +\d+$/m)
    expect(stderr).toMatch(/node-network-stats costs 0\.024 FAR/)
    expect(stderr).toMatch(/^Paid +0\.024 FAR for node-network-stats$/m)
    expect(stderr.match(/^(Checked)? +yes: the \w+/gm)).toHaveLength(5)
  })

  it('shows the quote and pays nothing with --no-pay', async () => {
    const flags = buyer(3)
    const people = await workshop.run(['call', 'node-gas-tracker', '--no-pay', ...flags], ON_CHEAP)
    expect(people.code).toBe(0)
    expect(people.stdout).toMatch(/^Price +0\.024 FAR \(0\.006 USD\)$/m)
    const { code, stdout } = await workshop.run(['call', 'node-gas-tracker', '--no-pay', '--json', ...flags], ON_CHEAP)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ x402: true, accepts: [{ scheme: 'native-x402' }] })
    expect(kept(flags)).toEqual([])
  })

  it('takes its request from a file, saves the file of the result, and pays nothing where that cannot be saved', async () => {
    const [request, saved] = [workshop.path('request'), workshop.path('saved.pdf')]
    writeFileSync(request, `${invoicePdf.example}\n`)
    const flags = buyer(7)
    const call = ['call', 'node-invoice-pdf', '--request-file', request, '--save', saved, ...flags]
    const { code, stderr } = await workshop.run(call, ON_CHEAP)
    expect(code, stderr).toBe(0)
    const pdf = readFileSync(saved)
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
    expect(stderr).toContain(`${pdf.length} bytes written to ${saved}`)
    const again = await workshop.run(call, ON_CHEAP)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('there is such a file')])
    expect(readFileSync(saved)).toEqual(pdf)
    expect(kept(flags)).toHaveLength(1)
  })

  it('says that a failed service is refunded, by its exit code too, and how to look', async () => {
    const flags = buyer(6)
    const { code, stdout, stderr } = await workshop.run(
      ['call', 'node-test-once', 'fail', '--json', ...flags],
      ON_CHEAP,
    )
    expect(code, stderr).toBe(3)
    expect(outputOf(stdout)).toMatchObject({ code: 'upstream_failed', refund: { amount: 0.008 } })
    expect(stderr).toContain('0.008 FAR goes back to you')
    const txId = kept(flags)[0]!.slice(0, 64)
    const again = await workshop.run(['call', '--tx', txId, ...flags], ON_CHEAP)
    expect(again.code, again.stderr).toBe(3)
    const [why, back] = again.stderr.trim().split('\n').slice(-2)
    expect(why).toMatch(/^node-test-once failed.*\. The payment goes back to its payer on chain\.$/)
    expect(back).toMatch(/^0\.008 FAR goes back to you \(\w+\); see: npx --no farthing tx /)
    expect(back).toContain(` tx ${txId} --rpc ${url}`)
    const shown = await until('the refund is mined', async () => {
      const { stdout: told } = await workshop.run(['tx', txId, ...flags], ON_CHEAP)
      return /^Call +/m.test(told) && told
    })
    expect(shown).toMatch(/^Call +failed, paid back at height [0-9]+ \([0-9a-f]{64}\)$/m)
  })
})

describe.concurrent('farthing call pays nothing and says so in one line', () => {
  const REFUSALS: readonly (readonly [string, readonly string[], RegExp, number])[] = [
    [
      'above --max-price',
      ['node-gas-tracker', '--max-price', '0.0239'],
      /price is 0\.024 FAR, your limit is 0\.0239 FAR/,
      1,
    ],
    [
      'with a limit that is no amount',
      ['node-gas-tracker', '--max-price', 'cheap'],
      /"cheap" is not a plain decimal/,
      2,
    ],
    ['on another network', ['node-gas-tracker', '--network', 'testnet'], /is on devnet, .*set to testnet/, 1],
    ['for a service that is down', ['node-test-closed', 'ok'], /its provider is down/, 1],
    ['for an unusable request', ['node-test-again', 'refuse'], /unusable: nothing to do/, 1],
    ['without a service', [], /usage: farthing call/, 2],
    ['with too many words', ['node-test-again', 'ok', 'more'], /usage: farthing call/, 2],
    ['for a payment that it never made', ['--tx', 'ab'.repeat(32)], /no call with the payment/, 2],
  ]

  it.each(REFUSALS)('%s', async (_, words, line, expected) => {
    const flags = buyer(6)
    const { code, stdout, stderr } = await workshop.run(['call', ...words, ...flags], ON_CHEAP)
    const lines = stderr.trim().split('\n')
    expect(lines.at(-1)).toMatch(line)
    expect(lines.at(-1)).toMatch(/^farthing: /)
    expect(code).toBe(expected)
    expect(stdout).toBe('')
    expect(kept(flags)).toEqual([])
  })

  it('for a service that does not exist, and names those that are close', async () => {
    const { code, stderr } = await workshop.run(['call', 'node-network-stat', ...buyer(6)], ON_CHEAP)
    expect(code).toBe(1)
    expect(stderr).toContain('there is no service node-network-stat here')
    expect(stderr).toMatch(/node-network-stats/)
  })

  it('on a devnet with another genesis', async () => {
    const flags = buyer(6)
    const { code, stderr } = await workshop.run(['call', 'node-gas-tracker', ...flags])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^farthing: the node refused: .*\n$/)
    expect(kept(flags)).toEqual([])
  })

  it('where no node answers', async () => {
    const flags = ['--rpc', 'http://127.0.0.1:9', '--data-dir', workshop.folder()]
    const { code, stderr } = await workshop.run(['call', 'node-gas-tracker', ...flags], ON_CHEAP)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^farthing: no node answers at http:\/\/127\.0\.0\.1:9;.*\n$/)
  })

  it('and a command that reads makes no wallets there', async () => {
    const folder = workshop.folder()
    const flags = ['--rpc', 'http://127.0.0.1:9', '--data-dir', folder]
    for (const words of [
      ['wallet', 'history'],
      ['wallet', 'holdings'],
      ['swap', '1', 'FAR', 'SALT'],
    ]) {
      const { code, stderr } = await workshop.run([...words, ...flags], ON_CHEAP)
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^farthing: no node answers at/)])
    }
    expect(existsSync(join(folder, 'wallets'))).toBe(false)
  })
})

describe.concurrent('a farthing call that was killed', () => {
  it('after paying is finished with --tx, without a second payment', async () => {
    const flags = buyer(7)
    const caller = new Caller(url, 7)
    const cut = workshop.launch(['call', 'node-test-once', 'ok:cut', '--json', ...flags], ON_CHEAP)
    const txId = await until('it has paid', () => /paid with ([0-9a-f]{64})/.exec(cut.stderr)?.[1], { everyMs: 5 })
    await cut.end('SIGKILL')
    expect(cut.stdout).toBe('')
    const nonce = (await ask<{ pending: { nextNonce: string } }>(url, `/api/v1/accounts/${caller.address}`)).body
    const resumed = await workshop.run(['call', '--tx', txId, '--json', ...flags], ON_CHEAP)
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(outputOf(resumed.stdout)).toMatchObject({
      result: { echo: 'ok:cut' },
      receipt: { txId },
      verified: VERIFIED,
    })
    const again = await workshop.run(['call', '--tx', txId, '--json', ...flags], ON_CHEAP)
    expect(outputOf(again.stdout)).toEqual(outputOf(resumed.stdout))
    expect(runsIn(runsFile).get('node-test-once ok:cut')).toBe(1)
    const after = (await ask<{ pending: { nextNonce: string } }>(url, `/api/v1/accounts/${caller.address}`)).body
    expect(after.pending.nextNonce).toBe(nonce.pending.nextNonce)
  })

  let proxy: Server
  beforeAll(async () => {
    // A proxy swallows transactions: the payment is stored on disk but never arrives.
    proxy = createServer((request, response) => {
      if (request.url === '/api/v1/tx') return
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }
        const headers = { 'content-type': 'application/json' }
        const init = { method: request.method ?? 'GET', headers: chunks.length === 0 ? {} : headers, ...body }
        void ask(url, request.url ?? '/', init).then(({ status, text }) => response.writeHead(status).end(text))
      })
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    proxy.closeAllConnections()
    proxy.close()
  })

  it('before its payment arrived sends the kept payment with --tx', async () => {
    const flags = buyer(8)
    const through = ['--rpc', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, ...flags.slice(2)]
    const cut = workshop.launch(['call', 'node-test-once', 'ok:lost', '--json', ...through], ON_CHEAP)
    const [file] = await until('the payment is kept', () => kept(flags).length > 0 && kept(flags), { everyMs: 5 })
    await cut.end('SIGKILL')
    const txId = file!.slice(0, 64)
    expect(isHex(txId, 32)).toBe(true)
    expect((await ask(url, `/api/v1/tx/${txId}`)).body.status).toBe('unknown')
    const resumed = await workshop.run(['call', '--tx', txId, '--json', ...flags], ON_CHEAP)
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(outputOf(resumed.stdout)).toMatchObject({
      result: { echo: 'ok:lost' },
      receipt: { txId },
      verified: VERIFIED,
    })
  })
})

describe.concurrent('the other commands that ask a node', () => {
  it('send coins, show the balance, the transaction and its block', async () => {
    const flags = buyer(9)
    const to = new Caller(url, 10)
    await workshop.run(['call', 'node-gas-tracker', '--no-pay', ...flags], ON_CHEAP)
    const init = await workshop.run(['init', '--data-dir', folderOf(flags), '--dev-key', '9'], ON_CHEAP)
    expect(init.code, init.stderr).toBe(0)
    const sent = await workshop.run(['wallet', 'send', to.address, '12.5', '--json', ...flags], ON_CHEAP)
    expect(sent.code, sent.stderr).toBe(0)
    const { txId } = JSON.parse(sent.stdout) as { txId: string }
    const { blockId } = await to.mined(txId)
    const balance = await workshop.run(['wallet', 'balance', to.address, ...flags], ON_CHEAP)
    expect(balance.stdout).toBe('1000012.5 FAR\n')
    const told = await workshop.run(['tx', txId, '--rpc', url], ON_CHEAP)
    expect(told.stdout).toMatch(/^Amount +12\.5 FAR$/m)
    const tx = await workshop.run(['tx', txId, '--rpc', url, '--json'], ON_CHEAP)
    expect(JSON.parse(tx.stdout)).toMatchObject({ txId, status: 'mined', receipt: { success: true } })
    const block = await workshop.run(['block', blockId, '--rpc', url, '--json'], ON_CHEAP)
    expect(JSON.parse(block.stdout)).toMatchObject({ id: blockId, canonical: true })
  })
})
