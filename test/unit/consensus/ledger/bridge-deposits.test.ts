import { describe, expect, it } from 'vitest'
import { DEPOSITS } from '../../../../consensus/ledger/bridge-records.ts'
import { SUPPLY, supplyRecord } from '../../../../consensus/ledger/supply.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { runNow } from '../../../../consensus/primitives/steps.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { depositRecordId } from '../../../../consensus/tx/attestations.ts'
import {
  AVALANCHE,
  BASE,
  BITCOIN,
  BridgeLedger,
  COIN,
  DOLLAR,
  ETHEREUM,
  externalId,
  HELD,
  MINIMUM,
  MINT_CAP,
} from '../../../support/bridge.ts'
import { filled, units } from '../../../support/unsigned.ts'

const TO = filled<Address>(3)
const STRANGER = filled<Address>(0x77)

/** Books all that can ever be minted of the dollar, except `left`. The same amount counts as burned, so totals still balance. */
function nearlyAllMinted(ledger: BridgeLedger, left: bigint): void {
  const overlay = new Overlay(ledger.state)
  const { minted, burned, cap } = supplyRecord(overlay, DOLLAR)
  const more = (1n << 112n) - 1n - left - minted
  overlay.put(SUPPLY, DOLLAR, { minted: units(minted + more), burned: units(burned + more), cap })
  ledger.state.apply(runNow(overlay.diff()))
}

describe('bridge_deposit', () => {
  it('mints what arrived, counts it and records it', () => {
    const ledger = new BridgeLedger()
    expect(ledger.deposit().code).toBe('success')
    expect(ledger.holds(TO)).toBe(5_000n)
    expect(ledger.supply()).toBe(HELD + 5_000n)
    expect(ledger.network(BASE)).toMatchObject({
      ...{ deposited: HELD + 5_000n, released: 0n, fees: 0n, pending: 0n },
      ...{ mintDay: 0, mintedToday: 5_000n, deposits: 1, withdrawals: 0, halted: false },
    })
    const record = depositRecordId({ network: BASE, externalTxId: externalId(0xd0), outputIndex: 0 })
    expect(ledger.get(DEPOSITS, record)).toEqual({ network: BASE, to: TO, amount: 5_000n, height: 1 })
    expect(ledger.broken()).toEqual([])
  })

  it('mints the token of its network', () => {
    const ledger = new BridgeLedger()
    expect(ledger.deposit({ network: BITCOIN, amount: units(7_000) }).code).toBe('success')
    expect([ledger.holds(TO, COIN), ledger.holds(TO, DOLLAR)]).toEqual([7_000n, 0n])
    expect(ledger.network(BITCOIN).deposited).toBe(7_000n)
  })

  it('opens an absent account if the transaction paid for it, and else mints nothing', () => {
    const ledger = new BridgeLedger()
    expect(ledger.deposit({ to: STRANGER }).code).toBe('ledger/no-account')
    expect([ledger.supply(), ledger.network(BASE).deposits]).toEqual([HELD, 0])
    expect(ledger.deposit({ to: STRANGER, create: true }).code).toBe('success')
    expect([ledger.holds(STRANGER), ledger.balance(STRANGER)]).toEqual([5_000n, 0n])
  })

  it('may be sent by any account, and mints for the attested receiver', () => {
    const ledger = new BridgeLedger()
    expect(ledger.send(filled<Address>(5), 'bridge_deposit', ledger.depositOf()).code).toBe('success')
    expect([ledger.holds(TO), ledger.holds(filled<Address>(5))]).toEqual([5_000n, 0n])
  })

  it('takes outputs of one transaction as deposits of their own', () => {
    const ledger = new BridgeLedger()
    expect([ledger.deposit().code, ledger.deposit({ outputIndex: 1 }).code]).toEqual(['success', 'success'])
    expect(ledger.holds(TO)).toBe(10_000n)
  })
})

describe('bridge_deposit fails', () => {
  it('closed: a network without a record, and every network without a committee', () => {
    expect(new BridgeLedger().deposit({ network: AVALANCHE }).code).toBe('bridge/closed')
    const unattended = new BridgeLedger({ committee: null })
    const payload = { ...new BridgeLedger().depositOf() }
    expect(unattended.send(filled(6), 'bridge_deposit', payload).code).toBe('bridge/closed')
  })

  it('halted, before it looks at the amount', () => {
    const ledger = new BridgeLedger()
    ledger.halt(BASE)
    expect(ledger.deposit({ amount: units(1) }).code).toBe('bridge/halted')
    expect(ledger.deposit({ network: ETHEREUM }).code).toBe('success')
  })

  it('below-minimum, before it looks for the deposit', () => {
    const ledger = new BridgeLedger()
    ledger.deposit()
    expect(ledger.deposit({ amount: units(MINIMUM - 1n) }).code).toBe('bridge/below-minimum')
    expect(ledger.deposit({ amount: units(MINIMUM), outputIndex: 1 }).code).toBe('success')
  })

  it('deposit-known, before it looks at the mint cap', () => {
    const ledger = new BridgeLedger()
    ledger.deposit()
    expect(ledger.deposit({ amount: units(MINT_CAP) }).code).toBe('bridge/deposit-known')
  })

  it('mint-cap: what a network mints in a day of blocks, before it looks at the attestation', () => {
    const ledger = new BridgeLedger()
    expect(ledger.deposit({ amount: units(MINT_CAP - 4_999n) }).code).toBe('success')
    expect(ledger.deposit({ outputIndex: 1 }, { epoch: 9 }).code).toBe('bridge/mint-cap')
    expect(ledger.deposit({ outputIndex: 1, amount: units(4_999) }).code).toBe('success')
    expect(ledger.deposit({ network: ETHEREUM }).code).toBe('success')
    ledger.advanceTo(19)
    expect(ledger.deposit({ outputIndex: 2, amount: units(MINIMUM) }).code).toBe('bridge/mint-cap')
    expect(ledger.deposit({ outputIndex: 2, amount: units(MINT_CAP) }).code).toBe('success')
    expect(ledger.network(BASE)).toMatchObject({ mintDay: 1, mintedToday: MINT_CAP })
  })

  it('max-supply: burned units are never minted again; before it looks at the attestation', () => {
    const ledger = new BridgeLedger()
    nearlyAllMinted(ledger, 5_000n)
    expect(ledger.deposit({ amount: units(5_001) }, { epoch: 9 }).code).toBe('token/max-supply')
    expect(ledger.deposit({ amount: units(5_000) }).code).toBe('success')
  })

  it('epoch and attestation last, and a failure changes nothing', () => {
    const ledger = new BridgeLedger()
    expect(ledger.deposit({}, { epoch: 1 }).code).toBe('bridge/epoch')
    expect(ledger.deposit({}, { signers: [0] }).code).toBe('bridge/attestation')
    expect([ledger.supply(), ledger.network(BASE).deposits, ledger.holds(TO)]).toEqual([HELD, 0, 0n])
    expect(ledger.deposit().code).toBe('success')
  })
})
