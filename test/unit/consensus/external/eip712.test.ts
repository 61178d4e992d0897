import { describe, expect, it } from 'vitest'
import {
  evmAddressOf,
  isMirrored,
  keccakText,
  recoverSigner,
  signDigest,
  transferDigest,
} from '../../../../consensus/external/eip712.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'

const KEY = new Uint8Array(32).fill(7)
const ADDRESS = '0x4a62316623ad457f02cdc5d997ded67a383ec569'
const DOMAIN = { name: 'USDC', version: '2', chainId: 84_532, contract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }
const MESSAGE = {
  from: ADDRESS,
  to: ADDRESS,
  value: 1n,
  validAfter: 0n,
  validBefore: 9n,
  nonce: `0x${'11'.repeat(32)}`,
}
/** The digest that viem 2.57.1 computes for the same message. */
const DIGEST = 'fc12b51ec4312e0c4eeaa9fb06280d8d3cb2985f27cf176403e270339205fb17'
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe('authorizations of EIP-3009', () => {
  it('are signed over the digest that wallets sign', () => {
    expect(toHex(transferDigest(DOMAIN, MESSAGE))).toBe(DIGEST)
    for (const change of [{ name: 'USD Coin' }, { version: '1' }, { chainId: 1 }, { contract: ADDRESS }])
      expect(toHex(transferDigest({ ...DOMAIN, ...change }, MESSAGE))).not.toBe(DIGEST)
  })

  it('name their signer', () => {
    const digest = transferDigest(DOMAIN, MESSAGE)
    const signature = signDigest(KEY, digest)
    expect(signature).toMatch(/^0x[0-9a-f]{130}$/)
    expect(evmAddressOf(KEY)).toBe(ADDRESS)
    expect(recoverSigner(digest, signature)).toEqual({ address: ADDRESS, isLow: true })
    expect(recoverSigner(transferDigest(DOMAIN, { ...MESSAGE, value: 2n }), signature)?.address).not.toBe(ADDRESS)
  })

  it('know the twin of a signature', () => {
    const digest = transferDigest(DOMAIN, MESSAGE)
    const signature = signDigest(KEY, digest)
    const s = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    const twin = `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
    expect(recoverSigner(digest, twin)).toEqual({ address: ADDRESS, isLow: false })
    expect([signature, twin, `${twin}00`, '0x'].map(isMirrored)).toEqual([false, true, false, false])
  })

  it.each([`0x${'00'.repeat(65)}`, `0x${'ff'.repeat(64)}1b`, `0x${'12'.repeat(64)}00`, `0x${'12'.repeat(66)}`])(
    'take %s for no signature of a key',
    (signature) => {
      expect(recoverSigner(transferDigest(DOMAIN, MESSAGE), signature)).toBeNull()
    },
  )

  it('know what is no key, and the topics of events', () => {
    expect(evmAddressOf(new Uint8Array(32))).toBeNull()
    expect(keccakText('Transfer(address,address,uint256)')).toBe(
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    )
  })
})
