import { base58Text } from './base58-text.ts'
import { join, madeBytes } from './bytes.ts'
import { type AddressCase, addressCases, type Named, strayTexts, wrappedTexts } from './external-cases.ts'

const KIND = 'ed25519-key'
const NOT_BASE58 = 'not base58'
const NOT_32 = 'not 32 bytes'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

export function solanaCases(): AddressCase[] {
  const made = base58Text(madeBytes('solana account', 32))
  const valid: Named[] = [
    ['the token program', TOKEN_PROGRAM, KIND],
    ['the program of associated accounts', 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', KIND],
    ['the mint of USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkwZyTDt1v', KIND],
    ['the mint of wrapped SOL', 'So11111111111111111111111111111111111111112', KIND],
    ['the vote program', 'Vote111111111111111111111111111111111111111', KIND],
    ['the number one', `${'1'.repeat(31)}2`, KIND],
    ['the number 256', base58Text(join(new Uint8Array(30), Uint8Array.of(1, 0))), KIND],
    ['the largest number', base58Text(new Uint8Array(32).fill(255)), KIND],
    ['one zero byte before', base58Text(join(new Uint8Array(1), madeBytes('31 bytes', 31))), KIND],
    ['made', made, KIND],
  ]
  const invalid: Named[] = [
    ['the system program', '1'.repeat(32), 'the system program'],
    ['31 zero bytes', '1'.repeat(31), NOT_32],
    ['33 zero bytes', '1'.repeat(33), NOT_32],
    ['90 zero bytes', '1'.repeat(90), NOT_32],
    ['31 bytes', base58Text(madeBytes('31 bytes', 31)), NOT_32],
    ['33 bytes', base58Text(madeBytes('33 bytes', 33)), NOT_32],
    ['one more than the largest number', base58Text(join(Uint8Array.of(1), new Uint8Array(32))), NOT_32],
    ['a signature', base58Text(madeBytes('solana signature', 64)), NOT_32],
    ['a zero byte more', `1${made}`, NOT_32],
    ['an address of Bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', NOT_32],
    ['the largest 90 characters', 'z'.repeat(90), NOT_32],
    ['an address of Ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', NOT_BASE58],
    ...['0', 'O', 'I', 'l', '+', '/', '\u00e9', '\uff11'].map(
      (letter): Named => [`the character ${letter}`, TOKEN_PROGRAM.replace('T', letter), NOT_BASE58],
    ),
    ...wrappedTexts(TOKEN_PROGRAM, NOT_BASE58),
    ...strayTexts(NOT_BASE58).filter(([, text]) => text !== ''),
    ['the empty text', '', NOT_32],
  ]
  return addressCases('solana', valid, invalid)
}
