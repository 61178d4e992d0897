import { addressOfKeys, encodeAccountKeys } from '../../consensus/crypto/account-keys.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import type { SigningNetwork } from '../../consensus/crypto/signing.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import { type AccountSigner, signText } from '../../consensus/tx/sign.ts'
import type { SignedText } from '../../consensus/tx/signed-text.ts'
import { steadyWallet } from './steady-keys.ts'

const PREFIX = 'dfar'
const TEXT = 'I hold this address. Ünïcode counts too.'

/** A signer with the keys of these development wallets and a threshold of 2. All of its keys sign. */
export function twoOfThree(...numbers: readonly number[]): AccountSigner {
  const wallets = numbers.map(steadyWallet)
  const keys = { scheme: 3 as const, threshold: 2, keys: wallets.flatMap((wallet) => wallet.keys.keys) }
  return {
    keys,
    sign: async (message, context) =>
      Promise.all(
        wallets.map(async (wallet, keyIndex) => {
          const [signature] = await wallet.sign(message, context)
          return { keyIndex, bytes: (signature as { readonly bytes: Uint8Array }).bytes }
        }),
      ),
  }
}

const flipped = (hex: string, at: number): string => {
  const digit = hex[at] === '0' ? '1' : '0'
  return hex.slice(0, at) + digit + hex.slice(at + 1)
}

/** Hex digits of an Ed25519 signature. */
const CLASSICAL_DIGITS = 128

/**
 * Requests to verify signatures: valid ones, ones with either half broken, other texts, foreign keys, and malformed
 * requests. They are the same bytes every time.
 */
export async function signatureRequests(network: SigningNetwork): Promise<readonly string[]> {
  const sign = (signer: AccountSigner, of = network): Promise<SignedText> =>
    signText(TEXT, signer, { network: of, prefix: PREFIX })
  const single = await sign(steadyWallet(1))
  const policy = await sign(twoOfThree(1, 2, 3))
  const elsewhere = await sign(steadyWallet(1), { ...network, genesis: 'ab'.repeat(32) as SigningNetwork['genesis'] })
  const bytes = (single.signature[0] as SignedText['signature'][number]).bytes
  const known = { address: single.address, text: TEXT, signature: bytes }
  const unseen = formatAddress(PREFIX, addressOfKeys(encodeAccountKeys(twoOfThree(4, 5).keys)))
  return [
    single,
    known,
    policy,
    { ...policy, signature: policy.signature.toReversed() },
    { ...policy, signature: policy.signature.slice(1) },
    { ...known, signature: flipped(bytes, 5) },
    { ...known, signature: flipped(bytes, CLASSICAL_DIGITS + 5) },
    { ...known, signature: bytes.slice(2) },
    { ...known, text: `${TEXT} ` },
    elsewhere,
    { ...known, keys: toHex(encodeAccountKeys(steadyWallet(2).keys)) },
    { ...known, address: unseen },
    { ...known, address: 'dfar1' },
    { ...known, more: 1 },
    { address: single.address, text: TEXT },
  ].map((request) => JSON.stringify(request))
}
