import { beforeEach, describe, expect, it } from 'vitest'
import {
  type HybridPublicKey,
  hybridPublicKey,
  type SignatureBackend,
  signHybrid,
  verifyHybrid,
} from '../../../../consensus/crypto/hybrid.ts'
import type { KeyScheme } from '../../../../consensus/crypto/schemes.ts'
import { signingContext } from '../../../../consensus/crypto/signing.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'

interface Signed {
  readonly key: HybridPublicKey
  readonly signature: Uint8Array
}

const MESSAGE = new Uint8Array(20).fill(5)

function signed(scheme: KeyScheme, fill: number): Signed {
  const seed = new Uint8Array(32).fill(fill)
  return {
    key: hybridPublicKey(NATIVE_BACKEND, scheme, seed),
    signature: signHybrid(NATIVE_BACKEND, { scheme, seed, message: MESSAGE, context: signingContext('text') }),
  }
}

const [a, b] = [signed(1, 1), signed(2, 2)]

describe('a hybrid check', () => {
  const calls: string[] = []
  const answers = { ed25519: (): unknown => true, mlDsa: (): unknown => true }
  const backend: SignatureBackend = {
    ...NATIVE_BACKEND,
    verifyEd25519: (message, signature, key) => {
      calls.push(`ed25519 ${message.length} ${signature.length} ${key.length}`)
      return answers.ed25519() as boolean
    },
    verifyMlDsa: (level, message, signature, key, context) => {
      calls.push(`ml-dsa-${level} ${message.length} ${signature.length} ${key.length} ${context.length}`)
      return answers.mlDsa() as boolean
    },
  }
  const check = ({ key, signature }: Signed) =>
    verifyHybrid(backend, key, { message: MESSAGE, signature, context: signingContext('text') })

  beforeEach(() => {
    calls.length = 0
    answers.ed25519 = () => true
    answers.mlDsa = () => true
  })

  it('hands each half of exact length to its primitive, Ed25519 first', () => {
    expect(check(a)).toBe(true)
    expect(calls).toEqual(['ed25519 20 64 32', 'ml-dsa-44 20 2420 1312 15'])
    calls.length = 0
    expect(check(b)).toBe(true)
    expect(calls).toEqual(['ed25519 20 64 32', 'ml-dsa-65 20 3309 1952 15'])
  })

  it('takes an error of a primitive for no verdict', () => {
    answers.ed25519 = () => {
      throw new RangeError('Array buffer allocation failed')
    }
    expect(() => check(a)).toThrow('allocation failed')
    answers.ed25519 = () => true
    answers.mlDsa = () => {
      throw new Error('out of memory')
    }
    expect(() => check(a)).toThrow('out of memory')
  })

  it('takes nothing but true for a good half', () => {
    for (const answer of [1, 'true', {}, Promise.resolve(true), undefined, null, Number.NaN]) {
      answers.ed25519 = () => answer
      expect(check(a)).toBe(false)
      answers.ed25519 = () => true
      answers.mlDsa = () => answer
      expect(check(a)).toBe(false)
      answers.mlDsa = () => true
    }
  })

  it('asks no primitive about a key or signature of another length, or about a point that the rules refuse', () => {
    const { key, signature } = a
    const cut = { ...key, bytes: key.bytes.subarray(1) }
    const small = { ...key, bytes: key.bytes.map((byte, i) => (i < 32 ? 0 : byte)) }
    const wrong = [
      { key: cut, signature },
      { key: small, signature },
      { key: b.key, signature },
      { key: { ...key, scheme: 2 as const }, signature },
      { key, signature: b.signature },
      { key, signature: signature.subarray(0, -1) },
      { key, signature: signature.map((byte, i) => (i >= 32 && i < 64 ? 255 : byte)) },
    ]
    for (const each of wrong) expect(check(each)).toBe(false)
    expect(calls).toEqual([])
  })

  it('asks no primitive about a context that FIPS 204 does not know', () => {
    const context = new Uint8Array(256)
    expect(verifyHybrid(backend, a.key, { message: MESSAGE, signature: a.signature, context })).toBe(false)
    expect(calls).toEqual([])
  })

  it('refuses a key of a scheme that does not exist', () => {
    for (const scheme of [0, 3, 255]) {
      const key = { scheme: scheme as KeyScheme, bytes: a.key.bytes }
      expect(check({ key, signature: a.signature })).toBe(false)
    }
  })
})
