import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { Holder } from '../../../consensus/primitives/fair-share.ts'
import type { ServiceDefinition } from '../../../marketplace/services/service.ts'
import { type WalletKey, walletKey } from '../../../src/crypto/wallet-key.ts'
import { wallet } from '../../support/chain.ts'
import { AGAIN, closeMarkets, TestMarket, type TestPayment } from '../../support/market.ts'
import { TEST_SERVICES } from '../../support/test-services.ts'
import { units } from '../../support/unsigned.ts'

afterEach(closeMarkets)

/** How many calls are worked on at once, over all services that ask an address of the caller's choice. */
const PLACES = 16
/** How many calls of a payer and of a client may fail in ten minutes at such services. After that, all other callers go first. */
const [OF_PAYER, OF_CLIENT] = [10, 30] as const
const TEN_MINUTES_MS = 600_000

/** The test services. One of them counts as a service that asks an address of the caller's choice (`reachesOut`). */
const SERVICES: readonly ServiceDefinition[] = TEST_SERVICES.map((definition) =>
  definition.serviceId === AGAIN ? { ...definition, timeoutMs: 10_000, reachesOut: true } : definition,
)

const client = (address: string): Holder => ({ address, network: address.slice(0, address.lastIndexOf('.')) })
const ATTACKER = client('192.0.2.7')
const HONEST = client('198.51.100.1')

/** A market, and payers with a little money each. */
async function openWith(payerCount: number): Promise<{ market: TestMarket; payers: WalletKey[] }> {
  const market = await TestMarket.open({ services: SERVICES })
  const payers = Array.from({ length: payerCount }, () => walletKey(new Uint8Array(randomBytes(32))))
  const funds = payers.map(({ address }) =>
    market.test.tx(wallet(5), 'transfer', { to: address, amount: units(5_000_000_000n), create: true }),
  )
  await market.mine(await Promise.all(funds))
  return { market, payers }
}

/** One mined payment of each payer for the same request. */
async function paid(
  market: TestMarket,
  request: string,
  payers: readonly (WalletKey | number)[],
): Promise<TestPayment[]> {
  const payments: TestPayment[] = []
  // One after the other, because a wallet's transactions have increasing nonces.
  for (const from of payers) payments.push(await market.order(request, { serviceId: AGAIN, from }))
  await market.mine(payments.map(({ tx }) => tx))
  return payments
}

/** Makes calls of one client, one after the other. */
async function calls(market: TestMarket, request: string, payers: readonly number[], from: Holder): Promise<void> {
  for (const payer of payers)
    for (const payment of await paid(market, request, [payer])) await market.settle(payment, { from })
}

const times = (count: number, payer: number): number[] => new Array<number>(count).fill(payer)

/** Requests of the works that have begun. */
const begun = (market: TestMarket): string[] => market.workbench.begun.map((line) => line.split(' ')[1] as string)

/** Begins calls of an honest client. Their work is held. */
async function crowd(market: TestMarket, payers: readonly WalletKey[]): Promise<void> {
  for (const payment of await paid(market, 'held', payers)) void market.settle(payment, { from: HONEST })
  await market.quiet()
}

describe('calls paid in coins that fail at their targets', () => {
  it.each([
    ['of one address', (): Holder => ATTACKER],
    ['of the addresses of one network', (_: WalletKey, index: number): Holder => client(`192.0.2.${index + 1}`)],
  ])('%s hold up no other payer, however many payers send them', async (_, clientOf) => {
    const { market, payers } = await openWith(3 * PLACES)
    const attacks = await paid(market, 'fail', payers)
    const [honest] = (await paid(market, 'ok', [3])) as [TestPayment]
    market.workbench.hold()
    const answers = attacks.map((payment, index) =>
      market.settle(payment, { from: clientOf(payers[index] as WalletKey, index) }),
    )
    await market.quiet()
    const answer = market.settle(honest, { from: HONEST })
    await market.quiet()
    expect(begun(market)).toEqual(new Array(PLACES).fill('fail'))
    market.workbench.release(1)
    await market.quiet()
    expect(begun(market).slice(PLACES)).toEqual(['ok'])
    market.workbench.release()
    expect(await answer).toMatchObject({ ok: true, value: { claim: { state: 'delivered' } } })
    // No payment is lost: each call is worked on, fails, and its payment is owed back.
    for (const one of await Promise.all(answers)) expect(one).toMatchObject({ value: { claim: { state: 'failed' } } })
  })

  it.each([
    ['a payer', times(OF_PAYER, 3), { payer: 3, from: client('203.0.113.9') }],
    ['a client', [3, 4, 6].flatMap((payer) => times(OF_CLIENT / 3, payer)), { payer: 7, from: ATTACKER }],
  ])('put %s behind all others for ten minutes, and nothing of it is lost', async (_, failed, { payer, from }) => {
    const { market, payers } = await openWith(PLACES + 4)
    await calls(market, 'fail', failed, ATTACKER)
    const [first, second] = (await paid(market, 'last', times(2, payer))) as [TestPayment, TestPayment]
    market.workbench.begun.length = 0
    market.workbench.hold()
    await crowd(market, payers.slice(0, PLACES))
    const answer = market.settle(first, { from })
    await market.quiet()
    await crowd(market, payers.slice(PLACES, PLACES + 2))
    for (let i = 0; i < 3; i++) {
      market.workbench.release(1)
      await market.quiet()
    }
    expect(begun(market).slice(PLACES)).toEqual(['held', 'held', 'last'])
    await crowd(market, payers.slice(PLACES + 2))
    const again = market.settle(second, { from })
    await market.quiet()
    market.time.nowMs += TEN_MINUTES_MS
    market.workbench.release(1)
    await market.quiet()
    expect(begun(market).slice(PLACES + 3)).toEqual(['last'])
    market.workbench.release()
    for (const one of [answer, again]) expect(await one).toMatchObject({ value: { claim: { state: 'delivered' } } })
  })

  it('do not hold back a payer whose calls mostly succeed, behind any address', async () => {
    const { market, payers } = await openWith(PLACES + 1)
    await calls(market, 'ok', [7], ATTACKER)
    // One good call allows the client one failure more.
    await calls(
      market,
      'fail',
      [...times(1, 3), ...[3, 4, 6].flatMap((payer) => times(OF_CLIENT / 3, payer))],
      ATTACKER,
    )
    const [mine] = (await paid(market, 'mine', [7])) as [TestPayment]
    market.workbench.begun.length = 0
    market.workbench.hold()
    await crowd(market, payers)
    const answer = market.settle(mine, { from: ATTACKER })
    await market.quiet()
    market.workbench.release(1)
    await market.quiet()
    expect(begun(market).slice(PLACES)).toEqual(['mine'])
    market.workbench.release()
    expect(await answer).toMatchObject({ value: { claim: { state: 'delivered' } } })
  })
})
