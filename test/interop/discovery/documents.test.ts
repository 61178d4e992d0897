import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { isLegacyAgentCard, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { extractDiscoveryInfoFromExtension, validateDiscoveryExtension, withBazaar } from '@x402/extensions/bazaar'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask, type JsonBody } from '../../support/api.ts'
import { SOLD_ALONE } from '../../support/bare-node.ts'
import { marketOpen } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'

const workshop = new Workshop()
const CARD = '/.well-known/agent-card.json'
let daemon: RunningDaemon

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '500' } })
  await marketOpen(daemon.url)
})

/** Services for sale, with the two test services. */
const SOLD = [...SOLD_ALONE, 'node-test-again', 'node-test-once']

describe('the agent card', () => {
  it.each(['/.well-known/agent-card.json', '/.well-known/agent.json'])('is read by the SDK at %s', async (path) => {
    const card = await new DefaultAgentCardResolver().resolve(daemon.url, path)
    expect(card.supportedInterfaces).toMatchObject([
      { url: `${daemon.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ])
    expect(card.skills.map(({ id }) => id).sort()).toEqual([...SOLD].sort())
    expect(card.capabilities).toMatchObject({ streaming: false, pushNotifications: false })
    expect(card.capabilities?.extensions.map(({ uri }) => uri)).toEqual(['https://github.com/google-a2a/a2a-x402/v0.1'])
  })

  it('has what a reader of 0.3 needs, who knows nothing of the newer members', async () => {
    const { body } = await ask(daemon.url, CARD)
    const { supportedInterfaces, ...old } = body as JsonBody
    expect(supportedInterfaces).toBeDefined()
    expect(isLegacyAgentCard(old)).toBe(true)
    const card = parseLegacyAgentCard(old)
    expect(card.supportedInterfaces[0]).toMatchObject({ url: `${daemon.url}/a2a`, protocolBinding: 'JSONRPC' })
    expect(card.skills.map(({ id }) => id).sort()).toEqual([...SOLD].sort())
  })
})

describe('items of the list for catalogues', () => {
  it('carry an extension that the catalogues’ own check takes, with a request that works', async () => {
    const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url: daemon.url })).extensions
    const { items } = await bazaar.listResources({ limit: 100 })
    expect(items).toHaveLength(SOLD.length)
    for (const { resource, extensions } of items) {
      const extension = extensions?.bazaar as Parameters<typeof validateDiscoveryExtension>[0]
      expect({ resource, ...validateDiscoveryExtension(extension) }).toEqual({ resource, valid: true })
      expect(extractDiscoveryInfoFromExtension(extension)).toMatchObject({ input: { type: 'http', method: 'POST' } })
    }
  })
})
