import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { amount } from '../../../consensus/primitives/amount.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { type ClientOptions, memoryJournal, TabStoppedError, VerificationError } from '../../../rpc/client/client.ts'
import { wallet as walletKey } from '../../support/chain.ts'
import { type Answer, type Json, receiptOf } from '../../support/lying-tab-seller.ts'
import { ACME, caught, devWallet, ECHO, OTHER, PRICE, TabWorld } from '../../support/tab-world.ts'
import { serviceId } from '../../support/unsigned.ts'

/** The attacks on the payer of a tab, by their numbers in the design. The node and the chain are honest, the seller is not. */
const wallet = devWallet(1)
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 1_000, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

/** A 402 whose offers have other members in `extra`. */
function corrected(answer: Answer, change: Json): Answer {
  const accepts = (answer.body.accepts as readonly Json[]).map((offer) => {
    return { ...offer, extra: { ...(offer.extra as Json), ...change } }
  })
  return { ...answer, body: { ...answer.body, accepts } }
}

describe('6 forged corrective state', () => {
  type Forged = (state: Json) => Json
  const forgeries: readonly (readonly [string, Forged])[] = [
    ['more charged than was asked for', forgedCharge('4000000', '4000000')],
    ['more charged than the ceiling', forgedCharge('400001', '400000')],
    ['charged without any voucher', ({ channelState }) => ({ channelState, voucherState: undefined })],
    ['a voucher with another ceiling under the old signature', forgedCharge('500000', '700000')],
    [
      'a last receipt of another sum',
      (state) => ({ ...state, lastReceipt: { ...(state.lastReceipt as Json), cumulative: '1' } }),
    ],
  ]

  function forgedCharge(charged: string, ceiling: string): Forged {
    return ({ channelState, voucherState, ...rest }) => ({
      ...rest,
      channelState: { ...(channelState as Json), chargedCumulativeAmount: charged },
      voucherState: { ...(voucherState as Json), maxClaimableAmount: ceiling },
      lastReceipt: undefined,
    })
  }

  it.each(forgeries)('%s: nothing more is signed, the evidence stays, and the tab can be closed', async (_, forge) => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    await tab.call(ECHO, 'b')
    world.mischief.lie = (answer, path) =>
      path.endsWith(ECHO) && answer.status === 200
        ? corrected(world.seller.terms(ECHO, 'ceiling_low', tab.tabId), forge(world.seller.state(tab.tabId)))
        : answer
    const from = world.seller.seen.length
    const copy = world.seller.copy()
    expect(await caught(tab.call(ECHO, 'c'))).toBeInstanceOf(TabStoppedError)
    expect(await caught(tab.call(ECHO, 'd'))).toMatchObject({ code: 'tab_stopped' })
    expect(world.seller.seen.length).toBe(from + 1)
    world.seller.ledgers = copy
    expect((await tab.state()).status).toBe('stopped')
    expect(await tab.close()).toMatchObject({ by: 'chain' })
  })

  it('is not believed by a wallet without notes either: the ceiling must be its own', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const state = world.seller.state(tab.tabId)
    world.mischief.lie = (answer, path) => {
      if (!path.endsWith(tab.tabId) || answer.body.state === undefined) return answer
      const { channelState, voucherState } = forgedCharge('9000000', '9000000')(state)
      return { ...answer, body: { ...answer.body, state: channelState, voucher: voucherState, lastReceipt: null } }
    }
    const agent = client()
    await agent.recoverTabs({ maxUnnoted: '1' })
    const found = await agent.tab(tab.tabId)
    expect((await found.state()).status).toBe('stopped')
    expect((await tab.call(ECHO, 'b')).result).toEqual({ echo: 'b' })
  })
})

describe('7 a seller that claims up to the ceiling without serving', () => {
  it('gets no more than what was in flight, and the check of the receipts says so', async () => {
    const tab = await opened({ settleMs: 0 })
    await tab.call(ECHO, 'served')
    world.mischief.mute = 2
    await Promise.all(['x', 'y'].map((text) => caught(tab.call(ECHO, text))))
    const unresolved = (await tab.state()).unresolved
    expect(unresolved).toBe(2n * PRICE)
    // It forgets the two receipts, and claims their money with receipts that it made up.
    world.seller.ledger(tab.tabId).receipts.splice(1)
    await world.claim(tab.tabId, {
      ...{ claimed: amount(3n * PRICE), receipts: 3, root: 'ab'.repeat(32) as Hash },
      services: [{ serviceId: serviceId(ECHO), calls: 3, amount: amount(3n * PRICE) }],
    })
    expect(world.tab(tab.tabId)?.claimed).toBe(3n * PRICE)
    expect(await tab.verifyReceipts()).toMatchObject({ ok: false, failed: ['complete'], missing: [2, 3] })
    // One unit above the highest ceiling is refused by consensus.
    await world.claim(tab.tabId, { claimed: amount(3n * PRICE + 1n), receipts: 3 })
    expect(world.tab(tab.tabId)?.claimed).toBe(3n * PRICE)
  })
})

describe('18 a full price for a small voucher', () => {
  it('every ceiling has room for all calls before it and for its own', async () => {
    const tab = await opened()
    const from = world.seller.seen.length
    await Promise.all(Array.from({ length: 8 }, (_, i) => tab.call(ECHO, `slow:${i}`)))
    const ceilings = world.seller.seen
      .slice(from)
      .map(({ voucher }) => BigInt(String((voucher as Json).maxClaimableAmount)))
    expect(ceilings.sort((a, b) => (a < b ? -1 : 1))).toEqual(
      Array.from({ length: 8 }, (_, i) => PRICE * BigInt(i + 1)),
    )
  })

  it('a receipt that charges more than its call was offered for stops the tab', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    changeReceipts((receipt) => ({ ...receipt, charged: amount(PRICE + 1n), cumulative: amount(2n * PRICE + 1n) }))
    const error = await caught(tab.call(ECHO, 'b'))
    expect(error).toBeInstanceOf(VerificationError)
    expect(String(error)).toContain('charges more than the call was offered for')
    expect(await caught(tab.call(ECHO, 'c'))).toMatchObject({
      evidence: { kind: 'a receipt that does not fit its call', tabId: tab.tabId, receipts: [{ charged: '200001' }] },
    })
  })
})

/** The seller signs other receipts than the calls deserve. */
function changeReceipts(change: (receipt: ReturnType<typeof receiptOf>) => ReturnType<typeof receiptOf>): void {
  world.mischief.lie = (answer) => {
    const { receipt } = answer.body as { readonly receipt?: Json }
    if (receipt?.tab === undefined) return answer
    const tab = world.seller.signed(change(receiptOf(receipt.tab as Json)))
    return { ...answer, body: { ...answer.body, receipt: { ...receipt, tab } } }
  }
}

describe('19 a price that swings', () => {
  it('a quarter more is paid, above that the owner must agree', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    world.seller.prices.set(ECHO, 250_000n)
    await tab.call(ECHO, 'b')
    world.seller.prices.set(ECHO, 250_001n)
    expect(await caught(tab.call(ECHO, 'c'))).toMatchObject({ code: 'price_rose' })
    // The first price counts, not the last one: many small steps are one large one.
    expect(await caught(tab.call(ECHO, 'd'))).toMatchObject({ code: 'price_rose' })
    expect(await caught(tab.call(ECHO, 'e', { maxPrice: '0.0025' }))).toMatchObject({ code: 'over_max_price' })
    await tab.call(ECHO, 'f', { maxPrice: '0.003' })
    expect((await tab.state()).charged).toBe(PRICE + 250_000n + 250_001n)
  })

  it('a limit per call holds against any consent, and a call at the old price is not charged the new one', async () => {
    const tab = await opened({ maxPerCallCoins: '0.004' })
    await tab.call(ECHO, 'a')
    world.seller.prices.set(ECHO, 100_000_000n)
    expect(await caught(tab.call(ECHO, 'b', { maxPrice: '1' }))).toMatchObject({ code: 'over_call_limit' })
    expect((await tab.state()).charged).toBe(PRICE)
  })
})

describe('23 two receipts for one number, or a wrong root', () => {
  it('a seller that forks its data signs two receipts for one number: both are kept as evidence', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const fork = world.seller.copy()
    await tab.call(ECHO, 'b')
    world.seller.ledgers = fork
    expect(await caught(tab.call(ECHO, 'c'))).toBeInstanceOf(VerificationError)
    const error = (await caught(tab.call(ECHO, 'd'))) as TabStoppedError
    expect(error.evidence).toMatchObject({ kind: 'two receipts for one number', receipts: [{ n: 2 }, { n: 2 }] })
    expect(new Set(error.evidence?.receipts.map(({ signature }) => signature)).size).toBe(2)
  })

  it('sums that do not go on stop the tab', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    changeReceipts((receipt) => ({ ...receipt, cumulative: amount(2n * PRICE - 1n) }))
    expect(await caught(tab.call(ECHO, 'b'))).toBeInstanceOf(VerificationError)
    expect(await caught(tab.call(ECHO, 'c'))).toMatchObject({ evidence: { kind: 'sums that do not add up' } })
  })

  it('a claim with another root than that of the receipts is found by the payer alone', async () => {
    const tab = await opened()
    for (const text of ['a', 'b']) await tab.call(ECHO, text)
    await world.claim(tab.tabId, { root: 'cd'.repeat(32) as Hash })
    const checked = await tab.verifyReceipts()
    expect(checked).toMatchObject({ ok: false, failed: ['roots', 'claims'], checks: { chain: true, signatures: true } })
    expect(checked.evidence).toMatchObject({
      ...{ kind: 'a claim that its receipts contradict', receipts: [{ n: 1 }, { n: 2 }] },
      said: { claim: { root: 'cd'.repeat(32) } },
    })
    expect(await caught(tab.call(ECHO, 'c'))).toMatchObject({ code: 'tab_stopped' })
  })

  it('a claim of more than the receipts charge is found too', async () => {
    const tab = await opened({ settleMs: 0 })
    await tab.call(ECHO, 'a')
    world.mischief.mute = 1
    await caught(tab.call(ECHO, 'b'))
    // The second receipt says that the call failed and cost nothing; the claim takes its price.
    const ledger = world.seller.ledger(tab.tabId)
    const last = receiptOf(ledger.receipts.pop() as Json)
    const failed = {
      ...last,
      outcome: 1,
      charged: amount(0n),
      cumulative: amount(PRICE),
      resultHash: '00'.repeat(32) as Hash,
    }
    ledger.receipts.push(world.seller.signed(failed))
    await world.claim(tab.tabId, {
      failed: 0,
      services: [{ serviceId: serviceId(ECHO), calls: 2, amount: amount(2n * PRICE) }],
    })
    const checked = await tab.verifyReceipts()
    expect(checked).toMatchObject({ ok: false, failed: ['claims'], missing: [] })
    expect(checked.evidence).toMatchObject({ kind: 'a claim that its receipts contradict' })
  })
})

describe('25 a seller that was set back to an old copy of its data', () => {
  it('is stopped by its own newer receipt, and not accused: it may have lost data', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const old = world.seller.copy()
    for (const text of ['b', 'c']) await tab.call(ECHO, text)
    world.seller.ledgers = old
    world.seller.prices.set(ECHO, 220_000n)
    // Number 4 is free in the old copy, so only a corrective answer shows the older state.
    world.mischief.lie = (answer, path) =>
      path.endsWith(ECHO) && answer.status === 200 ? world.seller.terms(ECHO, 'ceiling_low', tab.tabId) : answer
    const copy = world.seller.copy()
    const sell = world.seller.call.bind(world.seller)
    world.seller.call = async (service, _request, payload) => {
      world.seller.seen.push(payload)
      world.seller.ledgers = copy
      return world.seller.terms(service, 'ceiling_low', tab.tabId)
    }
    const error = await caught(tab.call(ECHO, 'd'))
    world.seller.call = sell
    expect(error).toBeInstanceOf(TabStoppedError)
    expect(error).toMatchObject({ code: 'tab_behind', evidence: null })
    expect(await caught(tab.call(ECHO, 'e'))).toMatchObject({ code: 'tab_behind', evidence: null })
    expect((await tab.receipts()).map(({ n }) => n)).toEqual([1, 2, 3])
    expect(await tab.close()).toMatchObject({ by: 'chain' })
  })

  it('that forgot everything is stopped as well; the deposit comes back by the chain', async () => {
    const tab = await opened()
    for (const text of ['a', 'b']) await tab.call(ECHO, text)
    world.seller.ledgers = new Map()
    world.seller.prices.set(ECHO, 250_000n)
    const error = await caught(tab.call(ECHO, 'c'))
    // It signed a second receipt 1.
    expect(error).toBeInstanceOf(VerificationError)
    const before = world.test.balance(walletKey(1).address)
    const { endsAt } = await tab.close()
    await world.test.mineTo(endsAt)
    expect(world.test.balance(walletKey(1).address) - before).toBeGreaterThan(9_000_000n)
    expect((await tab.state()).status).toBe('ended')
  })
})

describe('27 session key stolen', () => {
  it('buys services and moves no coins; the payer closes from its wallet', async () => {
    const [journal, stolen] = [memoryJournal(), memoryJournal()]
    const tab = await opened({ journal })
    await tab.call(ECHO, 'mine')
    const notes = (await journal.tabs?.read(tab.tabId)) ?? []
    const { nonce } = notes.find(({ what }) => what === 'opening') as { readonly nonce: string }
    const seed = toHex((await wallet.voucherSeed?.(world.network.genesis, BigInt(nonce))) as Uint8Array)
    for (const note of notes) await stolen.tabs?.append(note.what === 'opening' ? { ...note, seed } : note)
    const thief = devWallet(6)
    const taken = await client({ journal: stolen, wallet: thief }).tab(tab.tabId)
    const coins = world.test.balance(walletKey(6).address)
    for (let i = 0; i < 3; i++) expect((await taken.call(ECHO, `stolen ${i}`)).result).toEqual({ echo: `stolen ${i}` })
    await caught(taken.topUp('0.1'))
    await caught(taken.close({ byChain: true }))
    expect(world.tab(tab.tabId)).toMatchObject({ closesAt: 0, deposit: 10_000_000n })

    const before = world.test.balance(walletKey(1).address)
    const { endsAt } = await tab.close({ byChain: true })
    await world.claim(tab.tabId)
    expect(world.tab(tab.tabId)?.claimed).toBe(4n * PRICE)
    await world.test.mineTo(endsAt)
    expect(world.tab(tab.tabId)).toBeUndefined()
    // The fee of the close is paid from it.
    expect(world.test.balance(walletKey(1).address) - before).toBeGreaterThan(10_000_000n - 4n * PRICE - 200_000n)
    expect(world.test.balance(walletKey(6).address)).toBeLessThanOrEqual(coins)
  })
})

describe('28 a receipt key swapped by a man in the middle', () => {
  const swapped = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'

  it('an offer with another key than the state has opens no tab', async () => {
    const own = devWallet(4)
    const agent = client({ tabs: { maxDeposit: '0.2', callsAhead: 10 }, wallet: own, verify: false })
    for (let i = 0; i < 3; i++) await agent.call(ECHO, `alone ${i}`)
    world.mischief.lie = (answer) =>
      answer.status === 402 ? corrected(answer, { receiverAuthorizer: swapped }) : answer
    const before = world.sent.length
    await agent.call(ECHO, 'alone again')
    expect(await agent.tabs()).toEqual([])
    expect(world.sent.length).toBe(before + 1)
  })

  /** The own node lies about one document; the second node is the same without the lie. */
  const lying = (path: RegExp, lie: (body: Json) => Json) => ({
    secondNode: world.url.replace('127.0.0.1', 'localhost'),
    fetch: (async (input, init) => {
      const answer = await fetch(input, init)
      if (!String(input).startsWith(world.url) || !path.test(String(input))) return answer
      return new Response(JSON.stringify(lie((await answer.json()) as Json)), { status: answer.status })
    }) as typeof fetch,
  })

  it('a node that swaps it in the terms opens no tab where a second node is asked', async () => {
    const before = world.sent.length
    const swap = (body: Json) => ({ ...body, terms: { ...(body.terms as Json), receiptKey: swapped } })
    expect(await caught(opened(lying(/agents\/acme\/tabs/, swap)))).toMatchObject({ code: 'nodes_disagree' })
    expect(world.sent.length).toBe(before)
    expect((await opened(lying(/nowhere/, (body) => body))).isUsable).toBe(true)
  })

  it.each([
    ['receipt key', { receiptKey: swapped }],
    ['deposit', { deposit: { units: '99000000' } }],
    ['end', { status: 'closing' }],
  ])('a node that shows another %s of a tab is found out by a second one', async (_, change) => {
    const lie = (body: Json) => ({ ...body, tab: { ...(body.tab as Json), ...change } })
    const error = await caught(opened(lying(/api\/v1\/tabs\/[0-9a-f]{64}$/, lie)))
    expect(error).toMatchObject({ code: 'nodes_disagree', message: expect.stringContaining('http://localhost') })
  })

  it('an offer that is paid elsewhere opens no tab', async () => {
    const agent = client({ tabs: { maxDeposit: '0.2', callsAhead: 10 }, verify: false })
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    const other = { ...offer, payTo: wallet.address('devnet') }
    expect(await caught(agent.tabProof(other, 'x'))).toMatchObject({ code: 'other_payee' })
    const foreign = { ...offer, extra: { ...(offer.extra as Json), receiverAuthorizer: swapped } }
    expect(await caught(agent.tabProof(foreign, 'x'))).toMatchObject({ code: 'other_receipt_key' })
  })

  it('a receipt by another key than that of the opening is no receipt', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    world.mischief.lie = (answer) => {
      const { receipt } = answer.body as { readonly receipt?: Json }
      if (receipt?.tab === undefined) return answer
      const forged = { ...(receipt.tab as Json), signature: '0'.repeat(128) }
      return { ...answer, body: { ...answer.body, receipt: { ...receipt, tab: forged } } }
    }
    expect(await caught(tab.call(ECHO, 'b'))).toBeInstanceOf(VerificationError)
    expect((await tab.state()).status).toBe('stopped')
  })

  it('an agent that changes its key leaves open tabs with theirs', async () => {
    const tab = await opened()
    await world.setTerms({ receiptKey: swapped })
    expect((await tab.call(ECHO, 'a')).result).toEqual({ echo: 'a' })
    await world.setTerms()
  })
})

describe("29 a payer's money locked for a month", () => {
  it('the term is a day unless the payer says more, and a silent seller holds it for the close delay alone', async () => {
    const tab = await client().openTab(ACME, { deposit: '0.1' })
    const record = world.tab(tab.tabId)
    expect(record).toMatchObject({ closeDelay: 400 })
    expect((record?.expiresAt ?? 0) - (record?.openedAt ?? 0)).toBe(28_800)
    await tab.call(ECHO, 'a')
    const before = world.test.balance(walletKey(1).address)
    const closing = await tab.close({ byChain: true })
    expect(closing).toMatchObject({ by: 'chain', endsAt: world.test.height + 400 })
    expect(await caught(tab.call(ECHO, 'b'))).toMatchObject({ code: 'tab_closing' })
    await world.test.mineTo(closing.endsAt)
    // The fee of the close is paid from it.
    expect(world.test.balance(walletKey(1).address) - before).toBeGreaterThan(9_800_000n)
  })

  it("the seller's least deposit does not go over the payer's limits", async () => {
    await world.setTerms({ minDeposit: 50_000_000_000n })
    expect(await caught(client().openTab(ACME, { deposit: '0.1' }))).toMatchObject({ code: 'deposit_low' })
    expect(await caught(client().openTab(ACME, { deposit: '500' }))).toMatchObject({ code: 'over_tab_limit' })
    await world.setTerms()
  })
})

describe('32 one deposit shown to two sellers', () => {
  it('a voucher is made for the agent of the tab alone', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    world.mischief.lie = (answer, path) =>
      path.endsWith(OTHER) && answer.status === 402 ? corrected(answer, { agentId: 'other' }) : answer
    const from = world.seller.seen.length
    expect(await caught(tab.call(OTHER, 'b'))).toMatchObject({ code: 'other_agent' })
    expect(world.seller.seen.length).toBe(from)
  })
})
