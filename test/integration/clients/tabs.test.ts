import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type AgentClient,
  type ClientOptions,
  fileJournal,
  InterruptedPaymentError,
  memoryJournal,
  NotChargedError,
  type RecoveredTab,
  type Signer,
  storageJournal,
} from '../../../rpc/client/client.ts'
import { nativeTabScheme } from '../../../rpc/client/x402.ts'
import { wallet as walletKey } from '../../support/chain.ts'
import type { Json } from '../../support/lying-tab-seller.ts'
import { ACME, caught, devWallet, ECHO, OTHER, TabWorld } from '../../support/tab-world.ts'

const wallet = devWallet(1)
const folder = mkdtempSync(join(tmpdir(), 'farthing-tabs-'))
let world: TabWorld
let folders = 0
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 2_000, ...options })
const open = (agent: AgentClient = client(), deposit = '0.1') => agent.openTab(ACME, { deposit, term: 1_200 })
const newFolder = (): string => join(folder, String(folders++))
/** A wallet of which no other test leaves open tabs. */
const other = (key: number): Signer => devWallet(key)
const balance = (): bigint => world.test.balance(walletKey(1).address)

describe('a tab', () => {
  it('is opened, used by many calls at once, topped up and closed', async () => {
    const tab = await open()
    const first = await tab.call<{ echo: string }>(ECHO, 'one')
    expect(first).toMatchObject({ result: { echo: 'one' }, verified: { ok: true }, tab: { seq: 1, charged: 200_000n } })
    const many = await Promise.all(Array.from({ length: 20 }, (_, i) => tab.call<{ echo: string }>(OTHER, `slow:${i}`)))
    expect(many.map(({ result }) => result.echo)).toEqual(Array.from({ length: 20 }, (_, i) => `slow:${i}`))
    expect(await tab.state()).toMatchObject({
      ...{
        status: 'open',
        deposit: 10_000_000n,
        charged: 4_200_000n,
        available: 5_800_000n,
        receipts: 21,
        unanswered: 0,
      },
    })
    expect(await tab.topUp('0.05')).toMatchObject({ deposit: 15_000_000n, available: 10_800_000n })
    const before = balance()
    expect(await tab.close()).toMatchObject({ by: 'seller' })
    expect(world.tab(tab.tabId)).toBeUndefined()
    expect(balance() - before).toBe(10_800_000n)
    expect(await tab.state()).toMatchObject({ status: 'ended', available: 0n })
    expect(await caught(tab.call(ECHO, 'late'))).toMatchObject({ code: 'tab_ended' })
  })

  it('signs a running ceiling that is charged, unresolved and this call, and no more', async () => {
    const tab = await open()
    await tab.call(ECHO, 'a')
    const from = world.seller.seen.length
    await Promise.all(Array.from({ length: 12 }, (_, i) => tab.call(ECHO, `slow:${20 + i}`)))
    const vouchers = world.seller.seen.slice(from).map(({ voucher }) => voucher as Json)
    const ceilings = vouchers.map(({ maxClaimableAmount }) => Number(maxClaimableAmount))
    expect(Math.max(...ceilings)).toBe(200_000 * 13)
    expect(new Set(vouchers.map(({ seq }) => seq)).size).toBe(12)
  })

  it('costs nothing where the service fails, and its slack pays the next call', async () => {
    const tab = await open()
    const error = await caught(tab.call(ECHO, 'fail'))
    expect(error).toBeInstanceOf(NotChargedError)
    expect(error).toMatchObject({ code: 'service_failed', receipt: { outcome: 1, charged: '0' } })
    await tab.call(ECHO, 'then')
    expect(world.seller.seen.slice(-2).map(({ voucher }) => (voucher as Json).maxClaimableAmount)).toEqual([
      '200000',
      '200000',
    ])
    expect(await tab.state()).toMatchObject({ charged: 200_000n, receipts: 2 })
  })

  it('asks again with the same bytes where an answer was lost, and is charged once', async () => {
    const tab = await open()
    await tab.call(ECHO, 'first')
    world.mischief.mute = 1
    const from = world.seller.seen.length
    expect((await tab.call(ECHO, 'lost')).result).toEqual({ echo: 'lost' })
    world.mischief.deaf = 1
    expect((await tab.call(ECHO, 'unheard')).result).toEqual({ echo: 'unheard' })
    const payloads = world.seller.seen.slice(from).map((payload) => JSON.stringify(payload))
    expect(payloads.length).toBe(3)
    expect(new Set(payloads).size).toBe(2)
    expect(world.seller.served.filter((each) => each === `${ECHO} lost`).length).toBe(1)
    expect(await tab.state()).toMatchObject({ charged: 600_000n, unanswered: 0 })
  })

  it('keeps a call without an answer, which a later client finishes', async () => {
    const journal = fileJournal(newFolder())
    const tab = await open(client({ journal }))
    const impatient = await client({ journal, settleMs: 0 }).tab(tab.tabId)
    await impatient.call(ECHO, 'known')
    world.mischief.mute = 1
    const error = await caught(impatient.call(ECHO, 'kept'))
    expect(error).toBeInstanceOf(InterruptedPaymentError)
    expect(await impatient.state()).toMatchObject({ unanswered: 1, unresolved: 200_000n, charged: 200_000n })
    const { payment } = error as InterruptedPaymentError
    expect((await client({ journal }).resume(payment)).result).toEqual({ echo: 'kept' })
    expect(world.seller.served.filter((each) => each === `${ECHO} kept`).length).toBe(1)
    expect(await (await client({ journal }).tab(tab.tabId)).state()).toMatchObject({ unanswered: 0, charged: 400_000n })
  })

  it('goes on after a second client with the same notes used its numbers', async () => {
    const journal = fileJournal(newFolder())
    const tab = await open(client({ journal }))
    const other = await client({ journal }).tab(tab.tabId)
    await Promise.all([tab.call(ECHO, 'slow:20'), other.call(ECHO, 'slow:21')])
    await other.call(ECHO, 'slow:22')
    await tab.call(ECHO, 'slow:23')
    expect(await tab.state()).toMatchObject({ charged: 800_000n, receipts: 4, unanswered: 0 })
  })

  it('is used up, and says so before it signs', async () => {
    const tab = await open(client(), '0.01')
    for (let i = 0; i < 5; i++) await tab.call(ECHO, `use ${i}`)
    const from = world.seller.seen.length
    expect(await caught(tab.call(ECHO, 'one more'))).toMatchObject({ code: 'tab_exhausted' })
    expect(world.seller.seen.length).toBe(from)
  })

  it('fills the holes that refused calls leave', async () => {
    const tab = await open()
    await tab.call(ECHO, 'a')
    world.mischief.lie = (answer) =>
      answer.status === 200 ? world.seller.terms(ECHO, 'no_capacity', tab.tabId) : answer
    world.seller.ledger(tab.tabId)
    const copy = world.seller.copy()
    await caught(tab.call(ECHO, 'refused'))
    world.seller.ledgers = copy
    world.mischief.lie = null
    for (let i = 0; i < 3; i++) await tab.call(ECHO, `b${i}`)
    expect(await tab.state()).toMatchObject({ charged: 800_000n, receipts: 4 })
  })

  it('can be opened with a signer that derives no keys: the journal keeps the key', async () => {
    const { keys, sign } = wallet
    const signer: Signer = { keys, sign }
    const journal = fileJournal(newFolder())
    const tab = await open(client({ wallet: signer, journal }))
    const later = await client({ wallet: signer, journal }).tab(tab.tabId)
    expect((await later.call(ECHO, 'mine')).result).toEqual({ echo: 'mine' })
  })

  it('has notes in a browser, one entry each', async () => {
    const texts = new Map<string, string>()
    const storage = {
      get length() {
        return texts.size
      },
      key: (i: number) => [...texts.keys()][i] ?? null,
      getItem: (key: string) => texts.get(key) ?? null,
      setItem: (key: string, value: string) => void texts.set(key, value),
      removeItem: (key: string) => void texts.delete(key),
    }
    const journal = storageJournal(storage)
    const tab = await open(client({ journal }))
    await Promise.all([tab.call(ECHO, 'x'), tab.call(ECHO, 'y')])
    const again = await client({ journal: storageJournal(storage) }).tab(tab.tabId)
    expect(await again.state()).toMatchObject({ charged: 400_000n, receipts: 2 })
  })
})

describe('limits', () => {
  it('hold for the deposit, per tab and per day, and nothing is signed', async () => {
    const cases: readonly (readonly [Partial<ClientOptions>, string])[] = [
      [{ maxPerTabCoins: '0.05' }, 'over_tab_limit'],
      [{ maxPerTabUsd: 0.01 }, 'over_tab_limit'],
      [{ maxPerDayCoins: '0.05' }, 'over_day_limit'],
      [{ maxPerDayUsd: 0.01 }, 'over_day_limit'],
      [{ maxFee: '0.0000001' }, 'fee_too_high'],
      [{ allow: { agents: ['other'] } }, 'not_allowed'],
      [{ allow: { payTo: [wallet.address('devnet')] } }, 'not_allowed'],
      [{ onPay: () => false }, 'declined'],
      [{ dryRun: true }, 'dry_run'],
    ]
    const before = world.sent.length
    for (const [options, code] of cases) expect(await caught(open(client(options)))).toMatchObject({ code })
    expect(world.sent.length).toBe(before)
  })

  it('count a deposit for the day once, and a top-up too', async () => {
    const agent = client({ maxPerDayCoins: '0.2' })
    const tab = await open(agent)
    await tab.call(ECHO, 'within')
    expect(await caught(open(agent))).toMatchObject({ code: 'over_day_limit' })
    expect(await caught(tab.topUp('0.1'))).toMatchObject({ code: 'over_day_limit' })
    await tab.topUp('0.01')
  })

  it('hold for each call', async () => {
    const journal = memoryJournal()
    const tab = await open(client({ journal }))
    const from = world.seller.seen.length
    const [few, dear] = [client({ journal, maxPerCallCoins: '0.001' }), client({ journal, maxPerCallUsd: 0.0001 })]
    expect(await caught((await few.tab(tab.tabId)).call(ECHO, 'x'))).toMatchObject({ code: 'over_call_limit' })
    expect(await caught((await dear.tab(tab.tabId)).call(ECHO, 'x'))).toMatchObject({ code: 'over_call_limit' })
    const picky = client({ journal, allow: { services: [OTHER] } })
    expect(await caught((await picky.tab(tab.tabId)).call(ECHO, 'x'))).toMatchObject({ code: 'not_allowed' })
    expect(world.seller.seen.length).toBe(from)
  })

  it('refuse terms that the chain or the agent does not have', async () => {
    const agent = client()
    expect(await caught(agent.openTab(ACME, { deposit: '0.001' }))).toMatchObject({ code: 'deposit_low' })
    expect(await caught(agent.openTab(ACME, { deposit: '0.1', term: 5 }))).toMatchObject({ code: 'invalid_option' })
    expect(await caught(agent.openTab(ACME, { deposit: '0.1', closeDelay: 5 }))).toMatchObject({
      code: 'invalid_option',
    })
    await world.setTerms({ receiptKey: '00'.repeat(32) })
    expect(await caught(open(agent))).toMatchObject({ code: 'no_tab_terms' })
    await world.setTerms()
  })
})

describe('receipts', () => {
  it('are checked against claims and state record without the seller', async () => {
    const tab = await open()
    for (const text of ['a', 'fail', 'b']) await caught(tab.call(ECHO, text))
    await world.claim(tab.tabId)
    await tab.call(OTHER, 'c')
    await world.claim(tab.tabId)
    await tab.call(OTHER, 'd')
    const checked = await tab.verifyReceipts()
    expect(checked).toMatchObject({
      ...{ ok: true, failed: [], missing: [], evidence: null, receipts: 5 },
      checks: { signatures: true, sums: true, roots: true, claims: true, complete: true, chain: true },
      claims: [
        { receipts: 3, claimed: 400_000n, root: true },
        { receipts: 4, claimed: 600_000n, root: true },
      ],
    })
    await tab.close()
    expect(await tab.verifyReceipts()).toMatchObject({ ok: true, checks: { chain: true }, claims: [{}, {}, {}] })
  })
})

describe('a wallet without its notes', () => {
  it('finds its tabs on the chain, derives the keys, and goes on', async () => {
    const tab = await open()
    for (const text of ['a', 'b', 'c']) await tab.call(ECHO, text)
    const agent = client()
    const found = await agent.recoverTabs()
    const mine = found.find(({ standing }) => standing.tabId === tab.tabId)
    expect(mine).toMatchObject({ unnoted: 600_000n, standing: { status: 'open', charged: 600_000n } })
    const again = await agent.tab(tab.tabId)
    expect((await again.call(ECHO, 'd')).result).toEqual({ echo: 'd' })
    expect(await again.state()).toMatchObject({ charged: 800_000n, receipts: 4 })
    await world.claim(tab.tabId)
    expect(await again.verifyReceipts()).toMatchObject({ ok: true, receipts: 4 })
  })

  it('asks its owner where more was charged than a limit', async () => {
    const tab = await open()
    for (const text of ['a', 'b']) await tab.call(ECHO, text)
    const agent = client()
    const of = (found: readonly RecoveredTab[]) => found.find(({ standing }) => standing.tabId === tab.tabId)
    expect(of(await agent.recoverTabs({ maxUnnoted: '0.001' }))).toMatchObject({ unnoted: 400_000n })
    const shy = await agent.tab(tab.tabId)
    expect(await caught(shy.call(ECHO, 'c'))).toMatchObject({ code: 'tab_unconfirmed' })
    expect(of(await agent.recoverTabs({ maxUnnoted: '0.004' }))).toMatchObject({ standing: { charged: 400_000n } })
    expect((await shy.call(ECHO, 'c')).result).toEqual({ echo: 'c' })
  })
})

describe('automatic tabs', () => {
  const automatic = { tabs: { maxDeposit: '0.2', callsAhead: 10 } }

  it('begin after the third call, and calls are then paid from the tab', async () => {
    const agent = client({ ...automatic, wallet: other(4), verify: false })
    for (let i = 0; i < 3; i++) expect(await agent.call(ECHO, `alone ${i}`)).not.toHaveProperty('tab')
    const answer = await agent.call<{ echo: string }>(ECHO, 'now on a tab')
    expect(answer).toMatchObject({ result: { echo: 'now on a tab' }, tab: { seq: 1 } })
    const [tab] = await agent.tabs()
    expect(await tab?.state()).toMatchObject({ deposit: 2_000_000n, charged: 200_000n })
    for (let i = 0; i < 12; i++) await agent.call(ECHO, `more ${i}`)
    expect((await agent.tabs()).length).toBe(1)
    expect(await tab?.state()).toMatchObject({ charged: 2_600_000n })
  })

  it('leave a call to a single payment where the agent takes none, or wants too large a deposit', async () => {
    for (const [terms, options] of [
      [{ receiptKey: '00'.repeat(32) }, automatic],
      [{ minDeposit: 100_000_000n }, automatic],
      [{}, { tabs: { maxDeposit: '0.001' } }],
      [{}, { ...automatic, maxPerTabCoins: '0.001' }],
    ] as const) {
      await world.setTerms(terms)
      const agent = client({ ...options, wallet: other(5), verify: false })
      for (let i = 0; i < 5; i++) expect(await agent.call(ECHO, `alone ${i}`)).not.toHaveProperty('tab')
      expect(await agent.tabs()).toEqual([])
    }
    await world.setTerms()
  })
})

describe('the scheme for official x402 clients', () => {
  it('pays from a tab, checks the receipt, and asks for one more try after a new price', async () => {
    const agent = client({ tabs: { maxDeposit: '0.2', callsAhead: 10 } })
    const scheme = nativeTabScheme(agent)
    const seen: string[] = []
    const wire: typeof fetch = (input, init) => {
      const sent = new Request(input, init)
      const header = sent.headers.get('payment-signature')
      if (header !== null) seen.push(header)
      return fetch(sent)
    }
    const paid = officialFetch(scheme, scheme.fetch(wire))
    const ask = (request: string) =>
      paid(`${world.url}/api/x402/${ECHO}?rail=tab`, { method: 'POST', body: JSON.stringify({ request }) })
    expect(await (await ask('one')).json()).toMatchObject({ paid: true, result: { echo: 'one' } })
    world.seller.prices.set(ECHO, 220_000n)
    expect(await (await ask('two')).json()).toMatchObject({ paid: true, result: { echo: 'two' } })
    const [tab] = await agent.tabs()
    expect(await tab?.state()).toMatchObject({ charged: 420_000n, receipts: 2, unanswered: 0 })
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.some((header) => atob(header).includes('farthingRequest'))).toBe(false)
    world.mischief.lie = (answer, path) => {
      // The price rises between the offer and the voucher.
      if (answer.status === 402 && path.endsWith(ECHO)) world.seller.prices.set(ECHO, 240_000n)
      return answer
    }
    expect(await (await ask('three')).json()).toMatchObject({ paid: true, result: { echo: 'three' } })
    expect(await tab?.state()).toMatchObject({ charged: 660_000n, receipts: 3, unanswered: 0 })
  })

  it('pays for no request that it does not see', async () => {
    const scheme = nativeTabScheme(client({ tabs: { maxDeposit: '0.2' } }))
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [never]
    expect(await caught(scheme.createPaymentPayload(2, offer))).toMatchObject({ code: 'request_unknown' })
  })
})

/** What `@x402/fetch` 2.27 does, with one scheme. */
function officialFetch(scheme: ReturnType<typeof nativeTabScheme>, send: typeof fetch): typeof fetch {
  const decode = (text: string): Json => JSON.parse(Buffer.from(text, 'base64').toString()) as Json
  return async (input, init) => {
    const request = new Request(input, init)
    const kept = request.clone()
    const first = await send(request)
    if (first.status !== 402) return first
    const required = decode(first.headers.get('payment-required') as string)
    const [requirements] = required.accepts as readonly [never]
    const attempt = async (): Promise<{ readonly response: Response; readonly recovered: boolean }> => {
      const { payload } = await scheme.createPaymentPayload(2, requirements)
      const paymentPayload = { x402Version: 2, accepted: requirements, payload }
      const paid = new Request(kept.clone())
      paid.headers.set('payment-signature', Buffer.from(JSON.stringify(paymentPayload)).toString('base64'))
      const response = await send(paid)
      const [settled, again] = ['payment-response', 'payment-required'].map((name) => response.headers.get(name))
      const context = {
        paymentPayload,
        ...(settled ? { settleResponse: decode(settled) } : again ? { paymentRequired: decode(again) } : {}),
      }
      const told = await scheme.schemeHooks.onPaymentResponse(context)
      return { response, recovered: told?.recovered === true }
    }
    const { response, recovered } = await attempt()
    return recovered ? (await attempt()).response : response
  }
}
