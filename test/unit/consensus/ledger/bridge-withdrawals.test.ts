import { describe, expect, it } from 'vitest'
import { WITHDRAWALS } from '../../../../consensus/ledger/bridge-records.ts'
import { SUPPLY, supplyRecord } from '../../../../consensus/ledger/supply.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { runNow } from '../../../../consensus/primitives/steps.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import {
  AVALANCHE,
  BASE,
  BITCOIN,
  BridgeLedger,
  DOLLAR,
  ETHEREUM,
  EXTERNAL,
  externalId,
  HELD,
  MINIMUM,
  PAID,
  POCKETS,
  SOLANA,
} from '../../../support/bridge.ts'
import { filled, units } from '../../../support/unsigned.ts'

const SENDER = filled<Address>(1)
const AMOUNT = 10_000n
/** ceil(10,000 x 10 / 10,000) */
const FEE = 10n

function withdrawn(): { readonly ledger: BridgeLedger; readonly id: TxId } {
  const ledger = new BridgeLedger()
  const { tx, code } = ledger.withdraw()
  expect(code).toBe('success')
  return { ledger, id: tx.txId }
}

function signing(): { readonly ledger: BridgeLedger; readonly id: TxId } {
  const started = withdrawn()
  expect(started.ledger.sign(started.id).code).toBe('success')
  return started
}

describe('bridge_withdraw', () => {
  it('burns the amount and waits', () => {
    const { ledger, id } = withdrawn()
    expect(ledger.holds(SENDER)).toBe(POCKETS[0] - AMOUNT)
    expect(ledger.supply()).toBe(HELD - AMOUNT)
    expect(ledger.network(BASE)).toMatchObject({ deposited: HELD, released: 0n, fees: 0n, pending: AMOUNT })
    expect(ledger.network(BASE).withdrawals).toBe(1)
    expect(ledger.get(WITHDRAWALS, id)).toEqual({
      ...{ network: BASE, sender: SENDER, amount: AMOUNT, fee: FEE, recipient: EXTERNAL.evm },
      ...{ status: 0, createdAt: 1, externalTxId: new Uint8Array(0) },
    })
    expect(ledger.broken()).toEqual([])
  })

  it('says what the recipient gets: the fee is rounded up', () => {
    const ledger = new BridgeLedger()
    expect(ledger.withdraw({ amount: units(10_001) }).receipt.amounts).toEqual([10_001n - 11n])
    expect(ledger.withdraw({ amount: units(10_000) }).receipt.amounts).toEqual([10_000n - 10n])
  })

  it('fails closed, halted, below-minimum, float, insufficient-balance, in this order', () => {
    const ledger = new BridgeLedger()
    expect(ledger.withdraw({ network: AVALANCHE, amount: units(1) }).code).toBe('bridge/closed')
    ledger.halt(ETHEREUM)
    expect(ledger.withdraw({ network: ETHEREUM, amount: units(1) }).code).toBe('bridge/halted')
    expect(ledger.withdraw({ network: SOLANA, amount: units(MINIMUM - 1n) }).code).toBe('bridge/below-minimum')
    expect(ledger.withdraw({ network: SOLANA, amount: units(MINIMUM) }).code).toBe('bridge/float')
    expect(ledger.withdraw({ amount: units(HELD + 1n) }).code).toBe('bridge/float')
    expect(ledger.withdraw({ amount: units(HELD) }).code).toBe('ledger/insufficient-balance')
    expect(ledger.withdraw({ amount: units(POCKETS[0]) }).code).toBe('success')
    expect(ledger.withdraw({ amount: units(POCKETS[1] + 1n) }, filled(2)).code).toBe('bridge/float')
    expect(ledger.withdraw({ amount: units(POCKETS[1]) }, filled(2)).code).toBe('success')
    expect(ledger.supply()).toBe(0n)
  })

  it('fails closed without a committee', () => {
    const ledger = new BridgeLedger({ committee: null })
    expect(ledger.withdraw().code).toBe('bridge/closed')
  })

  it('draws on the vault of its network alone, whatever others that share the token hold', () => {
    const ledger = new BridgeLedger()
    ledger.deposit({ network: ETHEREUM, amount: units(2_000) })
    expect(ledger.withdraw({ network: ETHEREUM, amount: units(2_001) }).code).toBe('bridge/float')
    expect(ledger.withdraw({ network: ETHEREUM, amount: units(2_000) }).code).toBe('success')
  })
})

describe('bridge_sign', () => {
  it('turns pending into signing and moves no coins', () => {
    const { ledger, id } = withdrawn()
    const before = ledger.network(BASE)
    expect(ledger.sign(id).code).toBe('success')
    expect(ledger.status(id)).toBe(1)
    expect([ledger.network(BASE), ledger.supply()]).toEqual([before, HELD - AMOUNT])
  })

  it('fails withdrawal-unknown, withdrawal-state, halted, then for its attestation', () => {
    const { ledger, id } = withdrawn()
    expect(ledger.sign(filled<TxId>(9), { epoch: 9 }).code).toBe('bridge/withdrawal-unknown')
    expect(ledger.sign(id, { epoch: 9 }).code).toBe('bridge/epoch')
    expect(ledger.sign(id, { signers: [2] }).code).toBe('bridge/attestation')
    expect(ledger.status(id)).toBe(0)
    ledger.halt(BASE)
    expect(ledger.sign(id, { epoch: 9 }).code).toBe('bridge/halted')
    ledger.cancel(id)
    expect(ledger.sign(id).code).toBe('bridge/withdrawal-state')
  })
})

describe('bridge_release', () => {
  it('books what was paid and the fee, and keeps the transaction that paid', () => {
    const { ledger, id } = signing()
    expect(ledger.release(id).code).toBe('success')
    expect(ledger.get(WITHDRAWALS, id)).toMatchObject({ status: 2, externalTxId: PAID })
    expect(ledger.network(BASE)).toMatchObject({ pending: 0n, released: AMOUNT - FEE, fees: FEE, deposited: HELD })
    expect(ledger.supply()).toBe(HELD - AMOUNT)
  })

  it('goes on while the network is halted: what is paid is paid', () => {
    const { ledger, id } = signing()
    ledger.halt(BASE)
    expect(ledger.release(id).code).toBe('success')
  })

  it('fails withdrawal-unknown, withdrawal-state, then for the id of the payment and the attestation', () => {
    const { ledger, id } = withdrawn()
    expect(ledger.release(filled<TxId>(9)).code).toBe('bridge/withdrawal-unknown')
    expect(ledger.release(id).code).toBe('bridge/withdrawal-state')
    ledger.sign(id)
    expect(ledger.release(id, { epoch: 9 }, BASE, externalId(1, 64)).code).toBe('bridge/attestation')
    expect(ledger.release(id, { epoch: 9 }).code).toBe('bridge/epoch')
    expect(ledger.release(id, { signers: [0, 1, 2] }).code).toBe('bridge/attestation')
    expect(ledger.status(id)).toBe(1)
  })

  it('takes 64 bytes for a payment on Solana, and no fewer', () => {
    const ledger = new BridgeLedger()
    ledger.deposit({ network: SOLANA, externalTxId: externalId(1, 64) })
    const { tx } = ledger.withdraw({ network: SOLANA, recipient: EXTERNAL.solana, amount: units(5_000) })
    ledger.sign(tx.txId, {}, SOLANA)
    expect(ledger.release(tx.txId, {}, SOLANA).code).toBe('bridge/attestation')
    expect(ledger.release(tx.txId, {}, SOLANA, externalId(2, 64)).code).toBe('success')
  })
})

describe('bridge_cancel', () => {
  it('returns all of it to the withdrawing account, whichever account sends it', () => {
    const { ledger, id } = withdrawn()
    expect(ledger.cancel(id).code).toBe('success')
    expect([ledger.holds(SENDER), ledger.supply(), ledger.status(id)]).toEqual([POCKETS[0], HELD, 3])
    expect(ledger.network(BASE)).toMatchObject({ pending: 0n, released: 0n, fees: 0n, mintedToday: 0n })
    expect(ledger.broken()).toEqual([])
  })

  it('goes on while the network is halted', () => {
    const { ledger, id } = withdrawn()
    ledger.halt(BASE)
    expect(ledger.cancel(id).code).toBe('success')
  })

  it('fails withdrawal-unknown, withdrawal-state, max-supply, then for its attestation', () => {
    const { ledger, id } = withdrawn()
    expect(ledger.cancel(filled<TxId>(9)).code).toBe('bridge/withdrawal-unknown')
    expect(ledger.cancel(id, { epoch: 9 }).code).toBe('bridge/epoch')
    expect(ledger.cancel(id, { signers: [1] }).code).toBe('bridge/attestation')
    const overlay = new Overlay(ledger.state)
    const { minted, burned } = supplyRecord(overlay, DOLLAR)
    const more = (1n << 112n) - AMOUNT - minted
    overlay.put(SUPPLY, DOLLAR, { minted: units(minted + more), burned: units(burned + more), cap: units(0) })
    ledger.state.apply(runNow(overlay.diff()))
    expect(ledger.cancel(id, { epoch: 9 }).code).toBe('token/max-supply')
    ledger.sign(id)
    expect(ledger.cancel(id).code).toBe('bridge/withdrawal-state')
    expect(ledger.status(id)).toBe(1)
  })

  it('gives back coins of the network of the withdrawal', () => {
    const ledger = new BridgeLedger()
    ledger.deposit({ network: BITCOIN, to: SENDER, amount: units(4_000) })
    const { tx } = ledger.withdraw({ network: BITCOIN, amount: units(4_000), recipient: EXTERNAL.bitcoin })
    expect(ledger.network(BITCOIN).pending).toBe(4_000n)
    expect(ledger.cancel(tx.txId, {}, BITCOIN).code).toBe('success')
    expect([ledger.network(BITCOIN).pending, ledger.network(BASE).pending]).toEqual([0n, 0n])
  })
})
