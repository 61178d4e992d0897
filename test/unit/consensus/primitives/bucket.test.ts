import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bucket } from '../../../../consensus/primitives/bucket.ts'

const ALLOWANCE = { burst: 10, perSecond: 2 }

describe('a bucket', () => {
  it('gives its burst at once, and then what its rate refills', () => {
    const bucket = new Bucket(ALLOWANCE, 0)
    expect([bucket.take(10, 0), bucket.take(1, 0), bucket.take(1, 499), bucket.take(1, 500)]).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  it('never holds more than its burst, whatever is given back', () => {
    const bucket = new Bucket(ALLOWANCE, 0)
    bucket.giveBack(5, 0)
    expect([bucket.left(0), bucket.left(3_600_000)]).toEqual([10, 10])
  })

  it('notes what was used already, even beyond what there was', () => {
    const bucket = new Bucket(ALLOWANCE, 0)
    expect([bucket.spend(12, 0), bucket.left(0), bucket.left(1_000)]).toEqual([false, -2, 0])
  })

  it('refills from the new time where the clock was set back', () => {
    const bucket = new Bucket(ALLOWANCE, 1_000_000)
    bucket.spend(10, 1_000_000)
    expect([bucket.left(0), bucket.left(1_000)]).toEqual([0, 2])
  })

  it('tells how long to wait: long enough, and no millisecond too long', () => {
    const amounts = fc.integer({ min: 1, max: 10 })
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 20 }), (amount, used) => {
        const usedUp = (): Bucket => {
          const bucket = new Bucket(ALLOWANCE, 0)
          bucket.spend(used, 0)
          return bucket
        }
        const waitMs = usedUp().waitMs(amount, 0)
        if (waitMs > 0) expect(usedUp().left(waitMs - 1)).toBeLessThan(amount)
        expect(usedUp().left(waitMs)).toBeGreaterThanOrEqual(amount)
      }),
    )
  })
})
