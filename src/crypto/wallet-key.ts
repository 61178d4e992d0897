import { addressOfKeys, encodeAccountKeys, singleKey } from '../../consensus/crypto/account-keys.ts'
import { hybridPublicKey, type SignatureBackend, signHybrid } from '../../consensus/crypto/hybrid.ts'
import type { KeyScheme } from '../../consensus/crypto/schemes.ts'
import type { Address, BlockId } from '../../consensus/primitives/ids.ts'
import type { AccountSigner } from '../../consensus/tx/sign.ts'
import { voucherSeed } from '../../consensus/tx/tab-messages.ts'
import type { ReceiptSigner } from '../../marketplace/till/rails/tab/tab-receipts.ts'
import { NATIVE_BACKEND } from './native-backend.ts'
import { walletReceiptSigner } from './receipt-key.ts'

/** A signer with the address it signs for. */
export interface WalletKey extends AccountSigner {
  readonly address: Address
  /** Seed of the voucher key of the tab that it opens with the transaction of a nonce. */
  voucherSeed?(genesis: string, nonce: bigint): Uint8Array
}

/** The account of a wallet that may sell. */
export interface SellerKey extends WalletKey {
  /** Signs the receipts of tabs. */
  readonly receipts: ReceiptSigner
}

/** The single-key account of a wallet seed. */
export function walletKey(
  seed: Uint8Array,
  scheme: KeyScheme = 1,
  backend: SignatureBackend = NATIVE_BACKEND,
): SellerKey {
  const keys = singleKey(hybridPublicKey(backend, scheme, seed))
  return {
    keys,
    address: addressOfKeys(encodeAccountKeys(keys)),
    receipts: walletReceiptSigner(seed, backend),
    sign: async (message, context) => [{ keyIndex: 0, bytes: signHybrid(backend, { scheme, seed, message, context }) }],
    voucherSeed: (genesis, nonce) => voucherSeed(seed, genesis as BlockId, nonce),
  }
}
