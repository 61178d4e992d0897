import { describe, expect, it } from 'vitest'
import {
  checkExternalAddress,
  EXTERNAL_ADDRESS_CHARS_MAX,
  type ExternalFormat,
  externalAddressKind,
} from '../../../../consensus/external/address.ts'

const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const SOLANA = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkwZyTDt1v'
const FORMATS: readonly ExternalFormat[] = ['evm', 'solana', 'bitcoin', 'litecoin']

describe('an external address', () => {
  it.for([
    ['evm', EVM, 'eoa-or-contract'],
    ['solana', SOLANA, 'ed25519-key'],
    ['bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'p2pkh'],
    ['bitcoin', '36j4NfKv6Akva9amjWrLG6MuSQym1GuEmm', 'p2sh'],
    ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'p2wpkh'],
    ['bitcoin', 'bc1qyucykdlhp62tezs0hagqury402qwhk589q80tqs5myh3rxq34nwqhkdhv7', 'p2wsh'],
    ['bitcoin', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'p2tr'],
    ['litecoin', 'LT2KVaAy1ppRuxRgrS5RNU3vBsy7RibPeA', 'p2pkh'],
    ['litecoin', 'MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2', 'p2sh'],
    ['litecoin', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'p2wpkh'],
  ] as const)('%s: %s is %s', ([format, text, kind]) => {
    expect(checkExternalAddress(format, text)).toBeNull()
    expect(externalAddressKind(format, text)).toBe(kind)
  })

  it('of EVM has one spelling among all of its upper and lower case', () => {
    const digits = `${'1'.repeat(31)}abcdefabc`
    const letters = Array.from(digits, (digit, at) => (/[a-f]/.test(digit) ? at : -1)).filter((at) => at >= 0)
    const spellings = Array.from({ length: 1 << letters.length }, (_, mask) =>
      letters.reduce(
        (text, at, bit) =>
          mask & (1 << bit) ? text.slice(0, at) + text[at]?.toUpperCase() + text.slice(at + 1) : text,
        digits,
      ),
    )
    expect(new Set(spellings).size).toBe(2 ** 9)
    expect(spellings.filter((spelling) => checkExternalAddress('evm', `0x${spelling}`) === null).length).toBe(1)
  })

  it('is refused with its reason', () => {
    expect(checkExternalAddress('evm', EVM.toLowerCase())).toBe('not in the upper and lower case of EIP-55')
    expect(checkExternalAddress('evm', `0x${'0'.repeat(40)}`)).toBe('the zero address')
    expect(checkExternalAddress('evm', SOLANA)).toBe('not 0x and 40 hex digits')
    expect(checkExternalAddress('solana', EVM)).toBe('not base58')
    expect(checkExternalAddress('solana', `${SOLANA}1`)).toBe('not 32 bytes')
    expect(checkExternalAddress('solana', '1'.repeat(32))).toBe('the system program')
    expect(externalAddressKind('solana', '1'.repeat(32))).toBeUndefined()
  })

  it.for(FORMATS)('of %s is not looked at beyond its greatest length', (format) => {
    const tooLong = 'longer than 90 characters'
    for (const text of ['1', 'z', 'bc1q', 'ltc1q', '0x', '\ud800', 'é']) {
      const long = text.repeat(EXTERNAL_ADDRESS_CHARS_MAX)
      expect(checkExternalAddress(format, long.slice(0, EXTERNAL_ADDRESS_CHARS_MAX))).not.toBe(tooLong)
      expect(checkExternalAddress(format, long.slice(0, EXTERNAL_ADDRESS_CHARS_MAX))).not.toBeNull()
      expect(checkExternalAddress(format, `${long.slice(0, EXTERNAL_ADDRESS_CHARS_MAX)}1`)).toBe(tooLong)
      expect(checkExternalAddress(format, long.repeat(10_000).padEnd(91, '1'))).toBe(tooLong)
    }
  })
})
