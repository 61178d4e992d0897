import { describe, expect, it } from 'vitest'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import { signHybrid } from '../../../../consensus/crypto/hybrid.ts'
import { attestationMessage, signingContext, textMessage } from '../../../../consensus/crypto/signing.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { type AttestedAction, attestationDigest } from '../../../../consensus/tx/attestations.ts'
import type { Attestation } from '../../../../consensus/tx/bridge-payloads.ts'
import { checkTransaction } from '../../../../consensus/tx/check.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import {
  BASE,
  BridgeLedger,
  bridgeParams,
  ETHEREUM,
  EXTERNAL,
  externalId,
  HELD,
  keyOf,
  MINT_CAP,
  members,
  PAID,
  POCKETS,
  rotationTo,
  type Signing,
} from '../../../support/bridge.ts'
import type { Member } from '../../../support/policy-signer.ts'
import { filled, units } from '../../../support/unsigned.ts'

const [SENDER, TO] = [filled<Address>(1), filled<Address>(3)]
const BAD = 'bridge/attestation'

/** Expects that nothing was minted, counted or recorded. */
function expectUntouched(ledger: BridgeLedger): void {
  expect([ledger.supply(), ledger.holds(TO), ledger.network(BASE).deposits]).toEqual([HELD, 0n, 0])
}

describe('a deposit that would enter again', () => {
  it('as it is, on any later day, by any account: known for ever', () => {
    const ledger = new BridgeLedger()
    const payload = ledger.depositOf()
    ledger.send(SENDER, 'bridge_deposit', payload)
    expect(ledger.send(filled<Address>(2), 'bridge_deposit', payload).code).toBe('bridge/deposit-known')
    ledger.advanceTo(50)
    expect(ledger.send(SENDER, 'bridge_deposit', payload).code).toBe('bridge/deposit-known')
  })

  it('twice in one block', () => {
    const ledger = new BridgeLedger()
    const payload = ledger.depositOf()
    const txs = [SENDER, filled<Address>(2)].map((sender) => ledger.tx(sender, 'bridge_deposit', payload))
    const codes = ledger.block(txs).receipts.flatMap((receipt) => (receipt.type === 'transaction' ? receipt.code : []))
    expect(codes).toEqual([0, 116])
    expect(ledger.holds(TO)).toBe(5_000n)
  })

  it('with another receiver or amount, attested all the same', () => {
    const ledger = new BridgeLedger()
    ledger.deposit()
    expect(ledger.deposit({ to: SENDER }).code).toBe('bridge/deposit-known')
    expect(ledger.deposit({ amount: units(6_000) }).code).toBe('bridge/deposit-known')
  })

  it('after a rotation, attested by the new committee', () => {
    const ledger = new BridgeLedger()
    ledger.deposit()
    ledger.rotateTo(members(3, 2, 0x60), 2, { vaults: [{ network: BASE, address: EXTERNAL.evm }] })
    ledger.block()
    expect(ledger.committee.epoch).toBe(1)
    expect(ledger.deposit().code).toBe('bridge/deposit-known')
  })

  it.each([
    ['as another output', { outputIndex: 1 }],
    ['as of another network', { network: ETHEREUM }],
    ['as another transaction', { externalTxId: externalId(0xd1) }],
    ['for another receiver', { to: SENDER }],
    ['with another amount', { amount: units(5_001) }],
  ])('%s, with the attestation of the first', (_, change) => {
    const ledger = new BridgeLedger()
    const { attestation } = ledger.depositOf()
    expect(ledger.deposit({ ...change, attestation }).code).toBe(BAD)
    expectUntouched(ledger)
    expect(ledger.deposit({ attestation }).code).toBe('success')
  })
})

describe('an attestation that is replayed', () => {
  it('for another network: a halt', () => {
    const ledger = new BridgeLedger()
    const attestation = ledger.attest({ action: 'halt', network: ETHEREUM })
    expect(ledger.send(SENDER, 'bridge_halt', { network: BASE, attestation }).code).toBe(BAD)
  })

  it('for another withdrawal', () => {
    const ledger = new BridgeLedger()
    const [first, second] = [ledger.withdraw().tx.txId, ledger.withdraw().tx.txId]
    const attestation = ledger.attest({ action: 'sign', network: BASE, withdrawalId: first })
    expect(ledger.send(SENDER, 'bridge_sign', { withdrawalId: second, attestation }).code).toBe(BAD)
    expect([ledger.status(first), ledger.status(second)]).toEqual([0, 0])
  })

  it('for another action on the same withdrawal', () => {
    const ledger = new BridgeLedger()
    const withdrawalId = ledger.withdraw().tx.txId
    const about = { network: BASE, withdrawalId }
    const [sign, cancel] = (['sign', 'cancel'] as const).map((action) => ledger.attest({ action, ...about }))
    const release = ledger.attest({ action: 'release', ...about, externalTxId: PAID })
    const send = (kind: 'bridge_sign' | 'bridge_cancel', attestation?: Attestation) =>
      ledger.send(SENDER, kind, { withdrawalId, attestation: attestation as Attestation }).code
    expect(send('bridge_cancel', sign)).toBe(BAD)
    expect(send('bridge_cancel', release)).toBe(BAD)
    expect(send('bridge_sign', cancel)).toBe(BAD)
    expect(send('bridge_sign', sign)).toBe('success')
    const paid = { withdrawalId, externalTxId: PAID }
    for (const attestation of [sign, cancel] as Attestation[]) {
      expect(ledger.send(SENDER, 'bridge_release', { ...paid, attestation }).code).toBe(BAD)
    }
    expect(ledger.send(SENDER, 'bridge_release', { ...paid, attestation: release }).code).toBe('success')
  })

  it('for another payment of the same withdrawal', () => {
    const ledger = new BridgeLedger()
    const withdrawalId = ledger.withdraw().tx.txId
    ledger.sign(withdrawalId)
    const attestation = ledger.attest({ action: 'release', network: BASE, withdrawalId, externalTxId: PAID })
    const elsewhere = { withdrawalId, externalTxId: externalId(0xef), attestation }
    expect(ledger.send(SENDER, 'bridge_release', elsewhere).code).toBe(BAD)
  })

  it('in a later epoch, though the keys are the same, as it was and with the epoch exchanged', () => {
    const ledger = new BridgeLedger()
    const old = ledger.depositOf().attestation
    ledger.rotateTo(ledger.members, 2)
    ledger.block()
    expect(ledger.deposit({ attestation: old }).code).toBe('bridge/epoch')
    expect(ledger.deposit({ attestation: { ...old, epoch: 1 } }).code).toBe(BAD)
    expectUntouched(ledger)
  })

  it('before its epoch', () => {
    const ledger = new BridgeLedger()
    expect(ledger.deposit({}, { epoch: 1 }).code).toBe('bridge/epoch')
  })

  it('after the halt that it made was ended', () => {
    const ledger = new BridgeLedger()
    const attestation = ledger.attest({ action: 'halt', network: BASE })
    ledger.send(SENDER, 'bridge_halt', { network: BASE, attestation })
    ledger.rotateTo(ledger.members, 2, { resume: [BASE] })
    ledger.block()
    expect(ledger.network(BASE).halted).toBe(false)
    expect(ledger.send(SENDER, 'bridge_halt', { network: BASE, attestation }).code).toBe('bridge/epoch')
  })

  it('after the rotation that it made, or for a rotation with one thing changed', () => {
    const ledger = new BridgeLedger()
    const rotation = rotationTo(ledger.members, 2)
    const attestation = ledger.attest({ action: 'rotate', ...rotation })
    const vaults = [{ network: BASE, address: EXTERNAL.evm }]
    for (const change of [{ threshold: 1 }, { keys: rotation.keys.slice(1) }, { vaults }, { resume: [BASE] }]) {
      expect(ledger.send(SENDER, 'bridge_rotate', { ...rotation, ...change, attestation }).code).toBe(BAD)
    }
    expect(ledger.send(SENDER, 'bridge_rotate', { ...rotation, attestation }).code).toBe('success')
    ledger.advanceTo(20)
    expect(ledger.send(SENDER, 'bridge_rotate', { ...rotation, attestation }).code).toBe('bridge/epoch')
  })

  it('on a network with another genesis but the same keys', () => {
    const ledger = new BridgeLedger()
    const { network } = createRuleBook(bridgeParams({ message: 'another chain' }), PROTOCOL)
    expect(network.genesis).not.toBe(ledger.ruleBook.network.genesis)
    expect(ledger.deposit({}, { network }).code).toBe(BAD)
    expect(ledger.deposit({}, { network: { ...ledger.ruleBook.network, chainId: 2 } }).code).toBe(BAD)
    expectUntouched(ledger)
  })
})

describe('signatures that do not make an attestation', () => {
  const flip = (at: number) => (bytes: Uint8Array) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
  const cases: readonly (readonly [string, Signing])[] = [
    ['of signers who are no members', { members: members(3, 2, 0x70) }],
    ['of one member and one who is none', { members: [...members(1), ...members(2, 2, 0x70)] }],
    ['too few', { signers: [2] }],
    ['too many, all of them good', { signers: [0, 1, 2] }],
    ['under the index of another member', { signers: [0, 1], indices: [0, 2] }],
    ['under an index that the committee has not', { signers: [0, 1], indices: [0, 3] }],
    ['under the last index there is', { signers: [0, 1], indices: [0, 255] }],
    ['of the same seed under the other scheme', { members: members(3, 1) }],
    ['with a flipped bit in the classical half', { edit: flip(3) }],
    ['with a flipped bit in the other half', { edit: flip(2_000) }],
    ['cut short', { edit: (bytes) => bytes.subarray(0, -1) }],
    ['of nothing', { edit: () => new Uint8Array(0) }],
    ['of zeros', { edit: (bytes) => bytes.map(() => 0) }],
  ]

  it.each(cases)('%s', (_, signing) => {
    const ledger = new BridgeLedger()
    const before = ledger.balance(ledger.sender)
    const { code, receipt } = ledger.deposit({}, signing)
    expect(code).toBe(BAD)
    expectUntouched(ledger)
    // A bad attestation pays its fee, and its block stays valid.
    expect(ledger.balance(ledger.sender)).toBe(before - receipt.fee)
  })

  it('made for a signed text, over the very same digest', () => {
    const ledger = new BridgeLedger()
    const payload = ledger.depositOf()
    const action: AttestedAction = { ...payload, action: 'deposit' }
    const { network } = ledger.ruleBook
    const forms = [
      { message: attestationMessage(network, attestationDigest(action, 0)), context: signingContext('text') },
      { message: textMessage(network, 3, 'mint'), context: signingContext('attestation') },
    ]
    for (const form of forms) {
      const signatures = [0, 1].map((keyIndex) => {
        const member = ledger.members[keyIndex] as Member
        return { keyIndex, bytes: signHybrid(NATIVE_BACKEND, { ...member, ...form }) }
      })
      expect(ledger.deposit({ attestation: { epoch: 0, signatures } }).code).toBe(BAD)
    }
  })

  it('by one member twice, or out of order: such a transaction is in no block', () => {
    const ledger = new BridgeLedger()
    for (const indices of [
      [0, 0],
      [1, 0],
    ]) {
      const payload = ledger.depositOf({}, { signers: indices })
      const tx = ledger.tx(SENDER, 'bridge_deposit', payload, { nonce: 1n })
      expect(checkTransaction(tx, ledger.ruleBook.at(1).tx)).toMatchObject({
        code: 'tx/field',
        detail: { field: 'signatures' },
      })
    }
    const none = ledger.depositOf({ attestation: { epoch: 0, signatures: [] } })
    expect(checkTransaction(ledger.tx(SENDER, 'bridge_deposit', none), ledger.ruleBook.at(1).tx)?.code).toBe('tx/field')
  })

  it('a committee of both schemes takes each by its own length, and neither in the place of the other', () => {
    const mixed = [...members(2, 1), ...members(2, 2)]
    const ledger = new BridgeLedger({ threshold: 2, members: mixed })
    expect(ledger.deposit({}, { signers: [1, 2] }).code).toBe('success')
    const swapped = { signers: [2, 1], indices: [1, 2] }
    expect(ledger.deposit({ outputIndex: 1 }, swapped).code).toBe(BAD)
    expect(ledger.deposit({ outputIndex: 1 }, { signers: [0, 3] }).code).toBe('success')
  })
})

describe('an attacker who would end a withdrawal twice', () => {
  type Step = 'sign' | 'release' | 'cancel'
  const orders: readonly (readonly [readonly Step[], Step])[] = [
    [[], 'release'],
    [['sign'], 'sign'],
    [['sign'], 'cancel'],
    [['sign', 'release'], 'release'],
    [['sign', 'release'], 'cancel'],
    [['sign', 'release'], 'sign'],
    [['cancel'], 'cancel'],
    [['cancel'], 'sign'],
    [['cancel'], 'release'],
  ]

  it.each(orders)('after %j: %s', (done, next) => {
    const ledger = new BridgeLedger()
    const { txId } = ledger.withdraw().tx
    for (const step of done) expect(ledger[step](txId).code).toBe('success')
    const before = [ledger.supply(), ledger.network(BASE), ledger.status(txId)]
    expect(ledger[next](txId).code).toBe('bridge/withdrawal-state')
    expect([ledger.supply(), ledger.network(BASE), ledger.status(txId)]).toEqual(before)
  })

  it('a deposit is no withdrawal, nor is any other transaction', () => {
    const ledger = new BridgeLedger()
    const { txId } = ledger.deposit().tx
    expect(ledger.cancel(txId).code).toBe('bridge/withdrawal-unknown')
    expect(ledger.cancel(filled<TxId>(0)).code).toBe('bridge/withdrawal-unknown')
  })
})

describe('an attacker who would take more than the vault holds', () => {
  it('with two withdrawals in one block', () => {
    const ledger = new BridgeLedger()
    ledger.deposit({ network: ETHEREUM, amount: units(300_000), to: SENDER })
    const all = { network: ETHEREUM, amount: units(300_000), recipient: EXTERNAL.evm }
    const txs = [SENDER, filled<Address>(2)].map((sender) => ledger.tx(sender, 'bridge_withdraw', all))
    const codes = ledger.block(txs).receipts.flatMap((receipt) => (receipt.type === 'transaction' ? receipt.code : []))
    expect(codes).toEqual([0, 118])
  })

  it('with what another withdrawal waits for, until that is given back', () => {
    const ledger = new BridgeLedger()
    const { txId } = ledger.withdraw({ amount: units(POCKETS[0]) }).tx
    expect(ledger.withdraw({ amount: units(POCKETS[1] + 1n) }, filled(2)).code).toBe('bridge/float')
    ledger.cancel(txId)
    expect(ledger.withdraw({ amount: units(POCKETS[1]) }, filled(2)).code).toBe('success')
  })

  it('with the fees that were kept: they are no part of the float', () => {
    const ledger = new BridgeLedger()
    const { txId } = ledger.withdraw({ amount: units(POCKETS[0]) }).tx
    ledger.sign(txId)
    ledger.release(txId)
    expect(ledger.network(BASE).fees).toBe(400n)
    expect(ledger.withdraw({ amount: units(POCKETS[1] + 1n) }, filled(2)).code).toBe('bridge/float')
  })

  it('over the mint cap, by giving back: cancelling neither uses nor renews it', () => {
    const ledger = new BridgeLedger()
    ledger.deposit({ amount: units(MINT_CAP), to: SENDER })
    const { txId } = ledger.withdraw({ amount: units(MINT_CAP) }).tx
    ledger.cancel(txId)
    expect(ledger.deposit({ outputIndex: 1 }).code).toBe('bridge/mint-cap')
    expect(ledger.supply()).toBe(HELD + MINT_CAP)
  })
})

describe('a committee that goes wrong', () => {
  it('a minority below the threshold cannot rotate, mint, cancel or sign; it can only halt', () => {
    const ledger = new BridgeLedger({ threshold: 3, members: members(4) })
    const { txId } = ledger.withdraw().tx
    const two = { signers: [1, 3] }
    expect(ledger.rotate(rotationTo(members(2), 1), two).code).toBe(BAD)
    expect(ledger.deposit({}, two).code).toBe(BAD)
    expect([ledger.sign(txId, two).code, ledger.cancel(txId, two).code]).toEqual([BAD, BAD])
    expect(ledger.halt(BASE, two).code).toBe('success')
  })

  it('a rotation to keys without an owner: nothing is attested ever after, nothing is lost or made', () => {
    const ledger = new BridgeLedger()
    const lostKeys = members(3, 2, 0x90)
    const secret = ledger.members
    const { txId } = ledger.withdraw().tx
    ledger.rotateTo(lostKeys, 3)
    ledger.members = secret
    ledger.block()
    expect(ledger.committee.keys).toEqual(lostKeys.map(keyOf))
    expect(ledger.deposit({}, { signers: [0, 1, 2] }).code).toBe(BAD)
    expect(ledger.cancel(txId, { signers: [0, 1, 2] }).code).toBe(BAD)
    expect(ledger.rotate(rotationTo(secret, 2), { signers: [0, 1, 2] }).code).toBe(BAD)
    expect(ledger.status(txId)).toBe(0)
    expect(ledger.broken()).toEqual([])
  })

  it('a second rotation does not push the first aside', () => {
    const ledger = new BridgeLedger()
    ledger.rotate(rotationTo(members(3, 2, 0x60), 2))
    expect(ledger.rotate(rotationTo(members(3, 2, 0x70), 2)).code).toBe('bridge/rotation-pending')
    ledger.advanceTo(7)
    expect(ledger.committee.keys).toEqual(members(3, 2, 0x60).map(keyOf))
  })

  it('a halt after a rotation was attested outlives it', () => {
    const ledger = new BridgeLedger()
    ledger.rotate(rotationTo(ledger.members, 2))
    ledger.halt(BASE)
    ledger.advanceTo(7)
    expect([ledger.committee.epoch, ledger.network(BASE).halted]).toEqual([1, true])
  })
})
