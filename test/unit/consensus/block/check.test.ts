import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { baseFeeAfter } from '../../../../consensus/block/base-fee.ts'
import { checkHeader, checkHeaderClock, checkProofOfWork } from '../../../../consensus/block/check.ts'
import { type Header, sealHeader } from '../../../../consensus/block/header.ts'
import { powHash, referencePowHasher } from '../../../../consensus/block/pow.ts'
import { faultRow } from '../../../../consensus/primitives/fault.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import { testHeader } from '../../../support/headers.ts'
import { filled } from '../../../support/unsigned.ts'

const RULES = LAUNCH_RULES.block
const PARENT = testHeader({ baseFee: 6_400n, weightUsed: 2_000_000 })
const EXPECTED = { parent: PARENT, target: 2n ** 241n, historyRoot: filled<Hash>(0x77) }
const SOUND: Partial<Header> = {
  ...{ version: 0xabcd_0001, height: 1_001, target: 2n ** 241n, timeMs: PARENT.timeMs + 1 },
  ...{ baseFee: 6_600n, historyRoot: filled<Hash>(0x77) },
}

/** Each wrong field of a header, in the order of the checks, with its fault. */
const FLAWS: readonly (readonly [Partial<Header>, object])[] = [
  [{ version: 0xabcd_0002 }, { code: 'block/version', detail: { version: 2 } }],
  [{ height: 1_002 }, { code: 'block/height', detail: { height: 1_002, expected: 1_001 } }],
  [{ target: 2n ** 241n - 1n }, { code: 'block/target', detail: {} }],
  [
    { timeMs: PARENT.timeMs },
    { code: 'block/time-not-after-parent', detail: { time: PARENT.timeMs, parentTime: PARENT.timeMs } },
  ],
  [{ baseFee: 6_599n }, { code: 'block/base-fee', detail: { baseFee: '6599', expected: '6600' } }],
  [{ historyRoot: filled<Hash>(0x78) }, { code: 'block/history-root', detail: {} }],
]

function check(change: Partial<Header>) {
  return checkHeader(sealHeader(testHeader({ ...SOUND, ...change })), EXPECTED, RULES)
}

describe('a header on its parent', () => {
  it('passes when everything is as computed, whatever it signals', () => {
    expect(baseFeeAfter(PARENT, RULES)).toBe(6_600n)
    expect(check({})).toBeNull()
    expect(check({ version: 1 })).toBeNull()
  })

  it.each(FLAWS)('is refused with %o', (flaw, fault) => {
    expect(check(flaw)).toEqual(fault)
  })

  it.each([1_000, 0])('is refused at height %i', (height) => {
    expect(check({ height })).toEqual({ code: 'block/height', detail: { height, expected: 1_001 } })
  })

  it('is refused before its parent’s time', () => {
    const [time, parentTime] = [PARENT.timeMs - 1, PARENT.timeMs]
    expect(check({ timeMs: time })).toEqual({ code: 'block/time-not-after-parent', detail: { time, parentTime } })
  })

  it('is refused for the first of several flaws, in the order of the specification', () => {
    FLAWS.forEach(([, fault], first) => {
      const flaws: Partial<Header> = Object.assign({}, ...FLAWS.slice(first).map(([flaw]) => flaw))
      expect(check(flaws)).toEqual(fault)
    })
  })
})

describe('the clock', () => {
  const header = sealHeader(testHeader({ timeMs: 1_000_015_000 }))

  it('lets a header be 15 seconds ahead', () => {
    expect(checkHeaderClock(header, 1_000_000_000, RULES)).toBeNull()
    expect(checkHeaderClock(header, 5_000_000_000, RULES)).toBeNull()
  })

  it('holds one that is a millisecond further ahead, and blames no peer', () => {
    const fault = checkHeaderClock(header, 999_999_999, RULES)
    expect(fault).toEqual({ code: 'block/time-too-new', detail: { time: 1_000_015_000, aheadMsMax: 15_000 } })
    expect(faultRow('block/time-too-new')).toMatchObject({ blame: 'none', retry: true })
  })
})

describe('the proof of work', () => {
  const hasher = (byte: number) => () => new Uint8Array(32).fill(byte)
  const at = (target: bigint) => sealHeader(testHeader({ target }))
  const value = (byte: number) => BigInt(`0x${byte.toString(16).padStart(2, '0').repeat(32)}`)

  it('meets a target that the hash is at or below', () => {
    expect(checkProofOfWork(at(value(0x0a)), hasher(0x0a), RULES)).toBeNull()
    expect(checkProofOfWork(at(value(0x0a) + 1n), hasher(0x0a), RULES)).toBeNull()
    expect(checkProofOfWork(at(0n), hasher(0), RULES)).toBeNull()
  })

  it('misses a target that the hash is above', () => {
    const fault = { code: 'block/proof-of-work', detail: {} }
    expect(checkProofOfWork(at(value(0x0a) - 1n), hasher(0x0a), RULES)).toEqual(fault)
  })

  it('is the hash of the header with its nonce, at the cost of the rules', () => {
    const header = at(2n ** 256n - 1n)
    const seen: unknown[] = []
    checkProofOfWork(
      header,
      (message, salt, cost) => {
        seen.push(message.length, salt.length, cost)
        return new Uint8Array(32)
      },
      RULES,
    )
    expect(seen).toEqual([40, 16, { memoryKiB: 256, passes: 1, lanes: 1 }])
    const other = sealHeader({ ...header.header, nonce: 6n })
    expect(powHash(referencePowHasher, header.bytes, RULES.pow)).not.toEqual(
      powHash(referencePowHasher, other.bytes, RULES.pow),
    )
  })
})
