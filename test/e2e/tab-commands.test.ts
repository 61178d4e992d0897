import { beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { createClient, fileJournal } from '../../rpc/client/client.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import { marketOpen, runsIn } from '../support/caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { fastDevnet } from '../support/network.ts'
import { until } from '../support/processes.ts'

/** The real node sells, the client and the commands buy from a tab. */
const HASHES = 300n
const workshop = new Workshop()
const runsFile = workshop.path('runs')
const env = { TEST_FAST_BLOCKS: String(HASHES), TEST_RUNS_FILE: runsFile }
const dataDir = workshop.folder()
const network = networkFacts(fastDevnet(HASHES))
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))
let daemon: RunningDaemon
let agentId: string

const client = (journal = workshop.folder()) =>
  createClient({
    baseUrl: daemon.url,
    wallet,
    network,
    journal: fileJournal(journal),
    maxPerTabUsd: 50,
    maxPerDayUsd: 100,
  })

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env })
  await marketOpen(daemon.url)
  agentId = (await client().quote('node-test-once', 'ok')).agentId
  await until('the agent takes tabs', async () => {
    const { terms } = (await (await fetch(`${daemon.url}/api/v1/agents/${agentId}/tabs`)).json()) as { terms: unknown }
    return terms !== null
  })
})

describe('a tab with a real node', () => {
  it('is opened, used side by side, verified, found again without notes, and closed', async () => {
    const tab = await client().openTab(agentId, { deposit: '50', term: 864_000, closeDelay: 28_800 })
    const texts = Array.from({ length: 12 }, (_, i) => `slow:${i + 1}`)
    const answers = await Promise.all(texts.map((text) => tab.call<{ echo: string }>('node-test-again', text)))
    expect(answers.map(({ result }) => result.echo)).toEqual(texts)
    await expect(tab.call('node-test-again', 'fail')).rejects.toMatchObject({ name: 'NotChargedError' })
    const standing = await tab.state()
    expect(standing).toMatchObject({ status: 'open', receipts: 13, unanswered: 0 })
    const again = client()
    await again.recoverTabs({ maxUnnoted: '1' })
    const found = await again.tab(tab.tabId)
    expect((await found.state()).charged).toBe(standing.charged)
    expect((await tab.call<{ echo: string }>('node-test-again', 'slow:40')).result).toEqual({ echo: 'slow:40' })
    await tab.topUp('0.5')
    expect((await tab.state()).deposit).toBe(5_050_000_000n)
    expect(await found.close()).toMatchObject({ by: 'seller' })
    await until('the tab has ended', async () => (await found.state()).status === 'ended')
    expect(await tab.verifyReceipts()).toMatchObject({ ok: true, missing: [], evidence: null })
  })
})

describe('farthing tab', () => {
  const run = (...args: readonly string[]) =>
    workshop.run([...args, '--data-dir', dataDir, '--rpc', daemon.url], { entry: WITH_TEST_SERVICES, env })

  it('opens, calls, lists, shows, funds, verifies and closes; farthing call uses the tab', async () => {
    const opened = await run(
      'tab',
      'open',
      agentId,
      '--deposit',
      '50',
      '--term',
      '864000',
      '--close-delay',
      '28800',
      '--json',
    )
    expect(opened.stderr).toContain('open a tab with')
    const { tabId } = JSON.parse(opened.stdout) as { readonly tabId: string }
    const called = await run('tab', 'call', 'node-test-again', 'slow:60')
    expect(called).toMatchObject({ code: 0 })
    expect(called.stdout).toContain('slow:60')
    expect(called.stderr).toContain('yes: the seller signed the receipt')
    const plain = await run('call', 'node-test-again', 'slow:61')
    expect(plain.stderr).toContain(`paid from the tab ${tabId}`)
    expect(plain.stdout).toContain('slow:61')
    expect((await run('tab', 'call', 'node-test-again', 'fail')).code).toBe(3)
    expect((await run('tab', 'list')).stdout).toContain(tabId)
    expect((await run('tab', 'fund', tabId, '0.5')).stdout).toContain('50.5 FAR')
    const shown = JSON.parse((await run('tab', 'show', tabId, '--json')).stdout) as { readonly receipts: number }
    expect(shown.receipts).toBe(3)
    expect(
      (await run('tab', 'receipts', tabId)).stdout.split('\n').filter((line) => line.includes('node-test')).length,
    ).toBe(3)
    expect((await run('tab', 'recover')).stdout).toContain(tabId)
    expect((await run('tab', 'verify', tabId)).code).toBe(0)
    expect((await run('tab', 'close', tabId)).code).toBe(0)
    expect((await run('tab', 'call', 'node-test-again', 'x', '--tab', 'ab')).code).toBe(2)
    expect(runsIn(runsFile).get('node-test-again slow:60')).toBe(1)
  })
})

describe('a seller that takes no new tabs', () => {
  it('claims and closes those that are open', async () => {
    const folder = workshop.folder()
    const first = await workshop.start(folder, { env })
    await marketOpen(first.url)
    const at = (url: string) => createClient({ baseUrl: url, wallet, network, journal: fileJournal(journal) })
    const journal = workshop.folder()
    const seller = (await at(first.url).quote('node-test-once', 'ok')).agentId
    const termsAt = async (url: string) => {
      const answer = await fetch(`${url}/api/v1/agents/${seller}/tabs`)
      return ((await answer.json()) as { readonly terms: object | null }).terms
    }
    await until('the agent takes tabs', async () => (await termsAt(first.url)) !== null)
    const tab = await at(first.url).openTab(seller, { deposit: '1' })
    await tab.call('node-test-again', 'slow:70')
    expect((await first.stop()).code).toBe(0)
    const second = await workshop.start(folder, { env, flags: ['--market-tabs', 'false'] })
    await until('no new tabs are taken', async () => (await termsAt(second.url)) === null)
    await expect(at(second.url).openTab(seller, { deposit: '1' })).rejects.toMatchObject({ code: 'no_tab_terms' })
    const same = await at(second.url).tab(tab.tabId)
    expect(await same.close()).toMatchObject({ by: 'seller' })
    await until('the tab has ended', async () => (await same.state()).status === 'ended')
    expect(await same.verifyReceipts()).toMatchObject({ ok: true, receipts: 1 })
  })
})
