import { describe, expect, it } from 'vitest'
import { sealHeader } from '../../../../consensus/block/header.ts'
import {
  meetsTarget,
  POW_SALT,
  type PowHasher,
  powHash,
  powInput,
  referencePowHasher,
  type SearchJob,
  searchNonce,
} from '../../../../consensus/block/pow.ts'
import { concat, readUintBE, toHex, uintBE, uintLE } from '../../../../consensus/primitives/bytes.ts'
import { nativePowHasher } from '../../../../src/crypto/native-pow.ts'
import { testHeader } from '../../../support/headers.ts'

/** The cheapest Argon2id. The cost of a hash does not matter to these tests. */
const COST = { memoryKiB: 8, passes: 1, lanes: 1 }
const INPUT = powInput(sealHeader(testHeader()).bytes)
const NONCES = 120

/** Hash of every nonce below {@link NONCES}, as a number, computed without the search. */
const HASHES = Array.from({ length: NONCES }, (_, nonce) =>
  readUintBE(nativePowHasher(concat(INPUT, uintLE(BigInt(nonce), 8)), POW_SALT, COST)),
)

const job = (target: bigint, change: Partial<SearchJob> = {}): SearchJob => ({
  ...{ input: INPUT, target: uintBE(target, 32), cost: COST, start: 0n, stride: 1n },
  ...change,
})

/** Searches until a nonce is found or `hashesMax` were tried. */
function search(searched: SearchJob, hashesMax = 1_000, hasher: PowHasher = nativePowHasher) {
  let hashes = 0
  const onHash = (): void => {
    hashes++
  }
  const nonce = searchNonce(searched, hasher, { stopped: () => hashes >= hashesMax, onHash })
  return { nonce, hashes }
}

/** Nonces that a search tries, in order. */
function triedNonces(start: bigint, stride: bigint, count: number): readonly bigint[] {
  const tried: bigint[] = []
  const recording: PowHasher = (message, salt, cost) => {
    tried.push(new DataView(message.buffer, message.byteOffset).getBigUint64(message.length - 8, true))
    return nativePowHasher(message, salt, cost)
  }
  search(job(0n, { start, stride }), count, recording)
  return tried
}

describe('the search for a nonce', () => {
  it('stops at the first nonce whose hash is at or below the target, whichever the target', () => {
    for (const target of HASHES) {
      const first = HASHES.findIndex((hash) => hash <= target)
      expect(search(job(target))).toEqual({ nonce: BigInt(first), hashes: first + 1 })
    }
  })

  it('takes a hash that equals the target and none that is one above it', () => {
    const [first] = HASHES as [bigint]
    expect(search(job(first)).nonce).toBe(0n)
    expect(search(job(first - 1n), NONCES).nonce).not.toBe(0n)
  })

  it('finds nothing where nothing meets the target', () => {
    const least = HASHES.reduce((a, b) => (a < b ? a : b))
    expect(search(job(least - 1n), NONCES)).toEqual({ nonce: undefined, hashes: NONCES })
    expect(search(job(0n), NONCES)).toEqual({ nonce: undefined, hashes: NONCES })
  })

  it('ends when it is told to, without one more hash', () => {
    for (const hashesMax of [0, 1, 7])
      expect(search(job(0n), hashesMax)).toEqual({ nonce: undefined, hashes: hashesMax })
  })

  it('gives a nonce that makes the header a valid one, by the reference hasher too', () => {
    const header = testHeader({ target: 2n ** 250n })
    const cost = { memoryKiB: 256, passes: 1, lanes: 1 }
    const input = powInput(sealHeader(header).bytes)
    const { nonce } = search(job(header.target, { input, cost }), 10_000)
    const { bytes } = sealHeader({ ...header, nonce: nonce as bigint })
    expect(powInput(bytes)).toEqual(input)
    expect(meetsTarget(powHash(referencePowHasher, bytes, cost), header.target)).toBe(true)
  })

  it('leaves its job as it was', () => {
    const searched = job(HASHES[0] as bigint)
    const before = [searched.input, searched.target].map(toHex)
    search(searched)
    expect([searched.input, searched.target].map(toHex)).toEqual(before)
  })
})

describe('threads that share a job', () => {
  it.each([1, 2, 3, 5])('try every nonce once between the %i of them', (threads) => {
    const each = 60 / threads
    const tried = Array.from({ length: threads }, (_, thread) => triedNonces(BigInt(thread), BigInt(threads), each))
    const all = tried.flat().sort((a, b) => (a < b ? -1 : 1))
    expect(all).toEqual(Array.from({ length: 60 }, (_, nonce) => BigInt(nonce)))
  })

  it('find between them what one would have found, in the share of one', () => {
    const target = HASHES.reduce((a, b) => (a < b ? a : b))
    const only = BigInt(HASHES.indexOf(target))
    for (const [thread, stride] of [
      [only % 3n, 3n],
      [only % 4n, 4n],
    ] as const)
      expect(search(job(target, { start: thread, stride })).nonce).toBe(only)
    const other = search(job(target, { start: (only + 1n) % 3n, stride: 3n }), NONCES / 3)
    expect(other.nonce).toBeUndefined()
  })

  it('go beyond 32 bits and put all 64 into the header', () => {
    const start = 2n ** 32n - 3n
    expect(triedNonces(start, 2n, 4)).toEqual([start, start + 2n, start + 4n, start + 6n])
    expect(triedNonces(2n ** 64n - 2n, 1n, 2)).toEqual([2n ** 64n - 2n, 2n ** 64n - 1n])
  })
})
