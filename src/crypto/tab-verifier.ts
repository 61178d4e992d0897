import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { passesEd25519Rules } from '../../consensus/crypto/ed25519-rules.ts'
import type { TabSignature } from '../../consensus/crypto/tab-signing.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'

/** Keys that are kept in the form that verifies: as many tabs as a seller is likely to serve within a minute. */
const KEYS_KEPT = 1_024

const KEYS = new LruMap<string, KeyObject>(KEYS_KEPT)

/** Whether the signature is good by the strict rules of Ed25519. The curve is computed in a thread of the runtime. */
export function verifyTabLater({ key, message, signature }: TabSignature): Promise<boolean> {
  if (!passesEd25519Rules(key, signature)) return Promise.resolve(false)
  return new Promise((resolve, reject) => {
    verify(null, message, keyOf(key), signature, (error, isGood) => (error === null ? resolve(isGood) : reject(error)))
  })
}

function keyOf(bytes: Uint8Array): KeyObject {
  const hex = toHex(bytes)
  const known = KEYS.get(hex)
  if (known !== undefined) return known
  const key = createPublicKey({ key: bytes, format: 'raw-public', asymmetricKeyType: 'ed25519' } as never)
  KEYS.set(hex, key)
  return key
}
