import { describe, expect, it } from 'vitest'
import { InvariantError } from '../../../../consensus/chain/execution.ts'
import { ACCOUNTS, creditOrOpen, openedAccount } from '../../../../consensus/ledger/account.ts'
import type { KindHandlers } from '../../../../consensus/ledger/module.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { ESCROW_TOTALS, ESCROWS } from '../../../../marketplace/ledger/escrow.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { FUNDS, fundedRuleBook, TestLedger } from '../../../support/ledger.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'

const [ALICE, BOB] = [filled<Address>(1), filled<Address>(2)]

function ledgerWith(apply: KindHandlers['transfer']['apply']): TestLedger {
  const handlers = { ...PROTOCOL.handlers, transfer: { ...PROTOCOL.handlers.transfer, apply } }
  return new TestLedger(fundedRuleBook(2, { ...PROTOCOL, handlers }))
}

describe('a payload that breaks an invariant', () => {
  it('by making coins fails with code 1 and keeps nothing but the fee', () => {
    const ledger = ledgerWith(({ overlay }) => {
      creditOrOpen(overlay, BOB, units(1))
      return null
    })
    const { code, receipt } = ledger.send(ALICE, 'transfer', SAMPLE.transfer())
    expect([code, receipt.code]).toEqual(['ledger/invariant', 1])
    expect(ledger.get(ACCOUNTS, ALICE)).toMatchObject({ nonce: 1n, balance: FUNDS - receipt.fee })
    expect(ledger.balance(BOB)).toBe(FUNDS)
    expect(ledger.broken()).toEqual([])
  })

  it('by losing coins fails with code 1', () => {
    const ledger = ledgerWith(({ overlay }) => {
      overlay.put(ACCOUNTS, BOB, openedAccount(units(0)))
      return null
    })
    expect(ledger.send(ALICE, 'transfer', SAMPLE.transfer()).receipt.code).toBe(1)
    expect(ledger.balance(BOB)).toBe(FUNDS)
  })

  it('by moving the totals of escrows without an escrow fails with code 1', () => {
    const ledger = ledgerWith(({ overlay }) => {
      overlay.put(ESCROW_TOTALS, undefined, { amount: units(5), count: 1 })
      return null
    })
    expect(ledger.send(ALICE, 'transfer', SAMPLE.transfer()).receipt.code).toBe(1)
    expect(ledger.get(ESCROW_TOTALS, undefined)).toBeUndefined()
  })

  it('by an escrow that the totals do not count fails with code 1, though coins are conserved', () => {
    const ledger = ledgerWith(({ overlay }) => {
      const alice = overlay.get(ACCOUNTS, ALICE)!
      overlay.put(ACCOUNTS, ALICE, { ...alice, balance: units(alice.balance - 40n) })
      overlay.put(ESCROWS, filled<TxId>(9), {
        ...SAMPLE.agent_invoke({ amount: units(40) }),
        ...{ caller: ALICE, payout: ALICE, insider: false, minedAt: 1, index: 0, deadline: 101 },
      })
      return null
    })
    expect(ledger.send(ALICE, 'transfer', SAMPLE.transfer()).receipt.code).toBe(1)
    expect(ledger.get(ESCROWS, filled<TxId>(9))).toBeUndefined()
  })

  it('does not spoil the transactions around it', () => {
    let call = 0
    const ledger = ledgerWith((context, tx) => {
      if (call++ === 1) creditOrOpen(context.overlay, BOB, units(1))
      return PROTOCOL.handlers.transfer.apply(context, tx)
    })
    const txs = [0n, 1n, 2n].map((nonce) => ledger.tx(ALICE, 'transfer', SAMPLE.transfer({ to: BOB }), { nonce }))
    const codes = ledger.block(txs).receipts.map((receipt) => receipt.type === 'transaction' && receipt.code)
    expect(codes).toEqual([0, 1, 0, false])
    expect(ledger.balance(BOB)).toBe(FUNDS + 10_000n)
  })
})

describe('a bug of ours', () => {
  it('stops the node: a fault that receipts have no number for', () => {
    const ledger = ledgerWith(() => fault('chain/stopped'))
    expect(() => ledger.send(ALICE, 'transfer', SAMPLE.transfer())).toThrow(InvariantError)
  })

  it('stops the node: coins that an automatic effect makes', () => {
    const generous = {
      name: 'generous',
      tables: [],
      handlers: {},
      beginBlock: ({ overlay }: { overlay: Parameters<typeof creditOrOpen>[0] }) => {
        creditOrOpen(overlay, BOB, units(1))
        return []
      },
    }
    const protocol = { ...PROTOCOL, modules: [...PROTOCOL.modules, generous] }
    expect(() => new TestLedger(fundedRuleBook(2, protocol)).block()).toThrow(InvariantError)
  })
})

describe('declared writes', () => {
  /** How many records the transaction wrote. Every block writes supply, staking pool and reward: only the supply of a burn counts here. */
  function written(ledger: TestLedger, kind: 'transfer' | 'agent_receipt' | 'agent_invoke', payload: never): number {
    const { block, tx } = ledger.send(ALICE, kind, payload)
    const records = block.changes.filter(({ table }) => !['supply', 'staking-pool', 'rewards'].includes(table.name))
    const burns = kind === 'agent_receipt' ? 1 : 0
    expect(block.receipts.find(({ type }) => type === 'transaction')).toMatchObject({ code: 0, txId: tx.txId })
    return records.length + burns
  }

  it('are as many as the dearest transaction of a kind writes', () => {
    const ledger = new TestLedger()
    const transfer = SAMPLE.transfer({ to: filled<Address>(0x55), create: true })
    expect(written(ledger, 'transfer', transfer as never)).toBe(2)
    ledger.send(ALICE, 'agent_register', SAMPLE.agent_register({ settlers: [] }))
    ledger.send(ALICE, 'service_publish', SAMPLE.service_publish())
    expect(written(ledger, 'agent_invoke', SAMPLE.agent_invoke() as never)).toBe(4)
    const { txId } = ledger.send(BOB, 'agent_invoke', SAMPLE.agent_invoke()).tx
    expect(written(ledger, 'agent_receipt', SAMPLE.agent_receipt([{ txId }]) as never)).toBe(3 + 5)
  })
})
