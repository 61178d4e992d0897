import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { devSeed } from '../../config/networks/dev-keys.ts'
import type { SignatureBackend } from '../../consensus/crypto/hybrid.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { type WalletKey, walletKey } from '../../src/crypto/wallet-key.ts'

/** Deterministic signatures, so that chains made with them have the same blocks every time. */
export const STEADY_BACKEND: SignatureBackend = {
  ...NATIVE_BACKEND,
  name: 'deterministic',
  signMlDsa: (level, message, seed, context) => {
    const scheme = level === 44 ? ml_dsa44 : ml_dsa65
    return scheme.sign(message, scheme.keygen(seed).secretKey, { context, extraEntropy: false })
  },
}

const KEYS = new Map<number, WalletKey>()

/** Development wallet `number`, 1 to 10, with deterministic signatures. */
export function steadyWallet(number: number): WalletKey {
  const known = KEYS.get(number) ?? walletKey(devSeed(number), 1, STEADY_BACKEND)
  KEYS.set(number, known)
  return known
}
