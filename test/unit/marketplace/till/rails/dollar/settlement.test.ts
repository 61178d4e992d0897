import { beforeEach, describe, expect, it } from 'vitest'
import type { DollarClaimStore, DollarIn } from '../../../../../../marketplace/till/rails/dollar/claim.ts'
import type { FacilitatorVerdict, StableLedger } from '../../../../../../marketplace/till/rails/dollar/facilitator.ts'
import type { FacilitatorPool } from '../../../../../../marketplace/till/rails/dollar/facilitators.ts'
import { Settlement, type SettlementStep } from '../../../../../../marketplace/till/rails/dollar/settlement.ts'
import { OWN_WORDS, PRICE, TERMS } from '../../../../../support/dollar.ts'
import { TestTime } from '../../../../../support/market-parts.ts'

const REASON = 'invalid_exact_evm_nonce_already_used'
const USED: FacilitatorVerdict = { is: 'refused', reason: REASON }
const AWAY: FacilitatorVerdict = { is: 'unreachable', detail: 'it is gone' }
const ENDED = { state: 'unpaid', reason: 'stable/refused', detail: { reason: REASON }, over: false }

let time: TestTime
/** How many seconds the chain is ahead of the seller's clock, and whether its node answers. */
let chain: { aheadSeconds: number; answers: boolean }
let verdict: FacilitatorVerdict
let settlement: Settlement
let claim: DollarIn<'settling'>

beforeEach(() => {
  time = new TestTime()
  chain = { aheadSeconds: 0, answers: true }
  const ledger: Pick<StableLedger, 'authorization'> = {
    authorization: async ({ untilSeconds }) => {
      const atSeconds = Math.floor(time.now() / 1_000) + chain.aheadSeconds
      if (!chain.answers || atSeconds <= (untilSeconds ?? 0)) return { is: 'unknown', detail: 'it is behind' }
      return untilSeconds === undefined ? { is: 'unused' } : { is: 'unused', atSeconds }
    },
  }
  settlement = new Settlement({
    store: {} as DollarClaimStore,
    facilitators: { settle: async () => ({ verdict, by: 'f' }) } as unknown as FacilitatorPool,
    ledger: ledger as StableLedger,
    seller: { terms: TERMS, offerOf: () => ({ ...OWN_WORDS, resource: { url: 'http://127.0.0.1' } }) },
    clock: time,
  })
  claim = {
    ...{ id: 'a', state: 'settling', serviceId: 's', payer: '0x1', asset: TERMS.asset.contract, nonce: '0x2' },
    ...{ amount: `${PRICE}`, version: 2, result: '1', claimedAtMs: time.now() },
    validBefore: Math.floor(time.now() / 1_000) + 100_000,
    payload: { payload: { authorization: { to: TERMS.payTo } } },
  } as unknown as DollarIn<'settling'>
})

const begin = (): Promise<SettlementStep> => settlement.attempt(claim, { first: null, isFirst: true })
const goOn = (): Promise<SettlementStep> => settlement.attempt(claim, { first: null, isFirst: false })

describe('a settlement whose authorization a facilitator calls used and the chain shows unused', () => {
  it.each([
    ['is as late as our clock', 0],
    ['is an hour ahead of our clock', 3_600],
  ])('ends once the chain has gone on so for a while, where the chain %s', async (_, aheadSeconds) => {
    chain.aheadSeconds = aheadSeconds
    verdict = USED
    expect(await begin()).toBe('open')
    expect(await goOn()).toBe('open')
    time.pass(20_000)
    expect(await goOn()).toBe('open')
    time.pass(1_000)
    expect(await goOn()).toMatchObject(ENDED)
  })

  it('stays open where the chain did not answer at first: how far it had come is not known', async () => {
    chain.aheadSeconds = 3_600
    chain.answers = false
    verdict = USED
    expect(await begin()).toBe('open')
    chain.answers = true
    expect(await goOn()).toBe('open')
  })

  it('does not end for the old reason when it is tried anew', async () => {
    verdict = USED
    await begin()
    time.pass(21_000)
    expect(await goOn()).toMatchObject(ENDED)
    verdict = AWAY
    expect(await begin()).toBe('open')
    expect(await goOn()).toBe('open')
  })
})
