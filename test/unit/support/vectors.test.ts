import { ed25519 } from '@noble/curves/ed25519.js'
import { describe, expect, it } from 'vitest'
import { passesEd25519Rules } from '../../../consensus/crypto/ed25519-rules.ts'
import { ED25519_COUNTS } from '../../contract/signature-backend.suite.ts'
import { loadVectors, type SpelledBytes, Tally } from '../../support/vectors.ts'

interface Case {
  readonly group: string
  readonly key: SpelledBytes
  readonly message: SpelledBytes
  readonly signature: SpelledBytes
  readonly valid: boolean
}

describe('a vector file', () => {
  it('loads with the counts that it is expected to have', () => {
    const { cases } = loadVectors<{ cases: readonly unknown[] }>('ed25519.json', ED25519_COUNTS)
    expect(cases.length).toBe(1_995)
  })

  it('fails with a case, a group or everything missing', () => {
    const more = { ...ED25519_COUNTS, honest: 16 }
    expect(() => loadVectors('ed25519.json', more)).toThrow('ed25519.json says 15 cases of honest, expected are 16')
    const other = { ...ED25519_COUNTS, strange: 1 }
    expect(() => loadVectors('ed25519.json', other)).toThrow('ed25519.json says 0 cases of strange, expected are 1')
    const { honest: _, ...fewer } = ED25519_COUNTS
    expect(() => loadVectors('ed25519.json', fewer)).toThrow('ed25519.json says 15 cases of honest, expected are 0')
    expect(() => loadVectors('ed25519.json', {})).toThrow('expected are 0')
  })
})

describe('a tally', () => {
  it('fails unless exactly the expected cases ran', () => {
    const tally = new Tally()
    expect(() => tally.close({})).toThrow('the run has no cases')
    tally.ran('a')
    tally.ran('a')
    expect(() => tally.close({ a: 2 })).not.toThrow()
    expect(() => tally.close({ a: 1 })).toThrow('the run has 2 cases of a, expected are 1')
    expect(() => tally.close({ a: 2, b: 1 })).toThrow('the run has 0 cases of b, expected are 1')
  })
})

describe('the Ed25519 vectors', () => {
  const vectors = loadVectors<{ cases: readonly Case[] }>('ed25519.json', ED25519_COUNTS)
  const mixed = vectors.cases.filter(({ group }) => group === 'mixed-order')

  it('catch a verifier that multiplies by the cofactor, as a common library does', () => {
    const accepted = mixed.filter(({ key, message, signature }) => {
      const [publicKey, bytes] = [vectors.bytes(key), vectors.bytes(signature)]
      return passesEd25519Rules(publicKey, bytes) && ed25519.verify(bytes, vectors.bytes(message), publicKey)
    })
    expect([accepted.length, mixed.filter(({ valid }) => valid).length]).toEqual([256, 29])
  })
})
