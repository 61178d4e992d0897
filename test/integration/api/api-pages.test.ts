import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import type { TokenSymbol } from '../../../consensus/primitives/ids.ts'
import { seeded } from '../../sim/miners.ts'
import { ask, type JsonBody } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { blocksFrom, importAll } from '../../support/branches.ts'
import { wallet } from '../../support/chain.ts'
import { TradingChain } from '../../support/trading-chain.ts'
import { agentId, SAMPLE, units } from '../../support/unsigned.ts'

let server: ApiServer
let grown: TradingChain
const symbol = (text: string): TokenSymbol => text as TokenSymbol
const addressOf = (number: number): string => formatAddress('dfar', wallet(number).address)

beforeAll(async () => {
  server = await ApiServer.open()
  const random = seeded(5)
  grown = await new TradingChain(server.test, random).branch(0)
  await grown.grow(30)
  await importAll(server.test, blocksFrom(grown.test, 1))
})

afterAll(() => server.close())

interface Page {
  readonly height: number
  readonly blockId: string
  readonly nextCursor: string | null
}

async function page(path: string): Promise<Page & JsonBody> {
  const reply = await ask<Page & JsonBody>(server.url, path)
  expect(reply.status, reply.text).toBe(200)
  // The block that an answer was read at is on the best chain at that moment.
  expect(reply.body.height).toBeLessThanOrEqual(server.test.height)
  return reply.body
}

/** Reads a whole list page by page. `meanwhile` runs between pages. */
async function walk<T>(path: string, field: string, limit: number, meanwhile = async () => {}): Promise<readonly T[]> {
  const seen: T[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const search: string = cursor === '' ? '' : `&cursor=${cursor}`
    const body: Page & JsonBody = await page(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${search}`)
    const items = body[field] as readonly T[]
    expect(items.length).toBeLessThanOrEqual(limit)
    seen.push(...items)
    cursor = body.nextCursor
    await meanwhile()
  }
  return seen
}

/** Mines a block with a few swaps. Every third time it replaces two blocks by three others instead. After twelve times it does nothing. */
function restless(): () => Promise<void> {
  let times = 0
  return async () => {
    times += 1
    if (times > 12) return
    if (times % 3 !== 0) {
      await grown.grow(1)
      return void (await importAll(server.test, blocksFrom(grown.test, grown.test.height)))
    }
    grown = await grown.branch(grown.test.height - 2)
    const from = grown.test.height + 1
    await grown.grow(3)
    await importAll(server.test, blocksFrom(grown.test, from))
    expect(server.test.chain.head.id).toBe(grown.test.chain.head.id)
  }
}

describe('pages read on while blocks come and go:', () => {
  interface Placed {
    readonly height: number
    readonly txId: string | null
  }

  it.each([
    ['/api/v1/swaps', 'swaps'],
    ['/api/v1/swaps?pool=FAR-FUSD-30', 'swaps'],
    [`/api/v1/accounts/${addressOf(3)}/history`, 'events'],
    [`/api/v1/accounts/${addressOf(5)}/history`, 'events'],
  ])('%s', async (path, field) => {
    const before = await walk<Placed>(path, field, 50)
    const seen = await walk<Placed>(path, field, 3, restless())
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(seen.length)
    expect(seen.map(({ height }) => height)).toEqual(seen.map(({ height }) => height).toSorted((a, b) => b - a))
    // Entries below the first page and below all reorganised blocks are listed exactly once.
    const last = seen[2]!.height
    const old = (items: readonly Placed[]): readonly Placed[] => items.filter(({ height }) => height < last - 2)
    expect(old(seen)).toEqual(old(before))
    expect(old(seen).length).toBeGreaterThan(3)
  })

  it('candles', async () => {
    const path = '/api/v1/pools/FAR-FUSD-30/candles'
    const before = await walk<{ readonly time: string }>(path, 'candles', 1_000)
    const seen = await walk<{ readonly time: string }>(path, 'candles', 2, restless())
    const times = seen.map(({ time }) => time)
    expect(new Set(times).size).toBe(times.length)
    // Hours older than those of the second page had ended before, so their candles stay the same.
    const old = seen.slice(4).map((candle) => JSON.stringify(candle))
    expect(old.length).toBeGreaterThan(3)
    for (const candle of old) expect(before.map((one) => JSON.stringify(one))).toContain(candle)
  })

  it('tokens, pools and agents, while new ones are added', async () => {
    const names = ['AXLE', 'MAST', 'ZINC'].map(symbol)
    const create = async (): Promise<void> => {
      const name = names.pop()
      if (name === undefined) return
      const token = { symbol: name, name, decimals: 0, maxSupply: units(0), freezable: false }
      const register = SAMPLE.agent_register({ agentId: agentId(name.toLowerCase()), payout: wallet(1).address })
      const { test } = grown
      await test.mine([
        await test.tx(wallet(1), 'token_create', token),
        await test.tx(wallet(1), 'agent_register', register),
      ])
      await importAll(server.test, blocksFrom(test, test.height))
    }
    const before = await walk<{ readonly symbol: string }>('/api/v1/tokens', 'tokens', 50)
    const seen = await walk<{ readonly symbol: string }>('/api/v1/tokens', 'tokens', 2, create)
    const symbols = seen.map((one) => one.symbol)
    expect(new Set(symbols).size).toBe(symbols.length)
    expect(symbols.slice(1)).toEqual(symbols.slice(1).toSorted())
    for (const { symbol: old } of before) expect(symbols).toContain(old)
    const ids = (await walk<{ readonly id: string }>('/api/v1/pools', 'pools', 1, restless())).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(ids.toSorted())
    expect(ids.length).toBeGreaterThanOrEqual(3)
    const agents = await walk<{ readonly agentId: string }>('/api/v1/agents', 'agents', 1)
    expect(agents.map(({ agentId: id }) => id)).toEqual(['axle', 'mast', 'zinc'])
  })

  it('holders, whose pages sum up to all units with an address', async () => {
    interface HolderView {
      readonly address: string
      readonly units: string
    }
    const holders = await walk<HolderView>('/api/v1/tokens/SALT/holders', 'holders', 3)
    const amounts = holders.map((one) => BigInt(one.units))
    expect(amounts).toEqual(amounts.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0)))
    const first = await page('/api/v1/tokens/SALT/holders?limit=1')
    expect(first.count).toBe(holders.length)
    expect(new Set(holders.map(({ address }) => address)).size).toBe(holders.length)
    const { pools } = (await page('/api/v1/pools?asset=SALT')) as unknown as {
      pools: readonly { readonly x: { symbol: string; units: string }; readonly y: { symbol: string; units: string } }[]
    }
    const pooled = pools.flatMap(({ x, y }) => [x, y]).filter((one) => one.symbol === 'SALT')
    const sum = [...amounts, ...pooled.map((one) => BigInt(one.units))].reduce((total, value) => total + value, 0n)
    expect(sum.toString()).toBe(first.supply)
  })
})

describe('an answer', () => {
  it('describes one head, also while blocks are mined', async () => {
    const { test } = server
    const balances = new Map<string, string>()
    const remember = (): void => {
      balances.set(test.chain.head.id, test.balance(wallet(1).address).toString())
    }
    remember()
    test.chain.onHeadChange(remember)
    let done = false
    const mining = (async () => {
      for (let i = 0; i < 60; i++) {
        const to = wallet(2).address
        await test.mine([await test.tx(wallet(1), 'transfer', SAMPLE.transfer({ to, amount: units(1_000 + i) }))])
        // A pause now and then lets an answer finish. Without it, every new block would restart all answers.
        await pause(3 * (i % 10))
      }
      done = true
    })()
    interface HoldingsView {
      readonly blockId: string
      readonly height: number
      readonly native: { readonly units: string }
    }
    const heights = new Set<number>()
    let busy = 0
    while (!done) {
      const replies = await Promise.all(
        [1, 1, 1, 1].map((number) => ask<HoldingsView>(server.url, `/api/v1/accounts/${addressOf(number)}/holdings`)),
      )
      for (const { status, body } of replies) {
        // If blocks come faster than an answer can be read, the node refuses with 503, and the client can ask again.
        if (status === 503) busy += 1
        else {
          expect(body.native.units).toBe(balances.get(body.blockId))
          heights.add(body.height)
        }
      }
    }
    await mining
    expect(heights.size).toBeGreaterThan(5)
    expect(busy).toBeLessThan(heights.size * 4)
  })

  it('is a refusal if the cursor is not from this node', async () => {
    const cases = [
      ...['x', '1-2-3', '4294967296-0', '-1-0', '01-0', '1-'].map(
        (one) => `/api/v1/accounts/${addressOf(1)}/history?cursor=${one}`,
      ),
      ...['1-2', '1-65536-0', '1-0-256', 'x'].map((one) => `/api/v1/swaps?cursor=${one}`),
      ...['x', '1-1', '4294967296'].map((one) => `/api/v1/pools/FAR-FUSD-30/candles?cursor=${one}`),
      ...['x', 'ab', 'AB'.repeat(32)].map((one) => `/api/v1/pools?cursor=${one}`),
      ...['far', 'x', '%00'].map((one) => `/api/v1/tokens?cursor=${one}`),
      ...['x', `0-${'ab'.repeat(32)}`, `${2n ** 128n}-${'ab'.repeat(32)}`].map(
        (one) => `/api/v1/tokens/FAR/holders?cursor=${one}`,
      ),
      `/api/v1/agents?cursor=NO`,
      `/api/v1/pools?asset=FAR&cursor=${'ab'.repeat(32)}`,
    ]
    for (const path of cases) {
      const reply = await ask(server.url, path)
      expect({ path, status: reply.status, code: reply.body.code }).toEqual({
        path,
        status: 400,
        code: 'invalid_request',
      })
    }
    expect(server.errors).toEqual([])
  })
})
