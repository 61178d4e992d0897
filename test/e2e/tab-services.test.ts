import { Check } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { createClient, type Tab } from '../../rpc/client/client.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import { ask } from '../support/api.ts'
import { Caller, marketOpen, tabsOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { fastDevnet } from '../support/network.ts'
import { until } from '../support/processes.ts'
import { workingRequest } from '../support/service-requests.ts'
import { ServiceWorld } from '../support/service-world.ts'
import { signatureRequests } from '../support/signed-texts.ts'

const HASHES = 250n
const workshop = new Workshop()
let daemon: RunningDaemon
let world: ServiceWorld
let tab: Tab
let facts: Omit<Parameters<typeof workingRequest>[1], 'fresh'>
let charged = 0n

interface Listed {
  readonly services: readonly { readonly serviceId: string; readonly available: boolean }[]
}

beforeAll(async () => {
  world = await ServiceWorld.open(workshop.folder())
  const env = { TEST_FAST_BLOCKS: String(HASHES), ...world.env }
  daemon = await workshop.start(workshop.folder(), { env, flags: world.flags })
  await marketOpen(daemon.url)
  await until('every service is available', async () => {
    const { body } = await ask<Listed>(daemon.url, '/services.json')
    return body.services.every(({ serviceId, available }) => available || serviceId.startsWith('node-test-'))
  })
  const caller = new Caller(daemon.url, 1)
  const paid = await caller.payMined({ serviceId: 'node-network-stats', request: '' })
  await caller.settle(paid)
  const { body } = await ask<{ readonly genesis: BlockId }>(daemon.url, '/api/v1/status')
  const [signed = ''] = await signatureRequests({ chainId: 1, genesis: body.genesis })
  facts = { txId: paid.txId, signed, address: caller.key.address }
  const client = createClient({
    ...{
      baseUrl: daemon.url,
      network: networkFacts(fastDevnet(HASHES)),
      wallet: walletFromWords(wordsOfSeed(devSeed(3))),
      settleMs: 60_000,
    },
    ...{ maxPerTabCoins: '100', maxPerTabUsd: 1_000, maxPerDayUsd: 1_000, maxPerCallUsd: 1, maxPerCallCoins: '10' },
  })
  const { agentId } = await client.quote('node-network-stats', '')
  await tabsOpen(daemon.url)
  tab = await client.openTab(agentId, { deposit: '50', term: 864_000 })
})

afterAll(() => world.close())

describe('every service of the table', () => {
  it.each(SERVICE_TABLE.map((definition, i) => [definition.serviceId, definition, i] as const))(
    '%s is paid from one tab, and its answer has the promised shape',
    async (serviceId, { resultSchema, usedOnTab }, i) => {
      const request = workingRequest(serviceId, { ...facts, fresh: 2_000 + i })
      const quoted = await ask<{ readonly accepts: readonly { readonly maxAmountRequired: string }[] }>(
        daemon.url,
        `/api/x402/${serviceId}?rail=tab`,
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ request }) },
      )
      const offered = BigInt(quoted.body.accepts[0]!.maxAmountRequired)
      // The client checks the signature of the receipt, and that it is of this request and this result.
      const answer = await tab.call<Readonly<Record<string, unknown>>>(serviceId, request)
      expect(answer.result.service).toBe(serviceId)
      expect(Check(resultSchema, answer.result)).toBe(true)
      expect(answer.receipt).toMatchObject({ serviceId, rail: 'tab', txId: tab.tabId })
      const { receipt } = answer.tab!
      expect(receipt).toMatchObject({ outcome: 0, n: i + 1, charged: `${answer.tab!.charged}` })
      if (usedOnTab === undefined) expect(answer.tab!.charged).toBe(offered)
      else expect(answer.tab!.charged).toBeLessThan(offered)
      charged += answer.tab!.charged
      expect(BigInt(receipt.cumulative)).toBe(charged)
    },
  )

  it('has its part in what the tab was charged, by the word of the seller and by all receipts', async () => {
    expect(await tab.state()).toMatchObject({ charged, receipts: SERVICE_TABLE.length, unanswered: 0, status: 'open' })
    expect(await tab.verifyReceipts()).toMatchObject({ ok: true, evidence: null })
  })
})
