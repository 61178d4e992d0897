import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RefundedError, SpendLimitError } from '../../../rpc/client/client.ts'
import { marketOpen, runsIn } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { buyer } from './buyer.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
let daemon: RunningDaemon
let requests = 0

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '250', TEST_RUNS_FILE: runsFile } })
  await marketOpen(daemon.url)
})

const TOOL = 'node-test-once'
const runs = (request: string): number => runsIn(runsFile).get(`${TOOL} ${request}`) ?? 0

/** The clients as their packages ship them. */
const OFFICIAL = {
  'of the newer line': async () => {
    const client = new Client(INFO)
    await client.connect(new StreamableHTTPClientTransport(endpoint()))
    return client
  },
  'of the older line': async () => {
    const client = new OldClient(INFO)
    // The older type declarations do not fit exact optional properties.
    await client.connect(new OldTransport(endpoint()) as Parameters<typeof client.connect>[0])
    return client
  },
} as const
const INFO = { name: 'buyer', version: '1.0.0' }
const endpoint = (): URL => new URL(`${daemon.url}/api/mcp`)

describe.each(Object.keys(OFFICIAL) as (keyof typeof OFFICIAL)[])('the helper with the official client %s', (name) => {
  let client: Awaited<ReturnType<(typeof OFFICIAL)[typeof name]>>

  beforeAll(async () => {
    client = await OFFICIAL[name]()
  })
  afterAll(() => client?.close())

  it('pays a tool and hands over its result', async () => {
    const request = `slow:${++requests}`
    const { callTool } = buyer(daemon.url).mcp(client)
    const result = await callTool({ name: TOOL, arguments: { request } })
    expect(result).toMatchObject({
      structuredContent: { paid: true, result: { echo: request } },
      _meta: { 'x402/payment-response': { success: true } },
    })
    expect(runs(request)).toBe(1)
  })

  it('leaves free tools alone, stops at a ceiling, and says when the money goes back', async () => {
    const free = await buyer(daemon.url).mcp(client).callTool({ name: 'node_status', arguments: {} })
    expect(free).toMatchObject({ structuredContent: {} })
    const request = `slow:${++requests}`
    const poor = buyer(daemon.url, { maxPerCallUsd: 0.0001 }).mcp(client)
    await expect(poor.callTool({ name: TOOL, arguments: { request } })).rejects.toBeInstanceOf(SpendLimitError)
    expect(runs(request)).toBe(0)
    const { callTool } = buyer(daemon.url).mcp(client)
    await expect(callTool({ name: TOOL, arguments: { request: 'fail' } })).rejects.toBeInstanceOf(RefundedError)
  })
})
