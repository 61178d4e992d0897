import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { resolveConfig } from '../../../config/load.ts'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import { type AgentClient, type ClientOptions, fileJournal, memoryJournal } from '../../../rpc/client/client.ts'
import { tabListCommand } from '../../../src/cli/commands/tab.ts'
import { folderPaths } from '../../../src/storage/folder.ts'
import { wallet as walletKey } from '../../support/chain.ts'
import type { Json } from '../../support/lying-tab-seller.ts'
import { ACME, caught, devWallet, ECHO, TabWorld } from '../../support/tab-world.ts'

/** Lists of tabs, heirs of dead processes, and servers that are not the client's node. */
const wallet = devWallet(1)
const keyless = { keys: wallet.keys, address: wallet.address, sign: wallet.sign } as never
const root = mkdtempSync(join(tmpdir(), 'farthing-tab-lists-'))
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 400, verify: false, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

const { fetch: plain } = globalThis
/** A node that shows one tab under another key. */
const swapping =
  (tabId: () => string): typeof fetch =>
  async (input, init) => {
    const answer = await plain(input, init)
    if (!String(input).endsWith(`/api/v1/tabs/${tabId()}`)) return answer
    const body = (await answer.json()) as { tab: Json }
    const tab = { ...body.tab, voucherKey: 'ab'.repeat(32) }
    return new Response(JSON.stringify({ ...body, tab }), { status: answer.status })
  }

describe('a list of tabs', () => {
  it('has a deposit whose key is not known, and the chain closes it', async () => {
    const tab = await opened({ wallet: keyless })
    const agent = client({ wallet: keyless })
    const found = await agent.recoverTabs()
    expect(found.map(({ standing }) => standing.tabId)).toContain(tab.tabId)
    const again = await agent.tab(tab.tabId)
    expect(await caught(again.call(ECHO, 'a'))).toMatchObject({ code: 'key_unknown' })
    expect(await agent.tabWith(ACME)).toBeNull()
    expect((await again.close()).by).toBe('chain')
    expect((await again.state()).status).not.toBe('open')
  })

  it('goes on past a tab that the node shows wrongly', async () => {
    const journal = fileJournal(folderPaths(root).tabs)
    const [hidden, shown] = [await opened({ journal }), await opened({ journal })]
    const fetching = swapping(() => hidden.tabId)
    const found = await client({ journal, fetch: fetching }).recoverTabs()
    expect(found.map(({ standing }) => standing.tabId)).toContain(shown.tabId)
    const resolved = resolveConfig(
      [{ origin: 'flag', values: { 'data-dir': root }, callsIt: (name: string) => name }],
      root,
    )
    if (!resolved.ok) throw new Error(faultMessage(resolved.fault))
    const [out, notes]: [unknown[], string[]] = [[], []]
    globalThis.fetch = swapping(() => hidden.tabId)
    const code = await tabListCommand.run({
      ...{ ...resolved.value, params: world.params, words: [], flags: { rpc: world.url, json: '' } },
      ...{ logger: undefined as never, print: () => {}, printJson: (value: unknown) => out.push(value) },
      note: (text) => notes.push(text),
    })
    globalThis.fetch = plain
    expect(code).toBe(0)
    const [{ tabs }] = out as [{ tabs: readonly { tabId: string }[] }]
    const ids = tabs.map(({ tabId }) => tabId)
    expect(ids).toContain(shown.tabId)
    expect(ids).not.toContain(hidden.tabId)
    expect(notes.join()).toContain(hidden.tabId)
  })
})

describe('an heir of a process that died', () => {
  it('behind its request to close waits for that one, and sends no other', async () => {
    const journal = memoryJournal()
    const tab = await opened({ journal })
    world.isMining = false
    expect(await caught(tab.close({ byChain: true }))).toMatchObject({ code: 'interrupted' })
    const before = new Set(world.sent).size
    // The block comes while the heir waits.
    const asking: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init)
      if (/\/api\/v1\/tx\/[0-9a-f]{64}$/.test(String(input))) await world.mine()
      return answer
    }
    const heir = await client({ journal, settleMs: 5_000, fetch: asking }).tab(tab.tabId)
    expect(await heir.close({ byChain: true })).toMatchObject({ by: 'chain' })
    expect(new Set(world.sent).size).toBe(before)
  })

  it('between the note and the request to close sends it', async () => {
    const journal = memoryJournal()
    const tab = await opened({ journal })
    const dead: typeof fetch = (input, init) =>
      String(input).endsWith('/api/v1/tx') ? Promise.reject(new Error('cut')) : fetch(input, init)
    const dying = await client({ journal, fetch: dead, settleMs: 0 }).tab(tab.tabId)
    await caught(dying.close({ byChain: true }))
    const before = world.test.balance(walletKey(1).address)
    const heir = await client({ journal, settleMs: 5_000 }).tab(tab.tabId)
    expect((await heir.close({ byChain: true })).by).toBe('chain')
    const paid = before - world.test.balance(walletKey(1).address)
    expect((await heir.state()).status).toBe('closing')
    const other = await opened()
    const held = world.test.balance(walletKey(1).address)
    await other.close({ byChain: true })
    // One fee, as for a close without a death.
    expect(paid).toBe(held - world.test.balance(walletKey(1).address))
  })
})

describe('an opening that waits for its block', () => {
  it('does not keep another client waiting, and is not followed by another one', async () => {
    const journal = memoryJournal()
    world.isMining = false
    await caught(opened({ journal }))
    const agent = client({ journal, settleMs: 60_000, tabs: { maxDeposit: '0.1' } })
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    const before = new Set(world.sent).size
    expect(await caught(agent.tabProof(offer, 'a'))).toMatchObject({ code: 'no_tab' })
    expect(await agent.tabWith(ACME)).toBeNull()
    expect(new Set(world.sent).size).toBe(before)
    world.isMining = true
    await world.mine()
    expect(await caught(agent.tabProof(offer, 'a'))).toBe('no error')
  })
})

describe('a seller', () => {
  it('does not get a single payment for a call whose voucher it has by naming the code of a failed opening', async () => {
    const own = devWallet(4)
    const agent = client({ wallet: own, tabs: { maxDeposit: '0.02', callsAhead: 5 } })
    for (let i = 0; i < 4; i++) await agent.call(ECHO, `first ${i}`)
    const [tab] = await agent.tabs()
    const before = world.sent.length
    world.mischief.lie = (answer, path) => {
      if (!path.endsWith(ECHO) || answer.settled === undefined) return answer
      world.mischief.lie = null
      const told = world.seller.terms(ECHO, 'payment_failed', tab?.tabId)
      const accepts = (told.body.accepts as readonly Json[]).map((offer) => {
        const extra = { ...(offer.extra as Json), available: false, unavailableReason: 'closed' }
        return { ...offer, extra }
      })
      return { ...told, body: { ...told.body, available: false, requestId: 'x', accepts } }
    }
    const end = await caught(agent.call(ECHO, 'once'))
    expect(end).not.toBe('no error')
    expect(world.sent.length).toBe(before)
    expect(world.seller.served.filter((each) => each.endsWith('once')).length).toBe(1)
  })

  it('that gives one receipt at a time is not asked for ever', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const [one] = await tab.receipts()
    let pages = 0
    world.mischief.lie = (answer, path) => {
      if (!path.endsWith('/receipts')) return answer
      pages += 1
      return { status: 200, body: { tabId: tab.tabId, receipts: [{ ...one, n: pages + 1 }], next: pages + 2 } }
    }
    expect(await tab.receipts({ fromSeller: true })).toHaveLength(1)
    expect(pages).toBeGreaterThan(0)
  })
})

describe('a server that another client asked', () => {
  it('does not refuse a call without the state of the tab', async () => {
    const agent = client()
    const tab = await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    const { payload, settled } = await agent.tabProof(offer, 'stolen')
    // It takes the voucher to the seller, and keeps the answer.
    await world.seller.call(ECHO, 'stolen', payload)
    expect(await settled({ status: 402, body: world.seller.terms(ECHO, 'tab_unknown').body })).toBe(false)
    const paying = (await agent.tabWith(ACME)) as typeof tab
    expect((await paying.state()).unresolved).toBe(200_000n)
    expect(await caught(paying.call(ECHO, 'honest'))).toBe('no error')
    expect((await paying.state()).status).toBe('open')
  })
})

describe('an MCP server', () => {
  /** A tool that wants to be paid for a service of the seller, and keeps what it got. */
  function tools(): { readonly got: Json[]; callTool(params: Json): Promise<object> } {
    const got: Json[] = []
    const callTool = async (params: Json): Promise<object> => {
      const payment = (params._meta as Json | undefined)?.['x402/payment'] as { payload: Json } | undefined
      if (payment === undefined) return { isError: true, structuredContent: world.seller.single(ECHO).body }
      got.push(payment.payload)
      if (payment.payload.voucher === undefined) return { structuredContent: { result: 'paid alone' } }
      const { body, settled } = await world.seller.call(ECHO, 'x', payment.payload)
      return { structuredContent: body, _meta: { 'x402/payment-response': settled } }
    }
    return { got, callTool }
  }

  async function paying(): Promise<AgentClient> {
    const agent = client({ tabs: { maxDeposit: '0.02', callsAhead: 5 } })
    for (let i = 0; i < 4; i++) await agent.call(ECHO, `own ${i}`)
    return agent
  }

  it.each([{}, { url: 'http://127.0.0.1:1/api/mcp' }])('gets no voucher at %j', async (options) => {
    const agent = await paying()
    const server = tools()
    const { callTool } = agent.mcp(server as never, options) as unknown as { callTool(params: Json): Promise<object> }
    await caught(callTool({ name: ECHO, arguments: { request: 'x' } }))
    expect(server.got.length).toBeGreaterThan(0)
    expect(server.got.filter(({ voucher }) => voucher !== undefined)).toEqual([])
  })

  it("gets vouchers where it is the client's own node", async () => {
    const agent = await paying()
    const server = tools()
    const options = { url: `${world.url}/api/mcp` }
    const { callTool } = agent.mcp(server as never, options) as unknown as { callTool(params: Json): Promise<object> }
    expect(await callTool({ name: ECHO, arguments: { request: 'x' } })).toMatchObject({
      structuredContent: { result: { echo: 'x' } },
    })
    expect(server.got).toMatchObject([{ voucher: { maxClaimableAmount: expect.any(String) } }])
  })
})
