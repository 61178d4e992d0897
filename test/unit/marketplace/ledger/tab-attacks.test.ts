import { describe, expect, it } from 'vitest'
import { nativeSupply } from '../../../../consensus/ledger/supply.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { Address, Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import type { TxKind } from '../../../../consensus/tx/kinds.ts'
import { AGENT_STATISTICS, SERVICE_STATISTICS } from '../../../../marketplace/ledger/statistics.ts'
import { VOUCHER_KEYS } from '../../../support/tab-choices.ts'
import {
  FIRST_SERVICE,
  OTHER,
  OWNER,
  PAYER,
  PAYOUT,
  SECOND,
  SETTLER,
  TabLedger,
  VOUCHER_KEY,
} from '../../../support/tab-ledger.ts'
import { agentId, SAMPLE, units } from '../../../support/unsigned.ts'

const ACME = agentId('acme')
const DEPOSIT = 10_000_000n
const ALL: readonly Address[] = [OWNER, PAYER, PAYOUT, SETTLER, OTHER, SECOND]
const CODES = { ok: 0, unknown: 35, foreign: 36, overCeiling: 38, overDeposit: 39, count: 41, signature: 42 } as const

/** What an account gains by some work, its fees left out. */
function gains(ledger: TabLedger, work: () => readonly bigint[]): readonly bigint[] {
  const before = ALL.map((who) => ledger.balance(who))
  const fees = work()
  return ALL.map((who, i) => ledger.balance(who) - before[i]! + (fees[i] ?? 0n))
}

const feesOf = (who: Address, ...fees: readonly bigint[]): readonly bigint[] =>
  ALL.map((one) => (one === who ? fees.reduce((sum, fee) => sum + fee, 0n) : 0n))

describe('attack 7, a seller that claims up to the ceiling without serving:', () => {
  it('the highest ceiling that the payer signed is the most that any claims move', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    // 3,000,000 were served; the payer has signed 1,200,000 more for calls in flight.
    const signed = { ceiling: units(4_200_000), seq: 14 }
    const served = ledger.entry(tabId, { claimed: units(3_000_000), receipts: 10, voucher: signed })
    expect(ledger.codes([served])).toEqual([CODES.ok])
    const [voucher] = served.voucher
    const more = (claimed: bigint) =>
      ledger.codes([{ ...ledger.entry(tabId, { claimed: units(claimed) }), voucher: [voucher!] }])
    expect(more(4_200_001n)).toEqual([CODES.overCeiling])
    expect(more(4_200_000n)).toEqual([CODES.ok])
    expect(more(4_200_001n)).toEqual([CODES.overCeiling])
    ledger.send(PAYER, 'tab_close', { tabId })
    const [, payer] = gains(ledger, () => {
      ledger.advanceTo(ledger.height + 4)
      return []
    })
    expect(payer).toBe(DEPOSIT - 4_200_000n)
  })
})

describe('attack 21, self-dealing for reputation:', () => {
  it.each([
    ['owner', OWNER],
    ['payout', PAYOUT],
    ['settler', SETTLER],
  ] as const)('the %s burns as any payer does, and is counted nowhere', (_, insider) => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab({}, insider)
    const { burned } = nativeSupply(ledger.state)
    const { receipt } = ledger.claim([ledger.entry(tabId, { claimed: units(DEPOSIT), receipts: 100 })])
    expect(receipt.entries).toEqual([CODES.ok])
    expect(nativeSupply(ledger.state).burned - burned - receipt.burned).toBe(100n * 20_000n)
    expect(ledger.get(AGENT_STATISTICS, ACME)).toBeUndefined()
    expect(ledger.get(SERVICE_STATISTICS, { agentId: ACME, serviceId: FIRST_SERVICE })).toBeUndefined()
  })

  it('an insider that leaves after the opening stays one on its tab', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab({}, SETTLER)
    ledger.send(OWNER, 'agent_update', SAMPLE.agent_update({ owner: OWNER, payout: PAYOUT, settlers: [] }))
    expect(ledger.codes([ledger.entry(tabId)], OWNER)).toEqual([CODES.ok])
    expect(ledger.get(AGENT_STATISTICS, ACME)).toBeUndefined()
  })

  it('a straw payer is counted, and costs its master a fifth of the least sum for each call', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab({}, OTHER)
    const before = nativeSupply(ledger.state).burned
    const { receipt } = ledger.claim([ledger.entry(tabId, { claimed: units(DEPOSIT), receipts: 100 })])
    expect(ledger.get(AGENT_STATISTICS, ACME)).toMatchObject({ calls: 100, payers: 1 })
    expect(nativeSupply(ledger.state).burned - before - receipt.burned).toBe(DEPOSIT / 5n)
  })
})

describe('attack 22, an inflated count:', () => {
  const MOST = 2 ** 32 - 1

  it('four thousand million calls for the price of three count as three, and burn for three', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const { receipt } = ledger.claim([ledger.entry(tabId, { claimed: units(399_999), receipts: MOST })])
    expect([receipt.entries, receipt.amounts[1]]).toEqual([[CODES.ok], 60_000n])
    expect(ledger.get(AGENT_STATISTICS, ACME)?.calls).toBe(3)
  })

  it('the count is that of the receipts under the root: no call without one, none without a root', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const services = [{ serviceId: FIRST_SERVICE, calls: 3, amount: units(300_000) }]
    const of = (change: object) => ledger.codes([{ ...ledger.entry(tabId, { receipts: 3, services }), ...change }])
    expect(of({ receipts: 2 })).toEqual([CODES.count])
    expect(of({ receipts: 4 })).toEqual([CODES.count])
    expect(of({ root: ZERO_HEX_32 as Hash })).toEqual([CODES.count])
    expect(of({})).toEqual([CODES.ok])
  })

  it('cutting one sum into many claims or services counts no more calls', () => {
    const [whole, cut] = [new TabLedger(), new TabLedger()]
    const [one, other] = [whole.openTab(), cut.openTab()]
    whole.claim([whole.entry(one, { claimed: units(1_000_000), receipts: 100 })])
    for (let i = 1; i <= 20; i++) cut.claim([cut.entry(other, { claimed: units(i * 50_000), receipts: i * 5 })])
    expect(whole.get(AGENT_STATISTICS, ACME)?.calls).toBe(10)
    expect(cut.get(AGENT_STATISTICS, ACME)?.calls).toBe(0)
  })
})

describe('attack 26, a forger of voucher signatures:', () => {
  /** The forger signs whatever it likes: the tests give it the key itself. */
  const forged = (ledger: TabLedger, tabId: TxId, claimed: bigint) =>
    ledger.entry(tabId, { claimed: units(claimed), signer: VOUCHER_KEY })

  it('moves nothing unless it is the seller', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    for (const who of [OTHER, PAYER, PAYOUT, SECOND])
      expect(ledger.codes([forged(ledger, tabId, DEPOSIT)], who)).toEqual([CODES.foreign])
    expect(ledger.tab(tabId).claimed).toBe(0n)
  })

  it('as the seller gets the deposit, to the payout of the opening alone, and nothing else of the payer', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    ledger.send(OWNER, 'agent_update', SAMPLE.agent_update({ owner: OWNER, payout: SECOND, settlers: [SETTLER] }))
    expect(ledger.codes([forged(ledger, tabId, DEPOSIT + 1n)])).toEqual([CODES.overDeposit])
    const gained = gains(ledger, () => {
      const { receipt } = ledger.claim([forged(ledger, tabId, DEPOSIT)])
      expect(receipt.entries).toEqual([CODES.ok])
      return feesOf(SETTLER, receipt.fee)
    })
    expect(gained).toEqual([0n, 0n, DEPOSIT - DEPOSIT / 100n, 0n, 0n, 0n])
  })

  it('has nothing left once the tab has ended, and nothing by another tab of the same key', () => {
    const ledger = new TabLedger()
    const [first, second] = [ledger.openTab(), ledger.openTab({ voucherKey: VOUCHER_KEYS[1]!.publicKey as Hash })]
    const late = forged(ledger, first, DEPOSIT)
    ledger.send(PAYER, 'tab_close', { tabId: first })
    ledger.advanceTo(ledger.height + 4)
    expect(ledger.codes([late])).toEqual([CODES.unknown])
    expect(ledger.codes([forged(ledger, second, DEPOSIT)])).toEqual([CODES.signature])
  })
})

describe('attack 27, a thief with the voucher key:', () => {
  it('can neither claim, nor fund, nor close, nor keep the payer from closing', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const send = (kind: TxKind, payload: object) => ledger.send(OTHER, kind as 'tab_close', payload as never)
    const gained = gains(ledger, () => {
      const claim = ledger.claim([ledger.entry(tabId, { claimed: units(DEPOSIT), signer: VOUCHER_KEY })], OTHER)
      const fund = send('tab_fund', { tabId, amount: units(1) })
      const close = send('tab_close', { tabId })
      expect([claim.receipt.entries, fund.code, close.code]).toEqual([[CODES.foreign], 'tab/foreign', 'tab/foreign'])
      return feesOf(OTHER, claim.receipt.fee, fund.receipt.fee, close.receipt.fee)
    })
    expect(gained).toEqual(ALL.map(() => 0n))
    expect(ledger.send(PAYER, 'tab_close', { tabId }).code).toBe('success')
    const ended = gains(ledger, () => {
      ledger.advanceTo(ledger.height + 4)
      return []
    })
    expect(ended).toEqual([0n, DEPOSIT, 0n, 0n, 0n, 0n])
  })

  it('and a tab that it opens itself with the same key is paid from its own money', () => {
    const ledger = new TabLedger()
    const [own, payers] = [ledger.openTab({}, OTHER), ledger.openTab()]
    expect(ledger.codes([ledger.entry(own, { claimed: units(DEPOSIT) })])).toEqual([CODES.ok])
    expect(ledger.tab(payers).claimed).toBe(0n)
  })
})
