import { taggedHashHex } from '../crypto/hash.ts'
import { fromHex } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'

/** The lock of a secret is H(redeemLock, H(redeemOpener, secret)). */
export function openerOf(secret: Uint8Array): Hash {
  return taggedHashHex('redeemOpener', secret)
}

/** Lock that an opener opens. */
export function lockOf(opener: Hash): Hash {
  return taggedHashHex('redeemLock', fromHex(opener))
}
