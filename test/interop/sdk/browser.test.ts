import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildClient } from '../../../src/package/build-client.ts'
import { marketOpen } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { openChromium } from '../browser/visitor.ts'
import { NETWORK, WORDS } from './buyer.ts'

const workshop = new Workshop()
let daemon: RunningDaemon
let browser: Browser
let pages: Server

beforeAll(async () => {
  const folder = workshop.folder()
  await buildClient(folder)
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '500' } })
  await marketOpen(daemon.url)
  await writeFile(join(folder, 'script.js'), SCRIPT)
  pages = createServer(async (request, response) => {
    const name = basename(request.url ?? '')
    const isScript = name.endsWith('.js')
    // Neither eval nor WebAssembly is allowed: the client must work under a strict policy.
    const policy = `default-src 'none'; img-src data:; script-src 'self'; connect-src ${daemon.url}`
    response.setHeader('content-security-policy', policy)
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? await readFile(join(folder, name)).catch(() => '') : PAGE)
  })
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  pages?.closeAllConnections()
  pages?.close()
})

it('the bundle quotes, pays, calls and verifies in a page of another origin, under a strict policy', async () => {
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // A 402 is a usual answer here, but the browser logs it as an error.
    if (message.type() === 'error' && !message.text().includes('402')) complaints.push(message.text())
  })
  await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)
  await page.waitForLoadState('load')
  const order = { baseUrl: daemon.url, network: NETWORK, words: WORDS }
  expect(complaints).toEqual([])
  const done = await page.evaluate((given) => (globalThis as PageWindow).run?.(given), order)
  expect(done).toEqual({
    quoted: '0.008',
    result: { echo: 'slow:1' },
    checks: {
      paymentInBlock: true,
      headerWork: true,
      resultHash: true,
      receiptMatches: true,
      requestHash: true,
      secondNode: null,
    },
    failed: ['resultHash'],
    event: 'block',
    kept: 1,
    refused: 'SpendLimitError over_call_limit',
  })
  expect(complaints).toEqual([])
})

/** Script of the page, as a developer would write it. */
const SCRIPT = `
import { createClient, storageJournal } from '/client.js'
import { walletFromWords } from '/client-wallet.js'

globalThis.run = async ({ baseUrl, network, words }) => {
  const options = { baseUrl, network, wallet: walletFromWords(words), journal: storageJournal(localStorage) }
  const agent = createClient(options)
  const quote = await agent.quote('node-test-once', 'slow:1')
  const { result, receipt, verified } = await agent.call('node-test-once', 'slow:1')
  const { failed } = await agent.verifyReceipt(receipt, { echo: 'else' })
  let event = ''
  for await (const { type } of agent.events({ types: ['block'] })) {
    event = type
    break
  }
  const refused = await createClient({ ...options, maxPerCallUsd: 0.0001 })
    .call('node-test-once', 'slow:2')
    .catch((error) => error.name + ' ' + error.code)
  return { quoted: quote.coins, result, checks: verified.checks, failed, event, kept: localStorage.length, refused }
}
`
const PAGE =
  '<!doctype html><title>Page</title><link rel="icon" href="data:,"><script type="module" src="/script.js"></script>'

/** The function that the page's script defines. */
interface PageWindow {
  run?(order: object): Promise<unknown>
}
