import { describe, expect, it } from 'vitest'
import {
  checkExternalAddress,
  type ExternalAddressKind,
  type ExternalFormat,
  externalAddressKind,
} from '../../consensus/external/address.ts'
import { formatExternalTxId, parseExternalTxId } from '../../consensus/external/transaction-id.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import { loadVectors, Tally } from '../support/vectors.ts'

interface AddressVector {
  readonly format: ExternalFormat
  readonly name: string
  readonly text: string
  readonly kind: ExternalAddressKind | null
  readonly reason: string | null
}
interface TransactionIdVector {
  readonly format: ExternalFormat
  readonly name: string
  readonly text: string
  readonly bytes: string | null
}

const { addresses, transactionIds } = loadVectors<{
  addresses: readonly AddressVector[]
  transactionIds: readonly TransactionIdVector[]
}>('external-addresses.json', { addresses: 382, transactionIds: 65 })

describe('external addresses', () => {
  it.each(addresses)('$format, $name: $kind $reason', ({ format, text, kind, reason }) => {
    expect(checkExternalAddress(format, text)).toBe(reason)
    expect(externalAddressKind(format, text)).toBe(kind ?? undefined)
  })

  it('are of every format, valid and invalid, and of every kind', () => {
    const tally = new Tally()
    for (const { format, kind } of addresses) tally.ran(`${format}, ${kind ?? 'refused'}`)
    tally.close({
      'evm, eoa-or-contract': 14,
      'evm, refused': 51,
      'solana, ed25519-key': 10,
      'solana, refused': 29,
      'bitcoin, p2pkh': 5,
      'bitcoin, p2sh': 3,
      'bitcoin, p2wpkh': 4,
      'bitcoin, p2wsh': 3,
      'bitcoin, p2tr': 4,
      'bitcoin, refused': 134,
      'litecoin, p2pkh': 5,
      'litecoin, p2sh': 5,
      'litecoin, p2wpkh': 1,
      'litecoin, p2wsh': 1,
      'litecoin, p2tr': 1,
      'litecoin, refused': 112,
    })
  })

  it('of one network are none of another', () => {
    const formats: readonly ExternalFormat[] = ['evm', 'solana', 'bitcoin', 'litecoin']
    for (const { format, text } of addresses.filter(({ kind }) => kind !== null)) {
      expect(formats.filter((other) => checkExternalAddress(other, text) === null)).toEqual([format])
    }
  })
})

describe('external transaction ids', () => {
  it.each(transactionIds)('$format, $name', ({ format, text, bytes }) => {
    const parsed = parseExternalTxId(format, text)
    expect(parsed === undefined ? null : toHex(parsed)).toBe(bytes)
    if (bytes !== null) expect(formatExternalTxId(format, fromHex(bytes))).toBe(text)
  })

  it('are of every format, valid and invalid', () => {
    const tally = new Tally()
    for (const { format, bytes } of transactionIds) tally.ran(`${format}, ${bytes === null ? 'refused' : 'taken'}`)
    tally.close({
      'evm, taken': 4,
      'evm, refused': 13,
      'solana, taken': 4,
      'solana, refused': 10,
      'bitcoin, taken': 4,
      'bitcoin, refused': 13,
      'litecoin, taken': 4,
      'litecoin, refused': 13,
    })
  })
})
