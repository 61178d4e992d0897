import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { encodeAccountKeys } from '../../../../consensus/crypto/account-keys.ts'
import { verifyJob } from '../../../../consensus/crypto/verifier.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import { checkTransaction, signatureJob } from '../../../../consensus/tx/check.ts'
import { type AccountSigner, addressOfSigner, signTransaction } from '../../../../consensus/tx/sign.ts'
import type { TxBody } from '../../../../consensus/tx/transaction.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { walletKey } from '../../../../src/crypto/wallet-key.ts'
import { filled, SAMPLE, unsigned } from '../../../support/unsigned.ts'

const NETWORK = { chainId: 1, genesis: filled<BlockId>(7) }
const WALLET = walletKey(new Uint8Array(32).fill(1))
const PARTS = [WALLET, walletKey(new Uint8Array(32).fill(2), 2), walletKey(new Uint8Array(32).fill(3))]

/** A two-of-three account that signs with all three keys. */
const POLICY: AccountSigner = {
  keys: { scheme: 3, threshold: 2, keys: PARTS.map(({ keys }) => keys.keys[0]!) },
  sign: async (message, context) =>
    (await Promise.all(PARTS.map((part) => part.sign(message, context)))).map(([one], keyIndex) => ({
      keyIndex,
      bytes: one!.bytes,
    })),
}

function bodyOf(signer: AccountSigner, nonce: bigint): TxBody {
  return unsigned('transfer', SAMPLE.transfer(), { sender: addressOfSigner(signer), nonce }).body
}

describe('signing a transaction', () => {
  it.each([
    ['a single key', WALLET, 1],
    ['a vault key', PARTS[1]!, 1],
    ['a policy', POLICY, 2],
  ])('by %s gives a witness that holds', async (_, signer, count) => {
    for (const nonce of [0n, 1n]) {
      const tx = await signTransaction(bodyOf(signer, nonce), signer, NETWORK)
      expect(checkTransaction(tx, LAUNCH_RULES.tx)).toBeNull()
      expect(tx.witness.signatures.length).toBe(count)
      const job = signatureJob(tx, signer.keys, NETWORK)
      expect(job.ok && verifyJob(NATIVE_BACKEND, job.value)).toBe(true)
    }
  })

  it('carries the keys at nonce 0 alone', async () => {
    const first = await signTransaction(bodyOf(WALLET, 0n), WALLET, NETWORK)
    const later = await signTransaction(bodyOf(WALLET, 1n), WALLET, NETWORK)
    expect(first.witness.keys).toEqual(encodeAccountKeys(WALLET.keys))
    expect(later.witness.keys.length).toBe(0)
  })

  it('for one network does not hold on another', async () => {
    const tx = await signTransaction(bodyOf(WALLET, 1n), WALLET, NETWORK)
    const job = signatureJob(tx, WALLET.keys, { ...NETWORK, genesis: filled<BlockId>(8) })
    expect(job.ok && verifyJob(NATIVE_BACKEND, job.value)).toBe(false)
  })

  it('twice gives one id', async () => {
    const one = await signTransaction(bodyOf(WALLET, 1n), WALLET, NETWORK)
    const two = await signTransaction(bodyOf(WALLET, 1n), WALLET, NETWORK)
    expect(two.txId).toBe(one.txId)
  })
})
