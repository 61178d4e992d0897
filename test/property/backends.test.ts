import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passesEd25519Rules } from '../../consensus/crypto/ed25519-rules.ts'
import { hybridPublicKey, type SignatureBackend, signHybrid, verifyHybrid } from '../../consensus/crypto/hybrid.ts'
import { REFERENCE_BACKEND } from '../../consensus/crypto/reference-backend.ts'
import type { KeyScheme, MlDsaLevel } from '../../consensus/crypto/schemes.ts'
import { concat, toHex } from '../../consensus/primitives/bytes.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { hostileEd25519, hostileMlDsa, type Shown, type ShownInContext } from '../support/hostile-signatures.ts'
import { runs } from '../support/runs.ts'
import { equationHolds, meetsRules } from '../vectors/generate/edwards25519.ts'

const BACKENDS = [NATIVE_BACKEND, REFERENCE_BACKEND] as const
const SEED = new Uint8Array(32).fill(42)

function acceptsEd25519(backend: SignatureBackend, { key, message, signature }: Shown): boolean {
  return passesEd25519Rules(key, signature) && backend.verifyEd25519(message, signature, key)
}

/** The verdict of a hybrid check whose Ed25519 half is valid. */
function acceptsMlDsa(backend: SignatureBackend, level: MlDsaLevel, shown: ShownInContext): boolean {
  const { key, message, signature, context } = shown
  const scheme: KeyScheme = level === 44 ? 1 : 2
  const classical = NATIVE_BACKEND.signEd25519(message, SEED)
  const bytes = concat(NATIVE_BACKEND.publicKeyEd25519(SEED), key)
  return verifyHybrid(backend, { scheme, bytes }, { message, signature: concat(classical, signature), context })
}

/** Compares verdicts, and ensures that enough valid and invalid signatures were compared. */
function compare<S>(shown: fc.Arbitrary<S>, usual: number, verdictsOf: (shown: S) => readonly boolean[]): void {
  const count = { good: 0, bad: 0 }
  fc.assert(
    fc.property(shown, (one) => {
      const [first, ...others] = verdictsOf(one)
      for (const other of others) expect(other).toBe(first)
      count[first === true ? 'good' : 'bad']++
    }),
    { numRuns: runs(usual) },
  )
  const total = count.good + count.bad
  if (total < 200) return
  expect(count.good).toBeGreaterThan(0.05 * total)
  expect(count.bad).toBeGreaterThan(0.05 * total)
}

describe('both backends behind our rules', () => {
  it('agree on Ed25519 signatures of every sort', () => {
    compare(hostileEd25519, 10_000, (shown) => BACKENDS.map((backend) => acceptsEd25519(backend, shown)))
  })

  it('agree with the bare definition of the curve', () => {
    compare(hostileEd25519, 400, (shown) => {
      const { key, message, signature } = shown
      expect(passesEd25519Rules(key, signature)).toBe(meetsRules(key, signature))
      const defined = meetsRules(key, signature) && equationHolds(key, message, signature)
      return [defined, acceptsEd25519(NATIVE_BACKEND, shown)]
    })
  })

  it('agree on ML-DSA-44 signatures of every sort', () => {
    compare(hostileMlDsa(NATIVE_BACKEND, 44), 2_000, (shown) =>
      BACKENDS.map((backend) => acceptsMlDsa(backend, 44, shown)),
    )
  })

  it('agree on ML-DSA-65 signatures of every sort', () => {
    compare(hostileMlDsa(NATIVE_BACKEND, 65), 1_000, (shown) =>
      BACKENDS.map((backend) => acceptsMlDsa(backend, 65, shown)),
    )
  })
})

describe('what one backend makes', () => {
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const schemes = [1, 2] as const

  it.for(schemes)('is the same public key in the other, under scheme %i', (scheme) => {
    fc.assert(
      fc.property(seed, (secret) => {
        const [native, reference] = BACKENDS.map((backend) => toHex(hybridPublicKey(backend, scheme, secret).bytes))
        expect(reference).toBe(native)
      }),
      { numRuns: runs(100) },
    )
  })

  it.for(schemes)('is a good signature in the other, under scheme %i', (scheme) => {
    const said = fc.record({
      seed,
      message: fc.uint8Array({ maxLength: 500 }),
      context: fc.uint8Array({ maxLength: 255 }),
    })
    fc.assert(
      fc.property(said, ({ seed, message, context }) => {
        for (const [signer, verifier] of [BACKENDS, BACKENDS.toReversed()] as [SignatureBackend, SignatureBackend][]) {
          const key = hybridPublicKey(verifier, scheme, seed)
          const signature = signHybrid(signer, { scheme, seed, message, context })
          expect(verifyHybrid(verifier, key, { message, signature, context })).toBe(true)
          const other = concat(message, Uint8Array.of(0))
          expect(verifyHybrid(verifier, key, { message: other, signature, context })).toBe(false)
        }
      }),
      { numRuns: runs(60) },
    )
  })

  it('is the same Ed25519 signature in both', () => {
    fc.assert(
      fc.property(seed, fc.uint8Array({ maxLength: 300 }), (secret, message) => {
        const [native, reference] = BACKENDS.map((backend) => toHex(backend.signEd25519(message, secret)))
        expect(reference).toBe(native)
      }),
      { numRuns: runs(300) },
    )
  })
})
