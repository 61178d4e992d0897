import { describe, expect, it } from 'vitest'
import { ACCOUNTS, credit, creditOrOpen, debit, openedAccount } from '../../../../consensus/ledger/account.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import { FUNDS, TestLedger } from '../../../support/ledger.ts'
import { filled, SAMPLE, units } from '../../../support/unsigned.ts'

const [ALICE, BOB, STRANGER] = [filled<Address>(1), filled<Address>(2), filled<Address>(0x55)]

describe('an account', () => {
  it('opens with nonce 0 and no other keys', () => {
    expect(openedAccount(units(5))).toEqual({ version: 1, nonce: 0n, balance: 5n, auth: filled(0) })
  })

  it('is credited only where it exists, unless it may be opened', () => {
    const overlay = new Overlay(new MemoryState())
    expect(credit(overlay, ALICE, units(5))).toBe(false)
    expect(overlay.get(ACCOUNTS, ALICE)).toBeUndefined()
    creditOrOpen(overlay, ALICE, units(5))
    expect(credit(overlay, ALICE, units(2))).toBe(true)
    creditOrOpen(overlay, ALICE, units(1))
    expect(overlay.get(ACCOUNTS, ALICE)).toEqual(openedAccount(units(8)))
  })

  it('gives what it holds and no more', () => {
    const overlay = new Overlay(new MemoryState())
    creditOrOpen(overlay, ALICE, units(5))
    const fault = (balance: string, amount: string) => ({
      code: 'ledger/insufficient-balance',
      detail: { balance, amount },
    })
    expect(debit(overlay, ALICE, units(6))).toEqual(fault('5', '6'))
    expect(debit(overlay, BOB, units(1))).toEqual(fault('0', '1'))
    expect(debit(overlay, BOB, units(0))).toEqual(fault('0', '0'))
    expect(debit(overlay, ALICE, units(5))).toBeNull()
    expect(overlay.get(ACCOUNTS, ALICE)).toEqual(openedAccount(units(0)))
  })
})

describe('a transfer', () => {
  it('moves the amount, beside the fee', () => {
    const ledger = new TestLedger()
    const { code, receipt } = ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: BOB }))
    expect(code).toBe('success')
    expect(ledger.balance(ALICE)).toBe(FUNDS - 5_000n - receipt.fee)
    expect(ledger.balance(BOB)).toBe(FUNDS + 5_000n)
    expect(ledger.get(ACCOUNTS, ALICE)?.nonce).toBe(1n)
    expect(ledger.get(ACCOUNTS, BOB)?.nonce).toBe(0n)
  })

  it('to oneself costs the fee alone', () => {
    const ledger = new TestLedger()
    const { code, receipt } = ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: ALICE, create: true }))
    expect(code).toBe('success')
    expect(ledger.balance(ALICE)).toBe(FUNDS - receipt.fee)
  })

  it('opens an account with the create bit alone', () => {
    const ledger = new TestLedger()
    expect(ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: STRANGER })).code).toBe('ledger/no-account')
    expect(ledger.balance(STRANGER)).toBe(-1n)
    expect(ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: STRANGER, create: true })).code).toBe('success')
    expect(ledger.get(ACCOUNTS, STRANGER)).toEqual(openedAccount(units(5_000)))
  })

  it('credits an existing account with the create bit as without', () => {
    const ledger = new TestLedger()
    ledger.send(BOB, 'transfer', SAMPLE.transfer({ to: ALICE }))
    ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: BOB, create: true }))
    expect(ledger.get(ACCOUNTS, BOB)?.nonce).toBe(1n)
  })

  it('of more than is left after the fee fails, and the fee stays paid', () => {
    const ledger = new TestLedger()
    const { code, receipt } = ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: BOB, amount: units(FUNDS) }))
    expect(code).toBe('ledger/insufficient-balance')
    expect(ledger.balance(ALICE)).toBe(FUNDS - receipt.fee)
    expect(ledger.balance(BOB)).toBe(FUNDS)
    expect(ledger.get(ACCOUNTS, ALICE)?.nonce).toBe(1n)
  })

  it('of all that is left after the fee empties the account, which stays', () => {
    const ledger = new TestLedger()
    const { receipt } = ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: BOB, amount: units(1) }))
    const rest = ledger.balance(ALICE) - receipt.fee
    expect(ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: BOB, amount: units(rest) })).code).toBe('success')
    expect(ledger.get(ACCOUNTS, ALICE)).toEqual({ ...openedAccount(units(0)), nonce: 2n })
  })

  it('that fails for both reasons fails for the balance', () => {
    const ledger = new TestLedger()
    const { code } = ledger.send(ALICE, 'transfer', SAMPLE.transfer({ to: STRANGER, amount: units(FUNDS) }))
    expect(code).toBe('ledger/insufficient-balance')
  })
})
