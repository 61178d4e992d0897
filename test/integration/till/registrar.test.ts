import { afterEach, describe, expect, it } from 'vitest'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../../consensus/tx/kinds.ts'
import { capabilityNumber, capabilitySet } from '../../../marketplace/ledger/capabilities.ts'
import { PUBLISHED_AT_ONCE, Registrar } from '../../../marketplace/till/rails/native/registrar.ts'
import { type WalletKey, walletKey } from '../../../src/crypto/wallet-key.ts'
import { seedOf } from '../../support/actors.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, type MarketParts, ONCE, SHOP, TestMarket } from '../../support/market.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'
import { filled, serviceId } from '../../support/unsigned.ts'

/** Length of an epoch in blocks, and for how many blocks a second price change is held back. */
const EPOCH = 20
const HOLD = 1_200
const OWNER = wallet(2)
const CLOSED = 'node-test-closed'

afterEach(closeMarkets)

interface Registered {
  readonly market: TestMarket
  readonly registrar: Registrar
  readonly faults: readonly Fault[]
}

/** A market that is not on chain, and its registrar. */
async function unpublished(parts: MarketParts = {}): Promise<Registered> {
  const market = await TestMarket.open({ ...parts, published: false })
  const faults: Fault[] = []
  const { shop, sender, test } = market
  const registrar = new Registrar({ chain: test.chain, shop, sender, onFault: (cause) => faults.push(cause) })
  return { market, registrar, faults }
}

/** A market that its registrar has put on chain. */
async function published(parts: MarketParts = {}): Promise<Registered> {
  const registered = await unpublished(parts)
  registered.registrar.check()
  await registered.market.quiet()
  await registered.market.mineWaiting()
  return registered
}

/** Restarts the operator with other settings on the same chain. */
async function reopened({ market, registrar }: Registered, parts: MarketParts): Promise<Registered> {
  await registrar.stop()
  const next = await unpublished({ ...parts, test: market.test })
  next.registrar.check()
  await next.market.quiet()
  return next
}

const kindsOf = ({ market }: Registered) => market.sender.waiting.map(({ body }) => body.kind)
const serviceIdsOf = ({ market }: Registered) =>
  market.sender.waiting.map(({ body }) => (body.kind === 'service_publish' ? body.payload.serviceId : body.kind))

/** The agent of an operator with several nodes. */
function agentWith(settlers: readonly Address[], change: Partial<PayloadOf<'agent_update'>> = {}) {
  const { address } = OWNER
  const capabilities = capabilitySet(['utility'])
  return {
    agentId: SHOP,
    name: 'Shop',
    endpoint: '',
    owner: address,
    payout: address,
    capabilities,
    settlers,
    ...change,
  }
}

async function update({ market }: Registered, payload: PayloadOf<'agent_update'>, signer: WalletKey = OWNER) {
  await market.mine([await market.test.tx(signer, 'agent_update', payload)])
}

describe('an operator that is not on chain', () => {
  it('with more services than fit at once is published in batches that leave room for receipts', async () => {
    const [model] = TEST_SERVICES as readonly [(typeof TEST_SERVICES)[number]]
    const count = 2 * PUBLISHED_AT_ONCE + 5
    const services = Array.from({ length: count }, (_, i) => ({ ...model, serviceId: serviceId(`node-many-${i}`) }))
    const many = await unpublished({ services })
    many.registrar.check()
    await many.market.quiet()
    const batches: number[] = []
    while (many.market.sender.waiting.length > 0) {
      batches.push(serviceIdsOf(many).filter((id) => id.startsWith('node-many-')).length)
      await many.market.mineWaiting()
    }
    expect(batches).toEqual([PUBLISHED_AT_ONCE, PUBLISHED_AT_ONCE, 5])
    expect(many.faults).toEqual([])
    const { shop } = many.market
    expect(shop.offers.map((offer) => shop.availability(offer).available)).toEqual(services.map(() => true))
  })

  it('is registered with all its services at once, and sells as soon as that is mined', async () => {
    const registered = await unpublished()
    const { market, registrar, faults } = registered
    registrar.check()
    await market.quiet()
    expect(serviceIdsOf(registered)).toEqual(['agent_register', AGAIN, ONCE, CLOSED])
    expect(market.shop.availability(market.shop.offer(ONCE)!)).toMatchObject({ reason: 'not published yet' })
    await market.mineWaiting()
    expect(market.shop.agent).toEqual({
      ...agentWith([OWNER.address]),
      version: 1,
      registeredAt: 1,
      agentId: undefined,
    })
    expect(market.shop.availability(market.shop.offer(ONCE)!)).toMatchObject({ available: true })
    expect([kindsOf(registered), faults]).toEqual([[], []])
  })

  it('sends nothing twice while the first waits', async () => {
    const registered = await unpublished()
    const { market, registrar } = registered
    for (let i = 0; i < 5; i++) registrar.check()
    await market.quiet()
    for (let i = 0; i < 5; i++) await market.mine()
    expect(kindsOf(registered)).toEqual(['agent_register', 'service_publish', 'service_publish', 'service_publish'])
    expect(market.sender.waiting.map(({ body }) => body.nonce)).toEqual([0n, 1n, 2n, 3n])
  })

  it('sends everything again when it has expired unmined', async () => {
    const registered = await unpublished()
    const { market, registrar } = registered
    registrar.check()
    await market.quiet()
    const first = market.sender.waiting.map(({ txId }) => txId)
    const { validUntil } = market.sender.waiting[0]!.body
    while (market.test.height < validUntil - 1) await market.mine()
    expect(market.sender.waiting.map(({ txId }) => txId)).toEqual(first)
    await market.mine()
    const second = market.sender.waiting
    expect(serviceIdsOf(registered)).toEqual(['agent_register', AGAIN, ONCE, CLOSED])
    expect(second.every(({ txId, body }) => !first.includes(txId) && body.validUntil > validUntil)).toBe(true)
    await market.mineWaiting()
    expect(market.shop.availability(market.shop.offer(ONCE)!)).toMatchObject({ available: true })
  })

  it('is left to its cold key if the settler is not the owner', async () => {
    const registered = await unpublished({ operator: { settler: wallet(3) } })
    registered.registrar.check()
    await registered.market.mine()
    expect([kindsOf(registered), registered.faults]).toEqual([[], []])
  })

  it('reports why nothing could be sent, and tries again at the next block', async () => {
    const poor = walletKey(seedOf(61))
    const operator = { owner: poor.address, payout: wallet(1).address, settler: poor }
    const { market, registrar, faults } = await unpublished({ operator })
    registrar.check()
    await market.quiet()
    expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(['tx/sender-unknown']))
    const told = faults.length
    await market.mine()
    expect(faults.length).toBe(2 * told)
  })

  it('sends nothing after it was stopped', async () => {
    const registered = await unpublished()
    await registered.registrar.stop()
    registered.registrar.check()
    await registered.market.mine()
    expect(kindsOf(registered)).toEqual([])
  })
})

describe('an agent on chain', () => {
  it('of another owner is left alone, and nothing is published under it', async () => {
    const registered = await unpublished()
    const { market, faults } = registered
    const squatter = wallet(5)
    const payload = { ...agentWith([OWNER.address]), payout: squatter.address }
    const { owner: _, ...registration } = payload
    await market.mine([await market.test.tx(squatter, 'agent_register', registration)])
    await market.mine()
    expect([kindsOf(registered), faults]).toEqual([[], []])
    expect(market.shop.availability(market.shop.offer(ONCE)!)).toMatchObject({
      available: false,
      reason: `the agent id ${SHOP} belongs to another owner; choose one with market.agent-id`,
    })
  })

  it('that matches is left alone', async () => {
    const registered = await published()
    for (let i = 0; i < 3; i++) await registered.market.mine()
    expect(kindsOf(registered)).toEqual([])
  })

  it('keeps the other settlers when this one is added', async () => {
    const registered = await published()
    const others = [filled<Address>(0x31), filled<Address>(0x32)]
    await update(registered, agentWith(others))
    expect(kindsOf(registered)).toEqual(['agent_update'])
    await registered.market.mineWaiting()
    expect(registered.market.shop.agent?.settlers).toEqual([...others, OWNER.address])
  })

  it('loses only its oldest settler if the list is full', async () => {
    const registered = await published()
    const others = Array.from({ length: 8 }, (_, i) => filled<Address>(0x31 + i))
    await update(registered, agentWith(others))
    await registered.market.mineWaiting()
    expect(registered.market.shop.agent?.settlers).toEqual([...others.slice(1), OWNER.address])
    await registered.market.mine()
    expect(kindsOf(registered)).toEqual([])
  })

  it('is corrected to this operator’s settings, field by field', async () => {
    for (const change of [
      { name: 'Other' },
      { endpoint: 'https://other.example' },
      { payout: wallet(3).address },
      { capabilities: capabilitySet(['utility', 'bridge']) },
      { capabilities: 0 },
    ]) {
      const registered = await published()
      const { market } = registered
      const before = market.shop.agent
      await update(registered, agentWith([OWNER.address], change))
      expect(kindsOf(registered)).toEqual(['agent_update'])
      await market.mineWaiting()
      expect(market.shop.agent).toEqual(before)
    }
  })

  it('updates its capabilities when its services change', async () => {
    const first = await published()
    const [again, ...others] = TEST_SERVICES
    const services = [{ ...again!, capability: 'oracle' as const }, ...others]
    const next = await reopened(first, { services })
    expect(serviceIdsOf(next)).toEqual(['agent_update', AGAIN])
    const { market } = next
    expect(market.shop.availability(market.shop.offer(AGAIN)!)).toMatchObject({ reason: 'not published yet' })
    await market.mineWaiting()
    expect(market.shop.agent?.capabilities).toBe(capabilitySet(['utility', 'oracle']))
    expect(market.shop.record(AGAIN)?.capability).toBe(capabilityNumber('oracle'))
    expect(market.shop.availability(market.shop.offer(AGAIN)!)).toMatchObject({ available: true })
  })
})

describe('a service on chain', () => {
  for (const [what, change] of [
    ['name', { name: 'Test renamed' }],
    ['request format', { requestFormat: 'anything' }],
    ['description', { description: 'Does it better.' }],
  ] as const) {
    it(`is published anew when its ${what} changes, alone`, async () => {
      const first = await published()
      const services = TEST_SERVICES.map((one) => (one.serviceId === ONCE ? { ...one, ...change } : one))
      const next = await reopened(first, { services })
      expect(serviceIdsOf(next)).toEqual([ONCE])
      await next.market.mineWaiting()
      expect(next.market.shop.record(ONCE)).toMatchObject(change)
      expect(kindsOf(next)).toEqual([])
    })
  }

  it('that was retired is published again', async () => {
    const registered = await published()
    const retire = { agentId: SHOP, serviceId: ONCE }
    await registered.market.mine([await registered.market.test.tx(OWNER, 'service_retire', retire)])
    expect(serviceIdsOf(registered)).toEqual([ONCE])
    await registered.market.mineWaiting()
    expect(registered.market.shop.record(ONCE)).toMatchObject({ retired: false })
  })
})

describe('a price', () => {
  const prices = (usdMicros: bigint) => ({ prices: { [ONCE]: usdMicros } })

  it('is changed at once if it was not changed before', async () => {
    const next = await reopened(await published(), prices(3_000n))
    expect(serviceIdsOf(next)).toEqual([ONCE])
    await next.market.mineWaiting()
    expect(next.market.shop.record(ONCE)).toMatchObject({ priceUsdMicros: 3_000n, previousPriceUsdMicros: 2_000n })
  })

  it('is held for an hour of blocks after a change took effect, and then changed', async () => {
    const changed = await reopened(await published(), prices(3_000n))
    const { market } = changed
    await market.mineWaiting()
    const inForce = (market.shop.record(ONCE)!.previousPriceLastEpoch + 1) * EPOCH
    await changed.registrar.stop()
    await market.test.mineTo(inForce + HOLD - 2)
    const next = await reopened(changed, prices(4_000n))
    expect(kindsOf(next)).toEqual([])
    await next.market.mine()
    expect([next.market.test.height, kindsOf(next)]).toEqual([inForce + HOLD - 1, []])
    await next.market.mine()
    expect(serviceIdsOf(next)).toEqual([ONCE])
    await next.market.mineWaiting()
    expect(next.market.shop.record(ONCE)).toMatchObject({ priceUsdMicros: 4_000n, previousPriceUsdMicros: 3_000n })
  })

  it('that is held back does not hold back other services', async () => {
    const changed = await reopened(await published(), prices(3_000n))
    await changed.market.mineWaiting()
    const next = await reopened(changed, { prices: { [ONCE]: 4_000n, [AGAIN]: 5_000n } })
    expect(serviceIdsOf(next)).toEqual([AGAIN])
  })

  it('is honoured meanwhile: calls that were paid before the change are delivered', async () => {
    const first = await published()
    await first.market.test.mineTo(25)
    const payment = await first.market.pay('ok', { term: 400 })
    await first.market.stop()
    const second = await reopened(first, prices(3_000n))
    await second.market.mineWaiting()
    await second.market.test.mineTo(41)
    await second.market.stop()
    const third = await reopened(second, prices(4_000n))
    await third.market.mineWaiting()
    expect(await third.market.settle(payment)).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
  })
})

it('a missing payout account is reported with its address, and no fee is wasted', async () => {
  const payout = 'ab'.repeat(32) as Address
  const { market, registrar, faults } = await unpublished({ operator: { payout } })
  registrar.check()
  await market.quiet()
  for (let i = 0; i < 3; i++) await market.mine()
  await market.quiet()
  expect(market.sender.waiting).toEqual([])
  const address = formatAddress(market.test.chain.ruleBook.params.addressPrefix, payout)
  expect(faults.length).toBeGreaterThan(0)
  for (const cause of faults) expect(cause).toEqual({ code: 'market/payout-unfunded', detail: { address } })
  await registrar.stop()
})

describe('an operator with several nodes', () => {
  const others = [wallet(5).address, wallet(6).address]

  it('registers the settlers of all of them at once', async () => {
    const { market } = await published({ operator: { otherSettlers: others } })
    expect(market.shop.agent?.settlers).toEqual([...others, OWNER.address])
  })

  it('adds later settlers, and keeps those that it does not know', async () => {
    const before = await published({ operator: { otherSettlers: others.slice(0, 1) } })
    const next = await reopened(before, { operator: { otherSettlers: others.slice(1) } })
    expect(kindsOf(next)).toContain('agent_update')
    await next.market.mineWaiting()
    expect(next.market.shop.agent?.settlers).toEqual([others[0], others[1], OWNER.address])
  })
})
