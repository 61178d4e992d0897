import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type HashUse,
  hashPairs,
  shortSha256,
  taggedHash,
  taggedHashHex,
  tagName,
  useSha256,
} from '../../../../consensus/crypto/hash.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { useNativeSha256 } from '../../../../src/crypto/native-backend.ts'
import { loadVectors } from '../../../support/vectors.ts'

interface HashVector {
  readonly use: HashUse
  readonly tag: string
  readonly data: string
  readonly hash: string
}

const { cases } = loadVectors<{ cases: readonly HashVector[] }>('tagged-hashes.json', { tags: 48, cases: 240 })

function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

afterEach(() => {
  useSha256(shortSha256)
})

describe.each([
  ['WebAssembly', () => useSha256(shortSha256)],
  ['native', useNativeSha256],
])('tagged hashes by the %s SHA-256', (_, select) => {
  it('are those of the vectors, whole and in parts', () => {
    select()
    for (const { use, tag, data, hash } of cases) {
      expect(tagName(use)).toBe(tag)
      const bytes = fromHex(data)
      expect(taggedHashHex(use, bytes)).toBe(hash)
      expect(toHex(taggedHash(use, bytes))).toBe(hash)
      const half = bytes.length >> 1
      expect(taggedHashHex(use, bytes.subarray(0, half), bytes.subarray(half), new Uint8Array(0))).toBe(hash)
    }
  })

  it('are right at every length around the blocks of SHA-256', () => {
    select()
    const tag = Buffer.from('farthing/text/1')
    for (let length = 0; length < 1_200; length++) {
      const data = new Uint8Array(length).fill(length)
      const expected = sha256(Buffer.concat([Uint8Array.of(tag.length), tag, data]))
      if (taggedHashHex('textDigest', data) !== expected) expect.fail(`wrong at ${length} bytes`)
    }
  })

  it('are 32 fresh bytes that a later hash does not change', () => {
    select()
    const first = taggedHash('textDigest', Uint8Array.of(1))
    const before = toHex(first)
    taggedHash('textDigest', Uint8Array.of(2))
    // A hash has its own buffer, so keeping it does not keep a larger buffer alive.
    expect([first.length, first.buffer.byteLength, toHex(first)]).toEqual([32, 32, before])
  })
})

describe('tags', () => {
  const used = new Map(cases.map(({ use, tag }) => [use, tag]))

  it('all differ, so that no hash can be shown for another', () => {
    expect(new Set(used.values()).size).toBe(used.size)
    expect(new Set(cases.map(({ hash }) => hash)).size).toBe(cases.length)
  })

  it('all stand in the vectors, and the specification names each of them', () => {
    const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
    const inCode = [...read('consensus/crypto/hash.ts').matchAll(/'(farthing\/[a-z0-9-]+\/1)'/g)].map(([, tag]) => tag)
    expect(new Set(inCode)).toEqual(new Set(used.values()))
    // A row of the specification may name further tags by their end only, such as `-node/1`.
    const section = read('docs/spec/encoding.md').split('## 3.')[1]?.split('## 4.')[0] as string
    const named = section.split('|').flatMap((cell) => {
      const tags = [...cell.matchAll(/`(-?[a-z0-9/-]+\/1)`/g)].map(([, tag]) => tag as string)
      const stem = tags[0]?.replace(/-[a-z]+\/1$/, '')
      return tags.map((tag) => (tag.startsWith('-') ? `${stem}${tag}` : tag))
    })
    expect(new Set(named)).toEqual(new Set(used.values()))
  })
})

describe('hashing pairs', () => {
  it('gives the SHA-256 of each 64-byte message, however many there are', () => {
    const messages = fc
      .nat({ max: 40 })
      .chain((count) => fc.uint8Array({ minLength: 64 * count, maxLength: 64 * count }))
    fc.assert(
      fc.property(messages, fc.nat({ max: 7 }), (bytes, shift) => {
        const moved = new Uint8Array(bytes.length + shift)
        moved.set(bytes, shift)
        const output = new Uint8Array(bytes.length / 2 + shift)
        hashPairs(moved.subarray(shift), output.subarray(shift))
        for (let i = 0; i * 64 < bytes.length; i++) {
          const hash = output.subarray(shift + 32 * i, shift + 32 * i + 32)
          expect(toHex(hash)).toBe(sha256(bytes.subarray(64 * i, 64 * i + 64)))
        }
        expect(moved.subarray(shift)).toEqual(bytes)
        expect(output.subarray(0, shift)).toEqual(new Uint8Array(shift))
      }),
      { numRuns: 100 },
    )
  })

  it('refuses half a message and an output of another size', () => {
    expect(() => hashPairs(new Uint8Array(65), new Uint8Array(32))).toThrow('Invalid input length 65')
    expect(() => hashPairs(new Uint8Array(32), new Uint8Array(16))).toThrow('Invalid input length 32')
    expect(() => hashPairs(new Uint8Array(128), new Uint8Array(32))).toThrow('Invalid output length 32')
  })
})
