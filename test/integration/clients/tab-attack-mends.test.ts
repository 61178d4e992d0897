import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { amount } from '../../../consensus/primitives/amount.ts'
import { type ClientOptions, memoryJournal } from '../../../rpc/client/client.ts'
import { type Answer, type Json, receiptOf } from '../../support/lying-tab-seller.ts'
import { ACME, caught, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** Answers that are neither a receipt nor a refusal that can be believed, and prices that were never paid. */
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 1_500, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

/** What comes instead of answers of the seller that carry a receipt. */
function instead(answer: (told: Answer) => Answer): void {
  world.mischief.lie = (told) => (told.settled === undefined ? told : answer(told))
}

describe('a call whose answer was lost', () => {
  it('is settled by its receipt where the seller has deleted the result: 410', async () => {
    const tab = await opened({ settleMs: 0 })
    world.mischief.mute = 1
    await caught(tab.call(ECHO, 'a'))
    instead(() => ({ status: 410, body: { error: 'deleted', code: 'result_expired', requestId: 'r' } }))
    await caught(tab.resume())
    world.calm()
    expect(await tab.state()).toMatchObject({ charged: PRICE, unresolved: 0n, status: 'open' })
  })

  it('stays open where a later attempt is asked to pay as if none was made', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    // A proxy on the way drops the header of the payment the second time.
    instead(() => world.seller.terms(ECHO, 'payment_required'))
    await caught(tab.call(ECHO, 'b'))
    world.calm()
    expect(await tab.state()).toMatchObject({ unanswered: 1, unresolved: PRICE })
    expect(await tab.resume()).toMatchObject([{ result: { echo: 'b' } }])
    expect(await caught(tab.call(ECHO, 'c'))).toMatchObject({})
    expect((await tab.state()).status).toBe('open')
  })
})

describe('a failed call', () => {
  it('does not raise what was charged in all, also where a number before it is open', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    instead((told) => {
      const receipt = told.body.receipt as Json
      const last = receiptOf(receipt.tab as Json)
      const signed = world.seller.signed({ ...last, n: 3, cumulative: amount(2n * PRICE) })
      return { ...told, body: { ...told.body, receipt: { ...receipt, tab: signed } } }
    })
    expect(await caught(tab.call(ECHO, 'fail:1'))).toMatchObject({ name: 'VerificationError' })
    expect((await tab.state()).status).toBe('stopped')
  })
})

describe('a wallet without notes', () => {
  it('takes no next number from the seller that ends all numbers', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    world.mischief.lie = (answer, path) => {
      if (!path.endsWith(tab.tabId) || answer.body.state === undefined) return answer
      return { ...answer, body: { ...answer.body, state: { ...(answer.body.state as Json), nextSeq: 0xffff_ffff } } }
    }
    const agent = client()
    await agent.recoverTabs({ maxUnnoted: '1' })
    world.calm()
    const found = await agent.tab(tab.tabId)
    const ends = [await caught(found.call(ECHO, 'b')), await caught(found.call(ECHO, 'c'))]
    expect(ends.filter((end) => end !== 'no error' && (end as Error).name === 'AssertionError')).toEqual([])
    expect(ends[1]).toBe('no error')
  })
})

describe('a top-up that was noted and never sent', () => {
  it('does not keep automatic mode from adding to the tab for ever', async () => {
    const journal = memoryJournal()
    const auto = { tabs: { maxDeposit: '0.02', callsAhead: 5 }, verify: false, journal } as const
    const first = client(auto)
    const tab = await first.openTab(ACME, { deposit: '0.01', term: 28_800 })
    for (let i = 0; i < 3; i++) await first.call(ECHO, `counts ${i}`)
    const dead: typeof fetch = (input, init) =>
      String(input).endsWith('/api/v1/tx') ? Promise.reject(new Error('cut')) : fetch(input, init)
    const dying = await client({ ...auto, fetch: dead, settleMs: 0 }).tab(tab.tabId)
    await caught(dying.topUp('0.01'))
    // It can be mined for 200 blocks, and counts as expired six blocks later.
    await world.test.mineTo(world.test.height + 210)
    const heir = client(auto)
    for (let i = 0; i < 12; i++) await caught(heir.call(ECHO, `goes on ${i}`))
    expect(world.tab(tab.tabId)?.deposit).toBeGreaterThan(1_000_000n)
  })
})

describe('a signed query', () => {
  it('is not sent on to another origin', async () => {
    const seen: string[] = []
    const elsewhere = createServer((request: IncomingMessage, response) => {
      seen.push(request.url ?? '')
      response.end('{}')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
    const front = createServer((request, response) => {
      response.writeHead(307, { location: `${target}${request.url}` })
      response.end()
    })
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    const moved = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
    const turning: typeof fetch = (input, init) => {
      const url = String(input)
      return /\/api\/tabs\/[0-9a-f]{64}\?/.test(url) ? fetch(url.replace(world.url, moved), init) : fetch(input, init)
    }
    const agent = client({ fetch: turning })
    await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    await caught(agent.recoverTabs())
    for (const server of [elsewhere, front]) server.close()
    expect(seen.filter((url) => url.includes('signature='))).toEqual([])
  })
})
