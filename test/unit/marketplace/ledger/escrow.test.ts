import { describe, expect, it } from 'vitest'
import type { Receipt } from '../../../../consensus/ledger/receipt.ts'
import { nativeSupply } from '../../../../consensus/ledger/supply.ts'
import type { Address, Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { lockOf, openerOf } from '../../../../consensus/tx/redeem-lock.ts'
import { ESCROW_TOTALS, ESCROWS, INVOKES } from '../../../../marketplace/ledger/escrow.ts'
import { TestLedger } from '../../../support/ledger.ts'
import { agentId, filled, SAMPLE, serviceId, units } from '../../../support/unsigned.ts'

const [OWNER, CALLER, PAYOUT, SETTLER, OTHER] = [1, 2, 3, 4, 5].map((n) => filled<Address>(n)) as [
  ...[Address, Address, Address, Address, Address],
]
const AMOUNT = 8_000_000n
const NAME = { agentId: agentId('acme'), serviceId: serviceId('summarise') }

/** A ledger with an agent and its service. Its next block has height 3. */
function market(): TestLedger {
  const ledger = new TestLedger()
  ledger.send(OWNER, 'agent_register', SAMPLE.agent_register())
  ledger.send(OWNER, 'service_publish', SAMPLE.service_publish())
  return ledger
}

function invoked(change: Partial<PayloadOf<'agent_invoke'>> = {}) {
  const ledger = market()
  const { tx, code } = ledger.send(CALLER, 'agent_invoke', SAMPLE.agent_invoke(change))
  expect(code).toBe('success')
  return { ledger, txId: tx.txId }
}

type Entries = Parameters<typeof SAMPLE.agent_receipt>[0]

function settle(ledger: TestLedger, sender: Address, entries: Entries): readonly number[] {
  return ledger.send(sender, 'agent_receipt', SAMPLE.agent_receipt(entries)).receipt.entries
}

describe('agent_invoke', () => {
  it('holds the amount in escrow under its id, with the payout of that moment', () => {
    const { ledger, txId } = invoked({ term: 400, requestCommitment: filled(7), redeemLock: filled(8) })
    expect(ledger.get(ESCROWS, txId)).toEqual({
      ...{ ...NAME, caller: CALLER, payout: PAYOUT, amount: AMOUNT, insider: false },
      ...{ minedAt: 3, index: 0, deadline: 403, requestCommitment: filled(7), redeemLock: filled(8) },
    })
    expect(ledger.get(ESCROW_TOTALS, undefined)).toEqual({ amount: AMOUNT, count: 1 })
    expect(ledger.get(INVOKES, 3)).toEqual([{ txId, term: 400 }])
    expect(ledger.broken()).toEqual([])
  })

  it('takes the amount from the sender beside the fee', () => {
    const ledger = market()
    const before = ledger.balance(CALLER)
    const { receipt } = ledger.send(CALLER, 'agent_invoke', SAMPLE.agent_invoke())
    expect(ledger.balance(CALLER)).toBe(before - AMOUNT - receipt.fee)
  })

  it('keeps its place among all transactions of the block', () => {
    const ledger = market()
    const invoke = (sender: Address) => ledger.tx(sender, 'agent_invoke', SAMPLE.agent_invoke())
    const txs = [ledger.tx(OTHER, 'transfer', SAMPLE.transfer({ to: OWNER })), invoke(CALLER), invoke(SETTLER)]
    ledger.block(txs)
    expect(txs.slice(1).map(({ txId }) => ledger.get(ESCROWS, txId)?.index)).toEqual([1, 2])
    expect(ledger.get(INVOKES, 3)?.map(({ txId }) => txId)).toEqual(txs.slice(1).map(({ txId }) => txId))
  })

  it('counts transactions alone: a reward or a refund before it takes no place', () => {
    const { ledger } = invoked()
    ledger.advanceTo(103)
    const tx = ledger.tx(OTHER, 'agent_invoke', SAMPLE.agent_invoke())
    expect(ledger.block([tx]).receipts.map(({ type }) => type)).toEqual(['reward', 'refund', 'transaction', 'close'])
    expect(ledger.get(ESCROWS, tx.txId)?.index).toBe(0)
  })

  it('marks insiders: owner, payout and settlers of that moment', () => {
    for (const [sender, insider] of [
      [OWNER, true],
      [PAYOUT, true],
      [SETTLER, true],
      [CALLER, false],
    ] as const) {
      const ledger = market()
      const { tx } = ledger.send(sender, 'agent_invoke', SAMPLE.agent_invoke())
      expect(ledger.get(ESCROWS, tx.txId)?.insider).toBe(insider)
    }
  })

  it('fails for the first of its reasons: agent, service, retired, balance', () => {
    const ledger = market()
    const invoke = (change: Partial<PayloadOf<'agent_invoke'>>) =>
      ledger.send(CALLER, 'agent_invoke', SAMPLE.agent_invoke({ amount: units(2n ** 100n), ...change })).code
    expect(invoke({ agentId: agentId('nobody') })).toBe('ledger/agent-unknown')
    expect(invoke({ serviceId: serviceId('nothing') })).toBe('ledger/service-unknown')
    expect(invoke({})).toBe('ledger/insufficient-balance')
    ledger.send(OWNER, 'service_retire', SAMPLE.service_retire())
    expect(invoke({})).toBe('ledger/service-retired')
    expect(ledger.get(ESCROW_TOTALS, undefined)).toBeUndefined()
    expect(ledger.get(INVOKES, 3)).toBeUndefined()
  })
})

describe('an agent_receipt', () => {
  it('delivered burns a hundredth, rounded up, and pays the rest to the frozen payout', () => {
    for (const [amount, burned] of [
      [100_000n, 1_000n],
      [100_001n, 1_001n],
      [199_999n, 2_000n],
    ] as const) {
      const { ledger, txId } = invoked({ amount: units(amount) })
      ledger.send(OWNER, 'agent_update', SAMPLE.agent_update({ payout: OTHER, settlers: [SETTLER] }))
      const [payout, supply] = [ledger.balance(PAYOUT), nativeSupply(ledger.state).burned]
      const { receipt } = ledger.send(SETTLER, 'agent_receipt', SAMPLE.agent_receipt([{ txId }]))
      expect(receipt.entries).toEqual([0])
      expect(ledger.balance(PAYOUT)).toBe(payout + amount - burned)
      expect(nativeSupply(ledger.state).burned).toBe(supply + burned + receipt.burned)
      expect(ledger.get(ESCROWS, txId)).toBeUndefined()
      expect(ledger.get(ESCROW_TOTALS, undefined)).toEqual({ amount: 0n, count: 0 })
      expect(ledger.broken()).toEqual([])
    }
  })

  it('failed returns everything to the caller and burns nothing', () => {
    const { ledger, txId } = invoked({ redeemLock: filled(8) })
    const before = ledger.balance(CALLER)
    const burned = nativeSupply(ledger.state).burned
    const { receipt } = ledger.send(OWNER, 'agent_receipt', SAMPLE.agent_receipt([{ txId, outcome: 1 }]))
    expect(receipt.entries).toEqual([0])
    expect(ledger.balance(CALLER)).toBe(before + AMOUNT)
    expect(nativeSupply(ledger.state).burned).toBe(burned + receipt.burned)
  })
})

describe('an entry of an agent_receipt', () => {
  it('closes an escrow once', () => {
    const { ledger, txId } = invoked()
    expect(settle(ledger, SETTLER, [{ txId }, { txId }, { txId, outcome: 1 }])).toEqual([0, 32, 32])
    expect(settle(ledger, SETTLER, [{ txId }])).toEqual([32])
    expect(settle(ledger, SETTLER, [{ txId: filled<TxId>(0x77) }])).toEqual([32])
  })

  it('is for owner and settlers of this moment alone', () => {
    const { ledger, txId } = invoked()
    for (const sender of [CALLER, PAYOUT, OTHER]) expect(settle(ledger, sender, [{ txId }])).toEqual([33])
    ledger.send(OWNER, 'agent_update', SAMPLE.agent_update({ owner: OTHER, settlers: [CALLER] }))
    for (const sender of [OWNER, SETTLER]) expect(settle(ledger, sender, [{ txId }])).toEqual([33])
    expect(settle(ledger, OTHER, [{ txId }])).toEqual([0])
  })

  it('needs the opener of a locked escrow to deliver it', () => {
    const opener = openerOf(new Uint8Array(32).fill(3))
    const { ledger, txId } = invoked({ redeemLock: lockOf(opener) })
    const wrong = [filled<Hash>(0), filled<Hash>(3), lockOf(opener)]
    expect(
      settle(
        ledger,
        SETTLER,
        wrong.map((one) => ({ txId, opener: one })),
      ),
    ).toEqual([34, 34, 34])
    expect(settle(ledger, SETTLER, [{ txId, opener }])).toEqual([0])
  })

  it('takes any opener where there is no lock', () => {
    const { ledger, txId } = invoked()
    expect(settle(ledger, SETTLER, [{ txId, opener: filled<Hash>(0x77) }])).toEqual([0])
  })

  it('is judged by itself, in order', () => {
    const ledger = market()
    ledger.send(OTHER, 'agent_register', SAMPLE.agent_register({ agentId: agentId('other'), payout: OTHER }))
    ledger.send(OTHER, 'service_publish', SAMPLE.service_publish({ agentId: agentId('other') }))
    const invoke = (change: Partial<PayloadOf<'agent_invoke'>>) =>
      ledger.send(CALLER, 'agent_invoke', SAMPLE.agent_invoke(change)).tx.txId
    const [mine, locked, foreign] = [
      invoke({}),
      invoke({ redeemLock: filled(8) }),
      invoke({ agentId: agentId('other') }),
    ]
    const entries = [{ txId: foreign }, { txId: mine }, { txId: locked }, { txId: mine }, { txId: locked, outcome: 1 }]
    expect(settle(ledger, OWNER, entries)).toEqual([33, 0, 34, 32, 0])
    expect(ledger.get(ESCROW_TOTALS, undefined)).toEqual({ amount: AMOUNT, count: 1 })
    expect(ledger.broken()).toEqual([])
  })

  it('may follow its invoke in the same block', () => {
    const ledger = market()
    const invoke = ledger.tx(CALLER, 'agent_invoke', SAMPLE.agent_invoke())
    const receipt = ledger.tx(SETTLER, 'agent_receipt', SAMPLE.agent_receipt([{ txId: invoke.txId }]))
    const receipts = ledger.block([invoke, receipt]).receipts
    expect(receipts[1]).toMatchObject({ code: 0, entries: [0] })
    expect(ledger.block([]).receipts.map(({ type }) => type)).toEqual(['close'])
  })

  it('does not mind that the service was retired', () => {
    const { ledger, txId } = invoked()
    ledger.send(OWNER, 'service_retire', SAMPLE.service_retire())
    expect(settle(ledger, SETTLER, [{ txId }])).toEqual([0])
  })
})

describe('the refund that cannot be withheld', () => {
  const refunds = (receipts: readonly Receipt[]) => receipts.filter(({ type }) => type === 'refund')

  it.each([100, 400, 1_200])('comes at the deadline of a term of %i, not a block earlier', (term) => {
    const { ledger, txId } = invoked({ term })
    ledger.advanceTo(3 + term)
    expect(ledger.get(ESCROWS, txId)).toBeDefined()
    const before = ledger.balance(CALLER)
    expect(refunds(ledger.block().receipts)).toEqual([{ type: 'refund', txId, caller: CALLER, amount: AMOUNT }])
    expect(ledger.balance(CALLER)).toBe(before + AMOUNT)
    expect(ledger.get(ESCROWS, txId)).toBeUndefined()
    expect(ledger.get(ESCROW_TOTALS, undefined)).toEqual({ amount: 0n, count: 0 })
  })

  it('comes before the block’s transactions, so that a receipt there is too late', () => {
    const { ledger, txId } = invoked()
    ledger.advanceTo(103)
    const late = ledger.tx(SETTLER, 'agent_receipt', SAMPLE.agent_receipt([{ txId }]))
    const receipts = ledger.block([late]).receipts
    expect(receipts.map(({ type }) => type)).toEqual(['reward', 'refund', 'transaction', 'close'])
    expect(receipts[2]).toMatchObject({ entries: [32] })
  })

  it('is forestalled by a receipt in the last block before', () => {
    const { ledger, txId } = invoked()
    ledger.advanceTo(102)
    expect(settle(ledger, SETTLER, [{ txId }])).toEqual([0])
    expect(refunds(ledger.block().receipts)).toEqual([])
  })

  it('goes by mining height, then by place in the block, over all terms', () => {
    const ledger = market()
    const at = (height: number, terms: readonly number[]) => {
      ledger.advanceTo(height)
      const first = SAMPLE.agent_invoke({ term: terms[0] ?? 0 })
      const txs = terms.map((term, i) =>
        ledger.tx([CALLER, OTHER, OWNER][i] as Address, 'agent_invoke', { ...first, term }),
      )
      ledger.block(txs)
      return txs.map(({ txId }) => txId)
    }
    const due = 1_300
    const oldest = at(due - 1_200, [1_200, 400, 1_200])
    const middle = at(due - 400, [400, 100, 400])
    const latest = at(due - 100, [1_200, 100, 100])
    ledger.advanceTo(due)
    const receipts = refunds(ledger.block().receipts) as { readonly txId: TxId }[]
    expect(receipts.map(({ txId }) => txId)).toEqual([oldest[0], oldest[2], middle[0], middle[2], latest[1], latest[2]])
    expect(ledger.broken()).toEqual([])
  })

  it('forgets the list of a height when its longest term is over', () => {
    const { ledger } = invoked()
    ledger.advanceTo(3 + 1_200)
    expect(ledger.get(INVOKES, 3)).toBeDefined()
    ledger.advanceTo(3 + 9_600)
    expect(ledger.get(INVOKES, 3)).toBeDefined()
    ledger.block()
    expect(ledger.get(INVOKES, 3)).toBeUndefined()
  })
})
