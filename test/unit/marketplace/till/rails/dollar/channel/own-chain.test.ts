import { beforeEach, describe, expect, it } from 'vitest'
import { keccakText, signDigest } from '../../../../../../../consensus/external/eip712.ts'
import { fault } from '../../../../../../../consensus/primitives/fault.ts'
import type { ChannelSighting, SentCall } from '../../../../../../../marketplace/till/rails/dollar/channel/chain.ts'
import { NO_ADDRESS } from '../../../../../../../marketplace/till/rails/dollar/channel/channel.ts'
import { OwnChain } from '../../../../../../../marketplace/till/rails/dollar/channel/own-chain.ts'
import { AUTHORIZER, CHANNEL_TERMS, channelPayment, STATE } from '../../../../../../support/channel.ts'

const TRANSACTION = `0x${'cd'.repeat(32)}`
const MINED: SentCall = { is: 'mined', transaction: TRANSACTION, height: 20, logs: [] }
const AWAY = fault('channel/chain-away', { detail: 'its node gives no answer' })
const REFUSED = fault('stable/refused', { reason: 'simulation_failed' })

/** What the chain answers: the sightings of the channel in order, the end of each call, and whether a call would succeed. */
let sightings: (ChannelSighting | null)[] = []
let sent: SentCall = MINED
let trial: boolean | null = true
let trials = 0
const chain = new OwnChain({
  sender: {
    wouldSucceed: async () => {
      trials += 1
      return trial
    },
    send: async () => sent,
  },
  ledger: { channel: async () => sightings.shift() ?? null },
  terms: CHANNEL_TERMS,
  sign: (digest) => signDigest(AUTHORIZER.key, digest),
})
const at = (height: number, change: Partial<typeof STATE> = {}): ChannelSighting => ({
  state: { ...STATE, ...change },
  height,
})

beforeEach(() => {
  sightings = []
  sent = MINED
  trial = true
  trials = 0
})

describe('a payment', () => {
  it('is not asked about if its key did not sign it', async () => {
    const payment = channelPayment('voucher')
    const forged = { ...payment, voucher: { ...payment.voucher, maxClaimable: 1n } }
    expect(await chain.verify(forged)).toMatchObject({ ok: false, fault: { code: 'channel/signature' } })
    expect(trials).toBe(0)
  })

  it('cannot be judged while the chain is away', async () => {
    expect(await chain.verify(channelPayment('voucher'))).toEqual({ ok: false, fault: AWAY })
    expect(await chain.state(channelPayment('voucher'))).toEqual({ ok: false, fault: AWAY })
    sightings = [at(1)]
    trial = null
    expect(await chain.verify(channelPayment('voucher'))).toEqual({ ok: false, fault: AWAY })
  })

  it('that is claimed already needs no trial, unless only the chain could judge its signature', async () => {
    const claimed = { totalClaimed: 1_000n }
    sightings = [at(1, claimed), at(1, claimed), at(1, claimed)]
    expect(await chain.verify(channelPayment('refund'))).toMatchObject({ ok: true })
    expect(trials).toBe(0)
    trial = false
    expect(await chain.verify(channelPayment('deposit'))).toEqual({ ok: false, fault: REFUSED })
    const payment = channelPayment('refund', { config: { payerAuthorizer: NO_ADDRESS } })
    const { channelId } = payment.voucher
    expect(await chain.verify(payment)).toEqual({ ok: false, fault: fault('channel/unverified', { channelId }) })
  })
})

describe('a call', () => {
  const deposit = channelPayment('deposit')
  const order = { payment: channelPayment('refund', { maxClaimable: 0n }), amount: 500n, refundNonce: 0n, claims: [] }
  const all = () => [chain.deposit(deposit), chain.claim([]), chain.settle(), chain.refund(order)]

  it.each([
    [{ is: 'refused' }, { is: 'undone', cause: REFUSED }],
    [
      { is: 'unsent', detail: 'why' },
      { is: 'undone', cause: fault('channel/chain-away', { detail: 'why' }) },
    ],
    [
      { is: 'unknown', transaction: TRANSACTION, detail: 'why' },
      { is: 'unknown', transaction: TRANSACTION, detail: 'why' },
    ],
  ] as const)('that was %j ends so', async (end, expected) => {
    sent = end
    sightings = [at(1)]
    for (const outcome of await Promise.all(all())) expect(outcome).toEqual(expected)
  })

  it('that failed in its block ends so, but a refund whose signature is public by then is open', async () => {
    sent = { is: 'reverted' }
    sightings = [at(1)]
    const [refund, ...others] = (await Promise.all(all())).reverse()
    for (const outcome of others) expect(outcome).toEqual({ is: 'undone', cause: REFUSED })
    expect(refund).toEqual({ is: 'unknown', detail: 'its transaction failed', transaction: null })
  })

  it('that is mined in a block that is not seen yet is open', async () => {
    const open = { is: 'unknown', detail: 'its block is not seen yet', transaction: TRANSACTION }
    sightings = [at(19)]
    expect(await chain.deposit(deposit)).toEqual(open)
    sightings = [at(18), null]
    expect(await chain.refund(order)).toEqual(open)
    expect(await chain.refund(order)).toEqual({ is: 'undone', cause: AWAY })
  })

  it('that is mined names what moved', async () => {
    sightings = [at(20)]
    expect(await chain.deposit(deposit)).toEqual({
      is: 'done',
      transaction: TRANSACTION,
      amount: 10_000n,
      state: STATE,
    })
    const after = { balance: 9_600n, refundNonce: 1n }
    sightings = [at(18), at(21, after)]
    expect(await chain.refund(order)).toEqual({
      is: 'done',
      transaction: TRANSACTION,
      amount: 400n,
      state: { ...STATE, ...after },
    })
    expect(await chain.settle()).toEqual({ is: 'undone', cause: fault('channel/nothing-claimed') })
    const topics = [keccakText('Settled(address,address,address,uint128)')]
    sent = { ...MINED, logs: [{ topics: 5 }, { topics, data: `0x${'0'.repeat(61)}7d0` }] }
    expect(await chain.settle()).toEqual({ is: 'done', transaction: TRANSACTION, amount: 2_000n })
    sent = { ...MINED, logs: [{ topics, data: '0x' }] }
    expect(await chain.settle()).toEqual({ is: 'done', transaction: TRANSACTION, amount: null })
  })
})
