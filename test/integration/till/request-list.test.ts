import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Level } from 'level'
import { request } from 'undici'
import { afterEach, expect, it, vi } from 'vitest'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { DOLLAR_CLAIMS, type DollarClaim } from '../../../marketplace/till/rails/dollar/claim.ts'
import type { MarketApi } from '../../../rpc/node/node-api.ts'
import { LevelClaimStore } from '../../../src/storage/level-claims.ts'
import { ApiServer } from '../../support/api-server.ts'
import { claimed, dollarClaims } from '../../support/claims.ts'
import { closeRails, TestRail } from '../../support/dollar.ts'
import { closeMarkets } from '../../support/market.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'

afterEach(async () => {
  vi.restoreAllMocks()
  await closeRails()
  await closeMarkets()
})

/** Unsettled junk payments of 12 KB each. */
const COUNT = 1_000
const PAYLOAD = { signature: '0x00', junk: 'y'.repeat(12_000) }
const RARE = 'node-rare' as ServiceId

function junk(i: number, serviceId?: ServiceId): DollarClaim {
  const { unpaid } = dollarClaims(0)
  const id = randomBytes(32).toString('hex')
  return { ...unpaid, id, claimedAtMs: 1_700_000_000_000 + i, payload: PAYLOAD, ...(serviceId && { serviceId }) }
}

async function open(rail: TestRail): Promise<ApiServer> {
  const { store, shop, till, settler, sender } = rail.market
  const market = { store, shop, till, settler, sender, stable: rail.dollar } as unknown as MarketApi
  return ApiServer.open({}, null, undefined, { market })
}

interface Page {
  readonly requests: readonly { readonly id: string; readonly serviceId: string }[]
  readonly nextCursor: string | null
}

async function pageOf({ url }: ApiServer, query: string): Promise<Page> {
  const { body, statusCode } = await request(`${url}/api/x402/requests?${query}`)
  const text = await body.text()
  expect(statusCode, text).toBe(200)
  return JSON.parse(text) as Page
}

/** How many characters of JSON the node parses for a request. */
async function parsedFor(server: ApiServer, query: string): Promise<number> {
  const parse = vi.spyOn(JSON, 'parse')
  const { body } = await request(`${server.url}/api/x402/requests?${query}`)
  await body.dump()
  const chars = parse.mock.calls.reduce((sum, [text]) => sum + String(text).length, 0)
  parse.mockRestore()
  return chars
}

it('does not read calls of other services for the list of one service, however large their payments are', async () => {
  const rail = await TestRail.open()
  for (let i = 0; i < COUNT; i++) await rail.store.claim(junk(i, i === 3 ? RARE : undefined))
  const server = await open(rail)
  expect(await parsedFor(server, 'serviceId=node-none&limit=200')).toBeLessThan(1_000)
  expect(await pageOf(server, 'serviceId=node-none&limit=200')).toEqual({ requests: [], nextCursor: null })
  expect(await parsedFor(server, `serviceId=${RARE}&limit=200`)).toBeLessThan(20_000)
  const { requests, nextCursor } = await pageOf(server, `serviceId=${RARE}&limit=1`)
  expect([requests.map(({ serviceId }) => serviceId), nextCursor]).toEqual([[RARE], null])
  await server.close()
})

it('reads at most a page of an older release’s entries without a service, and can be resumed from there', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'claims')
  const store = await LevelClaimStore.open(path, DOLLAR_CLAIMS)
  for (let i = 0; i < 100; i++) await store.claim(junk(i, i % 30 === 3 ? RARE : undefined))
  await store.close()
  const database = new Level<string, string>(path)
  for (const key of await database.keys({ gte: 'time/', lt: 'time0' }).all()) await database.put(key, '')
  await database.close()
  const older = await LevelClaimStore.open(path, DOLLAR_CLAIMS)
  const parse = vi.spyOn(JSON, 'parse')
  const found: number[] = []
  let pages = 0
  for (let cursor: string | null | undefined; cursor !== null; pages++) {
    const page = await older.recent(10, cursor ?? null, RARE)
    found.push(...page.claims.map(({ claimedAtMs }) => claimedAtMs - 1_700_000_000_000))
    cursor = page.nextCursor
    expect(parse.mock.calls.length).toBeLessThanOrEqual(10 * (pages + 1))
  }
  expect([found, pages]).toEqual([[93, 63, 33, 3], 10])
  await older.close()
  removeFolder(folder)
})

it('lists each call of one service once, over both rails and in pages of any length', async () => {
  const rail = await TestRail.open()
  for (let i = 0; i < 60; i++) {
    const isRare = i % 7 === 3
    if (i % 3 === 0)
      await rail.market.store.claim({ ...claimed(i, junk(i).claimedAtMs), ...(isRare && { serviceId: RARE }) })
    else await rail.store.claim(junk(i, isRare ? RARE : undefined))
  }
  const server = await open(rail)
  const all = await pageOf(server, 'limit=200')
  const wanted = all.requests.filter(({ serviceId }) => serviceId === RARE)
  expect(wanted.length).toBe(9)
  for (const limit of [1, 2, 7, 9, 50]) {
    const found: Page['requests'][number][] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: Page = await pageOf(server, `serviceId=${RARE}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`)
      expect(page.requests.length).toBeLessThanOrEqual(limit)
      found.push(...page.requests)
      cursor = page.nextCursor
    }
    expect(found, `${limit} a page`).toEqual(wanted)
  }
  await server.close()
})
