import { describe, expect, it } from 'vitest'
import type { Receipt } from '../../../../consensus/ledger/receipt.ts'
import { nativeSupply } from '../../../../consensus/ledger/supply.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { Address, Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { tabChain } from '../../../../consensus/tx/tab-messages.ts'
import type { ClaimEntry } from '../../../../consensus/tx/tab-payloads.ts'
import { AGENT_STATISTICS, PAYERS, SERVICE_STATISTICS } from '../../../../marketplace/ledger/statistics.ts'
import { TAB_DUES, TAB_TERMS_TABLE, TAB_TOTALS, TABS } from '../../../../marketplace/ledger/tab-records.ts'
import { FUNDS } from '../../../support/ledger.ts'
import { NO_POINT, VOUCHER_KEYS } from '../../../support/tab-choices.ts'
import {
  FIRST_SERVICE,
  OTHER,
  OWNER,
  PAYER,
  PAYOUT,
  SECOND,
  SECOND_SERVICE,
  SETTLER,
  TabLedger,
  VOUCHER_KEY,
} from '../../../support/tab-ledger.ts'
import { agentId, filled, SAMPLE, serviceId, units } from '../../../support/unsigned.ts'

const ACME = agentId('acme')
const ZERO = ZERO_HEX_32 as Hash
const DEPOSIT = 10_000_000n
const returns = (receipts: readonly Receipt[]) => receipts.filter(({ type }) => type === 'tab_return')

describe('tab_terms', () => {
  it('are written by the owner alone, and open tabs keep their key', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const terms = { receiptKey: NO_POINT as Hash, minDeposit: units(5), minCloseDelay: 10 }
    const send = (sender: Address, change = {}) =>
      ledger.send(sender, 'tab_terms', SAMPLE.tab_terms({ ...terms, ...change })).code
    expect(send(OWNER, { agentId: agentId('nobody') })).toBe('ledger/agent-unknown')
    for (const sender of [PAYER, PAYOUT, SETTLER]) expect(send(sender)).toBe('ledger/not-owner')
    const before = ledger.tab(tabId)
    expect(send(OWNER)).toBe('success')
    expect(ledger.get(TAB_TERMS_TABLE, ACME)).toEqual(terms)
    expect(ledger.tab(tabId)).toEqual(before)
  })
})

describe('tab_open', () => {
  it('locks the deposit with payout, key and terms of that moment', () => {
    const ledger = new TabLedger()
    const { tx, receipt } = ledger.send(PAYER, 'tab_open', ledger.opening({ term: 8, closeDelay: 10 }))
    expect(ledger.get(TABS, tx.txId)).toEqual({
      ...{ version: 1, agentId: ACME, payer: PAYER, payout: PAYOUT, insider: false, scheme: 0x11 },
      ...{ voucherKey: VOUCHER_KEY.publicKey, receiptKey: SAMPLE.tab_terms().receiptKey, deposit: DEPOSIT },
      ...{ claimed: 0n, receipts: 0, chain: ZERO, openedAt: 5, expiresAt: 13, closeDelay: 10, closesAt: 0 },
    })
    expect(ledger.get(TAB_TOTALS, undefined)).toEqual({ open: 1, locked: DEPOSIT, claimed: 0n, burned: 0n })
    expect(ledger.get(TAB_DUES, 13)).toEqual([tx.txId])
    expect(ledger.balance(PAYER)).toBe(FUNDS - DEPOSIT - receipt.fee)
    expect(ledger.broken()).toEqual([])
  })

  it('marks insiders: owner, payout and settlers of that moment', () => {
    const ledger = new TabLedger()
    const marks = [OWNER, PAYOUT, SETTLER, PAYER].map((who) => ledger.tab(ledger.openTab({}, who)).insider)
    expect(marks).toEqual([true, true, true, false])
  })

  it('fails for the first of its reasons: agent, terms, deposit, delay, balance', () => {
    const ledger = new TabLedger()
    const open = (change: Partial<PayloadOf<'tab_open'>> = {}) =>
      ledger.send(PAYER, 'tab_open', ledger.opening(change)).code
    const terms = (change: Partial<PayloadOf<'tab_terms'>>) =>
      ledger.send(
        OWNER,
        'tab_terms',
        SAMPLE.tab_terms({ minDeposit: units(2n ** 100n), minCloseDelay: 400, ...change }),
      )
    ledger.send(OTHER, 'agent_register', SAMPLE.agent_register({ agentId: agentId('silent') }))
    const poor = { deposit: units(2n ** 99n) }
    expect(open({ ...poor, agentId: agentId('nobody') })).toBe('ledger/agent-unknown')
    expect(open({ ...poor, agentId: agentId('silent') })).toBe('tab/no-terms')
    terms({ receiptKey: ZERO })
    expect(open(poor)).toBe('tab/no-terms')
    terms({})
    expect(open(poor)).toBe('tab/deposit-low')
    terms({ minDeposit: units(2n ** 99n) })
    expect(open(poor)).toBe('tab/delay-short')
    expect(open({ ...poor, closeDelay: 400 })).toBe('ledger/insufficient-balance')
    terms({ minDeposit: units(DEPOSIT), minCloseDelay: 3 })
    expect(open({ deposit: units(DEPOSIT - 1n) })).toBe('tab/deposit-low')
    expect(open()).toBe('success')
    expect(ledger.get(TAB_TOTALS, undefined)?.open).toBe(1)
  })

  it('twice in a block makes two tabs of one list, in the order of their ids', () => {
    const ledger = new TabLedger()
    const txs = [PAYER, OTHER, SECOND].map((who) => ledger.tx(who, 'tab_open', ledger.opening({ term: 8 })))
    ledger.block(txs)
    expect(ledger.get(TAB_DUES, 13)).toEqual(txs.map(({ txId }) => txId).toSorted())
    ledger.advanceTo(13)
    const found = returns(ledger.block().receipts).map((receipt) => receipt.type === 'tab_return' && receipt.tabId)
    expect(found).toEqual(txs.map(({ txId }) => txId).toSorted())
    expect(ledger.get(TAB_DUES, 13)).toBeUndefined()
    expect(ledger.get(TAB_TOTALS, undefined)).toEqual({ open: 0, locked: 0n, claimed: 0n, burned: 0n })
  })
})

describe('tab_fund and tab_close', () => {
  it('are the payer’s, for an open tab that is not closing', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const fund = (sender: Address, change: Partial<PayloadOf<'tab_fund'>> = {}) =>
      ledger.send(sender, 'tab_fund', { tabId, amount: units(2n ** 99n), ...change }).code
    const close = (sender: Address, id = tabId) => ledger.send(sender, 'tab_close', { tabId: id }).code
    const none = filled<TxId>(0x77)
    expect([fund(PAYER, { tabId: none }), close(PAYER, none)]).toEqual(['tab/unknown', 'tab/unknown'])
    for (const who of [OWNER, SETTLER, PAYOUT, OTHER])
      expect([fund(who), close(who)]).toEqual(['tab/foreign', 'tab/foreign'])
    expect(fund(PAYER)).toBe('ledger/insufficient-balance')
    expect(fund(PAYER, { amount: units(1) })).toBe('success')
    expect(ledger.tab(tabId)).toMatchObject({ deposit: DEPOSIT + 1n, expiresAt: 35 })
    expect(ledger.get(TAB_TOTALS, undefined)).toMatchObject({ locked: DEPOSIT + 1n })
    expect(close(PAYER)).toBe('success')
    expect([fund(PAYER), close(PAYER)]).toEqual(['tab/closing', 'tab/closing'])
    expect(ledger.broken()).toEqual([])
  })

  it('a close moves the tab to the list of its new due height', () => {
    const ledger = new TabLedger()
    const [first, second] = [ledger.openTab(), ledger.openTab()]
    expect(ledger.get(TAB_DUES, 35)).toEqual([first])
    ledger.send(PAYER, 'tab_close', { tabId: first })
    expect(ledger.tab(first)).toMatchObject({ closesAt: 10, expiresAt: 35 })
    expect([ledger.get(TAB_DUES, 35), ledger.get(TAB_DUES, 10), ledger.get(TAB_DUES, 36)]).toEqual([
      undefined,
      [first],
      [second],
    ])
  })

  it.each([
    ['before its expiry', 3, 6, 9],
    ['not after its expiry', 10, 6, 13],
    ['one block before its expiry', 3, 12, 13],
  ])('a closing tab ends %s', (_, closeDelay, closedAt, due) => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab({ term: 8, closeDelay })
    ledger.advanceTo(closedAt)
    ledger.send(PAYER, 'tab_close', { tabId })
    expect(ledger.tab(tabId).closesAt).toBe(due)
    ledger.advanceTo(due)
    expect(returns(ledger.block().receipts)).toEqual([{ type: 'tab_return', tabId, payer: PAYER, amount: DEPOSIT }])
    expect(ledger.get(TABS, tabId)).toBeUndefined()
  })
})

describe('an entry of a tab_claim', () => {
  /** A tab of which 1,000,000 are claimed by 4 receipts. */
  function claimedTab() {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    expect(ledger.codes([ledger.entry(tabId, { claimed: units(1_000_000), receipts: 4 })])).toEqual([0])
    return { ledger, tabId }
  }

  it('fails for the first of its reasons, in the order of the specification', () => {
    const { ledger, tabId } = claimedTab()
    const faults: readonly (readonly [code: number, change: Partial<ClaimEntry>])[] = [
      [35, { tabId: filled<TxId>(0x77) }],
      [36, {}],
      [37, { receipts: 3 }],
      [38, { voucher: [{ seq: 1, ceiling: units(DEPOSIT), context: filled(7), signature: new Uint8Array(64) }] }],
      [39, { claimed: units(DEPOSIT + 1n) }],
      [40, { services: [{ serviceId: serviceId('nothing'), calls: 1, amount: units(1) }] }],
      [41, { failed: 3 }],
      [20, { services: [{ serviceId: serviceId('nothing'), calls: 1, amount: units(300_000) }] }],
      [42, { voucher: [{ seq: 1, ceiling: units(DEPOSIT * 2n), context: filled(7), signature: new Uint8Array(64) }] }],
      [0, {}],
    ]
    for (const [i, [code]] of faults.entries()) {
      // Every later fault is in the entry, too; an earlier one in the list is laid over them.
      const changes = faults.slice(i).map(([, change]) => change)
      const entry = Object.assign({}, ledger.entry(tabId), ...changes.toReversed())
      expect(ledger.codes([entry], i <= 1 ? OTHER : SETTLER), `fault ${i}`).toEqual([code])
    }
  })

  it('is for owner and settlers of this moment alone', () => {
    const { ledger, tabId } = claimedTab()
    for (const sender of [PAYER, PAYOUT, OTHER]) expect(ledger.codes([ledger.entry(tabId)], sender)).toEqual([36])
    expect(ledger.codes([ledger.entry(tabId)], OWNER)).toEqual([0])
    ledger.send(OWNER, 'agent_update', SAMPLE.agent_update({ owner: OTHER, payout: SECOND, settlers: [PAYER] }))
    for (const sender of [OWNER, SETTLER]) expect(ledger.codes([ledger.entry(tabId)], sender)).toEqual([36])
    const before = [ledger.balance(PAYOUT), ledger.balance(SECOND)] as const
    expect(ledger.codes([ledger.entry(tabId)], OTHER)).toEqual([0])
    expect([ledger.balance(PAYOUT), ledger.balance(SECOND)]).toEqual([before[0] + 280_000n, before[1]])
  })

  it('is stale where a sum falls, or where nothing rises and it does not close', () => {
    const { ledger, tabId } = claimedTab()
    const code = (claimed: bigint, receipts: number, close = false): readonly number[] =>
      ledger.codes([ledger.entry(tabId, { claimed: units(claimed), receipts, close })])
    expect([code(999_999n, 9), code(999_999n, 4, true), code(2_000_000n, 3), code(1_000_000n, 4)]).toEqual(
      new Array(4).fill([37]),
    )
    expect(code(1_000_000n, 5)).toEqual([0])
  })

  it('needs a voucher for more, and takes at most its ceiling and the deposit', () => {
    const { ledger, tabId } = claimedTab()
    const of = (change: Parameters<TabLedger['entry']>[1]) => ledger.codes([ledger.entry(tabId, change)])
    expect(of({ voucher: null })).toEqual([38])
    expect(of({ voucher: { ceiling: units(1_299_999) } })).toEqual([38])
    expect(of({ claimed: units(DEPOSIT + 1n) })).toEqual([39])
    expect(of({ claimed: units(DEPOSIT), voucher: { ceiling: units(2n ** 112n - 1n), seq: 2 ** 32 - 1 } })).toEqual([0])
    expect(ledger.tab(tabId).claimed).toBe(DEPOSIT)
  })

  it('may report failed calls alone, without a voucher, and calls that cost nothing', () => {
    const { ledger, tabId } = claimedTab()
    const claimed = units(1_000_000)
    const free = [{ serviceId: FIRST_SERVICE, calls: 2, amount: units(0) }]
    expect(
      ledger.codes([ledger.entry(tabId, { voucher: null, claimed, receipts: 9, failed: 5, services: [] })]),
    ).toEqual([0])
    expect(ledger.codes([ledger.entry(tabId, { voucher: null, claimed, receipts: 11, services: free })])).toEqual([0])
    expect(ledger.tab(tabId)).toMatchObject({ claimed: 1_000_000n, receipts: 11 })
  })

  it('counts every receipt once, and has a root exactly where there are some', () => {
    const { ledger, tabId } = claimedTab()
    const of = (change: Parameters<TabLedger['entry']>[1]) => ledger.codes([ledger.entry(tabId, change)])
    const service = (calls: number) => [{ serviceId: FIRST_SERVICE, calls, amount: units(300_000) }]
    expect(of({ receipts: 6, services: service(1) })).toEqual([41])
    expect(of({ receipts: 6, services: service(3) })).toEqual([41])
    expect(of({ receipts: 6, services: service(1), failed: 2 })).toEqual([41])
    expect(of({ receipts: 6, services: service(2), root: ZERO })).toEqual([41])
    expect(of({ receipts: 4, claimed: units(1_000_000), services: [], close: true, root: filled(5) })).toEqual([41])
    expect(of({ receipts: 4, services: service(1) })).toEqual([41])
    expect(of({ receipts: 6, services: service(1), failed: 1 })).toEqual([0])
  })

  it('adds up the amounts of its services', () => {
    const { ledger, tabId } = claimedTab()
    const of = (amount: bigint) =>
      ledger.codes([
        ledger.entry(tabId, {
          receipts: 6,
          services: [
            { serviceId: FIRST_SERVICE, calls: 1, amount: units(100_000) },
            { serviceId: SECOND_SERVICE, calls: 1, amount: units(amount) },
          ],
        }),
      ])
    expect([of(199_999n), of(200_001n), of(2n ** 112n - 1n), of(200_000n)]).toEqual([[40], [40], [40], [0]])
  })

  it('takes a retired service, but none that the agent never had', () => {
    const { ledger, tabId } = claimedTab()
    ledger.send(OWNER, 'service_retire', SAMPLE.service_retire({ serviceId: FIRST_SERVICE }))
    ledger.send(OTHER, 'agent_register', SAMPLE.agent_register({ agentId: agentId('other') }))
    ledger.send(
      OTHER,
      'service_publish',
      SAMPLE.service_publish({ agentId: agentId('other'), serviceId: serviceId('foreign') }),
    )
    const services = [{ serviceId: serviceId('foreign'), calls: 1, amount: units(300_000) }]
    expect(ledger.codes([ledger.entry(tabId, { services })])).toEqual([20])
    expect(ledger.codes([ledger.entry(tabId)])).toEqual([0])
  })

  it('needs the signature of the voucher key over this very voucher', () => {
    const { ledger, tabId } = claimedTab()
    const other = ledger.openTab({}, OTHER)
    const good = ledger.entry(tabId)
    const [voucher] = good.voucher as [ClaimEntry['voucher'][number]]
    const forged = [
      { ...voucher, seq: 1 },
      { ...voucher, ceiling: units(voucher.ceiling + 1n) },
      { ...voucher, context: filled<Hash>(8) },
      { ...voucher, signature: voucher.signature.with(63, voucher.signature[63]! ^ 1) },
    ]
    for (const one of forged) expect(ledger.codes([{ ...good, voucher: [one] }])).toEqual([42])
    expect(ledger.codes([ledger.entry(tabId, { signer: VOUCHER_KEYS[1]! })])).toEqual([42])
    // The key has signed this voucher for one tab. Another tab of the same key does not take it.
    expect(ledger.codes([{ ...ledger.entry(other), voucher: [voucher] }])).toEqual([42])
    expect(ledger.codes([good])).toEqual([0])
    const hollow = ledger.openTab({ voucherKey: NO_POINT as Hash })
    expect(ledger.codes([ledger.entry(hollow)])).toEqual([42])
  })

  it('links every claim that has receipts into the chain', () => {
    const { ledger, tabId } = claimedTab()
    const first = tabChain(ZERO, { root: filled<Hash>(5), receipts: 4, claimed: 1_000_000n })
    expect(ledger.tab(tabId).chain).toBe(first)
    ledger.claim([ledger.entry(tabId, { root: filled<Hash>(6), receipts: 7 })])
    const second = tabChain(first, { root: filled<Hash>(6), receipts: 7, claimed: 1_300_000n })
    expect(ledger.tab(tabId)).toMatchObject({ chain: second, claimed: 1_300_000n, receipts: 7 })
  })
})

describe('what a claim burns and counts', () => {
  /** What one claim of `calls` calls for this amount pays and burns, with the statistics after it. */
  function charged(amount: bigint, calls: number, payer = PAYER) {
    const ledger = new TabLedger()
    const tabId = ledger.openTab({}, payer)
    const [before, burned] = [ledger.balance(PAYOUT), nativeSupply(ledger.state).burned]
    const { receipt } = ledger.claim([ledger.entry(tabId, { claimed: units(amount), receipts: calls })])
    expect(receipt.entries).toEqual([0])
    const paid = receipt.amounts[0] as bigint
    expect(ledger.balance(PAYOUT)).toBe(before + paid)
    expect(nativeSupply(ledger.state).burned).toBe(burned + receipt.burned + (receipt.amounts[1] as bigint))
    expect(receipt.amounts).toEqual([amount - (receipt.amounts[1] as bigint), receipt.amounts[1], 0n])
    expect(ledger.get(TAB_TOTALS, undefined)).toEqual({
      ...{ open: 1, locked: DEPOSIT - amount, claimed: amount, burned: receipt.amounts[1] },
    })
    expect(ledger.broken()).toEqual([])
    const statistics = ledger.get(SERVICE_STATISTICS, { agentId: ACME, serviceId: FIRST_SERVICE })
    expect(ledger.get(AGENT_STATISTICS, ACME)).toEqual(statistics)
    return { burned: receipt.amounts[1], statistics }
  }

  it.each([
    // A hundredth, rounded up, where calls are few and dear.
    [10_000_000n, 1, 100_000n, 1],
    [2_000_001n, 1, 20_001n, 1],
    [1_000_000n, 1, 20_000n, 1],
    // 20,000 for each counted call: at most one for each 100,000.
    [300_000n, 3, 60_000n, 3],
    [300_000n, 4, 60_000n, 3],
    [299_999n, 4_000, 40_000n, 2],
    [100_000n, 1, 20_000n, 1],
    // Too little to count.
    [99_999n, 1, 1_000n, 0],
    [1n, 1, 1n, 0],
    [0n, 1, 0n, 0],
  ])('%i for %i calls burns %i and counts %i', (amount, calls, burned, counted) => {
    const found = charged(amount, calls)
    expect(found.burned).toBe(burned)
    expect(found.statistics).toEqual({ calls: counted, volume: amount, payers: counted > 0 ? 1 : 0 })
  })

  it('of an insider is burned all the same, and counted nowhere', () => {
    for (const insider of [OWNER, SETTLER]) {
      const { burned, statistics } = charged(300_000n, 3, insider)
      expect([burned, statistics]).toEqual([60_000n, undefined])
    }
    // The payout account is payer and receiver.
    const ledger = new TabLedger()
    const tabId = ledger.openTab({}, PAYOUT)
    const before = ledger.balance(PAYOUT)
    expect(ledger.claim([ledger.entry(tabId, { receipts: 3 })]).receipt.amounts).toEqual([240_000n, 60_000n, 0n])
    expect(ledger.balance(PAYOUT)).toBe(before + 240_000n)
    expect(ledger.get(PAYERS, { agentId: ACME, serviceId: FIRST_SERVICE, caller: PAYOUT })).toBeUndefined()
  })

  it('counts a payer once per service, by its first counted call', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const both = (first: bigint, second: bigint, tab = tabId) =>
      ledger.codes([
        ledger.entry(tab, {
          claimed: units(ledger.tab(tab).claimed + first + second),
          receipts: ledger.tab(tab).receipts + 2,
          services: [
            { serviceId: FIRST_SERVICE, calls: 1, amount: units(first) },
            { serviceId: SECOND_SERVICE, calls: 1, amount: units(second) },
          ],
        }),
      ])
    const payers = () => [
      ledger.get(SERVICE_STATISTICS, { agentId: ACME, serviceId: FIRST_SERVICE })?.payers,
      ledger.get(SERVICE_STATISTICS, { agentId: ACME, serviceId: SECOND_SERVICE })?.payers,
      ledger.get(AGENT_STATISTICS, ACME)?.payers,
    ]
    expect(both(100_000n, 99_999n)).toEqual([0])
    expect(payers()).toEqual([1, 0, 1])
    expect(both(100_000n, 100_000n)).toEqual([0])
    expect(payers()).toEqual([1, 1, 2])
    expect(both(100_000n, 100_000n, ledger.openTab())).toEqual([0])
    expect(payers()).toEqual([1, 1, 2])
    expect(both(100_000n, 100_000n, ledger.openTab({}, OTHER))).toEqual([0])
    expect(payers()).toEqual([2, 2, 4])
    // An invoke of the same payer finds it known.
    const { tx } = ledger.send(PAYER, 'agent_invoke', SAMPLE.agent_invoke())
    ledger.send(SETTLER, 'agent_receipt', SAMPLE.agent_receipt([{ txId: tx.txId }]))
    expect(payers()).toEqual([2, 2, 4])
  })

  it('knows no second payer in a claim of two entries of one payer', () => {
    const ledger = new TabLedger()
    const tabs = [ledger.openTab(), ledger.openTab()]
    expect(ledger.codes(tabs.map((tabId) => ledger.entry(tabId)))).toEqual([0, 0])
    expect(ledger.get(AGENT_STATISTICS, ACME)).toEqual({ calls: 2, volume: 600_000n, payers: 1 })
  })
})

describe('a claim of several entries', () => {
  it('judges each by itself, on what those before it left', () => {
    const ledger = new TabLedger()
    const [tabId, other] = [ledger.openTab(), ledger.openTab({}, OTHER)]
    const first = ledger.entry(tabId)
    const second = ledger.entry(tabId, { receipts: 2 }, { claimed: first.claimed, receipts: 1 })
    const bad = ledger.entry(other, { voucher: null })
    const closing = ledger.entry(other, { close: true })
    const { receipt } = ledger.claim([first, bad, first, second, closing, closing])
    expect(receipt.entries).toEqual([0, 38, 37, 0, 0, 35])
    expect(receipt.amounts).toEqual([840_000n, 60_000n, DEPOSIT - 300_000n])
    expect(ledger.tab(tabId)).toMatchObject({ claimed: 600_000n, receipts: 2 })
    expect(ledger.broken()).toEqual([])
  })

  it('tells three amounts even where no entry holds', () => {
    const ledger = new TabLedger()
    const { code, receipt } = ledger.claim([ledger.entry(filled<TxId>(0x77), {}, { claimed: units(0), receipts: 0 })])
    expect([code, receipt.entries, receipt.amounts]).toEqual(['success', [35], [0n, 0n, 0n]])
  })

  it('changes nothing when it is sent again', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const entries = [ledger.entry(tabId)]
    ledger.claim(entries)
    const before = [ledger.tab(tabId), ledger.get(TAB_TOTALS, undefined), ledger.balance(PAYOUT)]
    expect(ledger.codes(entries)).toEqual([37])
    expect([ledger.tab(tabId), ledger.get(TAB_TOTALS, undefined), ledger.balance(PAYOUT)]).toEqual(before)
  })

  it('ends in the same state in whatever order entries of different tabs stand', () => {
    const states = [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ].map((order) => {
      const ledger = new TabLedger()
      const tabs = [PAYER, OTHER, PAYER].map((who) => ledger.openTab({}, who))
      const entries = tabs.map((tabId, i) => ledger.entry(tabId, { close: i === 1, receipts: i + 1 }))
      const { receipt } = ledger.claim(order.map((i) => entries[i] as ClaimEntry))
      return { records: rooted(ledger), amounts: receipt.amounts }
    })
    expect(states[1]).toEqual(states[0])
    expect(states[2]).toEqual(states[0])
  })

  /** The records of tabs, statistics and balances. */
  function rooted(ledger: TabLedger): readonly string[] {
    const of = /^(tab|agent-st|service-st|payers|accounts)/
    return [...ledger.state.records()]
      .filter(({ table }) => of.test(table.name))
      .map(({ key, value }) => `${key} ${Buffer.from(value).toString('hex')}`)
      .toSorted()
  }
})

describe('the end of a tab', () => {
  it('by a claim that closes returns the rest in the same transaction', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    const before = ledger.balance(PAYER)
    const { receipt } = ledger.claim([ledger.entry(tabId, { close: true, receipts: 1 })])
    expect(receipt.amounts).toEqual([280_000n, 20_000n, DEPOSIT - 300_000n])
    expect(ledger.balance(PAYER)).toBe(before + DEPOSIT - 300_000n)
    expect(ledger.get(TABS, tabId)).toBeUndefined()
    expect(ledger.get(TAB_DUES, 35)).toBeUndefined()
    expect(ledger.get(TAB_TOTALS, undefined)).toEqual({ open: 0, locked: 0n, claimed: 300_000n, burned: 20_000n })
    ledger.advanceTo(35)
    expect(returns(ledger.block().receipts)).toEqual([])
    expect(ledger.broken()).toEqual([])
  })

  it('by a claim of nothing returns the whole deposit, also of a closing tab', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab()
    ledger.send(PAYER, 'tab_close', { tabId })
    const nothing = { voucher: null, claimed: units(0), receipts: 0, services: [], close: true }
    expect(ledger.claim([ledger.entry(tabId, nothing)]).receipt).toMatchObject({
      ...{ entries: [0], amounts: [0n, 0n, DEPOSIT] },
    })
    expect(ledger.get(TAB_DUES, 9)).toBeUndefined()
  })

  it.each(['expires', 'closes'])(
    'comes when it %s: a claim in that block is too late, one block earlier it is good',
    (how) => {
      for (const [before, code] of [
        [0, 35],
        [1, 0],
      ] as const) {
        const ledger = new TabLedger()
        const tabId = ledger.openTab({ term: 8, closeDelay: 3 })
        if (how === 'closes') ledger.send(PAYER, 'tab_close', { tabId })
        const due = how === 'closes' ? 9 : 13
        const entry = ledger.entry(tabId)
        ledger.advanceTo(due - before)
        const { receipt, block } = ledger.claim([entry])
        expect(receipt.entries).toEqual([code])
        ledger.advanceTo(due + 1)
        expect(ledger.get(TABS, tabId)).toBeUndefined()
        if (before === 0) {
          const types = block.receipts.map(({ type }) => type)
          expect(types).toEqual(['tab_return', 'transaction', 'close'])
        }
        expect(ledger.broken()).toEqual([])
      }
    },
  )

  it('comes with a receipt even where nothing is left', () => {
    const ledger = new TabLedger()
    const tabId = ledger.openTab({ term: 8 })
    ledger.claim([ledger.entry(tabId, { claimed: units(DEPOSIT), receipts: 1 })])
    ledger.advanceTo(13)
    expect(returns(ledger.block().receipts)).toEqual([{ type: 'tab_return', tabId, payer: PAYER, amount: 0n }])
  })

  it('comes after refunds and rewards, and before the transactions', () => {
    const ledger = new TabLedger()
    ledger.advanceTo(100)
    ledger.send(PAYER, 'agent_invoke', SAMPLE.agent_invoke({ term: 100 }))
    ledger.advanceTo(192)
    ledger.openTab({ term: 8 })
    ledger.advanceTo(200)
    const tx = ledger.tx(OTHER, 'transfer', SAMPLE.transfer())
    const types = ledger.block([tx]).receipts.map(({ type }) => type)
    expect(types).toEqual(['reward', 'refund', 'tab_return', 'transaction', 'close'])
  })
})
