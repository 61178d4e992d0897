import { describe, expect, it } from 'vitest'
import { hybridPublicKey, signHybrid } from '../../../../consensus/crypto/hybrid.ts'
import type { KeyScheme } from '../../../../consensus/crypto/schemes.ts'
import { type SignatureJob, type SignaturePart, signingContext } from '../../../../consensus/crypto/signing.ts'
import { createInlineVerifier, verifyJob } from '../../../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'

const MESSAGE = new Uint8Array(20).fill(5)

function part(scheme: KeyScheme, fill: number, message = MESSAGE): SignaturePart {
  const seed = new Uint8Array(32).fill(fill)
  const context = signingContext('transaction')
  return {
    key: hybridPublicKey(NATIVE_BACKEND, scheme, seed),
    signature: signHybrid(NATIVE_BACKEND, { scheme, seed, message, context }),
  }
}

function job(parts: readonly SignaturePart[], change: Partial<SignatureJob> = {}): SignatureJob {
  return { domain: 'transaction', message: MESSAGE, parts, ...change }
}

const [a, b] = [part(1, 1), part(2, 2)]
const bad = part(1, 3, new Uint8Array(20).fill(6))

describe('a job of signatures', () => {
  it('is good when every part is', () => {
    expect(verifyJob(NATIVE_BACKEND, job([a]))).toBe(true)
    expect(verifyJob(NATIVE_BACKEND, job([a, b]))).toBe(true)
  })

  it('is bad when any part is, wherever it stands', () => {
    for (const parts of [[bad], [bad, a], [a, bad], [a, bad, b]])
      expect(verifyJob(NATIVE_BACKEND, job(parts))).toBe(false)
  })

  it('is bad without parts', () => {
    expect(verifyJob(NATIVE_BACKEND, job([]))).toBe(false)
  })

  it('is bad under the label of the other domain', () => {
    expect(verifyJob(NATIVE_BACKEND, job([a], { domain: 'text' }))).toBe(false)
  })

  it('is bad when a signature stands beside the key of another part', () => {
    const crossed = [
      { key: a.key, signature: part(1, 9).signature },
      { key: part(1, 9).key, signature: a.signature },
    ]
    expect(verifyJob(NATIVE_BACKEND, job(crossed))).toBe(false)
  })
})

describe('the inline verifier', () => {
  it('answers one verdict for each job, in order', async () => {
    const verifier = createInlineVerifier(NATIVE_BACKEND)
    expect(await verifier.verify([job([a]), job([bad]), job([]), job([a, b])])).toEqual([true, false, false, true])
    expect(await verifier.verify([])).toEqual([])
  })
})
