import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { wallet } from '../../support/chain.ts'
import { agentId, SAMPLE, serviceId } from '../../support/unsigned.ts'

const AGENTS = 4
const SERVICES = 120
const BATCH = 60

let server: ApiServer

beforeAll(async () => {
  server = await ApiServer.open()
  const { test } = server
  for (let agent = 0; agent < AGENTS; agent++) {
    const id = agentId(`crowd-${agent}`)
    const payload = SAMPLE.agent_register({ agentId: id, payout: wallet(1).address })
    await test.mine([await test.tx(wallet(1), 'agent_register', payload)])
    for (let first = 0; first < SERVICES; first += BATCH) {
      const published = Array.from({ length: BATCH }, (_, i) =>
        test.tx(
          wallet(1),
          'service_publish',
          SAMPLE.service_publish({ agentId: id, serviceId: serviceId(`service-${first + i}`) }),
        ),
      )
      await test.mine(await Promise.all(published))
    }
  }
})

afterAll(() => server.close())

interface Page {
  readonly agents: readonly { readonly agentId: string; readonly serviceCount: number }[]
  readonly nextCursor: string | null
}

it('a page of agents does not read the services of all agents, and the pages together list every agent once', async () => {
  const seen: string[] = []
  const pages: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const search: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await ask<Page>(server.url, `/api/v1/agents?limit=50${search}`)
    for (const { agentId: id, serviceCount } of body.agents) {
      seen.push(id)
      expect(serviceCount).toBe(SERVICES)
    }
    pages.push(body.agents.length)
    cursor = body.nextCursor
  }
  expect(seen).toEqual(['crowd-0', 'crowd-1', 'crowd-2', 'crowd-3'])
  expect(pages[0]).toBe(2)
  expect(server.errors).toEqual([])
})
