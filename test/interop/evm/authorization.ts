import { randomBytes } from 'node:crypto'
import { concat, type Hex, keccak256, stringToHex, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { CHAIN_ID } from './network.ts'
import { TOKEN_ADDRESS, TOKEN_DOMAIN } from './token.ts'

/** An EIP-3009 authorization. Numbers are decimal text, as in x402. */
export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

/** An authorization with the payer's signature. */
export interface Signed {
  readonly authorization: Authorization
  readonly signature: Hex
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const CANCEL_TYPES = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const DEFAULT_SECONDS = 120

/** Seconds since 1970. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000)
}

/** An authorization that is valid for two minutes unless `parts` say otherwise. */
export function authorization(
  parts: Pick<Authorization, 'from' | 'to' | 'value'> & Partial<Authorization>,
): Authorization {
  return {
    validAfter: '0',
    validBefore: String(nowSeconds() + DEFAULT_SECONDS),
    nonce: toHex(new Uint8Array(randomBytes(32))),
    ...parts,
  }
}

/** Signs an authorization as wallets do, over the token's domain with the given parts replaced. */
export async function sign(
  account: PrivateKeyAccount,
  said: Authorization,
  domain: { readonly name?: string; readonly chainId?: number; readonly verifyingContract?: Hex } = {},
): Promise<Signed> {
  const { from, to, nonce } = said
  const signature = await account.signTypedData({
    domain: { ...TOKEN_DOMAIN, chainId: CHAIN_ID, verifyingContract: TOKEN_ADDRESS, ...domain },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...{ from, to, nonce },
      value: BigInt(said.value),
      validAfter: BigInt(said.validAfter),
      validBefore: BigInt(said.validBefore),
    },
  })
  return { authorization: said, signature }
}

/** The signature that cancels an unused authorization. */
export function signCancellation(account: PrivateKeyAccount, nonce: Hex): Promise<Hex> {
  return account.signTypedData({
    domain: { ...TOKEN_DOMAIN, chainId: CHAIN_ID, verifyingContract: TOKEN_ADDRESS },
    types: CANCEL_TYPES,
    primaryType: 'CancelAuthorization',
    message: { authorizer: account.address, nonce },
  })
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The second signature that ECDSA takes for the same text and key: the group order less s, and the other parity. */
export function mirrored(signature: Hex): Hex {
  const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)]
  const mirror = (ORDER - s).toString(16).padStart(64, '0')
  return `0x${r}${mirror}${v === '1b' ? '1c' : '1b'}`
}

/** The owner's signature as `ContractWallet` takes it. */
export function ofWallet(signature: Hex): Hex {
  return concat([keccak256(stringToHex('ContractWallet')), signature])
}
