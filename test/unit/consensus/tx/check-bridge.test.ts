import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { checkTransaction } from '../../../../consensus/tx/check.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import {
  attestation,
  committeeKey,
  type MoneyKind,
  moneyTx,
  networkNumber,
  vaultOf,
} from '../../../support/money-samples.ts'
import { fillerSignature } from '../../../support/unsigned.ts'

const RULES = LAUNCH_RULES.tx
const [SOLANA, BITCOIN, LITECOIN] = ['solana', 'bitcoin', 'litecoin'].map(networkNumber) as [number, number, number]

function check<K extends MoneyKind>(kind: K, change: Partial<PayloadOf<K>> = {}) {
  return checkTransaction(moneyTx(kind, change), RULES)
}

const field = (name: string, reason: unknown) => ({ code: 'tx/field', detail: { field: name, reason } })
const idOf = (bytes: number) => new Uint8Array(bytes).fill(8)

describe('a network', () => {
  it.each(['bridge_deposit', 'bridge_withdraw', 'bridge_halt'] as const)('of %s is one of the rules', (kind) => {
    expect(check(kind, { network: 10 })).toEqual(field('network', '10 is unknown'))
    expect(check(kind, { network: 255 })).toEqual(field('network', '255 is unknown'))
  })

  it('may be any of them', () => {
    for (const network of RULES.bridgeFormats.keys()) {
      const externalTxId = idOf(network === SOLANA ? 64 : 32)
      expect(check('bridge_deposit', { network, externalTxId })).toBeNull()
      expect(check('bridge_withdraw', { network, recipient: vaultOf(network) })).toBeNull()
      expect(check('bridge_halt', { network })).toBeNull()
    }
  })
})

describe('a transaction id of another chain', () => {
  it.each([0, 31, 33, 64])('of a deposit from most networks never has %i bytes', (bytes) => {
    const refused = field('externalTxId', 'must have 32 bytes on this network')
    for (const network of [0, BITCOIN, LITECOIN]) {
      expect(check('bridge_deposit', { network, externalTxId: idOf(bytes) })).toEqual(refused)
    }
  })

  it.each([0, 32, 63])('of a deposit from Solana never has %i bytes', (bytes) => {
    const refused = field('externalTxId', 'must have 64 bytes on this network')
    expect(check('bridge_deposit', { network: SOLANA, externalTxId: idOf(bytes) })).toEqual(refused)
  })

  it('of a release has 32 or 64, whatever the network of the withdrawal is', () => {
    expect(check('bridge_release', { externalTxId: idOf(64) })).toBeNull()
    for (const bytes of [0, 31, 33, 63]) {
      const refused = field('externalTxId', 'must have 32 or 64 bytes')
      expect(check('bridge_release', { externalTxId: idOf(bytes) })).toEqual(refused)
    }
  })

  it('never has more than 64', () => {
    expect(() => moneyTx('bridge_release', { externalTxId: idOf(65) })).toThrow(RangeError)
    expect(() => moneyTx('bridge_deposit', { externalTxId: idOf(65) })).toThrow(RangeError)
  })
})

describe('a recipient', () => {
  it('is a canonical address of its own network', () => {
    for (const [network, recipient] of [
      [1, ''],
      [1, vaultOf(1).toLowerCase()],
      [1, vaultOf(BITCOIN)],
      [BITCOIN, vaultOf(LITECOIN)],
      [LITECOIN, vaultOf(SOLANA)],
      [SOLANA, vaultOf(1)],
      [BITCOIN, ` ${vaultOf(BITCOIN)}`],
    ] as const) {
      expect(check('bridge_withdraw', { network, recipient })).toEqual(field('recipient', expect.any(String)))
    }
  })

  it('has at most 90 bytes', () => {
    expect(() => moneyTx('bridge_withdraw', { recipient: 'x'.repeat(91) })).toThrow(RangeError)
  })
})

describe.each([
  'bridge_deposit',
  'bridge_sign',
  'bridge_release',
  'bridge_cancel',
  'bridge_rotate',
  'bridge_halt',
] as const)('the attestation of %s', (kind) => {
  const signed = (...indices: number[]) => ({
    attestation: { epoch: 7, signatures: indices.map((index) => fillerSignature(index)) },
  })

  it('has at least one signature and at most eight', () => {
    expect(check(kind, signed())).toEqual(field('signatures', 'must not be empty'))
    expect(check(kind, { attestation: attestation(8) })).toBeNull()
    expect(() => moneyTx(kind, { attestation: attestation(9) })).toThrow(RangeError)
  })

  it('has strictly ascending key indices', () => {
    const refused = field('signatures', 'must be strictly ascending')
    expect(check(kind, signed(0, 3, 255))).toBeNull()
    expect(check(kind, signed(1, 1))).toEqual(refused)
    expect(check(kind, signed(0, 2, 1))).toEqual(refused)
  })
})

describe('a rotation', () => {
  const vault = (network: number) => ({ network, address: vaultOf(network) })

  it('may change keys alone', () => {
    expect(check('bridge_rotate', { vaults: [], resume: [] })).toBeNull()
  })

  it('may name every network, once, in order', () => {
    const all = [...RULES.bridgeFormats.keys()]
    expect(check('bridge_rotate', { vaults: all.map(vault), resume: all })).toBeNull()
    for (const wrong of [
      [1, 1],
      [2, 1],
    ]) {
      expect(check('bridge_rotate', { vaults: wrong.map(vault) })).toEqual(
        field('vaults', 'must be strictly ascending'),
      )
      expect(check('bridge_rotate', { resume: wrong })).toEqual(field('resume', 'must be strictly ascending'))
    }
  })

  it('names networks of the rules', () => {
    const stranger = { network: 10, address: vaultOf(1) }
    expect(check('bridge_rotate', { vaults: [stranger] })).toEqual(field('network', '10 is unknown'))
    expect(check('bridge_rotate', { resume: [9, 10] })).toEqual(field('network', '10 is unknown'))
  })

  it('names canonical addresses of their networks', () => {
    const foreign = { network: BITCOIN, address: vaultOf(LITECOIN) }
    expect(check('bridge_rotate', { vaults: [vault(1), foreign] })).toEqual(field('vaults', expect.any(String)))
  })

  it.each([
    ['no key', { keys: [] }],
    ['a threshold of 0', { threshold: 0 }],
    ['a threshold above the keys', { threshold: 4 }],
    ['a key twice', { keys: [committeeKey(1), committeeKey(1), committeeKey(2)] }],
    ['a key of an unknown scheme', { keys: [{ ...committeeKey(1), scheme: 4 }, committeeKey(2)] }],
    ['a key of another length', { keys: [{ scheme: 1, bytes: committeeKey(1).bytes }, committeeKey(2)] }],
  ])('is refused with %s', (_, change) => {
    expect(check('bridge_rotate', change)).toEqual(field('keys', expect.any(String)))
  })

  it('takes up to eight keys', () => {
    const keys = (count: number) => Array.from({ length: count }, (_, i) => committeeKey(i + 1))
    expect(check('bridge_rotate', { threshold: 8, keys: keys(8) })).toBeNull()
    expect(() => moneyTx('bridge_rotate', { keys: keys(9) })).toThrow(RangeError)
  })
})
