import { describe, expect, it } from 'vitest'
import { TokenBucket } from '../../../../../marketplace/chat/models/token-bucket.ts'

const HOUR_MS = 3_600_000

describe('an allowance per minute', () => {
  it('fills on where the clock was set back, and no further than ever where it was set ahead', () => {
    const bucket = new TokenBucket(60, HOUR_MS)
    bucket.take(6, HOUR_MS)
    const waitMs = bucket.waitMs(1, 0)
    expect(waitMs).toBeGreaterThan(0)
    expect(bucket.waitMs(1, waitMs)).toBe(0)
    bucket.take(6, 1_000 * HOUR_MS)
    expect(bucket.waitMs(1, 1_000 * HOUR_MS)).toBeGreaterThan(0)
  })
})
