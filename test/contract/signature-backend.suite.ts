import { describe, expect, it } from 'vitest'
import { passesEd25519Rules } from '../../consensus/crypto/ed25519-rules.ts'
import { hybridPublicKey, type SignatureBackend, signHybrid, verifyHybrid } from '../../consensus/crypto/hybrid.ts'
import { KEY_SCHEMES, type KeyScheme, type MlDsaLevel } from '../../consensus/crypto/schemes.ts'
import { signingContext } from '../../consensus/crypto/signing.ts'
import { concat, toHex } from '../../consensus/primitives/bytes.ts'
import { type Statement, statementMessage } from '../support/statements.ts'
import { loadVectors, type SpelledBytes, Tally } from '../support/vectors.ts'

/** How many cases of each group the suite must find in the file of Ed25519 vectors and run. */
export const ED25519_COUNTS = {
  honest: 15,
  'small-order-pair': 392,
  'small-order-half': 126,
  'mixed-order': 256,
  scalar: 26,
  'non-canonical': 144,
  'off-curve': 16,
  length: 20,
  'mix-up': 16,
  'bit-flip': 984,
}
const ML_DSA_SHARED = { honest: 7, length: 16, context: 11, 'mix-up': 14, 'z-range': 10, 'bit-flip': 184 }
const ML_DSA_COUNTS = { 44: { ...ML_DSA_SHARED, hint: 56 }, 65: { ...ML_DSA_SHARED, hint: 74 } }
const HYBRID_COUNTS = { good: 10, half: 24, rearranged: 20, 'other-statement': 34, length: 40 }

interface Ed25519Case {
  readonly group: string
  readonly name: string
  readonly key: SpelledBytes
  readonly message: SpelledBytes
  readonly signature: SpelledBytes
  readonly rules: boolean
  readonly equation: boolean
  readonly valid: boolean
}

interface MlDsaCase extends Omit<Ed25519Case, 'rules' | 'equation'> {
  readonly context: SpelledBytes
  readonly lenient: boolean
}

interface HybridCase extends Omit<Ed25519Case, 'rules' | 'equation'> {
  readonly keyScheme: KeyScheme
  readonly statement: Statement
}

/** All tests for an implementation of Ed25519 and ML-DSA. */
export function signatureBackendSuite(backend: SignatureBackend): void {
  describe(`signatures by ${backend.name}`, () => {
    ed25519Vectors(backend)
    mlDsaVectors(backend, 44)
    mlDsaVectors(backend, 65)
    hybridVectors(backend)
    signing(backend, 1)
    signing(backend, 2)
    refusals(backend)
  })
}

const SEED = new Uint8Array(32).fill(7)
const CONTEXT = signingContext('transaction')

/** The verdict of a backend. A backend that throws has found the signature not good. */
function verdict(verify: () => boolean): boolean {
  try {
    return verify()
  } catch {
    return false
  }
}

function ed25519Vectors(backend: SignatureBackend): void {
  const vectors = loadVectors<{ cases: readonly Ed25519Case[] }>('ed25519.json', ED25519_COUNTS)
  const cases = vectors.cases.map((case_) => ({
    ...case_,
    key: vectors.bytes(case_.key),
    message: vectors.bytes(case_.message),
    signature: vectors.bytes(case_.signature),
  }))

  it('gives every Ed25519 vector its verdict: the rules first, then the equation without cofactor', () => {
    const tally = new Tally()
    const wrong: string[] = []
    for (const { group, name, key, message, signature, rules, valid } of cases) {
      const passes = passesEd25519Rules(key, signature)
      const good = passes && backend.verifyEd25519(message, signature, key)
      if (passes !== rules || good !== valid) wrong.push(`${group}: ${name}`)
      tally.ran(group)
    }
    expect(wrong).toEqual([])
    tally.close(ED25519_COUNTS)
  })

  it('gives the crafted Ed25519 vectors the same verdicts inside a hybrid signature whose ML-DSA half is good', () => {
    const tally = new Tally()
    const wrong: string[] = []
    const latticeKey = backend.publicKeyMlDsa(44, SEED)
    const latticeSignatures = new Map<string, Uint8Array>()
    for (const { group, name, key, message, signature, valid } of cases) {
      if (group === 'bit-flip') continue
      const id = toHex(message)
      const lattice = latticeSignatures.get(id) ?? backend.signMlDsa(44, message, SEED, CONTEXT)
      latticeSignatures.set(id, lattice)
      const parts = { message, signature: concat(signature, lattice), context: CONTEXT }
      const good = verifyHybrid(backend, { scheme: 1, bytes: concat(key, latticeKey) }, parts)
      if (good !== valid) wrong.push(`${group}: ${name}`)
      tally.ran(group)
    }
    expect(wrong).toEqual([])
    const { 'bit-flip': _, ...expected } = ED25519_COUNTS
    tally.close(expected)
  })

  it('would be fooled by the Ed25519 vectors without the rules', () => {
    const fooling = cases.filter(({ equation, valid }) => equation && !valid)
    expect(new Set(fooling.map(({ group }) => group))).toEqual(
      new Set(['small-order-pair', 'small-order-half', 'scalar', 'non-canonical']),
    )
  })
}

function mlDsaVectors(backend: SignatureBackend, level: MlDsaLevel): void {
  const vectors = loadVectors<{ cases: readonly MlDsaCase[] }>(`ml-dsa-${level}.json`, ML_DSA_COUNTS[level])
  const scheme: KeyScheme = level === 44 ? 1 : 2
  const { publicKeyBytes, signatureBytes } = KEY_SCHEMES[scheme]

  it(`gives every ML-DSA-${level} vector its verdict beside a good Ed25519 half`, () => {
    const tally = new Tally()
    const wrong: string[] = []
    const classicalKey = backend.publicKeyEd25519(SEED)
    for (const { group, name, valid, ...spelled } of vectors.cases) {
      const [key, message, context, signature] = [
        vectors.bytes(spelled.key),
        vectors.bytes(spelled.message),
        vectors.bytes(spelled.context),
        vectors.bytes(spelled.signature),
      ]
      const hybridKey = { scheme, bytes: concat(classicalKey, key) }
      const both = concat(backend.signEd25519(message, SEED), signature)
      const good = verifyHybrid(backend, hybridKey, { message, signature: both, context })
      const direct = verdict(() => backend.verifyMlDsa(level, message, signature, key, context))
      if (good !== valid || direct !== valid) wrong.push(`${group}: ${name}`)
      const fits = hybridKey.bytes.length === publicKeyBytes && both.length === signatureBytes
      if (fits === (group === 'length')) wrong.push(`${group}: ${name} (length)`)
      tally.ran(group)
    }
    expect(wrong).toEqual([])
    tally.close(ML_DSA_COUNTS[level])
  })

  it(`would be fooled by the ML-DSA-${level} vectors without the checks of hints and of the norm of z`, () => {
    const fooling = vectors.cases.filter(({ lenient, valid }) => lenient && !valid).map(({ group }) => group)
    expect(fooling.filter((group) => group === 'hint').length).toBeGreaterThanOrEqual(20)
    expect(fooling.filter((group) => group === 'z-range').length).toBe(4)
  })
}

function hybridVectors(backend: SignatureBackend): void {
  const vectors = loadVectors<{ cases: readonly HybridCase[] }>('hybrid.json', HYBRID_COUNTS)

  it('gives every hybrid vector its verdict over the message that its statement makes', () => {
    const tally = new Tally()
    const wrong: string[] = []
    for (const { group, name, keyScheme, statement, valid, ...spelled } of vectors.cases) {
      const message = statementMessage(statement)
      const good = verifyHybrid(
        backend,
        { scheme: keyScheme, bytes: vectors.bytes(spelled.key) },
        { message, signature: vectors.bytes(spelled.signature), context: signingContext(statement.domain) },
      )
      if (good !== valid || toHex(message) !== toHex(vectors.bytes(spelled.message)))
        wrong.push(`${group}: ${name}, scheme ${keyScheme}`)
      tally.ran(group)
    }
    expect(wrong).toEqual([])
    tally.close(HYBRID_COUNTS)
  })
}

function signing(backend: SignatureBackend, scheme: KeyScheme): void {
  const { mlDsa, publicKeyBytes, signatureBytes } = KEY_SCHEMES[scheme]
  const message = new TextEncoder().encode('to be signed')

  it(`verifies what it signs under scheme ${scheme}, and only under the context it was signed with`, () => {
    const key = hybridPublicKey(backend, scheme, SEED)
    const signature = signHybrid(backend, { scheme, seed: SEED, message, context: CONTEXT })
    expect([key.scheme, key.bytes.length, signature.length]).toEqual([scheme, publicKeyBytes, signatureBytes])
    expect(verifyHybrid(backend, key, { message, signature, context: CONTEXT })).toBe(true)
    expect(verifyHybrid(backend, key, { message, signature, context: signingContext('text') })).toBe(false)
  })

  it(`signs hedged with ML-DSA-${mlDsa}: two signatures over one message differ and both are good`, () => {
    const publicKey = backend.publicKeyMlDsa(mlDsa, SEED)
    const [first, second] = [0, 1].map(() => backend.signMlDsa(mlDsa, message, SEED, CONTEXT)) as [
      Uint8Array,
      Uint8Array,
    ]
    expect(toHex(first)).not.toBe(toHex(second))
    for (const signature of [first, second])
      expect(backend.verifyMlDsa(mlDsa, message, signature, publicKey, CONTEXT)).toBe(true)
  })

  it(`derives other keys under each scheme from one seed (scheme ${scheme})`, () => {
    const other = scheme === 1 ? 2 : 1
    const [mine, its] = [scheme, other].map((each) => hybridPublicKey(backend, each as KeyScheme, SEED).bytes)
    expect(toHex((mine as Uint8Array).subarray(0, 32))).not.toBe(toHex((its as Uint8Array).subarray(0, 32)))
    expect(toHex((mine as Uint8Array).subarray(32, 64))).not.toBe(toHex((its as Uint8Array).subarray(32, 64)))
  })
}

function refusals(backend: SignatureBackend): void {
  const message = new Uint8Array(3)
  const signature = backend.signEd25519(message, SEED)
  const key = backend.publicKeyEd25519(SEED)

  it('signs Ed25519 deterministically, as RFC 8032 says', () => {
    expect(toHex(backend.signEd25519(message, SEED))).toBe(toHex(signature))
  })

  it('never takes an Ed25519 key or signature of another length for a good one', () => {
    for (const extra of [new Uint8Array(1), Uint8Array.of(255), new Uint8Array(32)]) {
      expect(verdict(() => backend.verifyEd25519(message, concat(signature, extra), key))).toBe(false)
      expect(verdict(() => backend.verifyEd25519(message, signature, concat(key, extra)))).toBe(false)
    }
    expect(verdict(() => backend.verifyEd25519(message, signature.subarray(0, 63), key))).toBe(false)
    expect(verdict(() => backend.verifyEd25519(message, signature, key.subarray(0, 31)))).toBe(false)
  })

  it('refuses seeds of another length', () => {
    for (const length of [0, 16, 31, 33, 64]) {
      const seed = new Uint8Array(length)
      expect(() => backend.publicKeyEd25519(seed), `${length}`).toThrow()
      expect(() => backend.signEd25519(message, seed), `${length}`).toThrow()
      for (const level of [44, 65] as const) {
        expect(() => backend.publicKeyMlDsa(level, seed), `${length}`).toThrow()
        expect(() => backend.signMlDsa(level, message, seed, CONTEXT), `${length}`).toThrow()
      }
    }
  })

  it('refuses to sign under a context of more than 255 bytes', () => {
    for (const level of [44, 65] as const) {
      const longest = new Uint8Array(255)
      const good = backend.signMlDsa(level, message, SEED, longest)
      expect(backend.verifyMlDsa(level, message, good, backend.publicKeyMlDsa(level, SEED), longest)).toBe(true)
      expect(() => backend.signMlDsa(level, message, SEED, new Uint8Array(256))).toThrow()
    }
  })

  it('leaves its inputs as they were', () => {
    const level = 44
    const latticeKey = backend.publicKeyMlDsa(level, SEED)
    const lattice = backend.signMlDsa(level, message, SEED, CONTEXT)
    const before = [message, signature, key, SEED, CONTEXT, latticeKey, lattice].map(toHex)
    backend.verifyEd25519(message, signature, key)
    backend.verifyMlDsa(level, message, lattice, latticeKey, CONTEXT)
    expect([message, signature, key, SEED, CONTEXT, latticeKey, lattice].map(toHex)).toEqual(before)
  })

  it('reads messages, keys and signatures that are views into a larger buffer', () => {
    const all = concat(new Uint8Array(5), key, signature, message, new Uint8Array(9))
    const view = (from: number, length: number) => all.subarray(from, from + length)
    expect(backend.verifyEd25519(view(101, 3), view(37, 64), view(5, 32))).toBe(true)
  })
}
