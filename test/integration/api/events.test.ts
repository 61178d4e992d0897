import { afterEach, describe, expect, it } from 'vitest'
import { changeHeld } from '../../../consensus/chain/held-bodies.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../../rpc/server/limits.ts'
import { seeded } from '../../sim/miners.ts'
import { ask, verdict } from '../../support/api.ts'
import { ApiServer, OPERATOR_TOKEN } from '../../support/api-server.ts'
import { importAll, mineBranch, PROVEN_WORK } from '../../support/branches.ts'
import { escrowHistory, tabHistory, toldMoves } from '../../support/closings.ts'
import { EventFeed } from '../../support/event-feed.ts'
import { until } from '../../support/processes.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'

const EVENTS = '/api/v1/events'

interface TabView {
  readonly agentId: string
  readonly payer: string
  readonly end: { readonly returned: { readonly units: string } } | null
}
const servers: ApiServer[] = []
const feeds: EventFeed[] = []

async function opened(change: Partial<HttpLimits> = {}, more = {}): Promise<ApiServer> {
  const server = await ApiServer.open(change, null, restlessRuleBook(), more)
  servers.push(server)
  return server
}

async function followed(server: ApiServer, query = '', lastId?: string): Promise<EventFeed> {
  const feed = await EventFeed.open(server.url, `${EVENTS}${query}`, lastId)
  feeds.push(feed)
  expect(feed.status).toBe(200)
  return feed
}

/** Mines blocks with paid calls that end in every way. Returns the event id of genesis. */
async function grown(server: ApiServer, count = 60): Promise<string> {
  const genesis = `${server.test.chain.head.id}.0`
  await new RandomChain(server.test, seeded(11)).grow(count)
  return genesis
}

afterEach(async () => {
  for (const feed of feeds.splice(0)) feed.close()
  for (const server of servers.splice(0)) {
    await server.close()
    expect(server.errors).toEqual([])
  }
})

const headOf = ({ test }: ApiServer): string => test.chain.head.id

/** Waits until a feed has all events up to the head. */
async function caughtUp(server: ApiServer, feed: EventFeed): Promise<void> {
  await until('the feed is at the head', () => feed.lastId?.startsWith(headOf(server)))
}

describe('the stream of events', () => {
  it('tells of every block, receipt and refund, as the chain has them', async () => {
    const server = await opened()
    const genesis = await grown(server)
    const feed = await followed(server, '', genesis)
    await caughtUp(server, feed)
    expect(feed.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const { closings } = await escrowHistory(server.url, server.test.height)
    const hows = [...closings.values()].flat().map(({ how }) => how)
    expect(new Set(hows)).toEqual(new Set(['delivered', 'failed', 'expired']))
    expect(feed.events.filter(({ event }) => event === 'receipt')).toHaveLength(
      hows.filter((how) => how === 'delivered').length,
    )
    for (const { event, id, data } of feed.events.filter(
      ({ event: name }) => name === 'receipt' || name === 'refund',
    )) {
      const { body } = await ask<{ status: string; transaction: { sender: string; payload: Record<string, unknown> } }>(
        server.url,
        `/api/v1/tx/${data.txId}`,
      )
      const { agentId, serviceId, amount } = body.transaction.payload
      expect(data).toMatchObject({ agentId, serviceId })
      if (event === 'refund') expect(data).toMatchObject({ amount, caller: body.transaction.sender })
      const block = await ask<{ height: number }>(server.url, `/api/v1/blocks/${id.split('.')[0]}`)
      expect(data.height).toBe(block.body.height)
    }
    const steps = feed.events.flatMap(({ event, data }) => (event === 'tab' ? [data] : []))
    expect(toldMoves(steps)).toEqual(await tabHistory(server.url, server.test.height))
    expect(new Set(steps.map(({ how }) => how))).toEqual(
      new Set(['opened', 'funded', 'closing', 'claimed', 'returned']),
    )
    for (const { tabId, agentId, payer, how, amount } of steps) {
      const { tab } = (await ask<{ tab: TabView }>(server.url, `/api/v1/tabs/${tabId}`)).body
      expect([agentId, payer]).toEqual([tab.agentId, tab.payer])
      if (how === 'returned') expect(amount).toBe(tab.end?.returned.units)
    }
    const blocks = feed.events.filter(({ event }) => event === 'block')
    expect(blocks.map(({ data }) => data.height)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
    const last = await ask<{ transactions: object[]; time: string }>(server.url, `/api/v1/blocks/${headOf(server)}`)
    const { transactions, time } = last.body
    expect(blocks.at(-1)?.data).toEqual({ height: 60, id: headOf(server), time, transactions: transactions.length })
  })

  it('begins at the head, and first says which block that is', async () => {
    const server = await opened()
    await grown(server, 5)
    const feed = await followed(server)
    await caughtUp(server, feed)
    expect(feed.events).toEqual([])
    await server.test.mine()
    await until('the block is told', () => feed.events.length > 0)
    expect(feed.events.map(({ event, data }) => [event, data.height])).toEqual([['block', 6]])
  })

  it('resumes after any event, and the pieces together are the whole stream', async () => {
    const server = await opened()
    const genesis = await grown(server, 25)
    const whole = await followed(server, '', genesis)
    await caughtUp(server, whole)
    for (const [i, { id }] of whole.events.entries()) {
      const rest = await followed(server, '', id)
      await until('the rest is told', () => rest.lastId === whole.lastId)
      expect(rest.events).toEqual(whole.events.slice(i + 1))
      rest.close()
      await until('it is gone', async () => (await ask(server.url, '/health')).status === 200)
    }
  })

  it('has no gap and no repetition if blocks arrive while older ones are sent', async () => {
    const server = await opened()
    const genesis = `${headOf(server)}.0`
    const random = new RandomChain(server.test, seeded(3))
    await random.grow(40)
    const growing = random.grow(60)
    const readers = await Promise.all(Array.from({ length: 4 }, () => followed(server, '', genesis)))
    await growing
    for (const feed of readers) {
      await caughtUp(server, feed)
      const heights = feed.events.filter(({ event }) => event === 'block').map(({ data }) => data.height)
      expect(heights).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
      expect(new Set(feed.events.map(({ id }) => id)).size).toBe(feed.events.length)
    }
  })

  it('leaves out other events, and still says where to resume', async () => {
    const server = await opened()
    const genesis = await grown(server)
    const all = await followed(server, '', genesis)
    await caughtUp(server, all)
    const refund = all.events.find(({ event }) => event === 'refund')
    const tab = all.events.find(({ event }) => event === 'tab')
    const filters: [string, (event: (typeof all.events)[number]) => boolean][] = [
      ['?types=receipt,refund', ({ event }) => event === 'receipt' || event === 'refund'],
      ['?types=tab', ({ event }) => event === 'tab'],
      [`?types=tab&txId=${tab?.data.tabId}`, ({ data }) => data.tabId === tab?.data.tabId && data.tabId !== undefined],
      ['?types=tab&agentId=agent-two', ({ event, data }) => event === 'tab' && data.agentId === 'agent-two'],
      ['?types=tab&serviceId=summarise', () => false],
      ['?types=block', ({ event }) => event === 'block'],
      [`?txId=${refund?.data.txId}`, ({ event, data }) => event === 'block' || data.txId === refund?.data.txId],
      ['?types=receipt&agentId=agent-one', ({ event, data }) => event === 'receipt' && data.agentId === 'agent-one'],
      ['?types=refund&serviceId=none-such', () => false],
    ]
    for (const [query, wanted] of filters) {
      const feed = await followed(server, query, genesis)
      await caughtUp(server, feed)
      expect(feed.events, query).toEqual(all.events.filter(wanted))
    }
    for (const query of ['?types=nothing', '?types=', '?txId=12', '?after=x', '?other=1'])
      expect(verdict(await ask(server.url, `${EVENTS}${query}`)), query).toBe('400 invalid_request')
  })

  it('says which blocks a reorganisation made void, to connected and to returning clients', async () => {
    const server = await opened()
    const random = new RandomChain(server.test, seeded(11))
    await random.grow(10)
    const { test: other } = await random.branch(6)
    const fork = other.chain.head
    const connected = await followed(server, '?types=receipt')
    await caughtUp(server, connected)
    const away = await followed(server)
    await caughtUp(server, away)
    const lastId = away.lastId
    away.close()
    const { header, id } = server.test.chain.head
    const left = [10, 9, 8, 7].map((height) => server.test.chain.database.idAt(height))
    await importAll(server.test, await mineBranch(other, 5, 5), PROVEN_WORK)
    const { head } = server.test.chain
    expect(head.header.height).toBe(11)
    const back = await followed(server, '', lastId)
    for (const feed of [connected, back]) {
      await caughtUp(server, feed)
      const said = feed.events.filter(({ event }) => event === 'reorganisation')
      expect(said.map(({ data }) => data)).toEqual([
        {
          from: { height: header.height, id },
          to: { height: 11, id: head.id },
          commonAncestor: { height: 6, id: fork.id },
          depth: 4,
          left,
        },
      ])
    }
    expect(back.events[0]?.event).toBe('reorganisation')
    const blocks = back.events.filter(({ event }) => event === 'block')
    expect(blocks.map(({ data }) => data.height)).toEqual([7, 8, 9, 10, 11])
  })

  it('says once that it cannot resume, and goes on after the head', async () => {
    const server = await opened()
    await server.test.mineTo(4)
    for (const lastId of [`${'ab'.repeat(32)}.0`, 'nonsense', `${headOf(server)}`, `${headOf(server)}.x`]) {
      const feed = await followed(server, '', lastId)
      await caughtUp(server, feed)
      const head = { height: server.test.height, id: headOf(server) }
      expect(feed.events).toEqual([
        { event: 'reset', id: feed.lastId, data: { reason: 'unknown', head, resumeAt: feed.lastId } },
      ])
      await server.test.mine()
      await until('the next block is told', () => feed.events.length > 1)
      expect(feed.events.slice(1).map(({ event }) => event)).toEqual(['block'])
      feed.close()
    }
    const forged = await followed(server, '', `${headOf(server)}.9999`)
    await server.test.mine()
    await caughtUp(server, forged)
    expect(forged.events.map(({ event }) => event)).toEqual(['block'])
  })

  it('says that blocks are pruned if only their events are missing', async () => {
    const server = await opened()
    const genesis = await grown(server)
    const { database } = server.test.chain
    const bodiesFrom = 30
    const held = Array.from({ length: bodiesFrom - 1 }, (_, i) => database.idAt(i + 1) as BlockId)
    await changeHeld(database, () => ({
      held: { bodiesFrom, witnessesFrom: bodiesFrom },
      writes: held.map((id) => ({ key: KEYS.bodies(id) })),
    }))
    for (const lastId of [genesis, `${held[5]}.0`, `${held.at(-2)}.0`]) {
      const feed = await followed(server, '', lastId)
      await caughtUp(server, feed)
      const head = { height: server.test.height, id: headOf(server) }
      expect(feed.events.map(({ event, data }) => [event, data])).toEqual([
        ['reset', { reason: 'pruned', head, resumeAt: feed.lastId }],
      ])
    }
    const whole = await followed(server, '', `${held.at(-1)}.4294967295`)
    await caughtUp(server, whole)
    const blocks = whole.events.filter(({ event }) => event === 'block').map(({ data }) => data.height)
    expect(blocks).toEqual(Array.from({ length: server.test.height - bodiesFrom + 1 }, (_, i) => bodiesFrom + i))
    await server.test.mine()
    await until('what happens now is told', () => whole.events.at(-1)?.data.height === server.test.height)
  })

  it('sends at most a thousand blocks to a returning client', async () => {
    const server = await opened()
    const genesis = `${headOf(server)}.0`
    await server.test.mineTo(1_000)
    const inTime = await followed(server, '?types=block', genesis)
    await caughtUp(server, inTime)
    expect(inTime.events).toHaveLength(1_000)
    await server.test.mine()
    const late = await followed(server, '', genesis)
    await caughtUp(server, late)
    expect(late.events.map(({ event, data }) => [event, data.reason])).toEqual([['reset', 'too-old']])
  }, 120_000)

  it('waits for a slow reader, and goes on where it stopped', async () => {
    const streams = { ...DEFAULT_HTTP_LIMITS.streams, bufferBytesMax: 4_000 }
    const server = await opened({ streams })
    const genesis = await grown(server, 400)
    const feed = await followed(server, '', genesis)
    feed.pause()
    await server.test.mine()
    feed.resume()
    await caughtUp(server, feed)
    const heights = feed.events.filter(({ event }) => event === 'block').map(({ data }) => data.height)
    expect(heights).toEqual(Array.from({ length: 401 }, (_, i) => i + 1))
  }, 60_000)

  it('is bounded for each address, does not count as a request under way, and ends when the node stops', async () => {
    const streams = { ...DEFAULT_HTTP_LIMITS.streams, openPerAddressMax: 2 }
    const server = await opened({ streams, concurrentMax: 1 })
    const both = [await followed(server), await followed(server)]
    expect(verdict(await ask(server.url, EVENTS))).toBe('429 too_many_streams')
    const head = await ask(server.url, EVENTS, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    await servers.pop()?.close()
    await until('both have ended', () => both.every(({ ended }) => ended))
    expect(server.errors).toEqual([])
  })

  it('has a place for one more address and for the operator, however many streams others have', async () => {
    const streams = { ...DEFAULT_HTTP_LIMITS.streams, openMax: 24, openPerAddressMax: 4, operatorMax: 1 }
    const server = await opened({ streams }, { trustProxy: true })
    const over = new AbortController()
    // The test keeps the responses: a garbage-collected response would close its stream.
    const streamed: Response[] = []
    const statusFor = async (headers: Record<string, string>): Promise<number> => {
      const answer = await fetch(`${server.url}${EVENTS}`, { headers, signal: over.signal })
      streamed.push(answer)
      return answer.status
    }
    const crowd = Array.from({ length: 30 }, (_, i) => `2001:db8:1:${i % 6}::${i}`)
    const held = []
    for (const from of crowd) held.push(await statusFor({ 'x-forwarded-for': from }))
    expect(held.filter((status) => status === 200)).toHaveLength(24)
    const operator = { 'x-forwarded-for': '2001:db8:1::1', authorization: `Bearer ${OPERATOR_TOKEN}` }
    expect([await statusFor(operator), await statusFor(operator)]).toEqual([200, 429])
    const others = Array.from({ length: 11 }, (_, i) => `198.51.${i}.1`)
    for (const from of others) expect([from, await statusFor({ 'x-forwarded-for': from })]).toEqual([from, 200])
    expect(streamed).toHaveLength(crowd.length + 2 + others.length)
    over.abort()
  })
})
