import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sealHeader } from '../../../../consensus/block/header.ts'
import {
  meetsTarget,
  POW_SALT,
  powHash,
  powInput,
  referencePowHasher,
  targetOfWork,
  workOfTarget,
} from '../../../../consensus/block/pow.ts'
import { uintBE } from '../../../../consensus/primitives/bytes.ts'
import { nativePowHasher } from '../../../../src/crypto/native-pow.ts'
import { testHeader } from '../../../support/headers.ts'
import { runs } from '../../../support/runs.ts'

const COST = { memoryKiB: 256, passes: 1, lanes: 1 }

describe('the proof-of-work hash', () => {
  it('is the same from both hashers, at several costs', () => {
    const message = new Uint8Array(40).fill(3)
    for (const cost of [COST, { memoryKiB: 64, passes: 2, lanes: 1 }, { memoryKiB: 64, passes: 1, lanes: 2 }]) {
      expect(nativePowHasher(message, POW_SALT, cost)).toEqual(Buffer.from(referencePowHasher(message, POW_SALT, cost)))
    }
  })

  it('covers the nonce, and an input that covers everything else', () => {
    const [a, b] = [sealHeader(testHeader({ nonce: 1n })), sealHeader(testHeader({ nonce: 2n }))]
    expect(powInput(a.bytes)).toEqual(powInput(b.bytes))
    expect(powHash(referencePowHasher, a.bytes, COST)).not.toEqual(powHash(referencePowHasher, b.bytes, COST))
    const c = sealHeader(testHeader({ nonce: 1n, extra: new Uint8Array(32) }))
    expect(powInput(c.bytes)).not.toEqual(powInput(a.bytes))
  })
})

describe('targets and work', () => {
  it('read a hash as a big-endian number', () => {
    expect(meetsTarget(uintBE(256n, 32), 256n)).toBe(true)
    expect(meetsTarget(uintBE(257n, 32), 256n)).toBe(false)
    expect(meetsTarget(new Uint8Array(32).fill(0xff), 2n ** 256n - 1n)).toBe(true)
  })

  it('belong to each other: the easiest target of at least so many hashes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 255n }), (work) => {
        const target = targetOfWork(work)
        expect(workOfTarget(target) >= work).toBe(true)
        expect(workOfTarget(target + 1n) < work || target + 1n === 2n ** 256n).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })
})
