import { base58Text } from './base58-text.ts'
import { hex, madeBytes, unhex } from './bytes.ts'
import type { AddressCase } from './external-cases.ts'

/** A text and the bytes of its transaction id, or null for an invalid one. */
export interface TransactionIdCase {
  readonly format: AddressCase['format']
  readonly name: string
  readonly text: string
  readonly bytes: string | null
}

/** The example of Ethereum's JSON-RPC, the first transactions of Bitcoin and Litecoin. */
const ETHEREUM = '88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b'
const BITCOIN = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b'
const LITECOIN = '97ddfbbae6be97fd6cdf3e7ca13232a3afff2353e29badfab7f73011edd4ced9'

const ZERO = '00'.repeat(32)
const ONES = 'ff'.repeat(32)

function hexCases(format: AddressCase['format'], prefix: string, known: string): TransactionIdCase[] {
  const valid = (name: string, bytes: string) => ({ format, name, text: prefix + bytes, bytes })
  const invalid = (name: string, text: string) => ({ format, name, text, bytes: null })
  return [
    valid('known', known),
    valid('zeros', ZERO),
    valid('ones', ONES),
    valid('made', hex(madeBytes(`transaction id of ${format}`, 32))),
    invalid('upper case', prefix + known.toUpperCase()),
    invalid('one digit in upper case', prefix + known.replace(/[a-f]/, (digit) => digit.toUpperCase())),
    invalid('the other prefix', (prefix === '' ? '0x' : '') + known),
    invalid('0X', `0X${known}`),
    invalid('31 bytes', prefix + known.slice(2)),
    invalid('33 bytes', `${prefix}${known}00`),
    invalid('63 digits', prefix + known.slice(1)),
    invalid('a letter above f', `${prefix}${known.slice(1)}g`),
    invalid('a line end behind', `${prefix}${known}\n`),
    invalid('a blank before', ` ${prefix}${known}`),
    invalid('the prefix', prefix),
    invalid('base58 of it', base58Text(unhex(known))),
    invalid('two ids at once', prefix + known.repeat(2)),
  ].filter(({ text }, i, all) => all.findIndex((other) => other.text === text) === i)
}

function solanaCases(): TransactionIdCase[] {
  const format = 'solana' as const
  const valid = (name: string, text: string, bytes: Uint8Array) => ({ format, name, text, bytes: hex(bytes) })
  const invalid = (name: string, text: string) => ({ format, name, text, bytes: null })
  const made = madeBytes('solana signature', 64)
  const extremes = [new Uint8Array(64), new Uint8Array(64).fill(255)] as const
  return [
    valid('made', base58Text(made), made),
    valid('zeros', '1'.repeat(64), extremes[0]),
    valid('ones', base58Text(extremes[1]), extremes[1]),
    valid('zero byte before', base58Text(made.with(0, 0)), made.with(0, 0)),
    invalid('63 bytes', base58Text(made.subarray(1))),
    invalid('65 bytes', base58Text(madeBytes('65 bytes', 65))),
    invalid('65 zero bytes', '1'.repeat(65)),
    invalid('an account', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
    invalid('hex', hex(made).slice(0, 90)),
    invalid('the character 0', base58Text(made).replace(/.$/, '0')),
    invalid('a blank behind', `${base58Text(made)} `),
    invalid('a zero byte more', `1${base58Text(made)}`),
    invalid('91 characters', `${base58Text(extremes[1])}zzz`),
    invalid('the empty text', ''),
  ]
}

export function transactionIdCases(): TransactionIdCase[] {
  return [
    ...hexCases('evm', '0x', ETHEREUM),
    ...solanaCases(),
    ...hexCases('bitcoin', '', BITCOIN),
    ...hexCases('litecoin', '', LITECOIN),
  ]
}
