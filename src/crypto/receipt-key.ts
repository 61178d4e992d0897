import { createPrivateKey, randomBytes, sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { taggedHash } from '../../consensus/crypto/hash.ts'
import type { SignatureBackend } from '../../consensus/crypto/hybrid.ts'
import { fromHex, isHex, toHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import { NATIVE_BACKEND } from './native-backend.ts'

const SEED_BYTES = 32
/** Name of the key among the secrets of replicas. */
const SHARED_KEY = 'tab-receipt-key'

/** A secret of all replicas that share a store, made by the first one that asks for it. */
export type SharedSecret = (name: string, make: () => Uint8Array) => Promise<Uint8Array>

/** The receipt key that belongs to a wallet: made from its seed, so it is lost only with the wallet. */
export function walletReceiptSigner(walletSeed: Uint8Array, backend: SignatureBackend = NATIVE_BACKEND): ReceiptSigner {
  return receiptSigner(taggedHash('seedTabReceipt', walletSeed), backend)
}

/**
 * The receipt key of this node: from the file if the operator named one, else that of its replicas, else that of the wallet.
 *
 * Replicas have wallets of their own, but a tab knows only one receipt key. So they keep one in the store that they share, unless all are
 * given the same file: then the database need not be trusted with a key, and losing it does not lose the key.
 */
export async function openReceiptSigner(
  path: string | null,
  secret: SharedSecret | null,
  ofWallet: ReceiptSigner,
): Promise<Result<ReceiptSigner>> {
  if (path === null && secret !== null)
    return ok(receiptSigner(await secret(SHARED_KEY, () => randomBytes(SEED_BYTES)), NATIVE_BACKEND))
  if (path === null) return ok(ofWallet)
  const content = await readFile(path, 'utf8').catch(() => null)
  if (content === null) return fail(fault('config/file', { path, reason: 'it cannot be read' }))
  const hex = content.trim().toLowerCase()
  if (isHex(hex, SEED_BYTES)) return ok(receiptSigner(fromHex(hex), NATIVE_BACKEND))
  return fail(fault('config/file', { path, reason: 'it does not hold a key of 64 hex digits' }))
}

function receiptSigner(seed: Uint8Array, backend: SignatureBackend): ReceiptSigner {
  // The key is kept in the form that signs: reading it anew would double the time of a signature.
  const key = createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'ed25519' } as never)
  return {
    key: toHex(backend.publicKeyEd25519(seed)) as Hash,
    sign: (message) => sign(null, message, key),
  }
}
