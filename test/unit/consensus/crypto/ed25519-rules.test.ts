import { describe, expect, it } from 'vitest'
import { isAcceptablePoint, passesEd25519Rules } from '../../../../consensus/crypto/ed25519-rules.ts'
import { REFERENCE_BACKEND } from '../../../../consensus/crypto/reference-backend.ts'
import { concat, uintLE } from '../../../../consensus/primitives/bytes.ts'
import { L, P, smallOrderEncodings } from '../../../vectors/generate/edwards25519.ts'

const TOP = 1n << 255n
const SEED = new Uint8Array(32).fill(1)
const key = REFERENCE_BACKEND.publicKeyEd25519(SEED)
const signature = REFERENCE_BACKEND.signEd25519(new Uint8Array(0), SEED)

const withS = (s: bigint) => concat(signature.subarray(0, 32), uintLE(s, 32))
const withR = (r: Uint8Array) => concat(r, signature.subarray(32))

describe('the rules in front of the Ed25519 equation', () => {
  it('pass an honest signature', () => {
    expect(passesEd25519Rules(key, signature)).toBe(true)
  })

  it('take S up to L - 1 and nothing above', () => {
    for (const s of [0n, 1n, L - 2n, L - 1n]) expect(passesEd25519Rules(key, withS(s))).toBe(true)
    for (const s of [L, L + 1n, 2n * L, 1n << 253n, TOP - 1n, TOP, 2n * TOP - 1n])
      expect(passesEd25519Rules(key, withS(s))).toBe(false)
  })

  it('take y up to p - 2 with either sign, in key and R, and nothing above', () => {
    for (const sign of [0n, TOP]) {
      for (const y of [2n, 3n, P - 3n, P - 2n]) {
        expect(isAcceptablePoint(uintLE(y + sign, 32))).toBe(true)
        expect(passesEd25519Rules(uintLE(y + sign, 32), signature)).toBe(true)
        expect(passesEd25519Rules(key, withR(uintLE(y + sign, 32)))).toBe(true)
      }
      for (let y = P - 1n; y < TOP; y++) {
        expect(isAcceptablePoint(uintLE(y + sign, 32))).toBe(false)
        expect(passesEd25519Rules(uintLE(y + sign, 32), signature)).toBe(false)
        expect(passesEd25519Rules(key, withR(uintLE(y + sign, 32)))).toBe(false)
      }
    }
  })

  it('refuse all fourteen encodings of small order in key and R', () => {
    const encodings = smallOrderEncodings()
    expect(encodings.length).toBe(14)
    for (const encoded of encodings) {
      expect(isAcceptablePoint(encoded)).toBe(false)
      expect(passesEd25519Rules(encoded, signature)).toBe(false)
      expect(passesEd25519Rules(key, withR(encoded))).toBe(false)
    }
  })

  it('refuse every other length of key and signature, however long', () => {
    for (const length of [0, 1, 31, 33, 64, 1_000])
      expect(passesEd25519Rules(new Uint8Array(length).fill(3), signature)).toBe(false)
    for (const length of [0, 32, 63, 65, 96, 128, 1_000])
      expect(passesEd25519Rules(key, new Uint8Array(length).fill(3))).toBe(false)
  })

  it('leave the bytes alone and read views', () => {
    const all = concat(key, signature)
    expect(passesEd25519Rules(all.subarray(0, 32), all.subarray(32))).toBe(true)
    expect(all).toEqual(concat(key, signature))
    expect(passesEd25519Rules(Buffer.from(key), Buffer.from(signature))).toBe(true)
  })
})
