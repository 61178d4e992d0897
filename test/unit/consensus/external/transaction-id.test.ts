import { describe, expect, it } from 'vitest'
import type { ExternalFormat } from '../../../../consensus/external/address.ts'
import {
  externalTxIdBytes,
  formatExternalTxId,
  parseExternalTxId,
} from '../../../../consensus/external/transaction-id.ts'
import { AssertionError } from '../../../../consensus/primitives/assert.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'

const FORMATS: readonly ExternalFormat[] = ['evm', 'solana', 'bitcoin', 'litecoin']
const GENESIS = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'

describe('an external transaction id', () => {
  it('has 32 bytes, on Solana 64', () => {
    expect(FORMATS.map(externalTxIdBytes)).toEqual([32, 64, 32, 32])
  })

  it('keeps the order in which it is shown', () => {
    const bytes = parseExternalTxId('bitcoin', GENESIS) as Uint8Array
    expect(toHex(bytes)).toBe(GENESIS)
    expect(formatExternalTxId('bitcoin', bytes)).toBe(GENESIS)
    expect(formatExternalTxId('litecoin', bytes)).toBe(GENESIS)
    expect(formatExternalTxId('evm', bytes)).toBe(`0x${GENESIS}`)
  })

  it('of Solana is a signature in base58', () => {
    const text = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'
    const bytes = parseExternalTxId('solana', text) as Uint8Array
    expect(bytes.length).toBe(64)
    expect(formatExternalTxId('solana', bytes)).toBe(text)
  })

  it('is of its own network alone', () => {
    expect(parseExternalTxId('evm', GENESIS)).toBeUndefined()
    expect(parseExternalTxId('bitcoin', `0x${GENESIS}`)).toBeUndefined()
    expect(parseExternalTxId('solana', GENESIS)).toBeUndefined()
  })

  it.for(FORMATS)('of %s is refused in megabytes', (format) => {
    for (const text of ['0', '1', '0x', 'z', '\udfff']) {
      expect(parseExternalTxId(format, text.repeat(1_000_000))).toBeUndefined()
    }
  })

  it.for(FORMATS)('of %s with another number of bytes is a bug', (format) => {
    const length = externalTxIdBytes(format)
    for (const wrong of [0, length - 1, length + 1, 96 - length])
      expect(() => formatExternalTxId(format, new Uint8Array(wrong))).toThrow(AssertionError)
  })
})
