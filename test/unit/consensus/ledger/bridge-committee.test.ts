import { describe, expect, it } from 'vitest'
import { BRIDGE_NETWORKS } from '../../../../consensus/ledger/bridge-records.ts'
import { checkTransaction } from '../../../../consensus/tx/check.ts'
import {
  AVALANCHE,
  BASE,
  BITCOIN,
  BridgeLedger,
  DOLLAR,
  ETHEREUM,
  EXTERNAL,
  keyOf,
  members,
  rotationTo,
} from '../../../support/bridge.ts'
import { filled } from '../../../support/unsigned.ts'

const NEXT = members(4, 2, 0x40)
const OTHER_VAULT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

describe('bridge_rotate', () => {
  it('takes effect at the start of block h + delay, not before', () => {
    const ledger = new BridgeLedger()
    const before = ledger.committee
    expect(ledger.rotate(rotationTo(NEXT, 3)).code).toBe('success')
    expect(ledger.committee).toMatchObject({ epoch: 0, threshold: 2, rotation: [{ effectiveAt: 6, threshold: 3 }] })
    ledger.advanceTo(6)
    expect(ledger.committee).toMatchObject({ epoch: 0, keys: before.keys })
    ledger.members = NEXT
    expect(ledger.deposit({}, { epoch: 1, signers: [0, 1, 2] }).code).toBe('success')
    expect(ledger.committee).toEqual({ epoch: 1, threshold: 3, keys: NEXT.map(keyOf), rotation: [] })
  })

  it('leaves the old committee in charge until then', () => {
    const ledger = new BridgeLedger()
    ledger.rotate(rotationTo(NEXT, 3))
    expect(ledger.deposit().code).toBe('success')
    ledger.advanceTo(7)
    expect(ledger.deposit({ outputIndex: 1 }, { epoch: 0, signers: [0, 1] }).code).toBe('bridge/epoch')
    expect(ledger.deposit({ outputIndex: 1 }, { epoch: 1, signers: [0, 1, 2] }).code).toBe('bridge/attestation')
  })

  it('sets vaults, opens networks that had none, and keeps everything else of the others', () => {
    const ledger = new BridgeLedger()
    ledger.deposit({ network: ETHEREUM })
    const before = ledger.network(ETHEREUM)
    const vaults = [
      { network: ETHEREUM, address: OTHER_VAULT },
      { network: AVALANCHE, address: EXTERNAL.evm },
    ]
    expect(ledger.rotateTo(NEXT, 3, { vaults }).code).toBe('success')
    ledger.block()
    expect(ledger.network(ETHEREUM)).toEqual({ ...before, vault: OTHER_VAULT })
    expect(ledger.network(AVALANCHE)).toEqual({
      ...{ version: 1, asset: DOLLAR, vault: EXTERNAL.evm, halted: false, deposited: 0n, released: 0n, fees: 0n },
      ...{ pending: 0n, mintDay: 0, mintedToday: 0n, deposits: 0, withdrawals: 0 },
    })
    expect(ledger.deposit({ network: AVALANCHE }).code).toBe('success')
  })

  it('ends the halts it names and no other; a network without a record stays without', () => {
    const ledger = new BridgeLedger()
    for (const network of [ETHEREUM, BASE, BITCOIN]) expect(ledger.halt(network).code).toBe('success')
    ledger.rotateTo(NEXT, 3, { resume: [ETHEREUM, AVALANCHE, BITCOIN] })
    ledger.block()
    expect([ETHEREUM, BASE, BITCOIN].map((network) => ledger.network(network).halted)).toEqual([false, true, false])
    expect(ledger.get(BRIDGE_NETWORKS, AVALANCHE)).toBeUndefined()
  })

  it('a withdrawal that the old committee began is released by the new one', () => {
    const ledger = new BridgeLedger()
    const { txId } = ledger.withdraw().tx
    ledger.sign(txId)
    ledger.rotateTo(NEXT, 3)
    ledger.block()
    expect(ledger.release(txId).code).toBe('success')
  })

  it('one committee follows another, each an epoch further', () => {
    const ledger = new BridgeLedger()
    ledger.rotateTo(NEXT, 2)
    ledger.block()
    expect(ledger.rotateTo(members(1, 1, 0x50), 1).code).toBe('success')
    ledger.block()
    expect(ledger.committee).toMatchObject({ epoch: 2, threshold: 1 })
    expect(ledger.deposit().code).toBe('success')
  })

  it('fails closed without a committee, rotation-pending, then for its attestation', () => {
    const ledger = new BridgeLedger()
    const rotation = rotationTo(NEXT, 3)
    const attestation = ledger.attest({ action: 'rotate', ...rotation })
    const unattended = new BridgeLedger({ committee: null })
    expect(unattended.send(filled(6), 'bridge_rotate', { ...rotation, attestation }).code).toBe('bridge/closed')
    expect(ledger.rotate(rotation, { epoch: 1 }).code).toBe('bridge/epoch')
    expect(ledger.rotate(rotation, { signers: [0] }).code).toBe('bridge/attestation')
    expect(ledger.committee.rotation).toEqual([])
    expect(ledger.rotate(rotation).code).toBe('success')
    expect(ledger.rotate(rotation, { epoch: 9 }).code).toBe('bridge/rotation-pending')
  })

  it('is malformed with keys that no policy could be made of', () => {
    const ledger = new BridgeLedger()
    const sound = rotationTo(NEXT, 3)
    const [key] = sound.keys
    const { bytes } = key as NonNullable<typeof key>
    const attestation = ledger.attest({ action: 'rotate', ...sound })
    const judge = (change: Partial<typeof sound>) => {
      const payload = { ...sound, ...change, attestation }
      return checkTransaction(ledger.tx(filled(6), 'bridge_rotate', payload, { nonce: 1n }), ledger.ruleBook.at(1).tx)
    }
    expect(judge({})).toBeNull()
    expect(judge({ threshold: 5 })).toMatchObject({ code: 'tx/field', detail: { field: 'keys' } })
    expect(judge({ threshold: 0 })).toMatchObject({ code: 'tx/field', detail: { field: 'keys' } })
    expect(
      judge({
        keys: [
          { scheme: 2, bytes },
          { scheme: 2, bytes },
        ],
        threshold: 1,
      })?.code,
    ).toBe('tx/field')
    expect(judge({ keys: [{ scheme: 1, bytes }], threshold: 1 })?.code).toBe('tx/field')
    expect(judge({ keys: [{ scheme: 3, bytes }], threshold: 1 })?.code).toBe('tx/field')
  })
})

describe('bridge_halt', () => {
  it('stops one network and no other', () => {
    const ledger = new BridgeLedger()
    expect(ledger.halt(BASE).code).toBe('success')
    expect([ledger.network(BASE).halted, ledger.network(ETHEREUM).halted]).toEqual([true, false])
  })

  it('takes as many members as can refuse every attestation', () => {
    for (const [threshold, size, wanted] of [
      [2, 3, 2],
      [3, 3, 1],
      [1, 3, 3],
      [5, 8, 4],
    ] as const) {
      const ledger = new BridgeLedger({ threshold, members: members(size, 1) })
      const last = (count: number) => Array.from({ length: count }, (_, i) => size - count + i)
      if (wanted > 1) expect(ledger.halt(BASE, { signers: last(wanted - 1) }).code).toBe('bridge/attestation')
      if (wanted < size) expect(ledger.halt(BASE, { signers: last(wanted + 1) }).code).toBe('bridge/attestation')
      expect(ledger.halt(BASE, { signers: last(wanted) }).code).toBe('success')
    }
  })

  it('fails closed, halted, then for its attestation', () => {
    const ledger = new BridgeLedger()
    expect(ledger.halt(AVALANCHE, { epoch: 9 }).code).toBe('bridge/closed')
    expect(ledger.halt(BASE, { epoch: 9 }).code).toBe('bridge/epoch')
    ledger.halt(BASE)
    expect(ledger.halt(BASE, { epoch: 9 }).code).toBe('bridge/halted')
  })
})
