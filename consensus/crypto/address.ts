import { bech32m } from '@scure/base'
import { assert } from '../primitives/assert.ts'
import { fromHex, isHex, toHex } from '../primitives/bytes.ts'
import { fault } from '../primitives/fault.ts'
import type { Address } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'

/** Text form of an address: bech32m (BIP-350) behind the network's prefix. */
export function formatAddress(prefix: string, address: Address): string {
  assert(isHex(address, 32), 'an address has 32 bytes')
  return bech32m.encode(prefix, bech32m.toWords(fromHex(address)))
}

/** Reads exactly the text that {@link formatAddress} writes; upper-case letters are refused. */
export function parseAddress(prefix: string, text: string): Result<Address> {
  const malformed = (reason: string): Result<Address> =>
    fail(fault('address/malformed', { text: text.slice(0, 100), reason }))
  const decoded = bech32m.decodeUnsafe(text)
  if (decoded === undefined) return malformed('bad characters or checksum')
  if (decoded.prefix !== prefix) return fail(fault('address/other-network', { got: decoded.prefix, expected: prefix }))
  const bytes = bech32m.fromWordsUnsafe(decoded.words)
  if (bytes === undefined || bytes.length !== 32) return malformed('not 32 bytes')
  const address = toHex(Uint8Array.from(bytes)) as Address
  return formatAddress(prefix, address) === text ? ok(address) : malformed('not in its canonical form')
}
